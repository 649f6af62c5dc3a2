// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads "faults" and "classes" of a report, and checks every figure that follows from others. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "json_summary.h"

/* Distributions. */

static int add_pairs(const struct json_place *at, struct json_object *values, struct hist *h)
{
	size_t nr = json_object_array_length(values);
	uint64_t last = 0;

	for (size_t i = 0; i < nr; i++) {
		struct json_object *pair = json_object_array_get_idx(values, i);
		struct json_place here = json_element(at, i);
		uint64_t value = 0, count = 0;
		int err;

		if (!json_object_is_type(pair, json_type_array) ||
		    json_object_array_length(pair) != 2)
			return json_wrong(&here, "is not a pair");
		err = json_as_u64(&here, json_object_array_get_idx(pair, 0), &value);
		if (!err)
			err = json_as_u64(&here, json_object_array_get_idx(pair, 1), &count);
		if (err)
			return err;
		if ((i && value <= last) || !count)
			return json_wrong(&here, "values are not ascending, each counted");
		last = value;
		err = hist_add(h, value, count);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Make buckets of values that are upper bounds of buckets, but for the last, which is the maximum.
 * Least value and sum come from the text; they have to be possible.
 */
static int restore_buckets(const struct json_place *at, struct json_object *values, struct hist *h,
			   uint64_t min, uint64_t sum)
{
	size_t nr = json_object_array_length(values);
	double least = h->sum * (128.0 / 129);
	int err;

	for (size_t i = 0; i + 1 < nr; i++) {
		struct json_object *pair = json_object_array_get_idx(values, i);
		uint64_t value = json_object_get_uint64(json_object_array_get_idx(pair, 0));

		if (hist_bucket_bound(value) != value)
			return json_wrong(at, "%" PRIu64 " is no bucket's bound", value);
	}
	if (nr && (min > h->min || hist_bucket_bound(min) != hist_bucket_bound(h->min)))
		return json_wrong(at, "min is not in the first bucket");
	if (hist_has_sum(h) && (sum > h->sum || sum < least))
		return json_wrong(at, "sum is not within the buckets");
	err = hist_make_buckets(h);
	if (err)
		return err;
	h->min = min;
	h->sum = sum;
	return 0;
}

/* Whether a stated figure is what the values give; null where they give none. */
static int check_u64(const struct json_place *at, struct json_object *dist, const char *key,
		     bool known, uint64_t expected)
{
	struct json_place here = json_member(at, key);
	uint64_t value;
	int err;

	if (!known && json_is_null(dist, key))
		return 0;
	err = json_get_u64(at, dist, key, &value);
	if (err)
		return err;
	if (!known || value != expected)
		return json_wrong(&here, "%" PRIu64 " does not agree with the values", value);
	return 0;
}

static int check_real(const struct json_place *at, struct json_object *object, const char *key,
		      double expected)
{
	struct json_place here = json_member(at, key);
	struct json_object *value;
	double real;

	if (!json_object_object_get_ex(object, key, &value))
		return json_wrong(&here, "missing");
	if (!value)
		return isnan(expected) ? 0 : json_wrong(&here, "does not add up");
	real = json_object_get_double(value);
	if (isnan(expected) || fabs(real - expected) > 1e-9 * fabs(expected))
		return json_wrong(&here, "does not add up");
	return 0;
}

static int check_figures(const struct json_place *at, struct json_object *dist,
			 const struct hist *h)
{
	static const struct {
		const char *key;
		unsigned int permille;
	} quantiles[] = { { "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p999", 999 } };
	int err = check_u64(at, dist, "count", true, h->count);

	if (!err)
		err = check_u64(at, dist, "min", h->count, h->min);
	if (!err)
		err = check_u64(at, dist, "max", h->count, h->max);
	if (!err)
		err = check_u64(at, dist, "sum", h->count && hist_has_sum(h), h->sum);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles) && !err; i++)
		err = check_u64(at, dist, quantiles[i].key, h->count,
				hist_quantile(h, quantiles[i].permille));
	return err ? err : check_real(at, dist, "mean", hist_mean(h));
}

