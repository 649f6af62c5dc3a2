// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes reports: what is known of each recording, then its rows; JSON by the contract. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "json_out.h"
#include "output.h"

/*
 * In text a report is two tables of the same rows, so that all of it fits a terminal. Where rows
 * would look the same, what tells them apart is shown, too.
 */
#define TEXT_COUNTS                                                                    \
	"level,evidence,faults,folios,ptes,ptes_touched,ptes_resolved,faults_per_pte," \
	"ptes_per_fault.p50"
#define TEXT_TIMES                                                                           \
	"level,latency_ns.p50,latency_ns.p90,latency_ns.p99,latency_ns.max,latency_ns.mean," \
	"latency_ns.sum,per_folio_latency_ns.p50,per_folio_latency_ns.max,ns_per_pte"
#define TEXT_WIDTH     80
#define TEXT_ROW       "class,order,folio_bytes,"
#define TEXT_ROW_SPLIT "class,from,source,order,folio_bytes,"

/* The head of a recording in text. */

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void write_known(FILE *out, const char *before, const char *text, const char *after)
{
	fputs(before, out);
	text_write(out, text ? text : "unknown");
	fputs(after, out);
}

/* The list in lines of a terminal's width. */
static void write_probes(FILE *out, const struct recording *r)
{
	size_t column = strlen("  probes");

	if (!r->nr_probes)
		return;
	fputs("  probes", out);
	for (size_t i = 0; i < r->nr_probes; i++) {
		size_t width = strlen(r->probes[i]) + 2;

		if (column + width > TEXT_WIDTH) {
			fputs("\n        ", out);
			column = strlen("        ");
		}
		write_known(out, " ", r->probes[i], i + 1 < r->nr_probes ? "," : "");
		column += width;
	}
	putc('\n', out);
}

static void write_origin(FILE *out, const struct recording *r)
{
	write_known(out, "  kernel ", r->kernel, ", ");
	write_known(out, "", r->arch, " machine");
	if (r->page_size)
		fprintf(out, ", pages of %" PRIu32 " bytes", r->page_size);
	fprintf(out, ", %" PRIu32 " CPU%s\n", r->cpus, plural(r->cpus));
	write_known(out, "  clock ", r->clock, ", times in ");
	fprintf(out, "%s%s\n", recording_time_unit(r),
		r->exact ? "; it counts instructions, so they are exact" : "");
	write_probes(out, r);
}

static void write_events(FILE *out, const struct recording *r)
{
	fprintf(out, "  %" PRIu64 " event%s in ", r->events, plural(r->events));
	if (r->time_is_ns)
		fprintf(out, "%" PRIu64 ".%09" PRIu64 " s", r->duration / 1000000000,
			r->duration % 1000000000);
	else
		fprintf(out, "%" PRIu64 " %s", r->duration, recording_time_unit(r));
	fprintf(out, ", %" PRIu64 " lost", r->lost_events);
	if (r->lost_uncounted)
		fprintf(out, ", and an unknown number more in %" PRIu64 " place%s",
			r->lost_uncounted, plural(r->lost_uncounted));
	if (r->unknown_events)
		fprintf(out, ", %" PRIu64 " of unknown ids", r->unknown_events);
	putc('\n', out);
}

static void write_faults(FILE *out, const struct recording *r)
{
	const struct fault_counts *c = &r->summary.counts;

	fprintf(out,
		"  %" PRIu64 " entries and %" PRIu64 " exits of faults, unpaired %" PRIu64
		" and %" PRIu64 ", %" PRIu64 " retr%s merged\n",
		c->entries, c->exits, c->unpaired_entries, c->unpaired_exits, c->retries,
		c->retries == 1 ? "y" : "ies");
	fprintf(out, "  %" PRIu64 " fault%s counted: %" PRIu64 " major, %" PRIu64 " remote\n",
		c->total, plural(c->total), c->major, c->remote);
	if (r->unmatched_exceptions)
		fprintf(out,
			"  %" PRIu64 " page-fault exception%s that never entered handle_mm_fault\n",
			r->unmatched_exceptions, plural(r->unmatched_exceptions));
}

