/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A second thread that unpacks chunks before they are needed, where there is a second CPU. It gives
 * the same bytes, and knows no damage: what it cannot unpack is told when the chunk is asked for.
 */
#ifndef AHEAD_H
#define AHEAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unpack.h"

enum ahead_state {
	AHEAD_IDLE,
	AHEAD_QUEUED,
	AHEAD_RUNNING,
	AHEAD_DONE
};

/* A chunk on its way. All zero is idle. */
struct ahead_chunk {
	_Atomic(enum ahead_state) state;
	struct packed_block block;
	uint8_t *to; /* owned by who asks for the chunk, not to be touched until it is idle */
	size_t room;
	int err; /* as unpack_block() */
	struct ahead_chunk *next;
};

/* All zero is closed. */
struct ahead {
	bool started;
	pthread_t thread;
	pthread_mutex_t lock; /* of all below, and of what takes a chunk off the queue */
	pthread_cond_t queued, done;
	struct ahead_chunk *first, **last; /* those that are queued */
	struct unpacker unpacker;	   /* the thread's own, as are these */
	uint8_t *plain;
	size_t plain_room;
	bool stop;
};

/*
 * Have a thread that unpacks what @like does; where there is one CPU, or no thread to be
 * had, there is none, and a->started says so. ahead_close() is due.
 */
void ahead_open(struct ahead *a, const struct unpacker *like);

/* Have @c, whose block and room are set, unpacked. */
void ahead_push(struct ahead *a, struct ahead_chunk *c);

/*
 * Wait until @c, which was pushed, is unpacked; when the thread is not yet at it, do so here with
 * @own. 0 or as unpack_block(); then it is idle.
 */
int ahead_wait(struct ahead *a, struct ahead_chunk *c, struct unpacker *own);

/* Nobody will ask for @c: its room is free again. */
void ahead_cancel(struct ahead *a, struct ahead_chunk *c);

/* No chunk may be on its way. */
void ahead_close(struct ahead *a);

#endif
