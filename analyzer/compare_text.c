// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of a comparison for people and their mails: 72 columns, with two lines of caption. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compare_text.h"
#include "compare_view.h"
#include "json_out.h"

static const struct {
	const char *key, *name;
} metric_names[] = {
	{ "faults", "faults" },
	{ "faults_per_pte", "faults/PTE" },
	{ "latency_ns.p50", "latency p50" },
	{ "latency_ns.p99", "latency p99" },
	{ "latency_ns.max", "latency max" },
	{ "per_folio_latency_ns.p50", "per folio p50" },
	{ "per_folio_latency_ns.p99", "per folio p99" },
	{ "per_folio_latency_ns.max", "per folio max" },
	{ "ns_per_pte", "time/PTE" },
	{ "time_to_complete_ns.p50", "complete p50" },
	{ "latency_ns.sum", "total time" },
	{ "ptes_per_fault.p50", "PTEs/fault p50" },
	{ "ptes_per_fault.p99", "PTEs/fault p99" },
	{ "ptes_per_fault.max", "PTEs/fault max" },
	{ "waste_ptes", "waste, PTEs" },
};

static const char *metric_name(const struct column *metric)
{
	for (size_t i = 0; i < sizeof(metric_names) / sizeof(*metric_names); i++)
		if (!strcmp(metric_names[i].key, metric->key))
			return metric_names[i].name;
	return metric->key;
}

/* Figures. */

/* In at most @width characters. */
static void value_text(char *buf, size_t size, double value, int width)
{
	int power = value >= 1 ? floor(log10(value)) : 0;

	if (isnan(value))
		snprintf(buf, size, "n/a");
	else if (power >= width)
		snprintf(buf, size, "%.*fe%d", width - 5, value / pow(10, power), power);
	else if ((value == floor(value) && value >= 10) || power + 3 > width)
		snprintf(buf, size, "%.0f", value);
	else if (value >= 1000)
		snprintf(buf, size, "%.1f", value);
	else
		snprintf(buf, size, "%.4g", value);
}

/* "-93.8", without a sign where that rounds to 0; from ten times as much on "x16.0". */
static void part_text(char *buf, size_t size, double part)
{
	if (part >= 9)
		snprintf(buf, size, part >= 999 ? "x%.4g" : "x%.1f", part + 1);
	else
		snprintf(buf, size, fabs(part) < 0.0005 ? "0.0" : "%+.1f", 100 * part);
}

static void change_text(char *buf, size_t size, const struct compare_row *row)
{
	if (row->value[BEFORE] == row->value[AFTER])
		snprintf(buf, size, "0.0%%");
	else if (isnan(row->change))
		snprintf(buf, size, "n/a");
	else
		part_text(buf, size, row->change);
	if (strchr("+-0", *buf) && !strchr(buf, '%'))
		strcat(buf, "%");
}

static bool one_exact_run(const struct compare_block *b)
{
	return b->exact && b->runs[BEFORE] == 1 && b->runs[AFTER] == 1;
}

static int interval_width(const struct compare_block *b)
{
	return one_exact_run(b) ? 5 : 17;
}

static void interval_text(char *buf, size_t size, const struct compare_row *row,
			  const struct compare_block *block)
{
	char low[24], high[24];

	part_text(low, sizeof(low), row->low);
	part_text(high, sizeof(high), row->high);
	if (one_exact_run(block))
		snprintf(buf, size, row->runs[BEFORE] && row->runs[AFTER] ? "exact" : "");
	else if (isnan(row->low))
		snprintf(buf, size, "n/a");
	else
		snprintf(buf, size, "[%s, %s]", low, high);
}

static const char *mark(const struct compare_row *row)
{
	static const char *const marks[NR_VERDICTS] = {
		[VERDICT_NONE] = "",  [VERDICT_IMPROVEMENT] = "(I)", [VERDICT_REGRESSION] = "(R)",
		[VERDICT_SAME] = "=", [VERDICT_INCONCLUSIVE] = "?",  [VERDICT_INSUFFICIENT] = "few",
	};

	return marks[row->verdict];
}

