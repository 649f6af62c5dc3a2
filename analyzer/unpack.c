// SPDX-License-Identifier: GPL-2.0-or-later
/* Unpacks one block of a compressed recording: zstd or zlib, as libtracecmd packs them. */
#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "unpack.h"

int unpacker_open(struct unpacker *u, const char *name)
{
	*u = (struct unpacker){ .method = COMPRESSION_NONE };
	if (!strcmp(name, "none"))
		return 0;
	if (!strcmp(name, "zlib")) {
		u->method = COMPRESSION_ZLIB;
		return 0;
	}
	if (strcmp(name, "zstd"))
		return -ENOTSUP;
	u->method = COMPRESSION_ZSTD;
	u->zstd = ZSTD_createDCtx();
	return u->zstd ? 0 : -ENOMEM;
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

void unpacker_close(struct unpacker *u)
{
	ZSTD_freeDCtx(u->zstd);
	u->zstd = NULL;
}
