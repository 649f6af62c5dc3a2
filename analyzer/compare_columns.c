// SPDX-License-Identifier: GPL-2.0-or-later
/* The columns of a comparison, for TSV, CSV and JSON. */
#include <json-c/json.h>
#include <math.h>

#include "compare_out.h"
#include "json_out.h"

enum which {
	C_ARCH,
	C_LABEL,
	C_CLASS,
	C_FROM,
	C_ORDER,
	C_LEVEL,
	C_METRIC,
	C_BEFORE,
	C_AFTER,
	C_CHANGE,
	C_LOW,
	C_HIGH,
	C_RUNS_BEFORE,
	C_RUNS_AFTER,
	C_P,
	C_EXACT,
	C_VERDICT
};

static const struct compare_block *block_of(const struct compare_cell_row *r)
{
	return &r->c->blocks[r->row->block];
}

static struct cell text(const char *words)
{
	return (struct cell){ .type = CELL_TEXT, .text = words };
}

static struct cell count(uint64_t n)
{
	return (struct cell){ .type = CELL_COUNT, .count = n };
}

/* Counts stay whole numbers: half a fault is the median of an even number of runs. */
static struct cell figure(double value)
{
	if (value >= 0 && value < 0x1p53 && value == floor(value))
		return count(value);
	return (struct cell){ .type = CELL_REAL, .real = value };
}

static struct cell percent(double part)
{
	return (struct cell){ .type = CELL_REAL, .real = 100 * part };
}

static struct cell get_key(const struct compare_row *row, enum which which)
{
	bool any = row->key.class == CLASS_ANY;

	switch (which) {
	case C_CLASS:
		return text(any ? NULL : fault_class_names[row->key.class]);
	case C_FROM:
		return text(any ? NULL : cow_from_names[row->key.from]);
	case C_LEVEL:
		return text(any ? NULL : fault_level_names[row->key.level]);
	default:
		if (row->key.order == ORDER_UNKNOWN)
			return (struct cell){ .type = CELL_UNKNOWN };
		return count(row->key.order);
	}
}

/* The metric's path in the contract; valid until the next call. */
static const char *metric_path(const struct compare_cell_row *r)
{
	static _Thread_local char key[KEY_MAX];

	column_key(key, r->row->metric, block_of(r)->ns);
	return key;
}

/* Exact figures have a range, but no interval of confidence. */
static bool has_interval(const struct compare_cell_row *r)
{
	return !block_of(r)->exact && !isnan(r->row->low);
}

static struct cell get(const void *data, const struct column *column)
{
	const struct compare_cell_row *r = data;
	const struct compare_row *row = r->row;

	switch ((enum which)column->which) {
	case C_ARCH:
		return text(block_of(r)->arch);
	case C_LABEL:
		return text(row->label);
	case C_CLASS:
	case C_FROM:
	case C_ORDER:
	case C_LEVEL:
		return get_key(row, column->which);
	case C_METRIC:
		return text(metric_path(r));
	case C_BEFORE:
		return figure(row->value[BEFORE]);
	case C_AFTER:
		return figure(row->value[AFTER]);
	case C_CHANGE:
		return percent(row->change);
	case C_LOW:
		return percent(has_interval(r) ? row->low : NAN);
	case C_HIGH:
		return percent(has_interval(r) ? row->high : NAN);
	case C_RUNS_BEFORE:
		return count(row->runs[BEFORE]);
	case C_RUNS_AFTER:
		return count(row->runs[AFTER]);
	case C_P:
		return (struct cell){ .type = CELL_REAL, .real = row->p };
	case C_EXACT:
		return (struct cell){ .type = CELL_BOOL, .yes = block_of(r)->exact };
	case C_VERDICT:
		return text(verdict_names[row->verdict]);
	}
	return (struct cell){ .type = CELL_UNKNOWN };
}

static struct json_object *pair(struct json_object *first, struct json_object *second)
{
	struct json_object *list = json_object_new_array();

	if (list) {
		json_object_array_add(list, first);
		json_object_array_add(list, second);
	}
	return list;
}

static struct json_object *json_interval(const void *data, const struct column *column)
{
	const struct compare_cell_row *r = data;

	if (!has_interval(r))
		return NULL;
	return pair(json_real(100 * r->row->low), json_real(100 * r->row->high));
}

static struct json_object *json_runs(const void *data, const struct column *column)
{
	const struct compare_row *row = ((const struct compare_cell_row *)data)->row;

	return pair(json_object_new_uint64(row->runs[BEFORE]),
		    json_object_new_uint64(row->runs[AFTER]));
}

/* clang-format off */
static const struct column list[] = {
	{ "arch", "", "machine, as uname -m", COLUMN_LEFT, get, NULL, 0, C_ARCH },
	{ "group", "", "task or mm, where split by it", COLUMN_LEFT, get, NULL, 0, C_LABEL },
	{ "class", "", "what the faults were for", COLUMN_LEFT, get, NULL, 0, C_CLASS },
	{ "from", "", "what a cow copied from", COLUMN_LEFT, get, NULL, 0, C_FROM },
	{ "order", "", "order of the folio", 0, get, NULL, 0, C_ORDER },
	{ "level", "", "page table level", COLUMN_LEFT, get, NULL, 0, C_LEVEL },
	{ "metric", "", "path of the figure in a report", COLUMN_LEFT, get, NULL, 0, C_METRIC },
	{ "before", "", "median of the runs before", 0, get, NULL, 0, C_BEFORE },
	{ "after", "", "median of the runs after", 0, get, NULL, 0, C_AFTER },
	{ "change_percent", "", "Hodges-Lehmann, of logarithms", 0, get, NULL, 0, C_CHANGE },
	{ "ci95_low_percent", "", "interval of the change", COLUMN_NO_JSON, get, NULL, 0, C_LOW },
	{ "ci95_high_percent", "", "its upper end", COLUMN_NO_JSON, get, NULL, 0, C_HIGH },
	{ "ci95_percent", NULL, NULL, COLUMN_JSON_ONLY, NULL, json_interval, 0, 0 },
	{ "runs_before", "", "runs that know the figure", COLUMN_NO_JSON, get, NULL, 0,
	  C_RUNS_BEFORE },
	{ "runs_after", "", "likewise after", COLUMN_NO_JSON, get, NULL, 0, C_RUNS_AFTER },
	{ "runs", NULL, NULL, COLUMN_JSON_ONLY, NULL, json_runs, 0, 0 },
	{ "p", "", "Mann-Whitney, corrected after Holm", 0, get, NULL, 0, C_P },
	{ "exact", "", "times are counts of instructions", 0, get, NULL, 0, C_EXACT },
	{ "verdict", "", "improvement, regression, same, inconclusive, insufficient", COLUMN_LEFT, get, NULL,
	  0, C_VERDICT },
};
/* clang-format on */

const struct column *compare_columns(size_t *nr)
{
	*nr = sizeof(list) / sizeof(*list);
	return list;
}
