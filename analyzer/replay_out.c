// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes what one policy is predicted to do: a row a class, order and level. */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "json_out.h"
#include "output.h"
#include "replay_out.h"

/* A row as the columns see it. */
struct out_row {
	const struct replay_report *report;
	const struct replay_row *row;
	struct replay_place place;
	struct predicted_time time;
	struct actual actual; /* where there is an AFTER */
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
	return text(fault_class_names[((const struct out_row *)row)->place.class]);
}

static struct cell get_order(const void *row, const struct column *c)
{
	const struct out_row *r = row;

	return r->place.order == ORDER_UNKNOWN ? unknown : count(r->place.order);
}

static struct cell get_size(const void *row, const struct column *c)
{
	const struct out_row *r = row;

	if (r->place.order == ORDER_UNKNOWN)
		return unknown;
	return (struct cell){ .type = CELL_SIZE,
			      .count = (uint64_t)r->report->basis.before->page_size
				       << r->place.order };
}

static struct cell get_level(const void *row, const struct column *c)
{
	return text(fault_level_names[((const struct out_row *)row)->place.level]);
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

static struct cell rounded(bool known, double v)
{
	return known ? count(v + 0.5) : unknown;
}

static struct cell get_predicted_time(const void *row, const struct column *c)
{
	const struct predicted_time *t = &((const struct out_row *)row)->time;

	return rounded(t->known, t->value);
}

static struct cell get_low(const void *row, const struct column *c)
{
	const struct predicted_time *t = &((const struct out_row *)row)->time;

	return rounded(t->known, t->low);
}

static struct cell get_high(const void *row, const struct column *c)
{
	const struct predicted_time *t = &((const struct out_row *)row)->time;

	return rounded(t->known, t->high);
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

	return real(r->time.known && r->row->predicted_faults
			    ? r->time.value / r->row->predicted_faults
			    : NAN);
}

static struct cell get_waste(const void *row, const struct column *c)
{
	return count(((const struct out_row *)row)->row->waste_ptes);
}

static struct cell get_actual_faults(const void *row, const struct column *c)
{
	const struct out_row *r = row;

	return r->report->after ? count(r->actual.faults) : unknown;
}

static struct cell get_actual_time(const void *row, const struct column *c)
{
	const struct out_row *r = row;

	return r->report->after && r->actual.timed ? count(r->actual.time) : unknown;
}

/* predicted / actual - 1, in percent. */
static struct cell percent_off(bool known, double predicted, uint64_t actual)
{
	return real(known && actual ? 100 * (predicted / actual - 1) : NAN);
}

static struct cell get_error(const void *row, const struct column *c)
{
	const struct out_row *r = row;

	return percent_off(r->report->after, r->row->predicted_faults, r->actual.faults);
}

static struct cell get_time_error(const void *row, const struct column *c)
{
	const struct out_row *r = row;

	return percent_off(r->report->after && r->time.known && r->actual.timed, r->time.value,
			   r->actual.time);
}

static enum replay_miss missed(const struct out_row *r)
{
	if (!r->report->after)
		return MISS_NONE;
	return replay_missed(r->place.class, r->row, &r->time, &r->actual);
}

static struct cell get_missed(const void *row, const struct column *c)
{
	static const char *const words[] = { "", "faults", "time" };

	return text(words[missed(row)]);
}

static struct json_object *json_missed(const void *row, const struct column *c)
{
	enum replay_miss miss = missed(row);

	return miss ? json_text(miss == MISS_COUNT ? "faults" : "time") : NULL;
}

/* What the recording lacks makes rows of the classes that depend on it doubtful. */
static const char *doubt(const struct out_row *r)
{
	bool depends = r->place.class == CLASS_REUSE || r->place.class == CLASS_COW ||
		       r->place.class == CLASS_SPURIOUS || r->place.class == CLASS_UNKNOWN;

	return depends ? r->report->basis.missing : NULL;
}

static struct cell get_doubt(const void *row, const struct column *c)
{
	const char *why = doubt(row);

	return text(why ? why : "");
}

static struct json_object *json_doubt(const void *row, const struct column *c)
{
	return json_text(doubt(row));
}

static struct json_object *json_interval(const void *row, const struct column *c)
{
	const struct predicted_time *t = &((const struct out_row *)row)->time;
	struct json_object *list;

