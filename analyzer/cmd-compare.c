// SPDX-License-Identifier: GPL-2.0-or-later
/* fault-analyze compare: the table that goes into the commit message. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "command.h"
#include "compare_out.h"
#include "compare_read.h"
#include "html_report.h"
#include "progress.h"
#include "usage.h"

#define DEFAULT_METRICS                                                               \
	"faults,faults_per_pte,latency_ns.p50,latency_ns.p99,latency_ns.max,"         \
	"per_folio_latency_ns.p50,per_folio_latency_ns.p99,per_folio_latency_ns.max," \
	"ns_per_pte,time_to_complete_ns.p50,latency_ns.sum,ptes_per_fault.p50,"       \
	"ptes_per_fault.p99,ptes_per_fault.max,waste_ptes"
#define DEFAULT_THRESHOLD 0.01

enum {
	OPT_THRESHOLD = INPUT_EXTRA,
	OPT_METRIC,
	OPT_BY,
	OPT_COMMIT_MESSAGE,
	OPT_RAW,
	OPT_FORCE,
	OPT_HTML,
};

static const struct option options[] = { { "threshold", required_argument, NULL, OPT_THRESHOLD },
					 { "metric", required_argument, NULL, OPT_METRIC },
					 { "by", required_argument, NULL, OPT_BY },
					 { "commit-message", no_argument, NULL,
					   OPT_COMMIT_MESSAGE },
					 { "raw", no_argument, NULL, OPT_RAW },
					 { "force", no_argument, NULL, OPT_FORCE },
					 { "html", required_argument, NULL, OPT_HTML },
					 { 0 } };

struct compare_command {
	struct input in;
	struct compare_options options;
	struct compare_output output;
	enum compare_split split;
	const char *metrics;
	bool force;
	const char *html;	 /* --html FILE; NULL: standard output */
	struct plot_side *plots; /* of both sides, for the page's pictures; owned; NULL without */
};

static void usage(void)
{
	const struct column *columns;
	size_t nr;

	fputs("Usage: fault-analyze compare [OPTIONS] BEFORE... -- AFTER...\n"
	      "       fault-analyze compare [OPTIONS] BEFORE AFTER\n"
	      "\n"
	      "Compare recordings, or reports of recordings (report -F json; one may come from\n"
	      "standard input, \"-\"), before and after a change. A recording is a run; those of one\n"
	      "boot are one run.\n"
	      "\n"
	      "      --commit-message at most 12 rows, for the message\n"
	      "      --raw            the other rows, for under the ---\n"
	      "      --metric LIST    figures to compare, by their columns in report\n"
	      "      --by LIST        tell rows apart by class,order (default), comm or mm\n"
	      "      --threshold P    mark changes of at least P percent (default 1)\n"
	      "      --force          compare what is unlike, too\n"
	      "      --html FILE      write a page with tables and pictures (by gnuplot)\n",
	      stdout);
	input_options_help(stdout);
	fputs("\nMarks, of faults and total time: (I) improvement, (R) regression, = the interval lies\n"
	      "within the threshold, ? inconclusive, few: insufficient runs, as the last line says.\n"
	      "Refused are unlike probes, clocks, architectures, page sizes and workloads (where\n"
	      "manifests name them), losses above 0.1 % and damage: exit 3.\n",
	      stdout);
	fputs("\nColumns of tsv and csv:\n", stdout);
	columns = compare_columns(&nr);
	columns_help(stdout, columns, nr);
}

static int wrong(const char *option, const char *value, const char *why)
{
	return usage_error("compare", "--%s '%s' %s", option, value, why);
}

static int take_threshold(struct compare_command *cmd, const char *value)
{
	double percent;
	char *end;

	percent = strtod(value, &end);
	if (end == value || (*end && strcmp(end, "%")) || !isfinite(percent) || percent < 0)
		return wrong("threshold", value, "is no percentage");
	cmd->options.threshold = percent / 100;
	return 0;
}

static int take_by(struct compare_command *cmd, const char *value)
{
	cmd->options.by = 0;
	for (const char *word = value; *word;) {
		size_t length = strcspn(word, ",");

		if (length == 5 && !strncmp(word, "class", 5))
			cmd->options.by |= BY_CLASS;
		else if (length == 5 && !strncmp(word, "order", 5))
			cmd->options.by |= BY_ORDER;
		else if (length == 4 && !strncmp(word, "comm", 4) && cmd->split != SPLIT_MM)
			cmd->split = SPLIT_COMM;
		else if (length == 2 && !strncmp(word, "mm", 2) && cmd->split != SPLIT_COMM)
			cmd->split = SPLIT_MM;
		else
			return wrong("by", value, "is not of class, order and one of comm and mm");
		word += length;
		word += *word == ',';
	}
	return 0;
}