static int read_hist(const struct json_place *up, struct json_object *row, const char *key,
		     struct hist *h)
{
	struct json_place at = json_member(up, key), here = json_member(&at, "values");
	struct json_object *dist, *values;
	uint64_t min, sum = UINT64_MAX;
	bool exact;
	int err = json_get(up, row, key, json_type_object, &dist);

	if (!err)
		err = json_get_bool(&at, dist, "exact", &exact);
	if (!err)
		err = json_get(&at, dist, "values", json_type_array, &values);
	if (!err)
		err = add_pairs(&here, values, h);
	if (err)
		return err;
	if (exact && !hist_exact(h))
		return json_wrong(&at, "too many values to be exact");
	if (!exact) {
		err = json_get_u64(&at, dist, "min", &min);
		if (!err && !json_is_null(dist, "sum"))
			err = json_get_u64(&at, dist, "sum", &sum);
		if (!err)
			err = restore_buckets(&at, values, h, min, sum);
		if (err)
			return err;
	}
	return check_figures(&at, dist, h);
}

/* Rows. */

static int read_key(const struct json_place *at, struct json_object *row, struct fault_key *key)
{
	struct json_place here = json_member(at, "order");
	uint64_t order = ORDER_UNKNOWN;
	int err = json_get_word(at, row, "class", fault_class_names, NR_CLASSES, NR_CLASSES,
				&key->class);

	if (!err)
		err = json_get_word(at, row, "from", cow_from_names, NR_FROM, FROM_NONE,
				    &key->from);
	if (!err)
		err = json_get_word(at, row, "level", fault_level_names, NR_LEVELS, NR_LEVELS,
				    &key->level);
	if (!err)
		err = json_get_word(at, row, "evidence", evidence_names, NR_EVIDENCE, NR_EVIDENCE,
				    &key->evidence);
	if (!err)
		err = json_get_word(at, row, "source", folio_source_names, NR_SOURCES, NR_SOURCES,
				    &key->source);
	if (!err && !json_is_null(row, "order")) {
		err = json_get_u64(at, row, "order", &order);
		if (!err && order >= ORDER_UNKNOWN)
			return json_wrong(&here, "is too large");
	}
	key->order = order;
	return err;
}

static int read_counters(const struct json_place *at, struct json_object *json,
			 struct summary_row *row)
{
	const struct {
		const char *key;
		uint64_t *counter;
	} counters[] = { { "faults", &row->faults },
			 { "folios", &row->folios },
			 { "episodes", &row->episodes },
			 { "ptes", &row->ptes },
			 { "ptes_touched", &row->ptes_touched } };

	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++) {
		int err = json_get_u64(at, json, counters[i].key, counters[i].counter);

		if (err)
			return err;
	}
	return 0;
}

/* Null where it is not known. */
static int read_resolved(const struct json_place *at, struct json_object *json,
			 struct summary_row *row)
{
	struct json_object *value;
	int err;

	if (json_object_object_get_ex(json, "ptes_resolved", &value) && !value) {
		row->resolved_unknown = true;
		return 0;
	}
	err = json_get_u64(at, json, "ptes_resolved", &row->ptes_resolved);
	/* reports have said so many as had a fault */
	row->resolved_unknown = !resolved_is_all(&row->key, row->ptes_resolved, row->ptes);
	return err ? err : json_get_u64(at, json, "timed_ptes", &row->timed_ptes);
}

/* Null, or no such member, where it is not known. */
static int read_waste(const struct json_place *at, struct json_object *json,
		      struct summary_row *row)
{
	struct json_place here = json_member(at, "waste_ptes");
	struct json_object *value;
	int err;

	if (!json_object_object_get_ex(json, "waste_ptes", &value) || !value) {
		row->waste_unknown = true;
		return 0;
	}
	err = json_as_u64(&here, value, &row->waste_ptes);
	if (!err && (!row->ptes_resolved || row->waste_ptes > row->ptes_resolved))
		return json_wrong(&here, "more than was resolved");
	return err;
}

static int read_times(const struct json_place *at, struct json_object *json, bool ns,
		      struct summary_row *row)
{
	int err = read_hist(at, json, ns ? "latency_ns" : "latency_ticks", &row->latency);

