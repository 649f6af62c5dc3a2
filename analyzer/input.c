// SPDX-License-Identifier: GPL-2.0-or-later
/* What the commands that read recordings share: options, reading with progress, complaints. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "input.h"
#include "json_in.h"
#include "progress.h"
#include "size.h"
#include "table.h"
#include "usage.h"

enum {
	OPT_FILTER = 256, /* and the following, one a filter */
	OPT_ENTRY = 300,
	OPT_EXIT,
	OPT_FOLIO_SIZE,
	OPT_EXACT,
};

static const char *const filter_names[] = { "pid",  "comm", "cpu",   "mm",
					    "addr", "time", "class", "order" };

static const struct option options[] = { { "format", required_argument, NULL, 'F' },
					 { "output", required_argument, NULL, 'o' },
					 { "help", no_argument, NULL, 'h' },
					 { "pid", required_argument, NULL, OPT_FILTER + 0 },
					 { "comm", required_argument, NULL, OPT_FILTER + 1 },
					 { "cpu", required_argument, NULL, OPT_FILTER + 2 },
					 { "mm", required_argument, NULL, OPT_FILTER + 3 },
					 { "addr", required_argument, NULL, OPT_FILTER + 4 },
					 { "time", required_argument, NULL, OPT_FILTER + 5 },
					 { "class", required_argument, NULL, OPT_FILTER + 6 },
					 { "order", required_argument, NULL, OPT_FILTER + 7 },
					 { "entry", required_argument, NULL, OPT_ENTRY },
					 { "exit", required_argument, NULL, OPT_EXIT },
					 { "folio-size", required_argument, NULL, OPT_FOLIO_SIZE },
					 { "exact", no_argument, NULL, OPT_EXACT },
					 { 0 } };

void input_options_help(FILE *out)
{
	fputs("  -F, --format FORMAT  text (default), tsv, csv or json\n"
	      "  -o, --output LIST    columns, comma-separated; 'all' for every one; not of json\n",
	      out);
	input_filters_help(out);
}

void input_filters_help(FILE *out)
{
	fputs("  -h, --help           show this\n"
	      "\n"
	      "What is counted (the model sees every event either way; a filter given twice adds):\n"
	      "      --pid LIST       tasks (threads) by number, as 10,20-29\n"
	      "      --comm LIST      tasks by name\n"
	      "      --cpu LIST       processors on which the fault was entered\n"
	      "      --mm ADDRESS     address spaces by their mm_struct, hexadecimal\n"
	      "      --addr S-E       faulting addresses, hexadecimal, E exclusive, as in\n"
	      "                       /proc/PID/maps\n"
	      "      --time S-E       entries between seconds as trace-cmd report shows them\n"
	      "      --class LIST     map, reuse, cow, spurious, access, file, shared, unshare,\n"
	      "                       swap, numa, uffd, zero, raced, error, unknown\n"
	      "      --order LIST     folio orders, or sizes, as 0,64K-1M\n"
	      "\n"
	      "What the recording does not say by itself:\n"
	      "      --entry SYS:NAME the event on entry to handle_mm_fault\n"
	      "      --exit SYS:NAME  the event on its return\n"
	      "      --folio-size N   the size of folios that no event tells, as 64K or 2M\n"
	      "      --exact          its clock counts instructions: figures are exact\n",
	      out);
}

static int wrong(const struct input *in, const char *option, const char *value, const char *why)
{
	return usage_error(in->command, "--%s '%s' %s", option, value, why);
}

static int take_option(struct input *in, int c, bool prints_table)
{
	const char *why;
	char *end;

	switch (c) {
	case 'h':
		in->help = true;
		return 0;
	case 'F':
		if (!prints_table)
			return usage_error(in->command, "no option '--format': it prints no table");
		if (format_parse(optarg) < 0)
			return wrong(in, "format", optarg, "is no format");
		in->format = format_parse(optarg);
		return 0;
	case 'o':
		in->columns = optarg;
		return 0;
	case OPT_ENTRY:
		in->report.steps.names.entry = optarg;
		return strchr(optarg, ':') ? 0 : wrong(in, "entry", optarg, "is not SYSTEM:NAME");
	case OPT_EXIT:
		in->report.steps.names.exit = optarg;
		return strchr(optarg, ':') ? 0 : wrong(in, "exit", optarg, "is not SYSTEM:NAME");
	case OPT_FOLIO_SIZE:
		in->report.steps.folio_size = size_parse(optarg, &end);
		return in->report.steps.folio_size && !*end
			       ? 0
			       : wrong(in, "folio-size", optarg, "is no size");
	case OPT_EXACT:
		in->report.steps.exact = true;
		return 0;
	default:
		why = filter_add(&in->filter, filter_names[c - OPT_FILTER], optarg);
		return why ? wrong(in, filter_names[c - OPT_FILTER], optarg, why) : 0;
	}
}

static int check_columns(const struct input *in, const struct column *columns, size_t nr)
{
	const char *why = columns_unknown(columns, nr, in->columns);

	if (in->format == FORMAT_JSON)
		return usage_error(in->command, "--output is for tables, json has all columns");
	if (!why && *in->columns)
		return 0;
	return usage_error(in->command, "--output: no column '%.*s'",
			   why ? (int)strcspn(why, ",") : 0, why ? why : "");
}

static const struct option no_options[] = { { 0 } };

static size_t count_options(const struct option *list)
{
	size_t nr = 0;

	while (list[nr].name)
		nr++;
	return nr;
}

/* The shared options and those of @more in one list, to free(); NULL when out of memory. */
static struct option *join_options(const struct option *more)
{
	size_t nr = count_options(options), nr_more = count_options(more);
	struct option *all = calloc(nr + nr_more + 1, sizeof(*all));

