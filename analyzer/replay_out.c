// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes what a replay predicts: rows of one policy, or one row for each policy of a sweep. */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "json_out.h"
#include "output.h"
#include "replay_out.h"

#define COUNT_TOLERANCE 0.005

/* A row as the columns see it. */
struct out_row {
	const struct replay_report *report;
	const struct replay_row *row;
	unsigned int class, order, level;
};

static struct cell count(uint64_t n)
{
	return (struct cell){ .type = CELL_COUNT, .count = n };
}

static struct cell real(double v)
{
	return (struct cell){ .type = isnan(v) ? CELL_UNKNOWN : CELL_REAL, .real = v };
}

static struct cell text(const char *s)
{
	return (struct cell){ .type = CELL_TEXT, .text = s };
}

static const struct cell unknown = { .type = CELL_UNKNOWN };

static struct cell get_class(const void *row, const struct column *c)
{
	return text(fault_class_names[((const struct out_row *)row)->class]);
}

static struct cell get_order(const void *row, const struct column *c)
{
	const struct out_row *r = row;

	return r->order == ORDER_UNKNOWN ? unknown : count(r->order);
}

static struct cell get_size(const void *row, const struct column *c)
{
	const struct out_row *r = row;

	if (r->order == ORDER_UNKNOWN)
		return unknown;
	return (struct cell){ .type = CELL_SIZE,
			      .count = (uint64_t)r->report->before->page_size << r->order };
}

static struct cell get_level(const void *row, const struct column *c)
{
	return text(fault_level_names[((const struct out_row *)row)->level]);
}

static struct cell get_recorded_faults(const void *row, const struct column *c)
{
	return count(((const struct out_row *)row)->row->recorded_faults);
}

static struct cell get_predicted_faults(const void *row, const struct column *c)
{
	return count(((const struct out_row *)row)->row->predicted_faults);
}

static struct cell get_recorded_per_pte(const void *row, const struct column *c)
{
	const struct replay_row *r = ((const struct out_row *)row)->row;

	return real(r->recorded_ptes ? (double)r->recorded_faults / r->recorded_ptes : NAN);
}

static struct cell get_predicted_per_pte(const void *row, const struct column *c)
{
	const struct replay_row *r = ((const struct out_row *)row)->row;

	return real(r->predicted_ptes ? (double)r->predicted_faults / r->predicted_ptes : NAN);
}

static struct cell get_recorded_time(const void *row, const struct column *c)
{
	const struct replay_row *r = ((const struct out_row *)row)->row;

	return r->recorded_untimed ? unknown : count(r->recorded_time);
}

static struct predicted_time time_of(const struct out_row *r)
{
	return replay_time(r->report->rows, r->class, r->order, r->level, r->report->cost);
}

static struct cell rounded(bool known, double v)
{
	return known ? count(v + 0.5) : unknown;
}

static struct cell get_predicted_time(const void *row, const struct column *c)
{
	struct predicted_time t = time_of(row);

	return rounded(t.known, t.value);
}

static struct cell get_low(const void *row, const struct column *c)
{
	struct predicted_time t = time_of(row);

	return rounded(t.known, t.low);
}

static struct cell get_high(const void *row, const struct column *c)
{
	struct predicted_time t = time_of(row);

	return rounded(t.known, t.high);
}

static struct cell get_recorded_mean(const void *row, const struct column *c)
{
	const struct replay_row *r = ((const struct out_row *)row)->row;

	return real(r->recorded_faults && !r->recorded_untimed
			    ? (double)r->recorded_time / r->recorded_faults
			    : NAN);
}

static struct cell get_predicted_mean(const void *row, const struct column *c)
{
	const struct out_row *r = row;
	struct predicted_time t = time_of(r);

	return real(t.known && r->row->predicted_faults ? t.value / r->row->predicted_faults : NAN);
}

static struct cell get_waste(const void *row, const struct column *c)
{
	return count(((const struct out_row *)row)->row->waste_ptes);
}

struct actual {
	uint64_t faults, time;
	bool timed;
};

/* What the other recording has of this class, order and level. */
static struct actual actual_of(const struct out_row *r)
{
	struct actual a = { .timed = true };
	const struct summary *s = &r->report->after->summary;

