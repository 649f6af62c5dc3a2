// SPDX-License-Identifier: GPL-2.0-or-later
/* Distributions: a small hash of exact values, which becomes fixed log-linear buckets. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "hist.h"

/*
 * A power of two is cut into 2^SUB_BITS buckets, so a bucket's width is at most 1/128 (0.79 %) of
 * its lowest value. Values below 2^(SUB_BITS + 1) have a bucket of their own.
 */
#define SUB_BITS   7
#define NR_BUCKETS ((65 - SUB_BITS) << SUB_BITS)

#define MIN_SLOT_BITS 5

static size_t bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value < 1u << SUB_BITS)
		return value;
	shift = 63 - __builtin_clzll(value) - SUB_BITS;
	return ((size_t)shift << SUB_BITS) + (value >> shift);
}

static uint64_t bucket_upper_bound(size_t bucket)
{
	unsigned int shift;
	uint64_t lowest;

	if (bucket < 2u << SUB_BITS)
		return bucket;
	shift = (bucket >> SUB_BITS) - 1;
	lowest = (uint64_t)((bucket & ((1u << SUB_BITS) - 1)) | 1u << SUB_BITS) << shift;
	return lowest + ((1ull << shift) - 1);
}

/* The slot that holds @value, or the empty one where it belongs. */
static struct hist_slot *find_slot(struct hist_slot *slots, unsigned int bits, uint64_t value)
{
	size_t i = value * 0x9e3779b97f4a7c15ull >> (64 - bits); /* Fibonacci hashing */

	while (slots[i].value != value && slots[i].count)
		i = (i + 1) & (((size_t)1 << bits) - 1);
	return &slots[i];
}

static size_t nr_slots(const struct hist *h)
{
	return h->slots ? (size_t)1 << h->slot_bits : 0;
}

static int grow_slots(struct hist *h)
{
	unsigned int bits = h->slots ? h->slot_bits + 1 : MIN_SLOT_BITS;
	struct hist_slot *slots = calloc((size_t)1 << bits, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < nr_slots(h); i++)
		if (h->slots[i].count)
			*find_slot(slots, bits, h->slots[i].value) = h->slots[i];
	free(h->slots);
	h->slots = slots;
	h->slot_bits = bits;
	return 0;
}

int hist_make_buckets(struct hist *h)
{
	uint64_t *buckets;

	if (h->buckets)
		return 0;
	buckets = calloc(NR_BUCKETS, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	for (size_t i = 0; i < nr_slots(h); i++) {
		uint64_t *count = &buckets[bucket_of(h->slots[i].value)];

		*count = counter_add(*count, h->slots[i].count);
	}
	free(h->slots);
	h->slots = NULL;
	h->slot_bits = 0;
	h->nr_distinct = 0;
	h->buckets = buckets;
	return 0;
}

/* The counter of a value that the hash does not hold yet; NULL when out of memory. */
static uint64_t *new_value(struct hist *h, uint64_t value)
{
	struct hist_slot *slot;

	if (h->nr_distinct == HIST_MAX_EXACT) {
		if (hist_make_buckets(h))
			return NULL;
		return &h->buckets[bucket_of(value)];
	}
	if (2 * (size_t)h->nr_distinct >= nr_slots(h) && grow_slots(h))
		return NULL;
	slot = find_slot(h->slots, h->slot_bits, value);
	slot->value = value;
	h->nr_distinct++;
	return &slot->count;
}

/* Where a value is counted that may be the least or the greatest; NULL when out of memory. */
static noinline uint64_t *counter_of(struct hist *h, uint64_t value)
{
	uint64_t *counter = h->buckets ? &h->buckets[bucket_of(value)] : new_value(h, value);

	if (counter && (!h->count || value < h->min))
		h->min = value;
	if (counter && value > h->max)
		h->max = value;
	return counter;
}

int hist_add(struct hist *h, uint64_t value, uint64_t n)
{
	uint64_t *counter = NULL;

	if (!n)
		return 0;
	if (likely(h->slots))
		counter = &find_slot(h->slots, h->slot_bits, value)->count;
	if (unlikely(!counter || !*counter)) {
		counter = counter_of(h, value);
		if (!counter)
			return -ENOMEM;
	}
	h->count = counter_add(h->count, n);
	*counter = counter_add(*counter, n);
	h->sum = counter_add(h->sum, counter_mul(value, n));
	return 0;
}

static int merge_buckets(struct hist *to, const struct hist *from)
{
	int err = hist_make_buckets(to);

	if (err)
		return err;
	for (size_t i = 0; i < NR_BUCKETS; i++)
		to->buckets[i] = counter_add(to->buckets[i], from->buckets[i]);
	if (!to->count || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->count = counter_add(to->count, from->count);
	to->sum = counter_add(to->sum, from->sum);
	return 0;
}

int hist_merge(struct hist *to, const struct hist *from)
{
	int err;

	if (from->buckets)
		return merge_buckets(to, from);
	for (size_t i = 0; i < nr_slots(from); i++) {
		err = hist_add(to, from->slots[i].value, from->slots[i].count);
		if (err)
			return err;
	}
	return 0;
}

uint64_t hist_bucket_bound(uint64_t value)
{
	return bucket_upper_bound(bucket_of(value));
}

static bool equal_slots(const struct hist *a, const struct hist *b)
{
	if (a->nr_distinct != b->nr_distinct)
		return false;
	for (size_t i = 0; i < nr_slots(a); i++) {
		const struct hist_slot *slot = &a->slots[i];

		if (slot->count &&
		    find_slot(b->slots, b->slot_bits, slot->value)->count != slot->count)
			return false;
	}
	return true;
}

bool hist_equal(const struct hist *a, const struct hist *b)
{
	if (a->count != b->count || a->sum != b->sum || a->min != b->min || a->max != b->max ||
	    hist_exact(a) != hist_exact(b))
		return false;
	if (a->buckets)
		return !memcmp(a->buckets, b->buckets, NR_BUCKETS * sizeof(*a->buckets));
	return equal_slots(a, b);
}

bool hist_exact(const struct hist *h)
{
	return !h->buckets;
}

bool hist_has_sum(const struct hist *h)
{
	return h->sum != UINT64_MAX;
}

/* The upper of two neighbours where the quantile falls between them, as the median of four does. */
static uint64_t nearest_rank(uint64_t count, unsigned int permille)
{
	uint64_t below = count / 1000 * permille + count % 1000 * permille / 1000;

	return below < count ? below + 1 : count;
}

static uint64_t bucket_quantile(const struct hist *h, uint64_t rank)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < NR_BUCKETS; i++) {
		seen = counter_add(seen, h->buckets[i]);
		if (seen >= rank) {
			uint64_t bound = bucket_upper_bound(i);

			return bound < h->max ? bound : h->max;
		}
	}
	return h->max;
}