	if (!all)
		return NULL;
	memcpy(all, options, nr * sizeof(*all));
	memcpy(all + nr, more, nr_more * sizeof(*all));
	return all;
}

int input_parse_extra(struct input *in, int argc, char **argv, const struct column *columns,
		      size_t nr_columns, const struct input_extra *extra)
{
	struct option *all = join_options(extra ? extra->options : no_options);
	int c, code = 0;

	opterr = 0;
	*in = (struct input){ .command = argv[0] };
	if (!all)
		return command_no_memory();
	while (!code && !in->help && (c = getopt_long(argc, argv, ":F:o:h", all, NULL)) != -1) {
		if (c == '?' || c == ':')
			code = usage_wrong_option(in->command, c, argv);
		else if (c >= INPUT_EXTRA)
			code = extra->take(extra->ctx, c, optarg);
		else
			code = take_option(in, c, columns);
	}
	if (extra && extra->columns)
		columns = extra->columns(extra->ctx, &nr_columns);
	if (!code && !in->help && columns && in->columns)
		code = check_columns(in, columns, nr_columns);
	in->report.steps.filter = in->filter.nr_texts ? &in->filter : NULL;
	free(all);
	return code;
}

int input_parse(struct input *in, int argc, char **argv, const struct column *columns,
		size_t nr_columns)
{
	return input_parse_extra(in, argc, argv, columns, nr_columns, NULL);
}

int input_output_options(struct input *in, struct output_options *opt)
{
	in->shown = calloc(in->filter.nr_texts + 1, sizeof(*in->shown));
	if (!in->shown)
		return input_write_failed(-ENOMEM);
	for (size_t i = 0; i < in->filter.nr_texts; i++)
		in->shown[i] = (struct output_filter){ in->filter.texts[i].name,
						       in->filter.texts[i].value };
	*opt = (struct output_options){ .columns = in->columns,
					.filters = in->shown,
					.nr_filters = in->filter.nr_texts };
	return 0;
}

struct reading {
	const char *path;
	struct progress progress;
};

static void show_progress(void *ctx, double done)
{
	struct reading *r = ctx;

	progress_show(&r->progress, r->path, done);
}

/* One line, whatever bytes the path or a text from the file may hold. */
static void complain(const char *path, const struct recording *rec, int err, const char *reason)
{
	const struct damages *d = &rec->damages;
	bool by_place = d->nr && d->list && (!err || err == -EBADMSG || err == -ENOTSUP);

	fputs("fault-analyze: ", stderr);
	text_write(stderr, path);
	fputs(": ", stderr);
	if (by_place) {
		fprintf(stderr, "offset %" PRIu64 ": ", d->list[0].offset);
		reason = d->list[0].reason;
	} else if (err == -ESPIPE) {
		reason = "is not seekable, a recording has to be a file";
	}
	text_write(stderr, reason);
	if (by_place && d->nr > 1)
		fprintf(stderr, " (and damage in %" PRIu64 " more place%s)", d->nr - 1,
			d->nr > 2 ? "s" : "");
	fputc('\n', stderr);
}

/* A filter that lets nothing pass may be a slip of the pen. */
static void hint_at_filters(const char *path, const struct filter_hint *hint)
{
	fputs("fault-analyze: ", stderr);
	text_write(stderr, path);
	fprintf(stderr, ": no fault of %" PRIu64 " passed the filters", hint->faults);
	if (hint->comms) {
		fputs("; tasks that had faults: ", stderr);
		text_write(stderr, hint->comms);
	}
	fputc('\n', stderr);
}

int input_read(struct input *in, const char *path, struct recording *rec, bool *readable)
{
	struct reading reading = { .path = path };
	struct filter_hint hint = { 0 };
	const char *reason;
	int err;

	progress_begin(&reading.progress);
	in->report.steps.progress = show_progress;
	in->report.steps.progress_ctx = &reading;
	in->report.steps.hint = &hint;
	err = report_read(path, &in->report, rec, &reason);
	in->report.steps.hint = NULL;
	progress_end(&reading.progress);
	*readable = !err;
	in->nothing_passed = !err && hint.faults && !rec->summary.counts.total;
	if (in->nothing_passed)
		hint_at_filters(path, &hint);
	filter_hint_release(&hint);
	if (!err && !rec->damages.nr)
		return EXIT_GOOD;
	/* a callback that gave up says why itself */
	if (err == -EINVAL)
		return usage_error(in->command, "%s: %s", path, reason);
	if (err != -ECANCELED)
		complain(path, rec, err, reason);
	return EXIT_DAMAGED;
}

bool input_has_filters(const struct input *in, const struct report_file *file)
{
	const struct filter *filter = &in->filter;
	size_t found = 0;

	for (size_t i = 0; i < filter->nr_texts; i++)
		for (size_t j = 0; j < file->nr_filters; j++)
			found += !strcmp(file->filters[j].name, filter->texts[i].name) &&
				 !strcmp(file->filters[j].value, filter->texts[i].value);
	return found == filter->nr_texts && found == file->nr_filters;
}

int input_check_report(const struct input *in, const char *path)
{
	const struct steps_options *steps = &in->report.steps;

	if (!steps->names.entry && !steps->names.exit && !steps->folio_size)
		return 0;
	return usage_error(in->command,
			   "%s is a report: --entry, --exit and --folio-size are for recordings",
			   path);
}

int input_find_split(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--"))
		i++;
	return i;
}

int input_write_failed(int err)
{
	fprintf(stderr, "fault-analyze: standard output: %s\n", strerror(-err));
	return EXIT_DAMAGED;
}

void input_release(struct input *in)
{
	filter_release(&in->filter);
	free(in->shown);
}