	for (size_t i = 0; i < s->nr_rows; i++) {
		const struct summary_row *row = s->rows[i];

		if (row->key.class != r->class || row->key.order != r->order ||
		    row->key.level != r->level)
			continue;
		a.faults += row->faults;
		a.time += row->latency.sum;
		a.timed = a.timed && row->latency.count == row->faults;
	}
	return a;
}

static struct cell get_actual_faults(const void *row, const struct column *c)
{
	const struct out_row *r = row;

	return r->report->after ? count(actual_of(r).faults) : unknown;
}

static struct cell get_actual_time(const void *row, const struct column *c)
{
	const struct out_row *r = row;
	struct actual a;

	if (!r->report->after)
		return unknown;
	a = actual_of(r);
	return a.timed ? count(a.time) : unknown;
}

/* predicted / actual - 1, in percent. */
static struct cell get_error(const void *row, const struct column *c)
{
	const struct out_row *r = row;
	uint64_t actual = r->report->after ? actual_of(r).faults : 0;

	return real(actual ? 100.0 * ((double)r->row->predicted_faults / actual - 1) : NAN);
}

static struct json_object *json_interval(const void *row, const struct column *c)
{
	struct predicted_time t = time_of(row);
	struct json_object *list;

	if (!t.known)
		return NULL;
	list = json_object_new_array();
	json_object_array_add(list, json_object_new_int64(t.low + 0.5));
	json_object_array_add(list, json_object_new_int64(t.high + 0.5));
	return list;
}

/* clang-format off */
static const struct column columns[] = {
	{ "class", "CLASS", "what the faults were for", COLUMN_LEFT, get_class, NULL, 0, 0 },
	{ "order", "ORDER", "order of the folio", 0, get_order, NULL, 0, 0 },
	{ "folio_bytes", "SIZE", "bytes of the folio", COLUMN_NO_JSON, get_size, NULL, 0, 0 },
	{ "level", "LEVEL", "page table level: pte or pmd", COLUMN_LEFT, get_level, NULL, 0, 0 },
	{ "recorded_faults", "FAULTS", "faults recorded", 0, get_recorded_faults, NULL, 0, 0 },
	{ "predicted_faults", "PREDICTED", "faults under the policy", 0, get_predicted_faults, NULL,
	  0, 0 },
	{ "recorded_faults_per_pte", "F/PTE", "recorded faults / PTEs", 0, get_recorded_per_pte,
	  NULL, 0, 0 },
	{ "predicted_faults_per_pte", "PRED-F/PTE", "predicted faults / PTEs", 0,
	  get_predicted_per_pte, NULL, 0, 0 },
	{ "recorded_ns", "TIME", "sum of latencies recorded", COLUMN_TIME, get_recorded_time, NULL,
	  0, 0 },
	{ "predicted_ns", "PRED-TIME", "the same under the policy", COLUMN_TIME, get_predicted_time,
	  NULL, 0, 0 },
	{ "predicted_ns_interval", NULL, NULL, COLUMN_JSON_ONLY, NULL, json_interval, 0, 0 },
	{ "predicted_low_ns", "PRED-LOW", "lower end of its interval", COLUMN_TIME | COLUMN_NO_JSON,
	  get_low, NULL, 0, 0 },
	{ "predicted_high_ns", "PRED-HIGH", "upper end of its interval",
	  COLUMN_TIME | COLUMN_NO_JSON, get_high, NULL, 0, 0 },
	{ "recorded_mean_ns", "MEAN", "recorded time of a fault", COLUMN_TIME, get_recorded_mean,
	  NULL, 0, 0 },
	{ "predicted_mean_ns", "PRED-MEAN", "predicted time of a fault", COLUMN_TIME,
	  get_predicted_mean, NULL, 0, 0 },
	{ "waste_ptes", "WASTE", "PTEs resolved under the policy and not touched by the end", 0,
	  get_waste, NULL, 0, 0 },
	{ "actual_faults", "ACTUAL", "faults of the recording to validate against", 0,
	  get_actual_faults, NULL, 0, 0 },
	{ "actual_ns", "ACT-TIME", "its sum of latencies", COLUMN_TIME, get_actual_time, NULL, 0, 0 },
	{ "error_percent", "ERROR-%", "predicted against actual faults", 0, get_error, NULL, 0, 0 },
};
/* clang-format on */

#define TEXT_COLUMNS                                                      \
	"class,order,folio_bytes,level,recorded_faults,predicted_faults," \
	"predicted_faults_per_pte,recorded_ns,predicted_ns,predicted_mean_ns,waste_ptes"
