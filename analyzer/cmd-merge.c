// SPDX-License-Identifier: GPL-2.0-or-later
/* fault-analyze merge: one report over all recordings of several report JSONs. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json_in.h"
#include "output.h"
#include "progress.h"
#include "usage.h"
#include "version.h"

static void usage(FILE *out)
{
	fputs("Usage: fault-analyze merge [-F text|tsv|csv|json] SUMMARY.json...\n"
	      "\n"
	      "Print what one report over all recordings of the given reports would print; the\n"
	      "reports are the output of report -F json or of merge, \"-\" being standard input.\n"
	      "Those that another version of fault-analyze made are named on stderr: it may tell\n"
	      "classes apart otherwise.\n"
	      "\n"
	      "  -F, --format FORMAT  text, tsv, csv or json (default)\n"
	      "  -h, --help           show this\n",
	      out);
}

static bool has_trace_id(const struct report_file *all, uint64_t trace_id)
{
	for (size_t i = 0; i < all->nr_recs; i++)
		if (trace_id && all->recs[i].trace_id == trace_id)
			return true;
	return false;
}

/* Move the recordings of @file, read from @path, to the end of @all. Returns an exit code. */
static int append(struct report_file *all, struct report_file *file, const char *path)
{
	struct recording *recs;

	recs = reallocarray(all->recs, all->nr_recs + file->nr_recs + 1, sizeof(*recs));
	if (!recs)
		return command_complain(path, strerror(ENOMEM));
	all->recs = recs;
	for (size_t i = 0; i < file->nr_recs; i++) {
		if (has_trace_id(all, file->recs[i].trace_id))
			return command_complain(
				path, "a recording that was there before (same trace_id)");
		all->recs[all->nr_recs++] = file->recs[i];
		file->recs[i] = (struct recording){ 0 };
	}
	return 0;
}

/* The schema says what the figures are, the version by which rules they were found. */
static void check_version(const struct report_file *file, const char *path)
{
	char why[128];

	if (file->tool_version && !strcmp(file->tool_version, tool_version))
		return;
	snprintf(why, sizeof(why), "made by version %.40s of fault-analyze, this is %.40s",
		 file->tool_version ? file->tool_version : "unknown", tool_version);
	command_complain(path, why);
}

static int add_file(struct report_file *all, const char *path)
{
	struct report_file file = { 0 };
	struct json_error error;
	int code;

	if (report_json_read(path, &file, &error))
		return command_complain(path, error.text);
	check_version(&file, path);
	if (!all->filters) {
		all->filters = file.filters;
		all->nr_filters = file.nr_filters;
		file.filters = NULL;
		file.nr_filters = 0;
		code = append(all, &file, path);
	} else if (same_filters(all, &file)) {
		code = append(all, &file, path);
	} else {
		code = command_complain(path, "made with other filters than the files before it");
	}
	report_file_release(&file);
	return code;
}

static int print(const struct report_file *all, enum format format)
{
	struct output_filter *filters = calloc(all->nr_filters + 1, sizeof(*filters));
	struct output_options opt = { .filters = filters, .nr_filters = all->nr_filters };
	struct recording total = { 0 };
	int code = 0, err = filters ? 0 : -ENOMEM;

	for (size_t i = 0; filters && i < all->nr_filters; i++)
		filters[i] = (struct output_filter){ all->filters[i].name, all->filters[i].value };
	if (!err)
		err = recordings_total(&total, all->recs, all->nr_recs);
	if (!err)
		err = output_report(stdout, format, all->recs, all->nr_recs, &total, &opt);
	if (err)
		code = command_complain("standard output", strerror(-err));
	else if (total.damages.nr)
		code = EXIT_DAMAGED; /* as report does; the report says where */
	recording_release(&total);
	free(filters);
	return code;
}

int cmd_merge(int argc, char **argv)
{
	static const struct option options[] = { { "format", required_argument, NULL, 'F' },
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	struct report_file all = { 0 };
	int format = FORMAT_JSON, code = 0, c;
	struct progress progress;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":F:h", options, NULL)) != -1) {
		switch (c) {
		case 'F':
			format = format_parse(optarg);
			if (format < 0)
				return usage_error(argv[0], "--format '%s' is no format", optarg);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			return usage_wrong_option(argv[0], c, argv);
		}
	}
	if (optind == argc)
		return usage_error(argv[0], "merge takes JSON that report wrote");
	progress_begin(&progress);
	for (int i = optind; i < argc && !code; i++) {
		progress_show(&progress, argv[i], (double)(i - optind) / (argc - optind));
		code = add_file(&all, argv[i]);
	}
	progress_end(&progress);
	if (!code)
		code = print(&all, format);
	report_file_release(&all);
	return code;
}
