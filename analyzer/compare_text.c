// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of a comparison for people and their mails: 72 columns, with two lines of caption. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compare_text.h"
#include "json_out.h"

/* What metrics are called here, and which a commit message shows of its first rows. */
static const struct {
	const char *key, *name;
} metric_names[] = {
	{ "faults", "faults" },
	{ "faults_per_pte", "faults/PTE" },
	{ "latency_ns.p50", "latency p50" },
	{ "latency_ns.p99", "latency p99" },
	{ "latency_ns.max", "latency max" },
	{ "per_folio_latency_ns.p50", "per folio p50" },
	{ "per_folio_latency_ns.max", "per folio max" },
	{ "ns_per_pte", "time/PTE" },
	{ "time_to_complete_ns.p50", "complete p50" },
	{ "latency_ns.sum", "total time" },
	{ "ptes_per_fault.p50", "PTEs/fault p50" },
	{ "ptes_per_fault.p99", "PTEs/fault p99" },
	{ "ptes_per_fault.max", "PTEs/fault max" },
	{ "waste_ptes", "waste, PTEs" },
};

static const char *const brief_metrics[][8] = {
	{ "faults", "faults_per_pte", "latency_ns.p50", "latency_ns.p99",
	  "per_folio_latency_ns.p50", "ns_per_pte", "latency_ns.sum" },
	{ "faults", "latency_ns.p50", "latency_ns.sum" },
	{ "faults", "latency_ns.sum" },
}; /* COMPARE_BRIEF_ROWS in all */

#define NR_BRIEF (sizeof(brief_metrics) / sizeof(*brief_metrics))

static const char *metric_name(const struct column *metric)
{
	for (size_t i = 0; i < sizeof(metric_names) / sizeof(*metric_names); i++)
		if (!strcmp(metric_names[i].key, metric->key))
			return metric_names[i].name;
	return metric->key;
}

/* Figures. */

static void value_text(char *buf, size_t size, double value)
{
	if (isnan(value))
		snprintf(buf, size, "n/a");
	else if (value >= 1e8)
		snprintf(buf, size, "%.4ge%d", value / pow(10, floor(log10(value))),
			 (int)floor(log10(value)));
	else if (value == floor(value) && value >= 10)
		snprintf(buf, size, "%.0f", value);
	else if (value >= 1000)
		snprintf(buf, size, "%.1f", value);
	else
		snprintf(buf, size, "%.4g", value);
}

/* "-93.8%", from ten times as much on "x16.0". */
static void change_text(char *buf, size_t size, double change)
{
	if (isnan(change))
		snprintf(buf, size, "n/a");
	else if (change >= 9)
		snprintf(buf, size, change >= 999 ? "x%.4g" : "x%.1f", change + 1);
	else
		snprintf(buf, size, fabs(change) < 0.0005 ? "0.0%%" : "%+.1f%%", 100 * change);
}

static void interval_text(char *buf, size_t size, const struct compare_row *row, bool exact)
{
	if (exact && row->runs[BEFORE] == 1 && row->runs[AFTER] == 1)
		snprintf(buf, size, "exact");
	else if (isnan(row->low))
		snprintf(buf, size, "n/a");
	else if (row->high >= 9)
		snprintf(buf, size, "x%.4g x%.4g", row->low + 1, row->high + 1);
	else
		snprintf(buf, size, "%+.1f %+.1f", 100 * row->low, 100 * row->high);
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
	text_write(out, line);
	putc('\n', out);
}

static const char *known(const char *word)
{
	return word ? word : "unknown";
}

static void range_text(char *buf, size_t size, const char *what, const size_t nr[NR_SIDES])
{
	if (nr[BEFORE] && nr[AFTER])
		snprintf(buf, size, "%s %zu:%zu", what, nr[BEFORE], nr[AFTER]);
	else
		snprintf(buf, size, "%s n/a", what);
}