/* Lines. */

/* Write a line, cut to COMPARE_COLUMNS, without spaces at its end. */
static void write_line(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void write_line(FILE *out, const char *fmt, ...)
{
	char line[COMPARE_COLUMNS + 1];
	size_t length;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	for (length = strlen(line); length && line[length - 1] == ' '; length--)
		line[length - 1] = '\0';
	for (const char *c = line; *c; c++)
		putc(iscntrl((unsigned char)*c) ? '?' : *c, out); /* of a task's name */
	putc('\n', out);
}

static const char *known(const char *word)
{
	return word ? word : "unknown";
}

/* "6 boots" of both sides alike, else "6:8 boots". */
static void append_count(char *buf, size_t size, const char *what, const size_t nr[NR_SIDES],
			 bool alike)
{
	size_t used = strlen(buf);
	const char *comma = used ? ", " : "";

	if (!nr[BEFORE] || !nr[AFTER])
		snprintf(buf + used, size - used, "%s%ss n/a", comma, what);
	else if (alike)
		snprintf(buf + used, size - used, "%s%zu %s%s", comma, nr[BEFORE], what,
			 nr[BEFORE] == 1 ? "" : "s");
	else
		snprintf(buf + used, size - used, "%s%zu:%zu %ss", comma, nr[BEFORE], nr[AFTER],
			 what);
}

static void machine_text(char *buf, size_t size, const struct compare_block *b)
{
	const struct recording *before = b->example[BEFORE], *after = b->example[AFTER];
	const struct recording *any = before ? before : after;
	const char *old = before ? known(before->kernel) : "none";
	const char *new = after ? known(after->kernel) : "none";

	snprintf(buf, size, "%s%s%s, %uK pages, clock %s in %s%s", old,
		 strcmp(old, new) ? " to " : "", strcmp(old, new) ? new : "", any->page_size / 1024,
		 known(any->clock), b->mixed_time ? "several units" : recording_time_unit(any),
		 b->exact ? " (instructions)" : "");
}

static void runs_text(char *buf, size_t size, const struct comparison *c,
		      const struct compare_block *b)
{
	bool alike = b->boots[BEFORE] && b->builds[BEFORE];
	char counts[120] = "";

	alike &= b->runs[BEFORE] == b->runs[AFTER] && b->boots[BEFORE] == b->boots[AFTER] &&
		 b->builds[BEFORE] == b->builds[AFTER];
	append_count(counts, sizeof(counts), "run", b->runs, alike);
	append_count(counts, sizeof(counts), "boot", b->boots, alike);
	append_count(counts, sizeof(counts), "build", b->builds, alike);
	snprintf(buf, size, "%s%s; marked from %.4g %% on%s", counts, alike ? " a side" : "",
		 100 * c->threshold, b->exact ? "" : ", p <= 0.05");
}

struct caption {
	char machine[120], runs[200];
};

static void fill_caption(struct caption *caption, const struct comparison *c,
			 const struct compare_block *b)
{
	machine_text(caption->machine, sizeof(caption->machine), b);
	runs_text(caption->runs, sizeof(caption->runs), c, b);
}

/*
 * Two lines: what was recorded where, and how often; for the next architecture again where that is
 * another.
 */
static void write_caption(FILE *out, const struct comparison *c, const struct compare_block *blocks,
			  size_t nr)
{
	struct caption caption, next;
	char archs[120] = "";

	fill_caption(&caption, c, blocks);
	for (size_t i = 0; i < nr; i++) {
		size_t used = strlen(archs);
		bool last = i + 1 == nr;

		snprintf(archs + used, sizeof(archs) - used, "%s%s", used ? ", " : "",
			 known(blocks[i].arch));
		if (!last)
			fill_caption(&next, c, &blocks[i + 1]);
		if (!last && !strcmp(caption.machine, next.machine) &&
		    !strcmp(caption.runs, next.runs))
			continue;
		write_line(out, "%s, %s", archs, caption.machine);
		write_line(out, "%s", caption.runs);
		archs[0] = '\0';
		if (!last)
			caption = next;
	}
}

static void size_text(char *buf, size_t size, const struct compare_block *b, unsigned int order)
{
	const struct recording *any = b->example[BEFORE] ? b->example[BEFORE] : b->example[AFTER];
	uint64_t kib = ((uint64_t)any->page_size << order) / 1024;

	if (order == ORDER_UNKNOWN)
		snprintf(buf, size, "order n/a");
	else if (kib >= 1024 && kib % 1024 == 0)
		snprintf(buf, size, "order %u (%lluM)", order, (unsigned long long)kib / 1024);
	else
		snprintf(buf, size, "order %u (%lluK)", order, (unsigned long long)kib);
}

static void write_name(FILE *out, const struct comparison *c, const struct compare_row *row)
{
	const struct fault_key *key = &row->key;
	char size[32];

	size_text(size, sizeof(size), &c->blocks[row->block], key->order);
	if (row->key.class == CLASS_ANY)
		write_line(out, "%s%sall classes, %s", row->label ? row->label : "",
			   row->label ? ": " : "", size);
	else
		write_line(out, "%s%s%s%s%s, %s%s", row->label ? row->label : "",
			   row->label ? ": " : "", fault_class_names[key->class],
			   key->from ? " from " : "", key->from ? cow_from_names[key->from] : "",
			   size, key->level == LEVEL_PMD ? ", pmd" : "");
}

/* Lines of one architecture, with intervals. */

static void write_row(FILE *out, const struct view *v, const struct compare_row *row)
{
	const struct compare_block *block = &v->c->blocks[row->block];
	char before[32], after[32], change[32], interval[56];

	value_text(before, sizeof(before), row->value[BEFORE], 9);
	value_text(after, sizeof(after), row->value[AFTER], 9);
	change_text(change, sizeof(change), row);
	interval_text(interval, sizeof(interval), row, block);
	write_line(out, "  %-16s %9s %9s %8s  %-*s %s", metric_name(row->metric), before, after,
		   change, interval_width(block), interval, mark(row));
}

static void write_head(FILE *out, const struct view *v)
{
	const struct compare_block *block = &v->c->blocks[v->first];
	const char *interval = one_exact_run(block) ? ""
			       : block->exact	    ? "range, %"
						    : "95 % interval";

	write_line(out, "  %-16s %9s %9s %8s  %-*s mark", "", "before", "after", "change",
		   interval_width(block), interval);
}

/* Lines of several: no room for intervals, which JSON and TSV have. */

static const char *short_mark(const struct compare_row *row)
{
	static const char *const marks[NR_VERDICTS] = {
		[VERDICT_NONE] = "",  [VERDICT_IMPROVEMENT] = "I",  [VERDICT_REGRESSION] = "R",
		[VERDICT_SAME] = "=", [VERDICT_INCONCLUSIVE] = "?", [VERDICT_INSUFFICIENT] = "-",
	};

	return marks[row->verdict];
}

/* Of two with the change, of three without. */
static void append_cells(char *line, size_t size, const struct compare_row *row, bool with_change)
{
	char before[32] = "-", after[32] = "-", change[32] = "";
	size_t used = strlen(line);

	if (row) {
		value_text(before, sizeof(before), row->value[BEFORE], with_change ? 8 : 7);
		value_text(after, sizeof(after), row->value[AFTER], with_change ? 8 : 7);
		change_text(change, sizeof(change), row);
	}
	if (with_change)
		snprintf(line + used, size - used, "%8s %8s %7s%2s ", before, after, change,
			 row ? short_mark(row) : "");
	else
		snprintf(line + used, size - used, "%7s %7s%2s ", before, after,
			 row ? short_mark(row) : "");
}

static void write_cells(FILE *out, const struct view *v, const struct view_name *name,
			size_t metric)
{
	char line[160];

	snprintf(line, sizeof(line), " %-16s", metric_name(view_row(name, metric)->metric));
	for (size_t k = 0; k < v->nr; k++)
		append_cells(line, sizeof(line), name->of[k] ? name->of[k] + metric : NULL,
			     v->nr == 2);
	write_line(out, "%s", line);
}

static void write_heads(FILE *out, const struct view *v)
{
	int width = v->nr == 2 ? 28 : 18;
	char archs[160], heads[160];

	snprintf(archs, sizeof(archs), " %-16s", "");
	snprintf(heads, sizeof(heads), " %-16s", "");
	for (size_t k = 0; k < v->nr; k++) {
		size_t used = strlen(archs);

		snprintf(archs + used, sizeof(archs) - used, "%*s %-*.*s", v->nr == 2 ? 1 : 0, "",
			 width - (v->nr == 2 ? 2 : 1), width - 2,
			 known(v->c->blocks[v->first + k].arch));
		used = strlen(heads);
		if (v->nr == 2)
			snprintf(heads + used, sizeof(heads) - used, "%8s %8s %7s   ", "before",
				 "after", "change");
		else
			snprintf(heads + used, sizeof(heads) - used, "%7s %7s   ", "before",
				 "after");
	}
	write_line(out, "%s", archs);
	write_line(out, "%s", heads);
}

/* What the marks mean, where there is no caption to keep short. */
static void write_legend(FILE *out, const struct view *v)
{
	if (v->options->view != VIEW_BRIEF)
		write_line(
			out,
			v->nr == 1
				? "(I) better, (R) worse, = same, ? inconclusive, few insufficient"
				: "I better, R worse, = same, ? inconclusive, - insufficient");
}

static void write_needed(FILE *out, const struct compare_block *b)
{
	if (b->exact || (b->runs[BEFORE] >= b->runs_needed && b->runs[AFTER] >= b->runs_needed))
		return;
	write_line(out, "insufficient: %zu test%s need%s %zu runs a side, here %zu and %zu",
		   b->nr_tests, b->nr_tests == 1 ? "" : "s", b->nr_tests == 1 ? "s" : "",
		   b->runs_needed, b->runs[BEFORE], b->runs[AFTER]);
}

static void write_table(FILE *out, const struct view *v)
{
	write_caption(out, v->c, &v->c->blocks[v->first], v->nr);
	putc('\n', out);
	if (v->nr == 1)
		write_head(out, v);
	else
		write_heads(out, v);
	for (size_t i = 0; i < v->nr_names; i++) {
		const struct view_name *name = &v->names[i];
		bool named = false;

		for (size_t m = 0; m < v->c->nr_metrics; m++) {
			if (!name->shown[m])
				continue;
			if (!named)
				write_name(out, v->c, view_row(name, 0));
			named = true;
			if (v->nr == 1)
				write_row(out, v, name->of[0] + m);
			else
				write_cells(out, v, name, m);
		}
	}
	write_legend(out, v);
	for (size_t k = 0; k < v->nr; k++)
		write_needed(out, &v->c->blocks[v->first + k]);
}

int compare_text(FILE *out, const struct comparison *c, const struct compare_output *options)
{
	int err = 0;

	if (options->forced)
		write_line(out, "forced: the two sides are unlike in more than the change");
	for (size_t first = 0; first < c->nr_blocks && !err; first += VIEW_COLUMNS) {
		size_t left = c->nr_blocks - first;
		struct view view;

		if (first)
			putc('\n', out);
		err = view_open(&view, c, options, first,
				left < VIEW_COLUMNS ? left : VIEW_COLUMNS);
		if (!err)
			write_table(out, &view);
		view_release(&view);
	}
	return err ? err : output_error(out);
}
