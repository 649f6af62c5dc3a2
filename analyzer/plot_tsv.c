// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the data of each plot. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json_out.h"
#include "plot_rows.h"
#include "plot_tsv.h"

#define MAX_ROWS   8		     /* of bars: those with the most faults */
#define MAX_CURVES 4		     /* a side */
#define PER_DECADE 12		     /* bins of a histogram in each power of ten */
#define NR_LOGBINS (20 * PER_DECADE) /* up to UINT64_MAX */
#define FEW	   100		     /* a row with fewer of all faults has no curve: 1 % */
#define LEAST_GAP  (2ull << 20)	     /* bytes without faults that part two regions */
#define MOST_GAP   (1ull << 30)

struct plot {
	FILE *out;
	const struct plot_side *sides;
	size_t nr_sides;
	struct plot_rows rows; /* most faults first */
	size_t nr_series;      /* written so far */
};

static const char *time_unit(const struct plot *p)
{
	return recording_time_unit(&p->sides[0].total);
}

/* Start a series: its heading is the name of the x axis and the title of its y values. */
static void begin_series(struct plot *p, const char *x, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void begin_series(struct plot *p, const char *x, const char *fmt, ...)
{
	va_list ap;

	fprintf(p->out, "%s%s\t\"", p->nr_series++ ? "\n\n" : "", x);
	va_start(ap, fmt);
	vfprintf(p->out, fmt, ap);
	va_end(ap);
	fputs("\"\n", p->out);
}

/* "before " or "". */
static const char *side_words(const struct plot *p, size_t side)
{
	static const char *const words[PLOT_SIDES] = { "before ", "after " };

	return p->nr_sides > 1 ? words[side] : "";
}

/* Latency CDF. */

static int write_curve(struct plot *p, const struct hist *h)
{
	size_t nr;
	struct hist_slot *sorted = hist_sorted(h, &nr);
	uint64_t seen = 0;

	if (!sorted)
		return nr ? -ENOMEM : 0;
	fprintf(p->out, "%" PRIu64 "\t0\n", sorted[0].value);
	for (size_t i = 0; i < nr; i++) {
		seen += sorted[i].count;
		fprintf(p->out, "%" PRIu64 "\t%.9g\n", sorted[i].value, (double)seen / h->count);
	}
	free(sorted);
	return 0;
}

/* Whether on either side a row has so few faults that its curve would only be in the way. */
static bool is_rare(const struct plot *p, const struct plot_row *row)
{
	for (size_t s = 0; s < p->nr_sides; s++)
		if (row->sum[s].latency.count > p->sides[s].total.summary.counts.total / FEW)
			return false;
	return true;
}

static int write_latency_cdf(struct plot *p)
{
	char x[32];
	int err = 0;

	snprintf(x, sizeof(x), "latency of a fault (%s)", time_unit(p));
	for (size_t s = 0; s < p->nr_sides; s++) {
		size_t curves = 0;

		for (size_t i = 0; i < p->rows.nr && curves < MAX_CURVES && !err; i++) {
			const struct plot_row *row = &p->rows.list[i];

			if (is_rare(p, row))
				continue;
			curves++; /* the same of both sides */
			if (!row->sum[s].latency.count)
				continue;
			begin_series(p, x, "%s%s", side_words(p, s), row->label);
			err = write_curve(p, &row->sum[s].latency);
		}
	}
	return err;
}

/* Latency histogram by class, in equal parts of each power of ten. */

static int bin_latencies(const struct hist *h, uint64_t bins[NR_LOGBINS])
{
	size_t nr;
	struct hist_slot *sorted = hist_sorted(h, &nr);

	if (!sorted)
		return nr ? -ENOMEM : 0;
	for (size_t i = 0; i < nr; i++) {
		double bin = sorted[i].value ? log10(sorted[i].value) * PER_DECADE : 0;

		bins[(size_t)fmin(bin, NR_LOGBINS - 1)] += sorted[i].count;
	}
	free(sorted);
	return 0;
}

static void write_bins(struct plot *p, const uint64_t bins[NR_LOGBINS])
{
	size_t first = 0, last = NR_LOGBINS - 1;

	while (first < last && !bins[first])
		first++;
	while (last > first && !bins[last])
		last--;
	for (size_t i = first; i <= last; i++)
		fprintf(p->out, "%.6g\t%" PRIu64 "\n", pow(10, (i + 0.5) / PER_DECADE), bins[i]);
}

static int write_class_histogram(struct plot *p, size_t side, unsigned int class)
{
	uint64_t bins[NR_LOGBINS] = { 0 }, count = 0;
	char x[32];
	int err = 0;

	for (size_t i = 0; i < p->rows.nr && !err; i++) {
		const struct plot_row *row = &p->rows.list[i];

		if (row->key.class != class)
			continue;
		count += row->sum[side].latency.count;
		err = bin_latencies(&row->sum[side].latency, bins);
	}
	if (err || !count)
		return err;
	snprintf(x, sizeof(x), "latency of a fault (%s)", time_unit(p));
	begin_series(p, x, "%s%s", side_words(p, side), fault_class_names[class]);
	write_bins(p, bins);
	return 0;
}

static int write_latency_histogram(struct plot *p)
{
	int err = 0;

	for (size_t s = 0; s < p->nr_sides; s++)
		for (unsigned int c = 0; c < NR_CLASSES && !err; c++)
			err = write_class_histogram(p, s, c);
	return err;
}

/* Bars: a line a row, a column a side. */

static void write_bar_value(struct plot *p, double value)
{
	char buf[REAL_MAX];

	if (isnan(value)) {
		fputs("\tn/a", p->out);
		return;
	}
	real_text(buf, sizeof(buf), value);
	fprintf(p->out, "\t%s", buf);
}

static bool has_value(const struct plot_row *row, double (*value)(const struct summary_row *row))
{
	return !isnan(value(&row->sum[0])) || !isnan(value(&row->sum[1]));
}

/* Of rows with known folios, whose figure may be n/a; nothing where that is so of all. */
static int write_bars(struct plot *p, const char *axis,
		      double (*value)(const struct summary_row *row))
{
	size_t nr = 0, first = 0;

	while (first < p->rows.nr && !has_value(&p->rows.list[first], value))
		first++;
	for (size_t i = 0; first < p->rows.nr && i < p->rows.nr && nr < MAX_ROWS; i++) {
		const struct plot_row *row = &p->rows.list[i];

		if (!row->sum[0].ptes && !row->sum[1].ptes)
			continue;
		if (!nr++)
			begin_series(p, axis, "%s",
				     p->nr_sides > 1 ? "before\"\t\"after" : "recorded");
		fprintf(p->out, "%s", row->label);
		for (size_t s = 0; s < p->nr_sides; s++)
			write_bar_value(p, value(&row->sum[s]));
		putc('\n', p->out);
	}
	return 0;
}

static int write_faults_per_pte(struct plot *p)
{
	return write_bars(p, "faults / PTE", row_faults_per_pte);
}

static int write_time_per_pte(struct plot *p)
{
	char axis[48];

	snprintf(axis, sizeof(axis), "per-folio latency / PTE (%s)", time_unit(p));
	return write_bars(p, axis, row_time_per_pte);
}

/* PTEs per fault: how many faults had a batch of each size. */

static int write_batches(struct plot *p, const struct plot_row *row, size_t side)
{
	size_t nr;
	struct hist_slot *sorted = hist_sorted(&row->sum[side].ptes_per_fault, &nr);

	if (!sorted)
		return nr ? -ENOMEM : 0;
	begin_series(p, "PTEs resolved by one fault", "%s%s", side_words(p, side), row->label);
	for (size_t v = 0; v < nr; v++)
		fprintf(p->out, "%" PRIu64 "\t%" PRIu64 "\n", sorted[v].value, sorted[v].count);
	free(sorted);
	return 0;
}

/* The same rows on both sides; where a large folio's batch is not known a comment says so. */
static int write_ptes_per_fault(struct plot *p)
{
	for (size_t s = 0; s < p->nr_sides; s++) {
		size_t curves = 0;

		for (size_t i = 0; i < p->rows.nr && curves < MAX_CURVES; i++) {
			const struct plot_row *row = &p->rows.list[i];
			bool large = row->key.order && row->key.order != ORDER_UNKNOWN;
			int err = write_batches(p, row, s);

			if (err)
				return err;
			curves += row->sum[0].ptes_per_fault.count ||
				  row->sum[1].ptes_per_fault.count;
			if (large && row->sum[s].faults && !row->sum[s].ptes_per_fault.count)
				fprintf(p->out, "#? %s%s\n", side_words(p, s), row->label);
		}
	}
	return 0;
}

/* Faults in time. */

static double in_seconds(const struct plot *p, uint64_t time)
{
	return p->sides[0].total.time_is_ns ? time / 1e9 : time;
}

static const char *time_axis(const struct plot *p)
{
	return p->sides[0].total.time_is_ns ? "time since the first fault (s)"
					    : "time since the first fault (ticks)";
}

/* Bins are as wide on both sides, that is a power of two times as wide as either's own. */
static uint64_t bin_width(const struct plot *p)
{
	uint64_t widest = 0;

	for (size_t s = 0; s < p->nr_sides; s++)
		if (p->sides[s].bin_width > widest)
			widest = p->sides[s].bin_width;
	return widest;
}

static void write_class_in_time(struct plot *p, const struct plot_side *side, size_t s,
				unsigned int class)
{
	uint64_t width = bin_width(p), sum;
	size_t each = side->bin_width ? width / side->bin_width : 1;
	bool begun = false;

	for (size_t i = 0; i < PLOT_BINS; i += each) {
		sum = 0;
		for (size_t k = i; k < i + each && k < PLOT_BINS; k++)
			sum += side->bins[k][class];
		if (!sum)
			continue;
		if (!begun)
			begin_series(p, time_axis(p), "%s%s", side_words(p, s),
				     fault_class_names[class]);
		begun = true;
		fprintf(p->out, "%.9g\t%" PRIu64 "\t%.9g\n", in_seconds(p, i / each * width), sum,
			in_seconds(p, width));
	}
}

static int write_faults_over_time(struct plot *p)
{
	for (size_t s = 0; s < p->nr_sides; s++)
		for (unsigned int c = 0; c < NR_CLASSES; c++)
			write_class_in_time(p, &p->sides[s], s, c);
	return 0;
}

/* Addresses in time: the region of the address space with the most faults. */

static int compare_addresses(const void *a, const void *b)
{
	uint64_t va = *(const uint64_t *)a, vb = *(const uint64_t *)b;

	return (va > vb) - (va < vb);
}

/* The run of sorted addresses without a gap of @gap that has the most of them. Returns how many. */
static size_t largest_run(const uint64_t *sorted, size_t nr, uint64_t gap, uint64_t *start,
			  uint64_t *end)
{
	size_t most = 0;

	for (size_t first = 0, next; first < nr; first = next) {
		for (next = first + 1; next < nr && sorted[next] - sorted[next - 1] < gap;)
			next++;
		if (next - first <= most)
			continue;
		most = next - first;
		*start = sorted[first];
		*end = sorted[next - 1];
	}
	return most;
}

/* The bounds of the busiest region: of the least gap that leaves half of the faults in one. Where
 * they are all over the place, of the most. */
static void find_region(const uint64_t *sorted, size_t nr, uint64_t *start, uint64_t *end)
{
	uint64_t gap = LEAST_GAP;

	while (largest_run(sorted, nr, gap, start, end) < nr - nr / 2 && gap < MOST_GAP)
		gap *= 2;
}

static void write_class_points(struct plot *p, const struct plot_side *side, size_t s,
			       unsigned int class, uint64_t start, uint64_t end)
{
	bool begun = false;

	for (size_t i = 0; i < side->nr_points; i++) {
		const struct plot_point *point = &side->points[i];

		if (point->class != class || point->address < start || point->address > end)
			continue;
		if (!begun)
			begin_series(p, time_axis(p), "%s%s", side_words(p, s),
				     fault_class_names[class]);
		begun = true;
		fprintf(p->out, "%.9g\t%.9g\t0x%" PRIx64 "\n", in_seconds(p, point->time),
			(point->address - start) / 1048576.0, point->address);
	}
}

static int choose_region(const struct plot_side *side, uint64_t *start, uint64_t *end)
{
	uint64_t *sorted = calloc(side->nr_points + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < side->nr_points; i++)
		sorted[i] = side->points[i].address;
	qsort(sorted, side->nr_points, sizeof(*sorted), compare_addresses);
	find_region(sorted, side->nr_points, start, end);
	free(sorted);
	return 0;
}

static bool has_points(const struct plot_side *side, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < side->nr_points; i++)
		if (side->points[i].address >= start && side->points[i].address <= end)
			return true;
	return false;
}

