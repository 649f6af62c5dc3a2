// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes reports for people: what is known of each recording, then two tables of its rows. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "columns.h"
#include "json_out.h"
#include "output_text.h"

/*
 * In text a report is two tables of the same rows, so that all of it fits a terminal. Where rows
 * would look the same, what tells them apart is shown, too.
 */
#define TEXT_COUNTS \
	"faults,folios,ptes,ptes_touched,ptes_resolved,faults_per_pte,ptes_per_fault.p50"
#define TEXT_TIMES                                                                     \
	"latency_ns.p50,latency_ns.p90,latency_ns.p99,latency_ns.max,latency_ns.mean," \
	"latency_ns.sum,per_folio_latency_ns.p50,per_folio_latency_ns.max,ns_per_pte"
#define TEXT_WIDTH 80

/* What tells rows apart besides class, order and level. */
enum split {
	SPLIT_NONE,
	SPLIT_FROM,
	SPLIT_SOURCE,
	NR_SPLITS
};

#define ROW_FROM   "class,from,evidence,order,folio_bytes,level,"
#define ROW_SOURCE "class,from,source,evidence,order,folio_bytes,level,"

static const char *const text_counts[NR_SPLITS] = {
	"class,order,folio_bytes,level,evidence," TEXT_COUNTS,
	ROW_FROM TEXT_COUNTS,
	ROW_SOURCE TEXT_COUNTS,
};
static const char *const text_times[NR_SPLITS] = {
	"class,order,folio_bytes,level," TEXT_TIMES,
	ROW_FROM TEXT_TIMES,
	ROW_SOURCE TEXT_TIMES,
};

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
	fprintf(out, "  %" PRIu64 " event%s", r->events, plural(r->events));
	/* 0: one event or none, or a total of several units */
	if (r->duration && r->time_is_ns)
		fprintf(out, " in %" PRIu64 ".%09" PRIu64 " s", r->duration / 1000000000,
			r->duration % 1000000000);
	else if (r->duration)
		fprintf(out, " in %" PRIu64 " %s", r->duration, recording_time_unit(r));
	fprintf(out, ", %" PRIu64 " lost", r->lost_events);
	if (r->lost_uncounted)
		fprintf(out, ", and an unknown number more in %" PRIu64 " place%s",
			r->lost_uncounted, plural(r->lost_uncounted));
	if (r->unknown_events)
		fprintf(out, ", %" PRIu64 " of unknown ids", r->unknown_events);
	if (r->repeated_events)
		fprintf(out, "; of those of faults %" PRIu64 " stand%s in another instance, too",
			r->repeated_events, r->repeated_events == 1 ? "s" : "");
	putc('\n', out);
}

static void write_faults(FILE *out, const struct recording *r)
{
	const struct fault_counts *c = &r->summary.counts;

	if (r->events && !c->entries && !c->exits && !r->unmatched_exceptions) {
		fputs("  no event shows a page fault; record the probe pair on "
		      "handle_mm_fault\n",
		      out);
		return;
	}
	fprintf(out,
		"  %" PRIu64 " entries and %" PRIu64 " exits of faults, unpaired %" PRIu64
		" and %" PRIu64 "\n",
		c->entries, c->exits, c->unpaired_entries, c->unpaired_exits);
	fprintf(out,
		"  %" PRIu64 " fault%s counted: %" PRIu64 " major, %" PRIu64 " remote, %" PRIu64
		" retr%s merged into them\n",
		c->total, plural(c->total), c->major, c->remote, c->retries,
		c->retries == 1 ? "y" : "ies");
	if (r->unmatched_exceptions)
		fprintf(out,
			"  %" PRIu64 " page-fault exception%s that never entered handle_mm_fault\n",
			r->unmatched_exceptions, plural(r->unmatched_exceptions));
	if (r->untracked_forks)
		fprintf(out,
			"  %" PRIu64
			" fork%s of address spaces too large to follow: what parent and child"
			" did next is unknown\n",
			r->untracked_forks, plural(r->untracked_forks));
}

static void write_damage(FILE *out, const struct damages *d)
{
	size_t kept = d->nr_kept;

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

/* Why a summary with faults knows no latency. */
static void write_no_latency(FILE *out, size_t nr_total)
{
	if (nr_total)
		fputs("  no latency: no recording has one, or their times are in different units\n",
		      out);
	else
		fputs("  no latency: the recording has fault entries but no exits; record the probe "
		      "pair on handle_mm_fault\n",
		      out);
}

int output_head(FILE *out, const struct recording *rec, size_t nr_total,
		const struct output_options *opt)
{
	if (nr_total) {
		fprintf(out, "total of %zu recordings\n", nr_total);
	} else {
		write_known(out, "", rec->file, "\n");
		write_origin(out, rec);
	}
	write_events(out, rec);
	write_damage(out, &rec->damages);
	write_faults(out, rec);
	write_filters(out, opt);
	if (rec->summary.nr_rows && !has_latency(&rec->summary))
		write_no_latency(out, nr_total);
	write_quality(out, &rec->summary);
	return output_error(out);
}

/* The rows of a recording in text. */

/* What tells these two apart, if they would look the same. */
static enum split split_of(const struct fault_key *a, const struct fault_key *b)
{
	if (a->class != b->class || a->order != b->order || a->level != b->level)
		return SPLIT_NONE;
	if (a->from != b->from)
		return SPLIT_FROM;
	return a->evidence == b->evidence ? SPLIT_SOURCE : SPLIT_NONE;
}

static enum split needed_split(const struct summary *s)
{
	enum split most = SPLIT_NONE;

	for (size_t i = 0; i < s->nr_rows; i++)
		for (size_t j = i + 1; j < s->nr_rows; j++) {
			enum split split = split_of(&s->rows[i]->key, &s->rows[j]->key);

			most = split > most ? split : most;
		}
	return most;
}

int output_rows(struct table *t, const struct recording *rec, size_t number)
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
	err = output_rows(t, rec, number);
	close_err = table_close(t);
	return err ? err : close_err;
}

static int write_text_rows(FILE *out, const struct recording *rec, size_t number,
			   const struct output_options *opt)
{
	enum split split = needed_split(&rec->summary);
	int err;

	if (!rec->summary.nr_rows)
		return output_error(out);
	putc('\n', out);
	if (opt->columns)
		return write_text_table(out, rec, number, opt->columns);
	err = write_text_table(out, rec, number, text_counts[split]);
	if (err)
		return err;
	putc('\n', out);
	if (has_latency(&rec->summary))
		return write_text_table(out, rec, number, text_times[split]);
	return output_error(out);
}

static int write_recording(FILE *out, const struct recording *rec, size_t number, size_t nr_total,
			   const struct output_options *opt)
{
	int err = output_head(out, rec, nr_total, opt);

	return err ? err : write_text_rows(out, rec, number, opt);
}

int output_text(FILE *out, const struct recording *recs, size_t nr, const struct recording *total,
		const struct output_options *opt)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (i)
			putc('\n', out);
		err = write_recording(out, &recs[i], i + 1, 0, opt);
	}
	if (err || nr < 2)
		return err;
	putc('\n', out);
	return write_recording(out, total, 0, nr, opt);
}
