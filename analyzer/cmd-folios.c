// SPDX-License-Identifier: GPL-2.0-or-later
/* fault-analyze folios: what each folio cost, a row for each of its episodes and classes. */
#include <errno.h>

#include "columns.h"
#include "command.h"
#include "input.h"

static void usage(const struct column *columns, size_t nr)
{
	fputs("Usage: fault-analyze folios [OPTIONS] [FILE]\n"
	      "\n"
	      "List what each folio cost: a row for each class of faults in each of its episodes, as\n"
	      "they end: with the next write-protection (fork, …), or once all of the folio is\n"
	      "resolved.\n"
	      "\n",
	      stdout);
	input_options_help(stdout);
	fputs("\nColumns:\n", stdout);
	columns_help(stdout, columns, nr);
}

struct folios {
	struct input *in;
	struct output_options opt;
	struct folio_writer *writer;
	int write_err;
};

static int begin(void *ctx, const struct steps *steps)
{
	struct folios *f = ctx;

	f->writer = folio_writer_open(stdout, f->in->format, steps->rec, &f->opt);
	return f->writer ? 0 : -ENOMEM;
}

static int add_episode(void *ctx, const struct episode *e, const char *comm)
{
	struct folios *f = ctx;

	f->write_err = folio_writer_row(f->writer, e);
	return f->write_err ? -ECANCELED : 0;
}

static int list_folios(struct folios *f, const char *path)
{
	struct recording rec = { 0 };
	bool readable;
	int err, code = input_output_options(f->in, &f->opt);

	if (code)
		return code;
	f->in->report.begin = begin;
	f->in->report.episode = add_episode;
	f->in->report.ctx = f;
	code = input_read(f->in, path, &rec, &readable);
	if (f->writer) {
		err = folio_writer_close(f->writer);
		if (f->write_err)
			err = f->write_err;
		if (err)
			code = input_write_failed(err);
	}
	recording_release(&rec);
	return code;
}

int cmd_folios(int argc, char **argv)
{
	size_t nr_columns;
	const struct column *columns = folio_columns(&nr_columns);
	struct input in;
	struct folios f = { .in = &in };
	int code = input_parse(&in, argc, argv, columns, nr_columns);

	if (in.help) {
		usage(columns, nr_columns);
	} else if (!code && argc > optind + 1) {
		fputs("fault-analyze: folios takes one recording; see 'fault-analyze folios --help'\n",
		      stderr);
		code = EXIT_USAGE;
	} else if (!code) {
		code = list_folios(&f, argc > optind ? argv[optind] : DEFAULT_FILE);
	}
	input_release(&in);
	return code;
}