/* After shows the region that before does, unless it has no fault there: then it lies elsewhere. */
static int write_address_map(struct plot *p)
{
	uint64_t start = 0, end = 0;

	for (size_t s = 0; s < p->nr_sides; s++) {
		const struct plot_side *side = &p->sides[s];
		int err = 0;

		if (!s || !has_points(side, start, end))
			err = choose_region(side, &start, &end);
		if (err)
			return err;
		for (unsigned int c = 0; c < NR_CLASSES; c++)
			write_class_points(p, side, s, c, start, end);
	}
	return 0;
}

/* Per-folio latency: five figures of its distribution a row. */

static int write_per_folio_latency(struct plot *p)
{
	char axis[40];

	snprintf(axis, sizeof(axis), "per-folio latency (%s)", time_unit(p));
	for (size_t s = 0; s < p->nr_sides; s++) {
		size_t place = 0;
		bool begun = false;

		for (size_t i = 0; i < p->rows.nr && place < MAX_ROWS; i++) {
			const struct plot_row *row = &p->rows.list[i];
			const struct hist *h = &row->sum[s].per_folio_latency;

			if (!row->sum[0].per_folio_latency.count &&
			    !row->sum[1].per_folio_latency.count)
				continue;
			place++; /* the same for both sides */
			if (!h->count)
				continue;
			if (!begun)
				begin_series(p, axis, "%s",
					     p->nr_sides > 1 ? (s ? "after" : "before")
							     : "recorded");
			begun = true;
			fprintf(p->out,
				"%zu\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
				"\t%" PRIu64 "\n",
				place, row->label, h->min, hist_quantile(h, 250),
				hist_quantile(h, 500), hist_quantile(h, 750), h->max);
		}
	}
	return 0;
}