static void write_damage(FILE *out, const struct damages *d)
{
	size_t kept = damages_kept(d);

	for (size_t i = 0; i < kept; i++) {
		fprintf(out, "  damaged at byte %" PRIu64 ": ", d->list[i].offset);
		text_write(out, d->list[i].reason);
		putc('\n', out);
	}
	if (d->nr > kept)
		fprintf(out, "  damaged in %" PRIu64 "%s place%s\n", d->nr - kept,
			kept ? " more" : "", plural(d->nr - kept));
}

static void write_filters(FILE *out, const struct output_options *opt)
{
	if (!opt->nr_filters)
		return;
	fputs("  counted only:", out);
	for (size_t i = 0; i < opt->nr_filters; i++) {
		fprintf(out, "%s %s ", i ? "," : "", opt->filters[i].name);
		text_write(out, opt->filters[i].value);
	}
	putc('\n', out);
}

static bool has_latency(const struct summary *s)
{
	for (size_t i = 0; i < s->nr_rows; i++)
		if (s->rows[i]->latency.count)
			return true;
	return false;
}

static bool row_exact(const struct summary_row *r)
{
	return hist_exact(&r->latency) && hist_exact(&r->per_folio_latency) &&
	       hist_exact(&r->time_to_complete) && hist_exact(&r->ptes_per_fault);
}

static void write_quality(FILE *out, const struct summary *s)
{
	size_t bucketed = 0;

	for (size_t i = 0; i < s->nr_rows; i++)
		bucketed += !row_exact(s->rows[i]);
	if (!s->nr_rows)
		fputs("  no faults\n", out);
	else if (bucketed)
		fprintf(out,
			"  percentiles of %zu row%s come from buckets: at most 1 %% above the exact "
			"ones\n",
			bucketed, plural(bucketed));
	else
		fputs("  percentiles are exact\n", out);
}

static void write_head(FILE *out, const struct recording *r, const struct output_options *opt)
{
	write_known(out, "", r->file, "\n");
	write_origin(out, r);
	write_events(out, r);
	write_damage(out, &r->damages);
	write_faults(out, r);
	write_filters(out, opt);
}

static void write_total_head(FILE *out, const struct recording *total, size_t nr)
{
	fprintf(out, "total of %zu recordings\n", nr);
	write_events(out, total);
	write_damage(out, &total->damages);
	write_faults(out, total);
}

/* The rows of a recording in text. */

static bool same_looking(const struct fault_key *a, const struct fault_key *b)
{
	return a->class == b->class && a->order == b->order && a->level == b->level &&
	       a->evidence == b->evidence;
}

static bool rows_need_splitting(const struct summary *s)
{
	for (size_t i = 0; i < s->nr_rows; i++)
		for (size_t j = i + 1; j < s->nr_rows; j++)
			if (same_looking(&s->rows[i]->key, &s->rows[j]->key))
				return true;
	return false;
}

static int add_rows(struct table *t, const struct recording *rec, size_t number)
{
	struct report_row row = { .rec = rec, .number = number };
	int err = 0;

	for (size_t i = 0; i < rec->summary.nr_rows && !err; i++) {
		row.row = rec->summary.rows[i];
		err = table_row(t, &row, rec->time_is_ns);
	}
	return err;
}

static int write_text_table(FILE *out, const struct recording *rec, size_t number, const char *list)
{
	const struct column *columns;
	struct table *t;
	int err, close_err;
	size_t nr;

	columns = report_columns(&nr);
	t = table_open(out, FORMAT_TEXT, columns, nr, list, rec->time_is_ns, !rec->time_is_ns);
	if (!t)
		return -ENOMEM;
	err = add_rows(t, rec, number);
	close_err = table_close(t);
	return err ? err : close_err;
}

static int write_text_rows(FILE *out, const struct recording *rec, size_t number,
			   const struct output_options *opt)
{
	bool split = rows_need_splitting(&rec->summary);
	int err;

	write_quality(out, &rec->summary);
	if (!rec->summary.nr_rows)
		return output_error(out);
	putc('\n', out);
	if (opt->columns)
		return write_text_table(out, rec, number, opt->columns);
	err = write_text_table(out, rec, number,
			       split ? TEXT_ROW_SPLIT TEXT_COUNTS : TEXT_ROW TEXT_COUNTS);
	if (err)
		return err;
	putc('\n', out);
	if (has_latency(&rec->summary))
		return write_text_table(out, rec, number,
					split ? TEXT_ROW_SPLIT TEXT_TIMES : TEXT_ROW TEXT_TIMES);
	return output_error(out);
}

