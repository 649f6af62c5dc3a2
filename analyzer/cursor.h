/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bounded place to read metadata from, in a file or in memory, that stops at its end and never
 * beyond it: after the first short read every further one returns zero and `failed` stays set.
 */
#ifndef CURSOR_H
#define CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CURSOR_WINDOW 65536

struct cursor {
	int fd;		      /* -1: memory */
	const uint8_t *bytes; /* the window: memory, or the file from window_start on */
	size_t window_size;
	uint64_t window_start;
	uint64_t pos, end; /* offsets into the file or the memory */
	uint8_t *buffer;   /* owned; the window of a file */
	bool big_endian;
	bool failed; /* something did not fit: `pos` is where it began */
};

/* Read [start, end) of @fd. Returns 0 or -ENOMEM; cursor_release() frees the window. */
int cursor_open_file(struct cursor *c, int fd, uint64_t start, uint64_t end, bool big_endian);

/* Read @size bytes of memory, which stays the caller's. Needs no cursor_release(). */
void cursor_open_memory(struct cursor *c, const void *bytes, size_t size, bool big_endian);

uint8_t cursor_u8(struct cursor *c);
uint16_t cursor_u16(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);

/* Copy @size bytes to @to, zeros when they do not fit. */
void cursor_bytes(struct cursor *c, void *to, size_t size);

/* The next @size bytes in memory of their own with a NUL behind them; NULL: failed or no memory. */
char *cursor_text(struct cursor *c, uint64_t size);

/*
 * The next @size bytes where they are in memory, of a cursor over memory; no NUL stands behind
 * them. NULL: failed.
 */
const char *cursor_view(struct cursor *c, uint64_t size);

/* Whether it is over memory. */
static inline bool cursor_is_memory(const struct cursor *c)
{
	return c->fd < 0;
}

/* A string up to its NUL, which is at most @max bytes away; NULL: failed. The caller frees it. */
char *cursor_string(struct cursor *c, size_t max);

void cursor_skip(struct cursor *c, uint64_t size);

/* Bytes left; 0 once failed. */
uint64_t cursor_left(const struct cursor *c);

void cursor_release(struct cursor *c);

#endif
