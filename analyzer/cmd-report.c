// SPDX-License-Identifier: GPL-2.0-or-later
/* fault-analyze report: the faults of recordings, one by one and in total. */
#include <stdlib.h>

#include "columns.h"
#include "command.h"
#include "html_report.h"
#include "input.h"
#include "plot_data.h"
#include "usage.h"

struct report_command {
	struct input in;
	const char *html;	/* --html FILE; NULL: standard output */
	struct plot_side *plot; /* what the page's pictures are drawn from; owned */
};

enum {
	OPT_HTML = INPUT_EXTRA
};

static const struct option options[] = { { "html", required_argument, NULL, OPT_HTML }, { 0 } };

static int take(void *ctx, int val, const char *value)
{
	struct report_command *cmd = ctx;

	cmd->html = value;
	return *value ? 0 : usage_error("report", "--html '' is no file");
}

static void usage(const struct column *columns, size_t nr)
{
	fputs("Usage: fault-analyze report [OPTIONS] [FILE...]\n"
	      "\n"
	      "Count and time the faults of recordings (trace.dat), by class and folio order.\n"
	      "\n",
	      stdout);
	fputs("      --html FILE      write a page with tables and pictures (by gnuplot)\n",
	      stdout);
	input_options_help(stdout);
	fputs("\nColumns:\n", stdout);
	columns_help(stdout, columns, nr);
}

/* Read all files. Returns the worst exit code; *nr counts those that can be reported. */
static int read_files(struct report_command *cmd, char **files, int nr_files,
		      struct recording *recs, size_t *nr)
{
	int worst = EXIT_GOOD;

	for (int i = 0; i < nr_files; i++) {
		bool readable;
		int code;

		if (cmd->plot)
			plot_side_watch(cmd->plot, &cmd->in.report);
		code = input_read(&cmd->in, files[i], &recs[*nr], &readable);

		if (code > worst)
			worst = code;
		if (readable) {
			++*nr;
		} else {
			recording_release(&recs[*nr]);
			recs[*nr] = (struct recording){ 0 };
		}
	}
	return worst;
}

/* Write the page. Returns an exit code. */
static int write_page(struct report_command *cmd, const struct recording *recs, size_t nr,
		      const struct recording *total, const struct output_options *opt)
{
	char reason[256];
	int err = recordings_total(&cmd->plot->total, recs, nr);

	if (err)
		return command_no_memory();
	err = html_report(cmd->html, recs, nr, total, opt, cmd->plot, reason, sizeof(reason));
	if (err)
		fprintf(stderr, "fault-analyze: %s\n", reason);
	return err ? EXIT_DAMAGED : EXIT_GOOD;
}

static int print(struct report_command *cmd, const struct recording *recs, size_t nr)
{
	struct output_options opt;
	struct recording total = { 0 };
	int err, code = input_output_options(&cmd->in, &opt);

	if (code)
		return code;
	err = recordings_total(&total, recs, nr);
	if (!err && cmd->html)
		code = write_page(cmd, recs, nr, &total, &opt);
	else if (!err)
		err = output_report(stdout, cmd->in.format, recs, nr, &total, &opt);
	recording_release(&total);
	return err ? input_write_failed(err) : code;
}

int cmd_report(int argc, char **argv)
{
	static char *default_files[] = { DEFAULT_FILE };
	struct report_command cmd = { 0 };
	const struct input_extra extra = { .options = options, .take = take, .ctx = &cmd };
	size_t nr_columns, nr = 0;
	const struct column *columns = report_columns(&nr_columns);
	struct recording *recs = NULL;
	int code = input_parse_extra(&cmd.in, argc, argv, columns, nr_columns, &extra);
	int nr_files = argc > optind ? argc - optind : 1;
	int print_code = EXIT_GOOD;

	if (cmd.in.help)
		usage(columns, nr_columns);
	if (!code && cmd.html && cmd.in.format != FORMAT_TEXT)
		code = usage_error("report", "--format is of what is printed, not of --html");
	if (code || cmd.in.help)
		goto out;
	recs = calloc(nr_files, sizeof(*recs));
	cmd.plot = cmd.html ? calloc(1, sizeof(*cmd.plot)) : NULL;
	if (!recs || (cmd.html && !cmd.plot)) {
		code = command_no_memory();
		goto out;
	}
	code = read_files(&cmd, argc > optind ? argv + optind : default_files, nr_files, recs, &nr);
	if (nr)
		print_code = print(&cmd, recs, nr);
	if (print_code > code)
		code = print_code;
out:
	for (size_t i = 0; i < nr; i++)
		recording_release(&recs[i]);
	free(recs);
	if (cmd.plot)
		plot_side_release(cmd.plot);
	free(cmd.plot);
	input_release(&cmd.in);
	return code;
}