static uint64_t count_up_to(const struct hist *h, uint64_t value)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < nr_slots(h); i++)
		if (h->slots[i].value <= value)
			seen += h->slots[i].count;
	return seen;
}

/* Bisects the value, so that it needs neither memory nor order. */
static uint64_t exact_quantile(const struct hist *h, uint64_t rank)
{
	uint64_t low = h->min, high = h->max;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (count_up_to(h, middle) >= rank)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint64_t hist_quantile(const struct hist *h, unsigned int permille)
{
	uint64_t rank = nearest_rank(h->count, permille);

	if (!h->count)
		return 0;
	return h->buckets ? bucket_quantile(h, rank) : exact_quantile(h, rank);
}

double hist_mean(const struct hist *h)
{
	return h->count && hist_has_sum(h) ? (double)h->sum / h->count : NAN;
}

static int compare_slots(const void *a, const void *b)
{
	uint64_t va = ((const struct hist_slot *)a)->value;
	uint64_t vb = ((const struct hist_slot *)b)->value;

	return (va > vb) - (va < vb);
}

static size_t copy_slots(const struct hist *h, struct hist_slot *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_slots(h); i++)
		if (h->slots[i].count)
			out[nr++] = h->slots[i];
	qsort(out, nr, sizeof(*out), compare_slots);
	return nr;
}

static size_t copy_buckets(const struct hist *h, struct hist_slot *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < NR_BUCKETS; i++) {
		uint64_t bound = bucket_upper_bound(i);

		if (!h->buckets[i])
			continue;
		if (out)
			out[nr] = (struct hist_slot){ bound < h->max ? bound : h->max,
						      h->buckets[i] };
		nr++;
	}
	return nr;
}

struct hist_slot *hist_sorted(const struct hist *h, size_t *nr)
{
	struct hist_slot *out;

	*nr = h->buckets ? copy_buckets(h, NULL) : h->nr_distinct;
	if (!*nr)
		return NULL;
	out = calloc(*nr, sizeof(*out));
	if (!out)
		return NULL;
	if (h->buckets)
		copy_buckets(h, out);
	else
		copy_slots(h, out);
	return out;
}

void hist_release(struct hist *h)
{
	free(h->slots);
	free(h->buckets);
	*h = (struct hist){ 0 };
}
