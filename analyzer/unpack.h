/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unpacks one block of a compressed recording: zstd or zlib, as libtracecmd packs them. */
#ifndef UNPACK_H
#define UNPACK_H

#include <stddef.h>
#include <stdint.h>

enum compression {
	COMPRESSION_NONE,
	COMPRESSION_ZSTD,
	COMPRESSION_ZLIB
};

struct unpacker {
	enum compression method;
	void *zstd;	 /* ZSTD_DCtx, owned */
	uint8_t *packed; /* of unpack_block(), owned */
	size_t packed_room;
};

/* A block in a file: @packed bytes at @offset that hold @size bytes. */
struct packed_block {
	int fd;
	uint64_t offset;
	uint32_t packed, size;
};

/* @name as the recording's header has it: "none", "zstd", "zlib". 0, -ENOTSUP or -ENOMEM. */
int unpacker_open(struct unpacker *u, const char *name);

/* The same for what another unpacker unpacks. 0 or -ENOMEM. */
int unpacker_open_like(struct unpacker *u, const struct unpacker *other);

/*
 * Whether a block of @packed bytes may hold @size bytes: no claim of a file is allocated before it
 * is checked. The limits are the formats' own: 1032:1 for deflate, a block of 128 KiB in 4 bytes
 * for zstd.
 */
int unpack_plausible(const struct unpacker *u, uint64_t packed, uint64_t size);

/* Unpack @packed bytes into exactly @size bytes at @to. 0 or -EBADMSG. */
int unpack(struct unpacker *u, const void *from, size_t packed, void *to, size_t size);

/* Read and unpack a block into the @size bytes at @to. 0, -EBADMSG, -EIO, -ENOMEM. */
int unpack_block(struct unpacker *u, const struct packed_block *b, void *to);

void unpacker_close(struct unpacker *u);

#endif
