// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes reports and episodes: TSV and CSV, JSON by the contract; the text is output_text's. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "json_out.h"
#include "output_text.h"

/* TSV and CSV. */

static int write_table_rows(struct table *t, const struct recording *rec, size_t number)
{
	const struct report_row empty = { .rec = rec, .number = number };

	if (!rec->summary.nr_rows)
		return table_row(t, &empty, rec->time_is_ns);
	return output_rows(t, rec, number);
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
	int err = json_begin(out);

	if (err)
		return err;
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
		err = output_text(out, recs, nr, total, opt);
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
		return output_head(w->out, w->rec, 0, w->opt);
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