static int take_view(struct compare_command *cmd, enum compare_view view)
{
	if (cmd->output.view != VIEW_ALL && cmd->output.view != view)
		return usage_error("compare", "--commit-message or --raw, not both");
	cmd->output.view = view;
	return 0;
}

/* Options that would do nothing are refused. Returns an exit code. */
static int check_options(const struct compare_command *cmd)
{
	if (cmd->in.columns && cmd->in.format == FORMAT_TEXT)
		return usage_error("compare", "--output is for the columns of tsv and csv");
	if (cmd->in.format == FORMAT_TEXT)
		return 0;
	if (cmd->html)
		return usage_error("compare", "--format is of what is printed, not of --html");
	if (cmd->output.view != VIEW_ALL)
		return usage_error("compare", "--commit-message and --raw choose rows of text");
	return 0;
}

static int take(void *ctx, int val, const char *value)
{
	struct compare_command *cmd = ctx;

	switch (val) {
	case OPT_THRESHOLD:
		return take_threshold(cmd, value);
	case OPT_METRIC:
		cmd->metrics = value;
		cmd->output.own_metrics = true;
		return 0;
	case OPT_BY:
		return take_by(cmd, value);
	case OPT_COMMIT_MESSAGE:
		return take_view(cmd, VIEW_BRIEF);
	case OPT_RAW:
		return take_view(cmd, VIEW_RAW);
	case OPT_HTML:
		cmd->html = value;
		return *value ? 0 : wrong("html", value, "is no file");
	default:
		cmd->force = true;
		return 0;
	}
}

static bool is_figure(const struct column *column)
{
	const char *dot = strrchr(column->key, '.');

	return column->flags & REPORT_CLASS && !(column->flags & (COLUMN_LEFT | COLUMN_NO_JSON)) &&
	       strcmp(column->key, "order") && !(dot && !strcmp(dot, ".exact"));
}

/* The columns of the metrics that are asked for; those that are no figures are left out. */
static int choose_metrics(struct compare_command *cmd)
{
	const struct column *columns, **metrics;
	size_t nr, nr_listed;

	columns = report_columns(&nr);
	if (columns_unknown(columns, nr, cmd->metrics))
		return wrong("metric", cmd->metrics, "has a figure that does not exist");
	nr_listed = columns_listed(columns, nr, cmd->metrics, NULL, 0);
	metrics = calloc(nr_listed + 1, sizeof(*metrics));
	if (!metrics)
		return command_no_memory();
	columns_listed(columns, nr, cmd->metrics, metrics, nr_listed);
	cmd->options.metrics = metrics;
	for (size_t i = 0; i < nr_listed; i++)
		if (is_figure(metrics[i]))
			metrics[cmd->options.nr_metrics++] = metrics[i];
	return cmd->options.nr_metrics ? 0 : wrong("metric", cmd->metrics, "is no figure");
}

/*
 * Read the files of a side. Returns an exit code where a file could not be read at all; *worst
 * becomes that of the others: what was read but damaged is refused later, with its reason.
 */
static int read_side(struct compare_command *cmd, char **files, int nr, struct compare_side *side,
		     struct plot_side *plot, int *worst)
{
	struct progress progress; /* over files; a recording shows its own */
	int code = EXIT_GOOD;

	progress_begin(&progress);
	for (int i = 0; i < nr && !code; i++) {
		bool readable;

		progress_show(&progress, files[i], (double)i / nr);
		code = compare_read(&cmd->in, files[i], cmd->split, side, plot, &readable);
		if (code && readable) {
			*worst = code > *worst ? code : *worst;
			code = EXIT_GOOD;
		}
	}
	progress_end(&progress);
	return code;
}

/* Refuse, or with --force only warn of, what is unlike. Returns an exit code. */
static int check_alike(struct compare_command *cmd, const struct compare_side sides[NR_SIDES])
{
	struct compare_reasons reasons = { 0 };
	int code = EXIT_GOOD;

	if (compare_unlike(&reasons, sides))
		code = command_no_memory();
	for (size_t i = 0; i < reasons.nr; i++) {
		fputs("fault-analyze: ", stderr);
		text_write(stderr, reasons.list[i]); /* it names files and probes */
		putc('\n', stderr);
	}
	cmd->output.forced = reasons.nr > 0;
	if (reasons.nr && !cmd->force) {
		fputs("fault-analyze: not compared; --force compares all the same\n", stderr);
		code = EXIT_REFUSED;
	}
	compare_reasons_release(&reasons);
	return code;
}

