/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A seeded source of random numbers, the same on every machine. */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <stdint.h>

/* The next of the sequence of *state: Steele, Lea, Flood, "Fast splittable PRNGs" (2014). */
static inline uint64_t random_u64(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Uniform in [0, 1). */
static inline double random_unit(uint64_t *state)
{
	return (random_u64(state) >> 11) * 0x1p-53;
}

#endif
