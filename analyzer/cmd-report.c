// SPDX-License-Identifier: GPL-2.0-or-later
/* fault-analyze report: the faults of recordings, one by one and in total. */
#include <stdlib.h>

#include "columns.h"
#include "command.h"
#include "input.h"

static void usage(const struct column *columns, size_t nr)
{
	fputs("Usage: fault-analyze report [OPTIONS] [FILE...]\n"
	      "\n"
	      "Count and time the faults of recordings (trace.dat), by class and folio order.\n"
	      "\n",
	      stdout);
	input_options_help(stdout);
	fputs("\nColumns:\n", stdout);
	columns_help(stdout, columns, nr);
}

/* Read all files. Returns the worst exit code; *nr counts those that can be reported. */
static int read_files(struct input *in, char **files, int nr_files, struct recording *recs,
		      size_t *nr)
{
	int worst = EXIT_GOOD;

	for (int i = 0; i < nr_files; i++) {
		bool readable;
		int code = input_read(in, files[i], &recs[*nr], &readable);

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

static int print(struct input *in, const struct recording *recs, size_t nr)
{
	struct output_options opt;
	struct recording total = { 0 };
	int err, code = input_output_options(in, &opt);

	if (code)
		return code;
	err = recordings_total(&total, recs, nr);
	if (!err)
		err = output_report(stdout, in->format, recs, nr, &total, &opt);
	recording_release(&total);
	return err ? input_write_failed(err) : EXIT_GOOD;
}

int cmd_report(int argc, char **argv)
{
	static char *default_files[] = { DEFAULT_FILE };
	size_t nr_columns, nr = 0;
	const struct column *columns = report_columns(&nr_columns);
	struct recording *recs = NULL;
	struct input in;
	int code = input_parse(&in, argc, argv, columns, nr_columns);
	int nr_files = argc > optind ? argc - optind : 1;
	int print_code = EXIT_GOOD;

	if (in.help)
		usage(columns, nr_columns);
	if (code || in.help)
		goto out;
	recs = calloc(nr_files, sizeof(*recs));
	if (!recs)
		abort();
	code = read_files(&in, argc > optind ? argv + optind : default_files, nr_files, recs, &nr);
	if (nr)
		print_code = print(&in, recs, nr);
	if (print_code > code)
		code = print_code;
out:
	for (size_t i = 0; i < nr; i++)
		recording_release(&recs[i]);
	free(recs);
	input_release(&in);
	return code;
}
