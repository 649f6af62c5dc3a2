/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands that read recordings share: their options, reading a file with progress on a
 * terminal, and the one line that says what is wrong with it.
 */
#ifndef INPUT_H
#define INPUT_H

#include <getopt.h>
#include <stdio.h>

#include "filter.h"
#include "output.h"
#include "report.h"

#define DEFAULT_FILE "trace.dat"

struct input {
	const char *command; /* for messages */
	struct filter filter;
	struct report_options report;
	enum format format;
	const char *columns;
	struct output_filter *shown; /* the filters as output takes them; owned */
	bool help;
	bool nothing_passed; /* the filters, of the faults of what input_read() has read last */
};

/* Rows for --help of the options that input_parse() takes; and without those of tables. */
void input_options_help(FILE *out);
void input_filters_help(FILE *out);

/*
 * Take in argv up to the first file, optind. The columns of -o are checked against @columns, and
 * are none of JSON's; without any, -o is a path and -F no option.
 * Returns 0, or an exit code after saying what is wrong.
 */
int input_parse(struct input *in, int argc, char **argv, const struct column *columns,
		size_t nr_columns);

/* Options of one command beside those that all share. */
struct input_extra {
	const struct option *options; /* vals from INPUT_EXTRA on; ends with { 0 } */
	/* Take in one of them. Returns 0, or an exit code after saying what is wrong. */
	int (*take)(void *ctx, int val, const char *value);
	void *ctx;
	/* The columns of -o where options choose them, asked when all are taken in; or NULL. */
	const struct column *(*columns)(void *ctx, size_t *nr);
};

#define INPUT_EXTRA 1000

/* input_parse() with @extra options. */
int input_parse_extra(struct input *in, int argc, char **argv, const struct column *columns,
		      size_t nr_columns, const struct input_extra *extra);

/* What output is told about filters and columns. Returns 0, or an exit code after saying what is
 * wrong. */
int input_output_options(struct input *in, struct output_options *opt);

/*
 * Read @path into @rec. Returns EXIT_GOOD, EXIT_DAMAGED or EXIT_USAGE; what is wrong was said in
 * one line on stderr, unless a callback returned -ECANCELED. *readable says whether there is
 * something to report.
 */
int input_read(struct input *in, const char *path, struct recording *rec, bool *readable);

struct report_file; /* json_in.h */

/* Whether the report @file was made with the filters that were given, and no other. */
bool input_has_filters(const struct input *in, const struct report_file *file);

/* Refuse options that say how to read a recording, where @path is a report. 0 or an exit code. */
int input_check_report(const struct input *in, const char *path);

/* Where the first "--" stands in argv, which parts two sides; argc when there is none. */
int input_find_split(int argc, char **argv);

/* Say that writing failed with -errno @err. Returns EXIT_DAMAGED. */
int input_write_failed(int err);

void input_release(struct input *in);

#endif
