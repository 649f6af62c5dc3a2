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
	uint64_t count, sum, min, max;
	struct hist_slot *slots; /* exact: a hash of 2^slot_bits slots; owned */
	uint64_t *buckets;	 /* bucketed: counts; owned; NULL while exact */
	uint32_t nr_distinct;	 /* slots in use */
	uint8_t slot_bits;
};

/* Add @n times @value. Returns 0 or -ENOMEM, then unchanged. */
int hist_add(struct hist *h, uint64_t value, uint64_t n);

/* Add all of @from to @to. Returns 0 or -ENOMEM. */
int hist_merge(struct hist *to, const struct hist *from);

/* Whether every value is kept as it was. */
bool hist_exact(const struct hist *h);

/*
 * The nearest-rank quantile @q in (0, 1]: the smallest value with at least q * count values at or
 * below it; for a bucket its upper bound, never above the maximum. 0 when empty.
 */
uint64_t hist_quantile(const struct hist *h, double q);

/* sum / count, 0 when empty. */
double hist_mean(const struct hist *h);

/*
 * The distinct values (or bucket upper bounds) in ascending order with their counts, allocated for
 * the caller to free(); *nr is their number. NULL with *nr == 0 when empty, with *nr != 0 on -ENOMEM.
 */
struct hist_slot *hist_sorted(const struct hist *h, size_t *nr);

void hist_release(struct hist *h);

#endif
