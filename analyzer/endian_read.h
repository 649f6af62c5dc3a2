/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads unaligned numbers of the recording's byte order from memory. No bounds are checked here.
 * Recordings of this machine's own byte order are the ones to be fast for.
 */
#ifndef ENDIAN_READ_H
#define ENDIAN_READ_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t read_u16(const void *p, bool big_endian)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_expect(big_endian, 0) ? be16toh(v) : le16toh(v);
}

static inline uint32_t read_u32(const void *p, bool big_endian)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_expect(big_endian, 0) ? be32toh(v) : le32toh(v);
}

static inline uint64_t read_u64(const void *p, bool big_endian)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_expect(big_endian, 0) ? be64toh(v) : le64toh(v);
}

#endif