#define TEXT_VALIDATE ",actual_faults,actual_ns,error_percent"

const struct column *replay_columns(size_t *nr)
{
	*nr = sizeof(columns) / sizeof(*columns);
	return columns;
}

static bool is_shown(const struct out_row *r)
{
	return r->row->recorded_faults || r->row->predicted_faults ||
	       (r->report->after && actual_of(r).faults);
}

/* Go through the rows that have something. Returns false at the end. */
static bool next_row(const struct replay_report *report, struct out_row *r, unsigned int *at)
{
	for (; *at < NR_CLASSES * NR_ORDERS * NR_LEVELS; ++*at) {
		r->report = report;
		r->class = *at / (NR_ORDERS * NR_LEVELS);
		r->order = *at / NR_LEVELS % NR_ORDERS;
		r->level = *at % NR_LEVELS;
		r->row = &report->rows->row[r->class][r->order][r->level];
		if (!is_shown(r))
			continue;
		++*at;
		return true;
	}
	return false;
}

/* Write and free the whole document, a line. */
static int write_document(FILE *out, struct json_object *root)
{
	int err = json_write(out, root);

	if (!err)
		putc('\n', out);
	return err ? err : output_flush(out);
}

static int write_json(FILE *out, const struct replay_report *report)
{
	struct json_object *root = json_object_new_object();
	struct json_object *list = json_object_new_array();
	struct out_row r;

	if (!root || !list) {
		json_object_put(root);
		json_object_put(list);
		return -ENOMEM;
	}
	json_object_object_add(root, "schema", json_object_new_string(REPORT_SCHEMA));
	json_object_object_add(root, "policy", json_text(report->policy));
	json_object_object_add(root, "stale_tlb", json_text(report->stale_tlb));
	json_object_object_add(root, "costs", json_text(report->costs));
	json_object_object_add(root, "rows", list);
	for (unsigned int at = 0; next_row(report, &r, &at);)
		json_object_array_add(list,
				      columns_json(columns, sizeof(columns) / sizeof(*columns), 0,
						   &r, report->before->time_is_ns));
	return write_document(out, root);
}

static void write_head(FILE *out, const struct replay_report *report)
{
	fputs("policy ", out);
	text_write(out, report->policy);
	fputs(" on ", out);
	text_write(out, report->before->file);
	fprintf(out, "; stale TLB: %s assumed; ", report->stale_tlb);
	if (report->costs) {
		fputs("costs from ", out);
		text_write(out, report->costs);
		putc('\n', out);
	} else {
		fputs("no costs given: counts, and times only where nothing is batched\n", out);
	}
}

int replay_write(FILE *out, enum format format, const struct replay_report *report,
		 const char *list)
{
	bool ns = report->before->time_is_ns;
	struct out_row r;
	struct table *t;
	int err = 0, close_err;

	if (format == FORMAT_JSON)
		return write_json(out, report);
	if (format == FORMAT_TEXT) {
		write_head(out, report);
		if (!list)
			list = report->after ? TEXT_COLUMNS TEXT_VALIDATE : TEXT_COLUMNS;
	}
	t = table_open(out, format, columns, sizeof(columns) / sizeof(*columns), list, ns, !ns);
	if (!t)
		return -ENOMEM;
	for (unsigned int at = 0; !err && next_row(report, &r, &at);)
		err = table_row(t, &r, ns);
	close_err = table_close(t);
	return err ? err : close_err ? close_err : output_flush(out);
}

struct replay_miss replay_compare(const struct replay_report *report)
{
	struct replay_miss miss = { 0 };
	struct out_row r;

	for (unsigned int at = 0; next_row(report, &r, &at);) {
		struct actual a = actual_of(&r);
		double off = fabs((double)r.row->predicted_faults - a.faults);
		struct predicted_time t = time_of(&r);

		/* what the recording cannot tell is not predicted either */
		if (r.class == CLASS_UNKNOWN)
			continue;
		if (off > 1 && off > COUNT_TOLERANCE * a.faults)
			miss.counts++;
		else if (report->costs && t.known && a.timed && t.high > t.low &&
			 (a.time < t.low || a.time > t.high))
			miss.times++;
	}
	return miss;
}

/* --- the sweep --- */

/* Sums over classes and orders of one policy. */
struct sweep_sum {
	uint64_t recorded, predicted, waste;
	double time, worst; /* of all faults; of the mean fault of the costliest class and order */
	bool timed;
};

