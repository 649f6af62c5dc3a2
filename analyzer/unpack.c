// SPDX-License-Identifier: GPL-2.0-or-later
/* Unpacks one block of a compressed recording: zstd or zlib, as libtracecmd packs them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "file_read.h"
#include "unpack.h"

static int open_method(struct unpacker *u, enum compression method)
{
	*u = (struct unpacker){ .method = method };
	if (method != COMPRESSION_ZSTD)
		return 0;
	u->zstd = ZSTD_createDCtx();
	return u->zstd ? 0 : -ENOMEM;
}

int unpacker_open(struct unpacker *u, const char *name)
{
	*u = (struct unpacker){ .method = COMPRESSION_NONE };
	if (!strcmp(name, "none"))
		return 0;
	if (!strcmp(name, "zlib"))
		return open_method(u, COMPRESSION_ZLIB);
	if (!strcmp(name, "zstd"))
		return open_method(u, COMPRESSION_ZSTD);
	return -ENOTSUP;
}

int unpacker_open_like(struct unpacker *u, const struct unpacker *other)
{
	return open_method(u, other->method);
}

int unpack_plausible(const struct unpacker *u, uint64_t packed, uint64_t size)
{
	uint64_t ratio = u->method == COMPRESSION_ZLIB ? 1032 : 32768;

	return size / ratio <= packed;
}

int unpack(struct unpacker *u, const void *from, size_t packed, void *to, size_t size)
{
	uLongf got = size;
	size_t n;

	switch (u->method) {
	case COMPRESSION_ZLIB:
		if (uncompress(to, &got, from, packed) != Z_OK || got != size)
			return -EBADMSG;
		return 0;
	case COMPRESSION_ZSTD:
		n = ZSTD_decompressDCtx(u->zstd, to, size, from, packed);
		return ZSTD_isError(n) || n != size ? -EBADMSG : 0;
	case COMPRESSION_NONE:
		break;
	}
	return -EBADMSG;
}

int unpack_block(struct unpacker *u, const struct packed_block *b, void *to)
{
	if (b->packed > u->packed_room) {
		uint8_t *room = realloc(u->packed, b->packed);

		if (!room)
			return -ENOMEM;
		u->packed = room;
		u->packed_room = b->packed;
	}
	if (file_read(b->fd, u->packed, b->packed, b->offset) != (ssize_t)b->packed)
		return -EIO;
	return unpack(u, u->packed, b->packed, to, b->size);
}

void unpacker_close(struct unpacker *u)
{
	ZSTD_freeDCtx(u->zstd);
	free(u->packed);
	*u = (struct unpacker){ 0 };
}