	if (!t->known)
		return NULL;
	list = json_object_new_array();
	json_object_array_add(list, json_object_new_int64(t->low + 0.5));
	json_object_array_add(list, json_object_new_int64(t->high + 0.5));
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
	{ "time_error_percent", "T-ERROR-%", "predicted against actual time", 0, get_time_error,
	  NULL, 0, 0 },
	{ "missed", "MISSED", "faults: off by more than 0.5 % and one fault; time: not in its interval",
	  COLUMN_LEFT, get_missed, json_missed, 0, 0 },
	{ "doubt", "DOUBT", "what the recording lacks that the row depends on", COLUMN_LEFT, get_doubt,
	  json_doubt, 0, 0 },
};
/* clang-format on */

#define TEXT_COLUMNS                                                      \
	"class,order,folio_bytes,level,recorded_faults,predicted_faults," \
	"recorded_faults_per_pte,predicted_faults_per_pte,recorded_ns,"   \
	"predicted_ns,recorded_mean_ns,predicted_mean_ns,waste_ptes"
#define TEXT_INTERVALS                                                    \
	"class,order,folio_bytes,level,recorded_faults,predicted_faults," \
	"recorded_ns,predicted_ns,predicted_low_ns,predicted_high_ns,"    \
	"predicted_mean_ns,waste_ptes"
#define TEXT_VALIDATE                                                            \
	"class,order,folio_bytes,level,recorded_faults,predicted_faults,"        \
	"actual_faults,error_percent,recorded_ns,predicted_ns,predicted_low_ns," \
	"predicted_high_ns,actual_ns,time_error_percent,missed"
#define TEXT_DOUBT ",doubt"

const struct column *replay_columns(size_t *nr)
{
	*nr = sizeof(columns) / sizeof(*columns);
	return columns;
}

static bool is_shown(const struct out_row *r)
{
	return r->row->recorded_faults || r->row->predicted_faults || r->actual.faults;
}

/* Go through the rows that have something. Returns false at the end. */
static bool next_row(const struct replay_report *report, struct out_row *r, unsigned int *at)
{
	struct replay_place p;

	while (replay_place_at((*at)++, &p)) {
		*r = (struct out_row){ .report = report,
				       .row = &report->rows->row[p.class][p.order][p.level],
				       .place = p };
		if (report->after)
			r->actual = replay_actual(report->after, p.class, p.order, p.level);
		r->actual.timed = r->actual.timed && report->after_is_timed;
		if (!is_shown(r))
			continue;
		r->time = replay_time(report->rows, p.class, p.order, p.level, report->cost);
		return true;
	}
	return false;
}

void replay_write_head(FILE *out, const char *what, const struct replay_basis *basis)
{
	text_write(out, what);
	fputs(" on ", out);
	text_write(out, basis->before->file);
	fprintf(out, "; stale TLB: %s assumed; ", basis->stale_tlb);
	if (basis->costs) {
		fputs("costs from ", out);
		text_write(out, basis->costs);
		putc('\n', out);
	} else {
		fputs("no costs: counts, and times only where nothing is batched\n", out);
	}
}

void replay_basis_json(struct json_object *root, const struct replay_basis *basis)
{
	json_object_object_add(root, "stale_tlb", json_text(basis->stale_tlb));
	json_object_object_add(root, "costs", json_text(basis->costs));
	json_object_object_add(root, "missing", json_text(basis->missing));
}

static int write_json(FILE *out, const struct replay_report *report)
{
	struct json_object *root = json_document();
	struct json_object *list = json_object_new_array();
	struct out_row r;

	if (!root || !list) {
		json_object_put(root);
		json_object_put(list);
		return -ENOMEM;
	}
	json_object_object_add(root, "policy", json_text(report->policy));
	replay_basis_json(root, &report->basis);
	json_object_object_add(root, "validate",
			       json_text(report->after ? report->after->file : NULL));
	json_object_object_add(root, "rows", list);
	for (unsigned int at = 0; next_row(report, &r, &at);)
		json_object_array_add(list,
				      columns_json(columns, sizeof(columns) / sizeof(*columns), 0,
						   &r, report->basis.before->time_is_ns));
	return json_write_document(out, root);
}

/* Where there are costs there is an interval; 100 columns have no room for all. */
static const char *text_columns(const struct replay_report *report)
{
	if (report->after)
		return report->basis.missing ? TEXT_VALIDATE TEXT_DOUBT : TEXT_VALIDATE;
	if (report->basis.costs)
		return report->basis.missing ? TEXT_INTERVALS TEXT_DOUBT : TEXT_INTERVALS;
	return report->basis.missing ? TEXT_COLUMNS TEXT_DOUBT : TEXT_COLUMNS;
}

int replay_write(FILE *out, enum format format, const struct replay_report *report,
		 const char *list)
{
	bool ns = report->basis.before->time_is_ns;
	struct out_row r;
	struct table *t;
	int err = 0, close_err;

	if (format == FORMAT_JSON)
		return write_json(out, report);
	if (format == FORMAT_TEXT) {
		fputs("policy ", out);
		replay_write_head(out, report->policy, &report->basis);
		if (report->unvalidated) {
			fputs("not validated against ", out);
			text_write(out, report->unvalidated);
			putc('\n', out);
		}
		if (!list)
			list = text_columns(report);
	}
	t = table_open(out, format, columns, sizeof(columns) / sizeof(*columns), list, ns, !ns);
	if (!t)
		return -ENOMEM;
	for (unsigned int at = 0; !err && next_row(report, &r, &at);)
		err = table_row(t, &r, ns);
	close_err = table_close(t);
	return err ? err : close_err ? close_err : output_flush(out);
}

struct replay_misses replay_count_misses(const struct replay_report *report)
{
	struct replay_misses misses = { 0 };
	struct out_row r;

	for (unsigned int at = 0; next_row(report, &r, &at);) {
		misses.counts += missed(&r) == MISS_COUNT;
		misses.times += missed(&r) == MISS_TIME;
	}
	return misses;
}
