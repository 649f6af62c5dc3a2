// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds faults and episodes to the row of their key, and summaries to each other. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "summary.h"

/* A key is packed into 14 bits, so that a row is found by one load. */
#define KEY_BITS 14

static_assert(NR_CLASSES <= 16 && NR_ORDERS <= 16 && NR_LEVELS <= 2 && NR_EVIDENCE <= 2 &&
		      NR_FROM <= 4 && NR_SOURCES <= 4,
	      "a key fits into KEY_BITS");

static unsigned int pack_key(const struct fault_key *k)
{
	return (unsigned int)k->class << 10 | (unsigned int)k->order << 6 |
	       (unsigned int)k->level << 5 | (unsigned int)k->evidence << 4 |
	       (unsigned int)k->from << 2 | k->source;
}

int fault_key_compare(const struct fault_key *a, const struct fault_key *b)
{
	if (a->class != b->class)
		return a->class - b->class;
	if (a->level != b->level)
		return a->level - b->level;
	if (a->order != b->order)
		return a->order - b->order;
	if (a->evidence != b->evidence)
		return a->evidence - b->evidence;
	if (a->from != b->from)
		return a->from - b->from;
	return a->source - b->source;
}

static struct summary_row *new_row(struct summary *s, const struct fault_key *key)
{
	struct summary_row **rows, *row;

	rows = reallocarray(s->rows, s->nr_rows + 1, sizeof(*rows));
	if (!rows)
		return NULL;
	s->rows = rows;
	row = calloc(1, sizeof(*row));
	if (!row)
		return NULL;
	row->key = *key;
	rows[s->nr_rows++] = row;
	s->index[pack_key(key)] = s->nr_rows;
	return row;
}

static noinline struct summary_row *find_row(struct summary *s, const struct fault_key *key)
{
	unsigned int place;

	if (!s->index) {
		s->index = calloc(1u << KEY_BITS, sizeof(*s->index));
		if (!s->index)
			return NULL;
	}
	place = s->index[pack_key(key)];
	return place ? s->rows[place - 1] : new_row(s, key);
}

struct summary_row *summary_row(struct summary *s, const struct fault_key *key)
{
	/* faults of one kind come one after the other */
	if (unlikely(!s->last || memcmp(&s->last->key, key, sizeof(*key))))
		s->last = find_row(s, key);
	return s->last;
}

const struct summary_row *summary_find(const struct summary *s, const struct fault_key *key)
{
	unsigned int place = s->index ? s->index[pack_key(key)] : 0;

	return place ? s->rows[place - 1] : NULL;
}

static void count_episode(struct summary_row *row, const struct episode *e)
{
	row->episodes++;
	row->folios += e->first_of_folio;
	row->ptes += e->ptes;
	row->ptes_touched += e->ptes_touched;
	row->ptes_resolved += e->ptes_resolved;
	if (e->timed)
		row->timed_ptes += e->ptes_resolved;
	if (!resolved_is_all(&e->key, e->ptes_resolved, e->ptes))
		row->resolved_unknown = row->waste_unknown = true;
	else if (e->waste_known)
		row->waste_ptes += e->waste_ptes;
	else if (e->ptes_resolved)
		row->waste_unknown = true;
}

/* A fault that was all of an episode: its latency stands for both until summary_settle(). */
static noinline int add_whole(struct summary_row *row, const struct fault *f,
			      const struct episode *e)
{
	count_episode(row, e);
	return f->has_exit ? hist_add(&row->whole, f->latency, 1) : 0;
}

flatten int summary_add_fault(struct summary *s, const struct fault *f, const struct outcome *o)
{
	struct summary_row *row;
	int err = 0;

	if (!f->counted)
		return 0;
	row = summary_row(s, &o->key);
	if (!row)
		return -ENOMEM;
	if (o->whole)
		err = add_whole(row, f, o->whole);
	else if (f->has_exit)
		err = hist_add(&row->latency, f->latency, 1);
	if (!err && o->ptes)
		err = hist_add(&row->ptes_per_fault, o->ptes, 1);
	if (err)
		return err;
	row->faults++;
	s->counts.total++;
	if (unlikely(f->retries || f->major || f->remote)) {
		s->counts.retries += f->retries;
		s->counts.major += f->major;
		s->counts.remote += f->remote;
	}
	return 0;
}

flatten int summary_add_episode(struct summary *s, const struct episode *e)
{
	struct summary_row *row = summary_row(s, &e->key);
	int err = 0;

	if (!row)
		return -ENOMEM;
	if (e->timed)
		err = hist_add(&row->per_folio_latency, e->latency, 1);
	if (!err && e->completed)
		err = hist_add(&row->time_to_complete, e->complete, 1);
	if (!err)
		count_episode(row, e);
	return err;
}

int summary_settle(struct summary *s)
{
	int err = 0;

	for (size_t i = 0; i < s->nr_rows && !err; i++) {
		struct summary_row *row = s->rows[i];

		err = hist_merge(&row->latency, &row->whole);
		if (!err)
			err = hist_merge(&row->per_folio_latency, &row->whole);
		if (!err)
			err = hist_merge(&row->time_to_complete, &row->whole);
		hist_release(&row->whole);
	}
	return err;
}