/* Two lines: what was recorded where, and how often. */
static void write_caption(FILE *out, const struct comparison *c, const struct compare_block *b)
{
	const struct recording *before = b->example[BEFORE], *after = b->example[AFTER];
	const struct recording *any = before ? before : after;
	const char *old = before ? known(before->kernel) : "none";
	const char *new = after ? known(after->kernel) : "none";
	char boots[64], builds[64];

	range_text(boots, sizeof(boots), "boots", b->boots);
	range_text(builds, sizeof(builds), "builds", b->builds);
	write_line(out, "%s, %s%s%s, %uK pages, clock %s in %s%s", known(b->arch), old,
		   strcmp(old, new) ? " to " : "", strcmp(old, new) ? new : "",
		   any->page_size / 1024, known(any->clock),
		   b->mixed_time ? "several units" : recording_time_unit(any),
		   b->exact ? " (instructions)" : "");
	write_line(out, "runs %zu:%zu, %s, %s; marked from %.4g %% on%s", b->runs[BEFORE],
		   b->runs[AFTER], boots, builds, 100 * c->threshold,
		   b->exact ? "" : ", p <= 0.05");
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

static void write_row(FILE *out, const struct comparison *c, const struct compare_row *row)
{
	char before[32], after[32], change[32], interval[48];

	value_text(before, sizeof(before), row->value[BEFORE]);
	value_text(after, sizeof(after), row->value[AFTER]);
	change_text(change, sizeof(change), row->change);
	interval_text(interval, sizeof(interval), row, c->blocks[row->block].exact);
	write_line(out, "  %-16s %9s %9s %8s  %-15s %s", metric_name(row->metric), before, after,
		   change, interval, mark(row));
}

/* Which rows are shown. */

static bool same_row_name(const struct compare_row *a, const struct compare_row *b)
{
	return !fault_key_compare(&a->key, &b->key) &&
	       (a->label == b->label || (a->label && b->label && !strcmp(a->label, b->label)));
}

/* How much a row matters: the time that went or came, in all blocks; else the time that there is.
 */
static double weight(const struct comparison *c, const struct compare_row *of)
{
	double sum = 0;

	for (size_t i = 0; i < c->nr_rows; i++) {
		const struct compare_row *row = &c->rows[i];

		if (!same_row_name(row, of) || row->verdict == VERDICT_NONE)
			continue;
		if (!isnan(row->value[BEFORE]) && !isnan(row->value[AFTER]))
			sum += fabs(row->value[AFTER] - row->value[BEFORE]) +
			       1e-9 * (row->value[AFTER] + row->value[BEFORE]);
	}
	return sum;
}

/* How many row names weigh more than that of @of. */
static size_t rank(const struct comparison *c, const struct compare_row *of)
{
	double own = weight(c, of);
	size_t nr = 0;

	for (size_t i = 0; i < c->nr_rows; i++) {
		const struct compare_row *row = &c->rows[i];
		bool first = true;
		double other;

		for (size_t j = 0; j < i && first; j++)
			first = !same_row_name(&c->rows[j], row);
		if (!first || same_row_name(row, of))
			continue;
		other = weight(c, row);
		nr += other > own || (other == own && fault_key_compare(&row->key, &of->key) < 0);
	}
	return nr;
}

static bool is_brief(const struct comparison *c, const struct compare_row *row)
{
	size_t place = rank(c, row);

	if (place >= NR_BRIEF)
		return false;
	for (size_t i = 0; i < 8 && brief_metrics[place][i]; i++)
		if (!strcmp(brief_metrics[place][i], row->metric->key))
			return true;
	return false;
}

/* Figures that no side knows are left out, but for large folios, of which n/a is an answer. */
static bool is_known(const struct compare_row *row)
{
	return !isnan(row->value[BEFORE]) || !isnan(row->value[AFTER]) ||
	       (row->key.order && row->key.order != ORDER_UNKNOWN);
}

/* Whether a row is among the first COMPARE_BRIEF_ROWS of its block. */
static bool is_early(const struct comparison *c, const struct compare_row *row)
{
	size_t before = 0;

	for (const struct compare_row *r = c->rows; r < row; r++)
		before += r->block == row->block && is_known(r);
	return before < COMPARE_BRIEF_ROWS;
}

static bool is_shown(const struct comparison *c, const struct compare_row *row,
		     const struct compare_output *options)
{
	bool brief;

	if (!is_known(row) || options->view == VIEW_ALL)
		return is_known(row);
	brief = options->own_metrics ? is_early(c, row) : is_brief(c, row);
	return brief == (options->view == VIEW_BRIEF);
}

/* One architecture: a block of its own, with intervals. */

static void write_needed(FILE *out, const struct compare_block *b)
{
	if (b->exact || (b->runs[BEFORE] >= b->runs_needed && b->runs[AFTER] >= b->runs_needed))
		return;
	write_line(out, "insufficient (few): %zu test%s need%s %zu runs a side, here %zu and %zu",
		   b->nr_tests, b->nr_tests == 1 ? "" : "s", b->nr_tests == 1 ? "s" : "",
		   b->runs_needed, b->runs[BEFORE], b->runs[AFTER]);
}

static void write_block(FILE *out, const struct comparison *c, size_t block,
			const struct compare_output *options)
{
	const struct compare_row *last = NULL;

	write_caption(out, c, &c->blocks[block]);
	putc('\n', out);
	write_line(out, "  %-16s %9s %9s %8s  %-15s %s", "", "before", "after", "change",
		   c->blocks[block].exact ? "range %" : "95 % interval", "mark");
	for (size_t i = 0; i < c->nr_rows; i++) {
		const struct compare_row *row = &c->rows[i];

		if (row->block != block || !is_shown(c, row, options))
			continue;
		if (!last || !same_row_name(last, row))
			write_name(out, c, row);
		last = row;
		write_row(out, c, row);
	}
	write_needed(out, &c->blocks[block]);
}

/* Two architectures side by side: no room for intervals, which JSON and TSV have. */

static const struct compare_row *find_row(const struct comparison *c, size_t block,
					  const struct compare_row *like)
{
	for (size_t i = 0; i < c->nr_rows; i++)
		if (c->rows[i].block == block && c->rows[i].metric == like->metric &&
		    same_row_name(&c->rows[i], like))
			return &c->rows[i];
	return NULL;
}

static const char *short_mark(const struct compare_row *row)
{
	static const char *const marks[NR_VERDICTS] = {
		[VERDICT_NONE] = "",  [VERDICT_IMPROVEMENT] = "I",  [VERDICT_REGRESSION] = "R",
		[VERDICT_SAME] = "=", [VERDICT_INCONCLUSIVE] = "?", [VERDICT_INSUFFICIENT] = "-",
	};

	return marks[row->verdict];
}

static void cells_text(char *buf, size_t size, const struct compare_row *row)
{
	char before[32] = "-", after[32] = "-", change[32] = "";

	if (row) {
		value_text(before, sizeof(before), row->value[BEFORE]);
		value_text(after, sizeof(after), row->value[AFTER]);
		change_text(change, sizeof(change), row->change);
	}
	snprintf(buf, size, "%8s %8s %7s%2s", before, after, change, row ? short_mark(row) : "");
}

static void write_pair_row(FILE *out, const struct comparison *c, size_t first,
			   const struct compare_row *row)
{
	char left[80], right[80];

	cells_text(left, sizeof(left), find_row(c, first, row));
	cells_text(right, sizeof(right), find_row(c, first + 1, row));
	write_line(out, " %-16s%s %s", metric_name(row->metric), left, right);
}

static void write_pair(FILE *out, const struct comparison *c, size_t first,
		       const struct compare_output *options)
{
	const struct compare_row *last = NULL;

	write_caption(out, c, &c->blocks[first]);
	write_caption(out, c, &c->blocks[first + 1]);
	putc('\n', out);
	write_line(out, " %-16s%-27.27s %.27s", "", known(c->blocks[first].arch),
		   known(c->blocks[first + 1].arch));
	write_line(out, " %-16s%8s %8s %8s  %8s %8s %8s", "", "before", "after", "change", "before",
		   "after", "change");
	for (size_t i = 0; i < c->nr_rows; i++) {
		const struct compare_row *row = &c->rows[i];

		if (!is_shown(c, row, options) ||
		    (row->block != first && (row->block != first + 1 || find_row(c, first, row))))
			continue;
		if (!last || !same_row_name(last, row))
			write_name(out, c, row);
		last = row;
		write_pair_row(out, c, first, row);
	}
	write_line(out, "I better, R worse, = same, ? inconclusive, - insufficient");
	write_needed(out, &c->blocks[first]);
	write_needed(out, &c->blocks[first + 1]);
}

int compare_text(FILE *out, const struct comparison *c, const struct compare_output *options)
{
	if (options->forced)
		write_line(out, "forced: the two sides are unlike in more than the change");
	for (size_t i = 0; i < c->nr_blocks;) {
		if (i)
			putc('\n', out);
		if (i + 1 < c->nr_blocks) {
			write_pair(out, c, i, options);
			i += 2;
		} else {
			write_block(out, c, i, options);
			i++;
		}
	}
	return output_error(out);
}
