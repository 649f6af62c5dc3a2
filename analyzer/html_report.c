// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts the tables and pictures of a report or a comparison into one page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "columns.h"
#include "compare_out.h"
#include "compare_text.h"
#include "gnuplot.h"
#include "html.h"
#include "html_report.h"
#include "json_out.h"
#include "output_text.h"
#include "plot_tsv.h"
#include "signals.h"

#define REPORT_COLUMNS                                                                    \
	"class,from,source,order,folio_bytes,level,evidence,faults,folios,episodes,ptes," \
	"ptes_touched,ptes_resolved,faults_per_pte,ns_per_pte,latency_ns,"                \
	"per_folio_latency_ns.p50,per_folio_latency_ns.p99,per_folio_latency_ns.max,"     \
	"per_folio_latency_ns.sum,time_to_complete_ns.p50,time_to_complete_ns.max,"       \
	"ptes_per_fault.p50,ptes_per_fault.max"

#define COMPARE_COLUMNS_LIST                                                          \
	"class,from,order,level,metric,before,after,change_percent,ci95_low_percent," \
	"ci95_high_percent,runs_before,runs_after,p,exact,verdict"

/* Put what @write writes as text into the page. */
static int add_text(FILE *out, int (*write)(FILE *text, const void *arg), const void *arg)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);
	int err;

	if (!memory)
		return -ENOMEM;
	err = write(memory, arg);
	if (fclose(memory) && !err)
		err = -ENOMEM;
	if (!err) {
		fputs("<pre>", out);
		html_write(out, text);
		fputs("</pre>\n", out);
		err = output_error(out);
	}
	free(text);
	return err;
}

/* Pictures: drawn in a folder of their own, which goes again. */

static void remove_pictures(const char *dir)
{
	static const char *const kinds[] = { "tsv", "png", "svg" };

	for (size_t i = 0; plot_name(i); i++) {
		for (size_t k = 0; k < 3; k++) {
			char *path;

			if (asprintf(&path, "%s/%s.%s", dir, plot_name(i), kinds[k]) < 0)
				return;
			unlink(path);
			free(path);
		}
	}
	rmdir(dir);
}

/* Draw a picture in @dir and open it as *svg. Returns 0, or -ECANCELED with @reason, or -errno. */
static int draw_picture(FILE **svg, const char *name, const char *dir, struct progress *progress,
			char *reason, size_t size)
{
	int err = gnuplot_draw(name, dir, progress, reason, size);
	char *path;

	if (err)
		return err == -EINTR ? err : -ECANCELED;
	if (asprintf(&path, "%s/%s.svg", dir, name) < 0)
		return -ENOMEM;
	*svg = fopen(path, "re");
	err = *svg ? 0 : -errno;
	free(path);
	return err;
}

static int draw_all(FILE *svgs[NR_PLOTS], const char *dir, const struct plot_side *sides,
		    size_t nr_sides, char *reason, size_t size)
{
	struct progress progress;
	const char *name;
	int err = plot_write_all(dir, sides, nr_sides, &name);

	progress_begin(&progress);
	for (size_t i = 0; plot_name(i) && !err; i++)
		err = draw_picture(&svgs[i], plot_name(i), dir, &progress, reason, size);
	progress_end(&progress);
	return err;
}

/*
 * Draw the pictures and open them as @svgs, as many as can be had. The folder has gone when this
 * returns or when a signal ends the program, and writing the page, which may wait for a reader, is
 * not yet begun.
 */
static int draw_pictures(FILE *svgs[NR_PLOTS], const struct plot_side *sides, size_t nr_sides,
			 char *reason, size_t size)
{
	const char *base = getenv("TMPDIR");
	sigset_t before;
	char *dir;
	int err;

	if (asprintf(&dir, "%s/fault-analyze-XXXXXX", base ? base : "/tmp") < 0)
		return -ENOMEM;
	signals_hold(&before);
	err = mkdtemp(dir) ? 0 : -errno;
	if (!err) {
		err = draw_all(svgs, dir, sides, nr_sides, reason, size);
		remove_pictures(dir);
	}
	signals_let(&before);
	free(dir);
	return err;
}

static int add_pictures(struct html *page, const struct plot_side *sides, size_t nr_sides,
			char *reason, size_t size)
{
	FILE *svgs[NR_PLOTS] = { NULL };
	int err = draw_pictures(svgs, sides, nr_sides, reason, size), add_err = 0;

	fputs("<h2>Pictures</h2>\n<div class=\"pictures\">\n", html_body(page));
	for (size_t i = 0; i < NR_PLOTS && svgs[i]; i++) {
		if (!add_err)
			add_err = html_add_svg(page, svgs[i], plot_name(i));
		fclose(svgs[i]);
	}
	fputs("</div>\n", html_body(page));
	if (err == -ECANCELED) {
		fputs("<p>No pictures: ", html_body(page));
		html_write(html_body(page), reason);
		fputs("</p>\n", html_body(page));
	}
	return add_err ? add_err : err;
}

