// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes what each policy of a sweep is predicted to do: a row a policy, and the data of its plot.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_out.h"
#include "output.h"
#include "sweep_out.h"

struct sweep_row sweep_sum(const char *policy, const struct replay_rows *rows,
			   const struct costs *costs)
{
	struct sweep_row sum = { .policy = policy, .one_fault = NAN };
	struct replay_place p;

	for (unsigned int at = 0; replay_place_at(at, &p); at++) {
		const struct replay_row *row = &rows->row[p.class][p.order][p.level];
		struct predicted_time t;

		sum.recorded += row->recorded_faults;
		sum.predicted += row->predicted_faults;
		sum.waste += row->waste_ptes;
		if (!row->predicted_faults)
			continue;
		t = replay_time(rows, p.class, p.order, p.level, costs);
		sum.time += t.known ? t.value : NAN;
		if (p.class == CLASS_REUSE && p.order && p.order != ORDER_UNKNOWN && t.known)
			sum.one_fault = fmax(sum.one_fault, t.value / row->predicted_faults);
	}
	return sum;
}

static uint64_t saved(const struct sweep_row *row)
{
	return row->recorded > row->predicted ? row->recorded - row->predicted : 0;
}

static struct cell get_policy(const void *row, const struct column *c)
{
	return (struct cell){ .type = CELL_TEXT, .text = ((const struct sweep_row *)row)->policy };
}

static struct cell get_faults(const void *row, const struct column *c)
{
	return (struct cell){ .type = CELL_COUNT,
			      .count = ((const struct sweep_row *)row)->predicted };
}

static struct cell get_saved(const void *row, const struct column *c)
{
	return (struct cell){ .type = CELL_COUNT, .count = saved(row) };
}

static struct cell get_time(const void *row, const struct column *c)
{
	double time = ((const struct sweep_row *)row)->time;

	if (isnan(time))
		return (struct cell){ .type = CELL_UNKNOWN };
	return (struct cell){ .type = CELL_COUNT, .count = time + 0.5 };
}

static struct cell get_one_fault(const void *row, const struct column *c)
{
	return (struct cell){ .type = CELL_REAL,
			      .real = ((const struct sweep_row *)row)->one_fault };
}

static struct cell get_waste(const void *row, const struct column *c)
{
	return (struct cell){ .type = CELL_COUNT, .count = ((const struct sweep_row *)row)->waste };
}

static struct cell get_doubt(const void *row, const struct column *c)
{
	const char *doubt = ((const struct sweep_row *)row)->doubt;

	return (struct cell){ .type = CELL_TEXT, .text = doubt ? doubt : "" };
}

static struct json_object *json_doubt(const void *row, const struct column *c)
{
	return json_text(((const struct sweep_row *)row)->doubt);
}

/* clang-format off */
static const struct column columns[] = {
	{ "policy", "POLICY", "rule that was replayed", COLUMN_LEFT, get_policy, NULL, 0, 0 },
	{ "predicted_faults", "FAULTS", "faults under it", 0, get_faults, NULL, 0, 0 },
	{ "saved_faults", "SAVED", "faults recorded and not predicted", 0, get_saved, NULL, 0, 0 },
	{ "predicted_ns", "TIME", "time of all faults", COLUMN_TIME, get_time, NULL, 0, 0 },
	{ "one_fault_ns", "ONE-FAULT", "mean time of a reuse fault of a large folio", COLUMN_TIME,
	  get_one_fault, NULL, 0, 0 },
	{ "waste_ptes", "WASTE", "PTEs resolved and not touched by the end", 0, get_waste, NULL, 0, 0 },
	{ "doubt", "DOUBT", "what the recording lacks that the row depends on", COLUMN_LEFT, get_doubt,
	  json_doubt, 0, 0 },
};
/* clang-format on */

#define NR_COLUMNS   (sizeof(columns) / sizeof(*columns))
#define TEXT_COLUMNS "policy,predicted_faults,saved_faults,predicted_ns,one_fault_ns,waste_ptes"

const struct column *sweep_columns(size_t *nr)
{
	*nr = NR_COLUMNS;
	return columns;
}

static int write_json(FILE *out, const struct sweep *s)
{
	struct json_object *root = json_document();
	struct json_object *list = json_object_new_array();

	if (!root || !list) {
		json_object_put(root);
		json_object_put(list);
		return -ENOMEM;
	}
	replay_basis_json(root, &s->basis);
	json_object_object_add(root, "sweep", list);
	for (size_t i = 0; i < s->nr; i++)
		json_object_array_add(list, columns_json(columns, NR_COLUMNS, 0, &s->rows[i],
							 s->basis.before->time_is_ns));
	return json_write_document(out, root);
}

int sweep_write(FILE *out, enum format format, const struct sweep *s, const char *list)
{
	bool ns = s->basis.before->time_is_ns;
	struct table *t;
	int err = 0, close_err;

	if (format == FORMAT_JSON)
		return write_json(out, s);
	if (format == FORMAT_TEXT) {
		replay_write_head(out, "sweep", &s->basis);
		if (!list)
			list = s->basis.missing ? TEXT_COLUMNS ",doubt" : TEXT_COLUMNS;
	}
	t = table_open(out, format, columns, NR_COLUMNS, list, ns, !ns);
	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr && !err; i++)
		err = table_row(t, &s->rows[i], ns);
	close_err = table_close(t);
	return err ? err : close_err ? close_err : output_flush(out);
}

/* "window=16" is "16" at a point of the curve. */
static const char *short_name(const struct sweep_row *row)
{
	const char *number = strchr(row->policy, '=');

	return number ? number + 1 : "folio";
}

static bool same_point(const struct sweep_row *a, const struct sweep_row *b)
{
	return a->predicted == b->predicted && a->waste == b->waste;
}

static bool is_timed(const struct sweep *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		if (isnan(s->rows[i].one_fault))
			return false;
	}
	return true;
}

/* One curve: windows that change nothing more are the point of the first, "16+". */
static void write_curve(FILE *out, const struct sweep *s, const char *axis, bool by_time)
{
	fprintf(out, "%s\t\"faults saved\"\n", axis);
	for (size_t i = 0, next; i < s->nr; i = next) {
		const struct sweep_row *row = &s->rows[i];

		for (next = i + 1; next < s->nr && same_point(row, &s->rows[next]);)
			next++;
		fprintf(out, "%.0f\t%" PRIu64 "\t%s%s\n",
			by_time ? row->one_fault : (double)row->waste, saved(row), short_name(row),
			next > i + 1 ? "+" : "");
	}
}

/* Two curves of the same faults saved: against the time of one fault, where known, and waste. */
static void write_curves(FILE *out, const struct sweep *s)
{
	char axis[64];

	if (is_timed(s)) {
		snprintf(axis, sizeof(axis), "time of one reuse fault (%s)",
			 recording_time_unit(s->basis.before));
		write_curve(out, s, axis, true);
		fputs("\n\n", out);
	} else {
		fputs("# no costs were given, so the time of a fault that batches is not known\n",
		      out);
	}
	write_curve(out, s, "PTEs resolved and not touched", false);
}

int sweep_write_plot(const char *dir, const struct sweep *s)
{
	char *path;
	FILE *out;
	int err;

	if (asprintf(&path, "%s/" SWEEP_PLOT ".tsv", dir) < 0)
		return -ENOMEM;
	out = fopen(path, "w");
	err = out ? 0 : -errno;
	if (out) {
		write_curves(out, s);
		err = output_flush(out);
		if (fclose(out) && !err)
			err = -errno;
	}
	if (err && out)
		remove(path);
	free(path);
	return err;
}
