// SPDX-License-Identifier: GPL-2.0-or-later
/* The ways to store to a region: timed, plain, fenced, whole, after a read, by threads in random
 * order. */
#include "workload.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const names[NR_STORE_KINDS] = {
	[STORE_BYTE] = "byte",	   [STORE_LOOP] = "loop", [STORE_FENCE] = "fence",
	[STORE_MEMSET] = "memset", [STORE_READ] = "read", [STORE_RANDOM] = "random",
};

const char *store_name(enum store_kind kind)
{
	return names[kind];
}

enum store_kind store_by_name(const char *name)
{
	enum store_kind kind = 0;

	while (kind < NR_STORE_KINDS && strcmp(names[kind], name))
		kind++;
	return kind;
}

size_t store_nr_pages(const struct options *opts, size_t size_bytes)
{
	size_t nr_pages = size_bytes / PAGE_BYTES;

	return (nr_pages + opts->every - 1) / opts->every;
}

/* The middle of a page: what populate wrote at its start must survive. */
static inline volatile char *target(const struct region *r, size_t page)
{
	return r->start + page * PAGE_BYTES + PAGE_BYTES / 2;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void store_timed(const struct region *r, size_t every, struct store_times *times)
{
	uint64_t before, after;

	times->nr = 0;
	for (size_t page = 0; page < r->size_bytes / PAGE_BYTES; page += every) {
		before = now_ns();
		*target(r, page) = 1;
		after = now_ns();
		times->ns[times->nr++] = after - before < UINT32_MAX ? after - before : UINT32_MAX;
	}
}

static void store_ascending(const struct region *r, const struct options *opts)
{
	size_t nr_pages = r->size_bytes / PAGE_BYTES;
	size_t page;

	switch (opts->store) {
	case STORE_FENCE:
		for (page = 0; page < nr_pages; page += opts->every) {
			*target(r, page) = 1;
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
		}
		break;
	case STORE_MEMSET:
		for (page = 0; page < nr_pages; page += opts->every)
			memset(r->start + page * PAGE_BYTES, 1, PAGE_BYTES);
		break;
	case STORE_READ:
		for (page = 0; page < nr_pages; page += opts->every) {
			(void)*target(r, page);
			*target(r, page) = 1;
		}
		break;
	default:
		for (page = 0; page < nr_pages; page += opts->every)
			*target(r, page) = 1;
	}
}

/* Shared by the threads of one run. order is a random permutation of the pages to store to. */
struct team {
	const struct region *region;
	const uint32_t *order;
	size_t nr_pages;
	unsigned int nr_threads;
	char *warm_page;
	pthread_barrier_t barrier;
};

struct member {
	struct team *team;
	unsigned int index;
	pthread_t thread;
};

static void *member_run(void *arg)
{
	struct member *m = arg;
	struct team *team = m->team;

	/* The first two rounds warm up what the last two use. */
	pthread_barrier_wait(&team->barrier);
	*(volatile char *)team->warm_page = 1;
	pthread_barrier_wait(&team->barrier);
	pthread_barrier_wait(&team->barrier);
	for (size_t i = m->index; i < team->nr_pages; i += team->nr_threads)
		*target(team->region, team->order[i]) = 1;
	pthread_barrier_wait(&team->barrier);
	return NULL;
}

/* Fisher-Yates. */
static uint32_t *random_order(size_t nr_pages, size_t every)
{
	uint32_t *order = shared_alloc(nr_pages * sizeof(*order));
	uint64_t state = RANDOM_SEED;

	for (size_t i = 0; i < nr_pages; i++)
		order[i] = i * every;
	for (size_t i = nr_pages - 1; i > 0; i--) {
		size_t j = random_next(&state) % (i + 1);
		uint32_t swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
	return order;
}

static void store_random(struct phase *p)
{
	struct member *members = shared_alloc(p->opts->nr_threads * sizeof(*members));
	struct team *team = shared_alloc(sizeof(*team));
	unsigned int i;
	int err;

	team->region = &p->region;
	team->nr_threads = p->opts->nr_threads;
	team->nr_pages = store_nr_pages(p->opts, p->region.size_bytes);
	team->order = random_order(team->nr_pages, p->opts->every);
	team->warm_page = shared_alloc(PAGE_BYTES);
	err = pthread_barrier_init(&team->barrier, NULL, team->nr_threads + 1);
	for (i = 0; i < team->nr_threads && !err; i++) {
		members[i] = (struct member){ .team = team, .index = i };
		err = pthread_create(&members[i].thread, NULL, member_run, &members[i]);
	}
	if (err)
		die("cannot start %u threads: %s", team->nr_threads, strerror(err));
	pthread_barrier_wait(&team->barrier);
	pthread_barrier_wait(&team->barrier);
	phase_warm(p);
	phase_begin(p);
	pthread_barrier_wait(&team->barrier);
	pthread_barrier_wait(&team->barrier);
	phase_end(p);
	for (i = 0; i < team->nr_threads; i++)
		pthread_join(members[i].thread, NULL);
}

void store_run(struct phase *p)
{
	if (p->opts->store == STORE_RANDOM) {
		store_random(p);
		return;
	}
	phase_warm(p);
	phase_begin(p);
	if (p->opts->store == STORE_BYTE)
		store_timed(&p->region, p->opts->every, p->times);
	else
		store_ascending(&p->region, p->opts);
	phase_end(p);
}