static int check_sides(struct compare_command *cmd, const struct compare_side sides[NR_SIDES])
{
	const struct recording *a, *b;

	for (size_t s = 0; s < NR_SIDES; s++) {
		if (!sides[s].nr) {
			return usage_error("compare", "no recording %s",
					   s == BEFORE ? "before" : "after");
		}
	}
	if (compare_same_recording(sides, &a, &b)) {
		fprintf(stderr, "fault-analyze: %s and %s are the same recording\n", a->file,
			b->file);
		return EXIT_REFUSED;
	}
	return check_alike(cmd, sides);
}

/* All recordings of a side as one, for its pictures. Returns 0 or -ENOMEM. */
static int finish_plot(struct plot_side *plot, const struct compare_side *side)
{
	struct recording *recs = calloc(side->nr + 1, sizeof(*recs)); /* borrowed, all of them */
	int err = recs ? 0 : -ENOMEM;

	for (size_t i = 0; recs && i < side->nr; i++)
		recs[i] = side->inputs[i].rec;
	if (!err)
		err = recordings_total(&plot->total, recs, side->nr);
	free(recs);
	return err;
}

static int write_page(struct compare_command *cmd, const struct comparison *c,
		      const struct compare_side sides[NR_SIDES])
{
	char reason[256];
	int err;

	for (size_t s = 0; s < NR_SIDES; s++)
		if (finish_plot(&cmd->plots[s], &sides[s]))
			return command_no_memory();
	err = html_compare(cmd->html, c, &cmd->output, cmd->plots, reason, sizeof(reason));
	if (err)
		fprintf(stderr, "fault-analyze: %s\n", reason);
	return err ? EXIT_DAMAGED : EXIT_GOOD;
}

static int compare(struct compare_command *cmd, const struct compare_side sides[NR_SIDES])
{
	struct comparison c = { 0 };
	int code = EXIT_GOOD, err = 0;

	if (compare_sides(&c, sides, &cmd->options))
		code = command_no_memory();
	else if (cmd->html)
		code = write_page(cmd, &c, sides);
	else
		err = output_compare(stdout, &c, sides, &cmd->output);
	comparison_release(&c);
	return err ? input_write_failed(err) : code;
}

/* The files of both sides: around @split, or the only two. Returns an exit code. */
static int find_files(int argc, char **argv, int split, char **files[NR_SIDES], int nr[NR_SIDES])
{
	files[BEFORE] = argv + optind;
	nr[BEFORE] = split - optind;
	files[AFTER] = argv + split + 1;
	nr[AFTER] = argc - split - 1;
	if (split < argc)
		return 0;
	if (nr[BEFORE] != 2) {
		return usage_error("compare", "needs BEFORE... -- AFTER..., or exactly two files");
	}
	files[AFTER] = files[BEFORE] + 1;
	nr[BEFORE] = nr[AFTER] = 1;
	return 0;
}

int cmd_compare(int argc, char **argv)
{
	struct compare_command cmd = { .options = { .threshold = DEFAULT_THRESHOLD,
						    .by = BY_CLASS | BY_ORDER },
				       .metrics = DEFAULT_METRICS };
	const struct input_extra extra = { .options = options, .take = take, .ctx = &cmd };
	struct compare_side sides[NR_SIDES] = { 0 };
	int split = input_find_split(argc, argv), nr_files[NR_SIDES], code, worst = EXIT_GOOD;
	const struct column *columns;
	char **files[NR_SIDES];
	size_t nr;

	columns = compare_columns(&nr);
	code = input_parse_extra(&cmd.in, split, argv, columns, nr, &extra);
	if (!code && cmd.in.help)
		usage();
	if (!code && !cmd.in.help)
		code = check_options(&cmd);
	if (code || cmd.in.help)
		goto out;
	cmd.output.format = cmd.in.format;
	cmd.output.columns = cmd.in.columns;
	if (cmd.html) {
		cmd.plots = calloc(NR_SIDES, sizeof(*cmd.plots));
		if (!cmd.plots)
			code = command_no_memory();
	}
	if (!code)
		code = choose_metrics(&cmd);
	if (!code)
		code = find_files(argc, argv, split, files, nr_files);
	for (size_t s = 0; s < NR_SIDES && !code; s++)
		code = read_side(&cmd, files[s], nr_files[s], &sides[s],
				 cmd.plots ? &cmd.plots[s] : NULL, &worst);
	if (!code)
		code = check_sides(&cmd, sides);
	if (!code)
		code = compare(&cmd, sides);
	if (!code)
		code = worst;
out:
	for (size_t s = 0; s < NR_SIDES; s++) {
		compare_side_release(&sides[s]);
		if (cmd.plots)
			plot_side_release(&cmd.plots[s]);
	}
	free(cmd.plots);
	free(cmd.options.metrics);
	input_release(&cmd.in);
	return code;
}
