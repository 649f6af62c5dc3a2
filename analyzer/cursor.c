// SPDX-License-Identifier: GPL-2.0-or-later
/* A bounded place to read metadata from, in a file or in memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "endian_read.h"
#include "file_read.h"

int cursor_open_file(struct cursor *c, int fd, uint64_t start, uint64_t end, bool big_endian)
{
	*c = (struct cursor){ .fd = fd,
			      .pos = start,
			      .end = end < start ? start : end,
			      .window_start = start,
			      .big_endian = big_endian };
	c->buffer = malloc(CURSOR_WINDOW);
	c->bytes = c->buffer;
	return c->buffer ? 0 : -ENOMEM;
}

void cursor_open_memory(struct cursor *c, const void *bytes, size_t size, bool big_endian)
{
	*c = (struct cursor){
		.fd = -1, .bytes = bytes, .window_size = size, .end = size, .big_endian = big_endian
	};
}

uint64_t cursor_left(const struct cursor *c)
{
	return c->failed ? 0 : c->end - c->pos;
}

/* The bytes at the cursor, at least one; fills the window of a file. NULL at the end. */
static const uint8_t *peek(struct cursor *c, size_t *avail)
{
	uint64_t in_window = c->pos - c->window_start;
	ssize_t n;

	if (!cursor_left(c))
		return NULL;
	if (c->fd >= 0 && in_window >= c->window_size) {
		uint64_t want = c->end - c->pos;

		n = file_read(c->fd, c->buffer, want < CURSOR_WINDOW ? want : CURSOR_WINDOW,
			      c->pos);
		if (n <= 0)
			return NULL;
		c->window_start = c->pos;
		c->window_size = n;
		in_window = 0;
	}
	*avail = c->window_size - in_window;
	if (*avail > c->end - c->pos)
		*avail = c->end - c->pos;
	return c->bytes + in_window;
}

void cursor_bytes(struct cursor *c, void *to, size_t size)
{
	uint64_t start = c->pos;
	uint8_t *out = to;
	size_t done = 0;

	if (cursor_left(c) < size)
		goto fail;
	while (done < size) {
		size_t avail;
		const uint8_t *p = peek(c, &avail);

		if (!p)
			goto fail;
		if (avail > size - done)
			avail = size - done;
		memcpy(out + done, p, avail);
		done += avail;
		c->pos += avail;
	}
	return;
fail:
	memset(to, 0, size);
	c->pos = start;
	c->failed = true;
}

uint8_t cursor_u8(struct cursor *c)
{
	uint8_t v;

	cursor_bytes(c, &v, sizeof(v));
	return v;
}

uint16_t cursor_u16(struct cursor *c)
{
	uint8_t b[2];

	cursor_bytes(c, b, sizeof(b));
	return read_u16(b, c->big_endian);
}

uint32_t cursor_u32(struct cursor *c)
{
	uint8_t b[4];

	cursor_bytes(c, b, sizeof(b));
	return read_u32(b, c->big_endian);
}

uint64_t cursor_u64(struct cursor *c)
{
	uint8_t b[8];

	cursor_bytes(c, b, sizeof(b));
	return read_u64(b, c->big_endian);
}

char *cursor_text(struct cursor *c, uint64_t size)
{
	char *text;

	if (cursor_left(c) < size) {
		c->failed = true;
		return NULL;
	}
	text = malloc(size + 1);
	if (!text)
		return NULL;
	cursor_bytes(c, text, size);
	if (c->failed) {
		free(text);
		return NULL;
	}
	text[size] = '\0';
	return text;
}

const char *cursor_view(struct cursor *c, uint64_t size)
{
	const char *bytes = (const char *)c->bytes + c->pos;

	cursor_skip(c, size);
	return c->failed ? NULL : bytes;
}

char *cursor_string(struct cursor *c, size_t max)
{
	uint64_t start = c->pos;
	char *string = malloc(max + 1);
	char *shrunk;
	size_t n;

	if (!string)
		return NULL;
	for (n = 0; n <= max; n++) {
		string[n] = cursor_u8(c);
		if (c->failed || !string[n])
			break;
	}
	if (c->failed || n > max) {
		c->pos = start;
		c->failed = true;
		free(string);
		return NULL;
	}
	shrunk = realloc(string, n + 1);
	return shrunk ? shrunk : string;
}

void cursor_skip(struct cursor *c, uint64_t size)
{
	if (cursor_left(c) < size)
		c->failed = true;
	else
		c->pos += size;
}

void cursor_release(struct cursor *c)
{
	free(c->buffer);
	c->buffer = NULL;
}