/* End the page; without its pictures it is still one. */
static int finish(struct html *page, int err, const char *path, char *reason, size_t size)
{
	bool no_pictures = err == -ECANCELED;

	err = html_close(page, no_pictures ? 0 : err);
	if (err)
		snprintf(reason, size, "%s: %s", path, strerror(-err));
	return err ? err : no_pictures ? -ECANCELED : 0;
}

static struct html *open_page(const char *path, const char *title, char *reason, size_t size)
{
	struct html *page = html_open(path, title);

	if (!page)
		snprintf(reason, size, "%s: %s", path, strerror(errno));
	return page;
}

/* Reports. */

struct head {
	const struct recording *rec;
	size_t nr_total;
	const struct output_options *opt;
};

static int write_head(FILE *out, const void *arg)
{
	const struct head *head = arg;

	return output_head(out, head->rec, head->nr_total, head->opt);
}

static int add_report_table(FILE *out, const struct recording *rec, size_t number, const char *list)
{
	const struct column *columns;
	int err, close_err;
	struct table *t;
	size_t nr;

	columns = report_columns(&nr);
	t = table_open(out, FORMAT_HTML, columns, nr, list ? list : REPORT_COLUMNS, rec->time_is_ns,
		       !rec->time_is_ns);
	if (!t)
		return -ENOMEM;
	err = output_rows(t, rec, number);
	close_err = table_close(t);
	return err ? err : close_err;
}

/* @number is from 1; 0 for the total of @nr_total. */
static int add_recording(struct html *page, const struct recording *rec, size_t number,
			 size_t nr_total, const struct output_options *opt)
{
	const struct head head = { rec, nr_total, opt };
	FILE *out = html_body(page);
	int err;

	fputs("<h2>", out);
	html_write(out, number ? (rec->file ? rec->file : "unknown") : "All recordings");
	fputs("</h2>\n", out);
	err = add_text(out, write_head, &head);
	return err ? err : add_report_table(out, rec, number, opt->columns);
}

int html_report(const char *path, const struct recording *recs, size_t nr,
		const struct recording *total, const struct output_options *opt,
		const struct plot_side *plot, char *reason, size_t size)
{
	struct html *page = open_page(path, "fault-analyze report", reason, size);
	int err = 0;

	if (!page)
		return -errno;
	for (size_t i = 0; i < nr && !err; i++)
		err = add_recording(page, &recs[i], i + 1, 0, opt);
	if (!err && nr > 1)
		err = add_recording(page, total, 0, nr, opt);
	if (!err)
		err = add_pictures(page, plot, 1, reason, size);
	return finish(page, err, path, reason, size);
}

/* Comparisons. */

struct compare_words {
	const struct comparison *c;
	const struct compare_output *options;
};

static int write_compare_text(FILE *out, const void *arg)
{
	const struct compare_words *words = arg;

	return compare_text(out, words->c, words->options);
}

/* All columns but those that say nothing here: one architecture, no groups. */
static const char *compare_list(const struct comparison *c)
{
	bool groups = false;

	for (size_t i = 0; i < c->nr_rows; i++)
		groups |= c->rows[i].label != NULL;
	if (c->nr_blocks > 1 || groups)
		return "arch,group," COMPARE_COLUMNS_LIST;
	return COMPARE_COLUMNS_LIST;
}

int html_compare(const char *path, const struct comparison *c, const struct compare_output *options,
		 const struct plot_side plots[NR_SIDES], char *reason, size_t size)
{
	struct compare_output brief = *options;
	const struct compare_words words = { c, &brief };
	struct html *page = open_page(path, "fault-analyze compare", reason, size);
	int err, pictures_err = 0;

	if (!page)
		return -errno;
	if (brief.view == VIEW_ALL)
		brief.view = VIEW_BRIEF; /* the table has all of it */
	err = add_text(html_body(page), write_compare_text, &words);
	if (!err)
		err = pictures_err = add_pictures(page, plots, NR_SIDES, reason, size);
	if (!err || err == -ECANCELED) {
		fputs("<h2>All figures</h2>\n", html_body(page));
		err = compare_table(html_body(page), FORMAT_HTML, c,
				    options->columns ? options->columns : compare_list(c));
	}
	return finish(page, err ? err : pictures_err, path, reason, size);
}
