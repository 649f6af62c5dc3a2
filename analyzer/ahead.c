// SPDX-License-Identifier: GPL-2.0-or-later
/* A second thread that unpacks chunks before they are needed. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "ahead.h"

#define SPINS 100

/* Take the first chunk off the queue, waiting for one. NULL: stop. */
static struct ahead_chunk *take_first(struct ahead *a)
{
	struct ahead_chunk *c;

	while (!a->first && !a->stop)
		pthread_cond_wait(&a->queued, &a->lock);
	c = a->stop ? NULL : a->first;
	if (c) {
		a->first = c->next;
		if (!a->first)
			a->last = &a->first;
		c->state = AHEAD_RUNNING;
	}
	return c;
}

/*
 * Unpack @c into memory of this thread's own, and copy: unpacking reads what it wrote again, and so
 * waits for what the other CPU has in its cache.
 */
static int unpack_apart(struct ahead *a, struct ahead_chunk *c)
{
	int err;

	if (c->block.size > a->plain_room) {
		uint8_t *room = realloc(a->plain, c->block.size);

		if (!room)
			return -ENOMEM;
		a->plain = room;
		a->plain_room = c->block.size;
	}
	err = unpack_block(&a->unpacker, &c->block, a->plain);
	if (!err && c->block.size)
		memcpy(c->to, a->plain, c->block.size);
	return err;
}

static void *work(void *ctx)
{
	struct ahead *a = ctx;
	struct ahead_chunk *c;

	pthread_mutex_lock(&a->lock);
	while ((c = take_first(a))) {
		pthread_mutex_unlock(&a->lock);
		c->err = unpack_apart(a, c);
		pthread_mutex_lock(&a->lock);
		c->state = AHEAD_DONE;
		pthread_cond_signal(&a->done);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static bool has_second_cpu(void)
{
	cpu_set_t cpus;

	return !sched_getaffinity(0, sizeof(cpus), &cpus) && CPU_COUNT(&cpus) > 1;
}

/* Signals are for the main thread, as they are without this one. */
static bool start_thread(struct ahead *a)
{
	sigset_t all, old;
	bool started;

	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &old))
		return false;
	started = !pthread_create(&a->thread, NULL, work, a);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return started;
}

void ahead_open(struct ahead *a, const struct unpacker *like)
{
	*a = (struct ahead){ 0 };
	if (!has_second_cpu())
		return;
	a->last = &a->first;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->queued, NULL);
	pthread_cond_init(&a->done, NULL);
	a->started = !unpacker_open_like(&a->unpacker, like) && start_thread(a);
	if (!a->started)
		unpacker_close(&a->unpacker);
}

void ahead_push(struct ahead *a, struct ahead_chunk *c)
{
	pthread_mutex_lock(&a->lock);
	c->state = AHEAD_QUEUED;
	c->next = NULL;
	*a->last = c;
	a->last = &c->next;
	pthread_cond_signal(&a->queued);
	pthread_mutex_unlock(&a->lock);
}

/*
 * Wait until @c is not on its way. Whether it was taken off the queue, and is not unpacked. To
 * sleep and be woken takes longer than to unpack a chunk does: it may be done in a moment.
 */
static bool take_back(struct ahead *a, struct ahead_chunk *c)
{
	struct ahead_chunk **link = &a->first;
	bool queued = false;

	for (int i = 0; i < SPINS && c->state == AHEAD_RUNNING; i++)
		sched_yield();
	if (c->state != AHEAD_DONE) {
		pthread_mutex_lock(&a->lock);
		queued = c->state == AHEAD_QUEUED;
		if (queued) {
			while (*link != c)
				link = &(*link)->next;
			*link = c->next;
			if (!*link)
				a->last = link;
		}
		while (c->state == AHEAD_RUNNING)
			pthread_cond_wait(&a->done, &a->lock);
		pthread_mutex_unlock(&a->lock);
	}
	c->state = AHEAD_IDLE;
	return queued;
}

int ahead_wait(struct ahead *a, struct ahead_chunk *c, struct unpacker *own)
{
	return take_back(a, c) ? unpack_block(own, &c->block, c->to) : c->err;
}

void ahead_cancel(struct ahead *a, struct ahead_chunk *c)
{
	take_back(a, c);
}

void ahead_close(struct ahead *a)
{
	if (!a->started)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->queued);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	unpacker_close(&a->unpacker);
	free(a->plain);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->queued);
	pthread_cond_destroy(&a->done);
	*a = (struct ahead){ 0 };
}