static int write_text(FILE *out, const struct recording *recs, size_t nr,
		      const struct recording *total, const struct output_options *opt)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (i)
			putc('\n', out);
		write_head(out, &recs[i], opt);
		if (recs[i].summary.nr_rows && !has_latency(&recs[i].summary))
			fputs("  no latency: the recording has fault entries but no exits; record "
			      "the probe pair on handle_mm_fault\n",
			      out);
		err = write_text_rows(out, &recs[i], i + 1, opt);
	}
	if (err || nr < 2)
		return err;
	putc('\n', out);
	write_total_head(out, total, nr);
	if (recordings_mix_units(recs, nr))
		fputs("  no latency: the recordings' times are in different units\n", out);
	return write_text_rows(out, total, 0, opt);
}

/* TSV and CSV. */

static int write_table_rows(struct table *t, const struct recording *rec, size_t number)
{
	const struct report_row empty = { .rec = rec, .number = number };

	if (!rec->summary.nr_rows)
		return table_row(t, &empty, rec->time_is_ns);
	return add_rows(t, rec, number);
}

static int write_table(FILE *out, enum format format, const struct recording *recs, size_t nr,
		       const struct recording *total, const struct output_options *opt)
{
	bool ns = !nr, ticks = false;
	const struct column *columns;
	int err = 0, close_err;
	size_t nr_columns;
	struct table *t;

	for (size_t i = 0; i < nr; i++) {
		ns |= recs[i].time_is_ns;
		ticks |= !recs[i].time_is_ns;
	}
	columns = report_columns(&nr_columns);
	t = table_open(out, format, columns, nr_columns, opt->columns, ns, ticks);
	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < nr && !err; i++)
		err = write_table_rows(t, &recs[i], i + 1);
	if (!err && nr > 1)
		err = write_table_rows(t, total, 0);
	close_err = table_close(t);
	return err ? err : close_err;
}

/* JSON. */

static struct json_object *row_json(const struct recording *rec, const struct summary_row *row,
				    unsigned int wanted)
{
	const struct report_row r = { .rec = rec, .row = row };
	const struct column *columns;
	size_t nr;

	columns = report_columns(&nr);
	return columns_json(columns, nr, wanted, &r, rec->time_is_ns);
}

static struct json_object *classes_json(const struct recording *rec)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; list && i < rec->summary.nr_rows; i++) {
		struct json_object *row = row_json(rec, rec->summary.rows[i], REPORT_CLASS);

		if (!row || json_object_array_add(list, row)) {
			json_object_put(row);
			json_object_put(list);
			return NULL;
		}
	}
	return list;
}

static struct json_object *recording_json(const struct recording *rec)
{
	struct json_object *object = row_json(rec, NULL, REPORT_RECORDING | REPORT_FAULTS);
	struct json_object *classes = classes_json(rec);

	if (!object || !classes || json_object_object_add(object, "classes", classes)) {
		json_object_put(object);
		json_object_put(classes);
		return NULL;
	}
	return object;
}

static struct json_object *filters_json(const struct output_options *opt)
{
	struct json_object *object = json_object_new_object();

	for (size_t i = 0; object && i < opt->nr_filters; i++)
		json_object_object_add(object, opt->filters[i].name,
				       json_text(opt->filters[i].value));
	return object;
}

static int write_json_head(FILE *out, const struct output_options *opt)
{
	fputs("{\"schema\":\"" REPORT_SCHEMA "\",\n\"tool_version\":", out);
	json_write(out, json_text(TOOL_VERSION));
	fputs(",\n\"filters\":", out);
	return json_write(out, filters_json(opt));
}

