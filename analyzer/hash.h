/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keyed hashing for tables whose keys come from a file: who does not know the table's key cannot
 * choose keys that collide.
 */
#ifndef HASH_H
#define HASH_H

#include <stdint.h>
#include <sys/random.h>

/* A key for one table, odd; a fixed one where the system has no random numbers. */
static inline uint64_t hash_key(void)
{
	uint64_t key;

	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) != sizeof(key))
		key = UINT64_C(0x9e3779b97f4a7c15);
	return key | 1;
}

/* Multiply-shift (Dietzfelbinger and others, 1997); every bit of the result may be used. */
static inline uint64_t hash_u64(uint64_t v, uint64_t key)
{
	v ^= v >> 32;
	v *= key;
	return v ^ v >> 32;
}

/*
 * The same of two numbers; the first may be of a sequence, whose products come in clusters with one
 * key in a hundred. Hence the second round.
 */
static inline uint64_t hash_pair(uint64_t a, uint64_t b, uint64_t key)
{
	uint64_t v = a * key + b * (key << 31 | key >> 33);

	v = (v ^ v >> 32) * key;
	return v ^ v >> 32;
}

#endif
