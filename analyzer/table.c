// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes rows by their columns: text through libsmartcols, TSV, CSV and HTML. */
#include <ctype.h>
#include <errno.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "json_out.h"
#include "table.h"

#define TEXT_MAX_ROWS 1000 /* of a text table; then it is printed and a new one begins */

int format_parse(const char *name)
{
	static const char *const names[] = { "text", "tsv", "csv", "json" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return i;
	return -EINVAL;
}

void text_write(FILE *out, const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			fprintf(out, "\\x%02x", (unsigned char)*text);
		else
			putc(*text, out);
}

/* RFC 4180: a field with a separator, a quote or a line end is quoted, its quotes doubled. */
static void csv_write(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

struct chosen {
	const struct column *column;
	bool ns; /* of a time: whether it shows ns or ticks */
};

struct table {
	FILE *out;
	enum format format;
	struct chosen *chosen;
	size_t nr_chosen;
	struct libscols_table *text;
};

static void choose(struct table *t, const struct column *c, bool ns)
{
	t->chosen[t->nr_chosen++] = (struct chosen){ c, ns };
}

static void choose_units(struct table *t, const struct column *c, bool ns, bool ticks)
{
	if (ns || !(c->flags & COLUMN_TIME))
		choose(t, c, true);
	if (ticks && c->flags & COLUMN_TIME)
		choose(t, c, false);
}

static int choose_columns(struct table *t, const struct column *columns, size_t nr,
			  const char *list, bool ns, bool ticks)
{
	size_t nr_listed = columns_listed(columns, nr, list, NULL, 0);
	const struct column **listed = calloc(nr_listed + 1, sizeof(*listed));

	t->chosen = calloc(2 * nr_listed + 1, sizeof(*t->chosen));
	if (!listed || !t->chosen) {
		free(listed);
		return -ENOMEM;
	}
	columns_listed(columns, nr, list, listed, nr_listed);
	for (size_t i = 0; i < nr_listed; i++)
		choose_units(t, listed[i], ns, ticks);
	free(listed);
	return t->nr_chosen ? 0 : -EINVAL;
}

static void write_field(struct table *t, size_t i, const char *text)
{
	if (i)
		putc(t->format == FORMAT_CSV ? ',' : '\t', t->out);
	if (t->format == FORMAT_CSV)
		csv_write(t->out, text);
	else
		text_write(t->out, text);
}

/* The figure as it is read, and beside it, for programs and tests, its key and exact value. */
static void write_html_field(struct table *t, size_t i, const struct cell *cell)
{
	const struct column *c = t->chosen[i].column;
	char key[KEY_MAX], buf[CELL_MAX];

	column_key(key, c, t->chosen[i].ns);
	fprintf(t->out, "<td%s data-key=\"", c->flags & COLUMN_LEFT ? " class=\"word\"" : "");
	html_write(t->out, key);
	fputs("\" data-value=\"", t->out);
	html_write(t->out, cell_text(cell, FORMAT_TSV, buf));
	fputs("\">", t->out);
	html_write(t->out, cell_text(cell, FORMAT_HTML, buf));
	fputs("</td>", t->out);
}

/* A key that may be broken into lines after each of its words. */
static void write_breakable(FILE *out, const char *key)
{
	for (; *key; key++) {
		putc(*key, out); /* letters, digits, "_" and "." */
		if (*key == '_' || *key == '.')
			fputs("<wbr>", out);
	}
}

static void write_html_heading(struct table *t)
{
	fputs("<div class=\"wide\"><table><thead><tr>", t->out);
	for (size_t i = 0; i < t->nr_chosen; i++) {
		char key[KEY_MAX];

		column_key(key, t->chosen[i].column, t->chosen[i].ns);
		fprintf(t->out, "<th%s title=\"",
			t->chosen[i].column->flags & COLUMN_LEFT ? " class=\"word\"" : "");
		html_write(t->out, t->chosen[i].column->help);
		fputs("\">", t->out);
		write_breakable(t->out, key);
		fputs("</th>", t->out);
	}
	fputs("</tr></thead><tbody>\n", t->out);
}

static void write_heading(struct table *t)
{
	if (t->format == FORMAT_HTML) {
		write_html_heading(t);
		return;
	}
	for (size_t i = 0; i < t->nr_chosen; i++) {
		char key[KEY_MAX];

		column_key(key, t->chosen[i].column, t->chosen[i].ns);
		write_field(t, i, key);
	}
	putc('\n', t->out);
}

static int open_text(struct table *t)
{
	t->text = scols_new_table();
	if (!t->text)
		return -ENOMEM;
	scols_table_set_stream(t->text, t->out);
	for (size_t i = 0; i < t->nr_chosen; i++) {
		const struct column *c = t->chosen[i].column;

		if (!scols_table_new_column(t->text, c->head, 0,
					    c->flags & COLUMN_LEFT ? 0 : SCOLS_FL_RIGHT))
			return -ENOMEM;
	}
	return 0;
}

static void table_free(struct table *t)
{
	scols_unref_table(t->text);
	free(t->chosen);
	free(t);
}

struct table *table_open(FILE *out, enum format format, const struct column *columns, size_t nr,
			 const char *list, bool ns, bool ticks)
{
	struct table *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return NULL;
	t->out = out;
	t->format = format;
	err = choose_columns(t, columns, nr, list ? list : "all", ns, ticks);
	if (!err && format == FORMAT_TEXT)
		err = open_text(t);
	if (err) {
		table_free(t);
		return NULL;
	}
	if (format != FORMAT_TEXT)
		write_heading(t);
	return t;
}

static int print_text(struct table *t)
{
	if (scols_table_is_empty(t->text))
		return 0;
	if (scols_print_table(t->text))
		return ferror(t->out) ? output_error(t->out) : -ENOMEM;
	scols_table_remove_lines(t->text);
	return output_error(t->out);
}

static int set_text(struct libscols_line *line, size_t i, const struct cell *cell)
{
	char buf[CELL_MAX];

	return scols_line_set_data(line, i, cell_text(cell, FORMAT_TEXT, buf));
}

static void write_separated(struct table *t, size_t i, const struct cell *cell)
{
	char buf[CELL_MAX];

	write_field(t, i, cell_text(cell, t->format, buf));
}

int table_row(struct table *t, const void *row, bool ns)
{
	struct libscols_line *line = NULL;

	if (t->format == FORMAT_TEXT) {
		line = scols_table_new_line(t->text, NULL);
		if (!line)
			return -ENOMEM;
	} else if (t->format == FORMAT_HTML) {
		fputs("<tr>", t->out);
	}
	for (size_t i = 0; i < t->nr_chosen; i++) {
		const struct column *c = t->chosen[i].column;
		struct cell cell = { .type = CELL_UNKNOWN };

		if (!(c->flags & COLUMN_TIME) || t->chosen[i].ns == ns)
			cell = c->get(row, c);
		if (line && set_text(line, i, &cell))
			return -ENOMEM;
		if (t->format == FORMAT_HTML)
			write_html_field(t, i, &cell);
		else if (!line)
			write_separated(t, i, &cell);
	}
	if (line)
		return scols_table_get_nlines(t->text) < TEXT_MAX_ROWS ? 0 : print_text(t);
	fputs(t->format == FORMAT_HTML ? "</tr>\n" : "\n", t->out);
	return output_error(t->out);
}

int table_close(struct table *t)
{
	int err;

	if (!t)
		return 0;
	if (t->format == FORMAT_HTML)
		fputs("</tbody></table></div>\n", t->out);
	err = t->text ? print_text(t) : output_error(t->out);
	table_free(t);
	return err;
}
