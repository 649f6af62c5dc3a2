// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes comparisons: TSV, CSV and JSON by their columns. The text is compare_text's. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>

#include "columns.h"
#include "compare_out.h"
#include "compare_text.h"
#include "json_out.h"
#include "output.h"

int compare_table(FILE *out, enum format format, const struct comparison *c, const char *list)
{
	const struct column *columns;
	struct table *t;
	int err = 0, close_err;
	size_t nr;

	columns = compare_columns(&nr);
	t = table_open(out, format, columns, nr, list, true, false);
	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_rows && !err; i++) {
		const struct compare_cell_row row = { c, &c->rows[i] };

		err = table_row(t, &row, true);
	}
	close_err = table_close(t);
	return err ? err : close_err;
}

/* The recordings of one side, without their rows. */
static int write_side(FILE *out, const char *name, const struct compare_side *side)
{
	const struct column *columns;
	int err = 0;
	size_t nr;

	columns = report_columns(&nr);
	fprintf(out, ",\n\"%s\":{\"recordings\":[", name);
	for (size_t i = 0; i < side->nr && !err; i++) {
		const struct report_row row = { .rec = &side->inputs[i].rec };

		fputs(i ? ",\n" : "\n", out);
		err = json_write(out, columns_json(columns, nr, REPORT_RECORDING | REPORT_FAULTS,
						   &row, row.rec->time_is_ns));
	}
	fputs("\n]}", out);
	return err;
}

static int write_families(FILE *out, const struct comparison *c)
{
	fputs(",\n\"threshold_percent\":", out);
	json_write(out, json_real(100 * c->threshold));
	fputs(",\n\"families\":[", out);
	for (size_t i = 0; i < c->nr_blocks; i++) {
		const struct compare_block *b = &c->blocks[i];

		fputs(i ? ",\n{\"arch\":" : "\n{\"arch\":", out);
		if (b->arch)
			json_write(out, json_text(b->arch));
		else
			fputs("null", out);
		fprintf(out, ",\"tests\":%zu,\"runs_needed\":%zu,\"runs\":[%zu,%zu]}", b->nr_tests,
			b->runs_needed, b->runs[BEFORE], b->runs[AFTER]);
	}
	fputs("\n]", out);
	return output_error(out);
}

static int write_rows(FILE *out, const struct comparison *c)
{
	const struct column *columns;
	int err = 0;
	size_t nr;

	columns = compare_columns(&nr);
	fputs(",\n\"rows\":[", out);
	for (size_t i = 0; i < c->nr_rows && !err; i++) {
		const struct compare_cell_row row = { c, &c->rows[i] };

		fputs(i ? ",\n" : "\n", out);
		err = json_write(out, columns_json(columns, nr, 0, &row, true));
	}
	fputs("\n]", out);
	return err;
}

static int write_json(FILE *out, const struct comparison *c,
		      const struct compare_side sides[NR_SIDES], bool forced)
{
	int err = json_begin(out);

	fprintf(out, ",\n\"forced\":%s", forced ? "true" : "false");
	if (!err)
		err = write_side(out, "before", &sides[BEFORE]);
	if (!err)
		err = write_side(out, "after", &sides[AFTER]);
	if (!err)
		err = write_families(out, c);
	if (!err)
		err = write_rows(out, c);
	if (!err)
		fputs("}\n", out);
	return err;
}

int output_compare(FILE *out, const struct comparison *c, const struct compare_side sides[NR_SIDES],
		   const struct compare_output *options)
{
	int err, flush_err;

	switch (options->format) {
	case FORMAT_TEXT:
		err = compare_text(out, c, options);
		break;
	case FORMAT_JSON:
		err = write_json(out, c, sides, options->forced);
		break;
	default:
		err = compare_table(out, options->format, c, options->columns);
	}
	flush_err = output_flush(out);
	return err ? err : flush_err;
}