int row_merge(struct summary_row *to, const struct summary_row *from)
{
	int err = hist_merge(&to->latency, &from->latency);

	if (!err)
		err = hist_merge(&to->per_folio_latency, &from->per_folio_latency);
	if (!err)
		err = hist_merge(&to->time_to_complete, &from->time_to_complete);
	if (!err)
		err = hist_merge(&to->ptes_per_fault, &from->ptes_per_fault);
	if (err)
		return err;
	to->faults = counter_add(to->faults, from->faults);
	to->apart = counter_add(to->apart, from->apart);
	to->folios = counter_add(to->folios, from->folios);
	to->episodes = counter_add(to->episodes, from->episodes);
	to->ptes = counter_add(to->ptes, from->ptes);
	to->ptes_touched = counter_add(to->ptes_touched, from->ptes_touched);
	to->ptes_resolved = counter_add(to->ptes_resolved, from->ptes_resolved);
	to->timed_ptes = counter_add(to->timed_ptes, from->timed_ptes);
	to->waste_ptes = counter_add(to->waste_ptes, from->waste_ptes);
	to->resolved_unknown |= from->resolved_unknown;
	to->waste_unknown |= from->waste_unknown;
	return 0;
}

static bool equal_resolved(const struct summary_row *a, const struct summary_row *b)
{
	if (a->resolved_unknown || b->resolved_unknown)
		return a->resolved_unknown == b->resolved_unknown;
	return a->ptes_resolved == b->ptes_resolved && a->timed_ptes == b->timed_ptes;
}

static bool equal_waste(const struct summary_row *a, const struct summary_row *b)
{
	if (row_waste_known(a) != row_waste_known(b))
		return false;
	return !row_waste_known(a) || a->waste_ptes == b->waste_ptes;
}

bool row_equal(const struct summary_row *a, const struct summary_row *b)
{
	return !fault_key_compare(&a->key, &b->key) && a->faults == b->faults &&
	       a->folios == b->folios && a->episodes == b->episodes && a->ptes == b->ptes &&
	       a->ptes_touched == b->ptes_touched && equal_resolved(a, b) && equal_waste(a, b) &&
	       hist_equal(&a->latency, &b->latency) &&
	       hist_equal(&a->per_folio_latency, &b->per_folio_latency) &&
	       hist_equal(&a->time_to_complete, &b->time_to_complete) &&
	       hist_equal(&a->ptes_per_fault, &b->ptes_per_fault);
}

static void counts_merge(struct fault_counts *to, const struct fault_counts *from)
{
	to->total = counter_add(to->total, from->total);
	to->retries = counter_add(to->retries, from->retries);
	to->major = counter_add(to->major, from->major);
	to->remote = counter_add(to->remote, from->remote);
	to->entries = counter_add(to->entries, from->entries);
	to->exits = counter_add(to->exits, from->exits);
	to->unpaired_entries = counter_add(to->unpaired_entries, from->unpaired_entries);
	to->unpaired_exits = counter_add(to->unpaired_exits, from->unpaired_exits);
}

int summary_merge(struct summary *to, const struct summary *from)
{
	for (size_t i = 0; i < from->nr_rows; i++) {
		struct summary_row *row = summary_row(to, &from->rows[i]->key);
		int err = row ? row_merge(row, from->rows[i]) : -ENOMEM;

		if (err)
			return err;
	}
	counts_merge(&to->counts, &from->counts);
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct summary_row *const *ra = a, *const *rb = b;

	return fault_key_compare(&(*ra)->key, &(*rb)->key);
}

void summary_sort(struct summary *s)
{
	if (!s->nr_rows)
		return;
	qsort(s->rows, s->nr_rows, sizeof(*s->rows), compare_rows);
	for (size_t i = 0; i < s->nr_rows; i++)
		s->index[pack_key(&s->rows[i]->key)] = i + 1;
}

double row_faults_per_pte(const struct summary_row *r)
{
	return r->ptes ? (double)(r->faults - r->apart) / r->ptes : NAN;
}

bool resolved_is_all(const struct fault_key *key, uint64_t ptes_resolved, uint64_t ptes)
{
	return key->class != CLASS_REUSE || key->level == LEVEL_PMD ||
	       key->evidence == EVIDENCE_SEEN || ptes_resolved == ptes;
}

bool row_waste_known(const struct summary_row *r)
{
	return r->ptes_resolved && !r->waste_unknown;
}

double row_time_per_pte(const struct summary_row *r)
{
	if (!r->timed_ptes || !hist_has_sum(&r->per_folio_latency) || r->resolved_unknown)
		return NAN;
	return (double)r->per_folio_latency.sum / r->timed_ptes;
}

void row_drop_times(struct summary_row *r)
{
	hist_release(&r->latency);
	hist_release(&r->per_folio_latency);
	hist_release(&r->time_to_complete);
	hist_release(&r->whole);
	r->timed_ptes = 0;
}

void row_release(struct summary_row *r)
{
	row_drop_times(r);
	hist_release(&r->ptes_per_fault);
}

void summary_release(struct summary *s)
{
	for (size_t i = 0; i < s->nr_rows; i++) {
		row_release(s->rows[i]);
		free(s->rows[i]);
	}
	free(s->rows);
	free(s->index);
	*s = (struct summary){ 0 };
}