static struct sweep_sum sum_rows(const struct sweep_row *s)
{
	struct sweep_sum sum = { .timed = true };

	for (unsigned int at = 0; at < NR_CLASSES * NR_ORDERS * NR_LEVELS; at++) {
		unsigned int class = at / (NR_ORDERS * NR_LEVELS);
		unsigned int order = at / NR_LEVELS % NR_ORDERS, level = at % NR_LEVELS;
		const struct replay_row *row = &s->rows->row[class][order][level];
		struct predicted_time t;

		sum.recorded += row->recorded_faults;
		sum.predicted += row->predicted_faults;
		sum.waste += row->waste_ptes;
		if (!row->predicted_faults)
			continue;
		t = replay_time(s->rows, class, order, level, s->cost);
		sum.timed = sum.timed && t.known;
		sum.time += t.value;
		if (row->batches && t.known)
			sum.worst = fmax(sum.worst, t.value / row->predicted_faults);
	}
	return sum;
}

static struct cell get_sweep_policy(const void *row, const struct column *c)
{
	return text(((const struct sweep_row *)row)->policy);
}

static struct cell get_sweep_faults(const void *row, const struct column *c)
{
	return count(sum_rows(row).predicted);
}

static struct cell get_sweep_saved(const void *row, const struct column *c)
{
	struct sweep_sum s = sum_rows(row);

	return count(s.recorded > s.predicted ? s.recorded - s.predicted : 0);
}

static struct cell get_sweep_time(const void *row, const struct column *c)
{
	struct sweep_sum s = sum_rows(row);

	return rounded(s.timed, s.time);
}

static struct cell get_sweep_worst(const void *row, const struct column *c)
{
	struct sweep_sum s = sum_rows(row);

	return real(s.timed && s.worst > 0 ? s.worst : NAN);
}

static struct cell get_sweep_waste(const void *row, const struct column *c)
{
	return count(sum_rows(row).waste);
}

/* clang-format off */
static const struct column sweep_list[] = {
	{ "policy", "POLICY", "rule that was replayed", COLUMN_LEFT, get_sweep_policy, NULL, 0, 0 },
	{ "predicted_faults", "FAULTS", "faults under it", 0, get_sweep_faults, NULL, 0, 0 },
	{ "saved_faults", "SAVED", "faults recorded and not predicted", 0, get_sweep_saved, NULL, 0, 0 },
	{ "predicted_ns", "TIME", "time of all faults", COLUMN_TIME, get_sweep_time, NULL, 0, 0 },
	{ "batched_fault_ns", "ONE-FAULT", "mean time of the costliest kind of fault that batches",
	  COLUMN_TIME, get_sweep_worst, NULL, 0, 0 },
	{ "waste_ptes", "WASTE", "PTEs resolved and not touched by the end", 0, get_sweep_waste, NULL,
	  0, 0 },
};
/* clang-format on */

const struct column *sweep_columns(size_t *nr)
{
	*nr = sizeof(sweep_list) / sizeof(*sweep_list);
	return sweep_list;
}

static int sweep_json(FILE *out, const struct sweep_row *rows, size_t nr)
{
	struct json_object *root = json_object_new_object();
	struct json_object *list = json_object_new_array();

	if (!root || !list) {
		json_object_put(root);
		json_object_put(list);
		return -ENOMEM;
	}
	json_object_object_add(root, "schema", json_object_new_string(REPORT_SCHEMA));
	json_object_object_add(root, "sweep", list);
	for (size_t i = 0; i < nr; i++)
		json_object_array_add(list, columns_json(sweep_list,
							 sizeof(sweep_list) / sizeof(*sweep_list),
							 0, &rows[i], rows[i].ns));
	return write_document(out, root);
}

int sweep_write(FILE *out, enum format format, const struct sweep_row *rows, size_t nr,
		const struct recording *before, const char *list)
{
	bool ns = before->time_is_ns;
	struct table *t;
	int err = 0, close_err;

	if (format == FORMAT_JSON)
		return sweep_json(out, rows, nr);
	t = table_open(out, format, sweep_list, sizeof(sweep_list) / sizeof(*sweep_list), list, ns,
		       !ns);
	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < nr && !err; i++)
		err = table_row(t, &rows[i], ns);
	close_err = table_close(t);
	return err ? err : close_err ? close_err : output_flush(out);
}
