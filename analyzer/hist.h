/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A distribution of unsigned values: exact up to HIST_MAX_EXACT distinct values, then fixed
 * log-linear buckets of at most 1 % relative error. Merging is associative and commutative.
 */
#ifndef HIST_H
#define HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIST_MAX_EXACT 4096

struct hist_slot {
	uint64_t value;
	uint64_t count; /* 0: empty slot */
};

/* All zero is an empty distribution; hist_release() returns it to that. */
struct hist {
	uint64_t count, sum, min, max; /* a sum of UINT64_MAX has overflowed: hist_has_sum() */
	struct hist_slot *slots;       /* exact: a hash of 2^slot_bits slots; owned */
	uint64_t *buckets;	       /* bucketed: counts; owned; NULL while exact */
	uint32_t nr_distinct;	       /* slots in use */
	uint8_t slot_bits;
};

/* a + b; stays at UINT64_MAX, so that no order of adding hides an overflow. */
static inline uint64_t counter_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* a * b; stays at UINT64_MAX. */
static inline uint64_t counter_mul(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Add @n times @value. Returns 0 or -ENOMEM, then unchanged. */
int hist_add(struct hist *h, uint64_t value, uint64_t n);

/* Add all of @from to @to. Returns 0, or -ENOMEM: then @to holds a part of @from. */
int hist_merge(struct hist *to, const struct hist *from);

/*
 * Turn an exact distribution into buckets, as hist_add() does by itself past HIST_MAX_EXACT.
 * Returns 0 or -ENOMEM, then unchanged.
 */
int hist_make_buckets(struct hist *h);

/* The largest value that falls into the same bucket as @value. */
uint64_t hist_bucket_bound(uint64_t value);

/* Whether both say the same of what was added to them. */
bool hist_equal(const struct hist *a, const struct hist *b);

/* Whether every value is kept as it was. */
bool hist_exact(const struct hist *h);

/* Whether sum and mean are known: false once the sum has passed 64 bits. */
bool hist_has_sum(const struct hist *h);

/*
 * The nearest-rank quantile @permille in 1..1000: the smallest value with more than permille / 1000
 * of the count at or below it (so the third of four is their median), the maximum for 1000; for a
 * bucket its upper bound, never above the maximum. 0 when empty.
 */
uint64_t hist_quantile(const struct hist *h, unsigned int permille);

/* sum / count; NAN when empty or when the sum is unknown. */
double hist_mean(const struct hist *h);

/*
 * The distinct values (or bucket upper bounds, never above the maximum) in ascending order with
 * their counts, allocated for the caller to free(); *nr is their number. NULL with *nr == 0 when
 * empty, with *nr != 0 when out of memory.
 */
struct hist_slot *hist_sorted(const struct hist *h, size_t *nr);

void hist_release(struct hist *h);

#endif