/* All of them. */

static const struct {
	const char *name;
	int (*write)(struct plot *p);
	const char *empty; /* why there may be nothing to draw */
} plots[] = {
	{ "latency-cdf", write_latency_cdf, "no latency was recorded" },
	{ "latency-histogram", write_latency_histogram, "no latency was recorded" },
	{ "faults-per-pte", write_faults_per_pte, "no folio is known" },
	{ "ns-per-pte", write_time_per_pte, "no latency of a known folio was recorded" },
	{ "ptes-per-fault", write_ptes_per_fault, "no fault says how many PTEs it resolved" },
	{ "faults-over-time", write_faults_over_time, "no fault, or reports, which have no times" },
	{ "address-map", write_address_map, "no address, or reports, which have none" },
	{ "per-folio-latency", write_per_folio_latency,
	  "no latency of a known folio was recorded" },
};

_Static_assert(sizeof(plots) / sizeof(*plots) == NR_PLOTS, "plot_tsv.h says how many");

const char *plot_name(size_t i)
{
	return i < NR_PLOTS ? plots[i].name : NULL;
}

static int write_plot(struct plot *p, size_t i, const char *path)
{
	int err, flush_err;

	p->nr_series = 0;
	p->out = fopen(path, "we");
	if (!p->out)
		return -errno;
	err = plots[i].write(p);
	if (!err && !p->nr_series)
		fprintf(p->out, "# %s\n", plots[i].empty);
	flush_err = output_flush(p->out);
	fclose(p->out);
	if (!err)
		err = flush_err;
	if (err)
		unlink(path);
	return err;
}

int plot_write_all(const char *dir, const struct plot_side *sides, size_t nr_sides,
		   const char **name)
{
	struct plot p = { .sides = sides, .nr_sides = nr_sides };
	int err = plot_rows_collect(&p.rows, sides, nr_sides);

	for (size_t i = 0; i < NR_PLOTS && !err; i++) {
		char *path;

		*name = plots[i].name;
		if (asprintf(&path, "%s/%s.tsv", dir, plots[i].name) < 0) {
			err = -ENOMEM;
			break;
		}
		err = write_plot(&p, i, path);
		free(path);
	}
	plot_rows_release(&p.rows);
	return err;
}