static int write_json_total(FILE *out, const struct recording *total)
{
	struct json_object *faults = row_json(total, NULL, REPORT_FAULTS);
	const char *separator = "\n";
	int err = 0;

	if (!faults)
		return -ENOMEM;
	fputs(",\n\"faults\":", out);
	json_write(out, json_object_get(json_object_object_get(faults, "faults")));
	json_object_put(faults);
	fputs(",\n\"classes\":[", out);
	for (size_t i = 0; i < total->summary.nr_rows && !err; i++) {
		fputs(separator, out);
		err = json_write(out, row_json(total, total->summary.rows[i], REPORT_CLASS));
		separator = ",\n";
	}
	return err;
}

/* One recording or row at a time: the end is written only when all before it was. */
static int write_json(FILE *out, const struct recording *recs, size_t nr,
		      const struct recording *total, const struct output_options *opt)
{
	int err = write_json_head(out, opt);

	if (!err)
		fputs(",\n\"recordings\":[", out);
	for (size_t i = 0; i < nr && !err; i++) {
		fputs(i ? ",\n" : "\n", out);
		err = json_write(out, recording_json(&recs[i]));
	}
	if (err)
		return err;
	fputs("\n]", out);
	err = write_json_total(out, total);
	if (err)
		return err;
	fputs("\n]}\n", out);
	return output_error(out);
}

int output_report(FILE *out, enum format format, const struct recording *recs, size_t nr,
		  const struct recording *total, const struct output_options *opt)
{
	int err, flush_err;

	switch (format) {
	case FORMAT_TEXT:
		err = write_text(out, recs, nr, total, opt);
		break;
	case FORMAT_JSON:
		err = write_json(out, recs, nr, total, opt);
		break;
	default:
		err = write_table(out, format, recs, nr, total, opt);
	}
	flush_err = output_flush(out);
	return err ? err : flush_err;
}

/* Episodes. */

#define FOLIO_TEXT                                                                   \
	"mm,address,folio_bytes,level,class,ptes,ptes_touched,ptes_resolved,faults," \
	"faults_per_pte,latency_ns,ns_per_pte,first_ns,time_to_complete_ns"

struct folio_writer {
	FILE *out;
	enum format format;
	const struct recording *rec;
	const struct output_options *opt;
	struct table *table; /* NULL for JSON */
	bool started;	     /* a row was written */
};

struct folio_writer *folio_writer_open(FILE *out, enum format format, const struct recording *rec,
				       const struct output_options *opt)
{
	const char *list = opt->columns;
	const struct column *columns;
	struct folio_writer *w;
	size_t nr;

	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	*w = (struct folio_writer){ .out = out, .format = format, .rec = rec, .opt = opt };
	if (format == FORMAT_JSON) {
		write_json_head(out, opt);
		fputs(",\n\"episodes\":[", out);
		return w;
	}
	if (!list && format == FORMAT_TEXT)
		list = FOLIO_TEXT;
	columns = folio_columns(&nr);
	w->table = table_open(out, format, columns, nr, list, rec->time_is_ns, !rec->time_is_ns);
	if (!w->table) {
		free(w);
		return NULL;
	}
	return w;
}

int folio_writer_row(struct folio_writer *w, const struct episode *e)
{
	const struct folio_row row = { .rec = w->rec, .episode = e };
	const struct column *columns;
	size_t nr;

	if (w->table)
		return table_row(w->table, &row, w->rec->time_is_ns);
	fputs(w->started ? ",\n" : "\n", w->out);
	w->started = true;
	columns = folio_columns(&nr);
	return json_write(w->out, columns_json(columns, nr, 0, &row, w->rec->time_is_ns));
}

static int folio_writer_end(struct folio_writer *w)
{
	int err = output_error(w->out);

	if (err || (w->table && w->format != FORMAT_TEXT))
		return err;
	if (w->format == FORMAT_TEXT) {
		putc('\n', w->out);
		write_head(w->out, w->rec, w->opt);
		return 0;
	}
	fputs("\n],\n\"recording\":", w->out);
	err = json_write(w->out, row_json(w->rec, NULL, REPORT_RECORDING | REPORT_FAULTS));
	if (!err)
		fputs("}\n", w->out);
	return err;
}

int folio_writer_close(struct folio_writer *w)
{
	int err = table_close(w->table), flush_err;

	if (!err)
		err = folio_writer_end(w);
	flush_err = output_flush(w->out);
	free(w);
	return err ? err : flush_err;
}