	if (!err)
		err = read_hist(at, json, ns ? "per_folio_latency_ns" : "per_folio_latency_ticks",
				&row->per_folio_latency);
	if (!err)
		err = read_hist(at, json, ns ? "time_to_complete_ns" : "time_to_complete_ticks",
				&row->time_to_complete);
	return err ? err : read_hist(at, json, "ptes_per_fault", &row->ptes_per_fault);
}

static int check_row(const struct json_place *at, struct json_object *json, bool ns,
		     const struct summary_row *row)
{
	int err;

	if (row->latency.count > row->faults || row->ptes_per_fault.count > row->faults ||
	    row->per_folio_latency.count > row->episodes ||
	    row->time_to_complete.count > row->episodes || row->folios > row->episodes ||
	    row->timed_ptes > row->ptes_resolved)
		return json_wrong(at, "more figures than there were faults or episodes");
	if (row->ptes_touched > row->ptes)
		return json_wrong(at, "more PTEs than the folios have");
	err = check_real(at, json, "faults_per_pte", row_faults_per_pte(row));
	if (err)
		return err;
	return check_real(at, json, ns ? "ns_per_pte" : "ticks_per_pte", row_time_per_pte(row));
}

static int read_row(const struct json_place *at, struct json_object *json, bool ns,
		    struct summary *s)
{
	struct fault_key key = { 0 };
	struct summary_row *row;
	size_t nr = s->nr_rows;
	int err;

	if (!json_object_is_type(json, json_type_object))
		return json_wrong(at, "is no object");
	err = read_key(at, json, &key);
	if (err)
		return err;
	row = summary_row(s, &key);
	if (!row)
		return -ENOMEM;
	if (s->nr_rows == nr)
		return json_wrong(at, "stands here twice");
	err = read_counters(at, json, row);
	if (!err)
		err = read_resolved(at, json, row);
	if (!err)
		err = read_waste(at, json, row);
	if (!err)
		err = read_times(at, json, ns, row);
	return err ? err : check_row(at, json, ns, row);
}

static int read_rows(const struct json_place *up, struct json_object *object, bool ns,
		     struct summary *s)
{
	struct json_place at = json_member(up, "classes");
	struct json_object *list;
	uint64_t faults = 0;
	int err = json_get(up, object, "classes", json_type_array, &list);

	for (size_t i = 0; !err && i < json_object_array_length(list); i++) {
		struct json_place here = json_element(&at, i);

		err = read_row(&here, json_object_array_get_idx(list, i), ns, s);
		if (!err)
			faults = counter_add(faults, s->rows[i]->faults);
	}
	if (!err && faults != s->counts.total)
		return json_wrong(&at, "faults add up to %" PRIu64 ", faults.total is %" PRIu64,
				  faults, s->counts.total);
	return err;
}

static int read_counts(const struct json_place *up, struct json_object *object,
		       struct fault_counts *c)
{
	const struct {
		const char *key;
		uint64_t *counter;
	} counters[] = { { "total", &c->total },
			 { "entries", &c->entries },
			 { "exits", &c->exits },
			 { "unpaired_entries", &c->unpaired_entries },
			 { "unpaired_exits", &c->unpaired_exits },
			 { "retries", &c->retries },
			 { "major", &c->major },
			 { "remote", &c->remote } };
	struct json_place at = json_member(up, "faults");
	struct json_object *faults;
	int err = json_get(up, object, "faults", json_type_object, &faults);

	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters) && !err; i++)
		err = json_get_u64(&at, faults, counters[i].key, counters[i].counter);
	if (!err && (c->unpaired_entries > c->entries || c->unpaired_exits > c->exits))
		return json_wrong(&at, "more unpaired than recorded");
	if (!err && (c->major > c->total || c->remote > c->total))
		return json_wrong(&at, "more major or remote faults than faults");
	return err;
}

int json_read_summary(const struct json_place *at, struct json_object *object, bool ns,
		      struct summary *s)
{
	int err = read_counts(at, object, &s->counts);

	return err ? err : read_rows(at, object, ns, s);
}
