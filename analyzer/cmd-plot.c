// SPDX-License-Identifier: GPL-2.0-or-later
/* fault-analyze plot: TSV files for each plot, drawn by gnuplot. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "gnuplot.h"
#include "plot_data.h"
#include "plot_tsv.h"
#include "usage.h"

static void usage(void)
{
	fputs("Usage: fault-analyze plot [OPTIONS] [-o DIR] FILE...\n"
	      "       fault-analyze plot [OPTIONS] [-o DIR] BEFORE... -- AFTER...\n"
	      "\n"
	      "Write the data of each plot to DIR/NAME.tsv and draw it as DIR/NAME.png and .svg.\n"
	      "Exactly two files are before and after. The scripts can be run alone and edited:\n"
	      "gnuplot -c plots/NAME.gp DIR.\n"
	      "\n"
	      "  -o, --output DIR     where to write (default: the current folder)\n",
	      stdout);
	input_filters_help(stdout);
}

/* Read @nr files. Returns the worst exit code; *readable is whether each gave something to draw. */
static int read_side(struct input *in, char **files, int nr, struct plot_side *side, bool *readable)
{
	int worst = EXIT_GOOD;

	for (int i = 0; i < nr && *readable; i++) {
		int code = plot_read(in, files[i], side, readable);

		worst = code > worst ? code : worst;
	}
	if (*readable && plot_side_finish(side)) {
		*readable = false;
		worst = command_no_memory();
	}
	return worst;
}

/* Draw all that was written to @dir. Returns an exit code. */
static int draw(const char *dir)
{
	struct progress progress;
	char reason[256];
	int err = 0;

	progress_begin(&progress);
	for (size_t i = 0; plot_name(i) && !err; i++)
		err = gnuplot_draw(plot_name(i), dir, &progress, reason, sizeof(reason));
	progress_end(&progress);
	if (err)
		fprintf(stderr, "fault-analyze: %s; the data is in %s\n", reason, dir);
	return err ? EXIT_DAMAGED : EXIT_GOOD;
}

static int write_and_draw(const struct plot_side *sides, size_t nr_sides, const char *dir)
{
	const char *name = dir;
	int err = 0;

	if (mkdir(dir, 0777) && errno != EEXIST)
		return command_complain(dir, strerror(errno));
	err = plot_write_all(dir, sides, nr_sides, &name);
	if (err) {
		fprintf(stderr, "fault-analyze: %s/%s.tsv: %s\n", dir, name, strerror(-err));
		return EXIT_DAMAGED;
	}
	return draw(dir);
}

/* The files of one side or two. Returns how many sides, 0 after saying what is wrong. */
static size_t find_files(int argc, char **argv, int split, char **files[2], int nr[2])
{
	static char *default_files[] = { DEFAULT_FILE };

	files[0] = argv + optind;
	nr[0] = split - optind;
	files[1] = argv + split + 1;
	nr[1] = argc - split - 1;
	if (split < argc && nr[0] && nr[1])
		return 2;
	if (split < argc) {
		usage_error("plot", "a side has no file");
		return 0;
	}
	if (nr[0] == 2) {
		files[1] = files[0] + 1;
		nr[0] = nr[1] = 1;
		return 2;
	}
	if (!nr[0]) {
		files[0] = default_files;
		nr[0] = 1;
	}
	return 1;
}

int cmd_plot(int argc, char **argv)
{
	struct plot_side *sides = calloc(2, sizeof(*sides)); /* too large for the stack */
	int split = input_find_split(argc, argv), nr[2], code, worst = EXIT_GOOD;
	bool readable = true;
	size_t nr_sides;
	struct input in;
	char **files[2];

	if (!sides)
		return command_no_memory();
	code = input_parse(&in, split, argv, NULL, 0);
	if (!code && in.help)
		usage();
	if (!code && in.columns && !*in.columns)
		code = usage_error("plot", "--output '' is no folder");
	if (code || in.help)
		goto out;
	nr_sides = find_files(argc, argv, split, files, nr);
	if (!nr_sides)
		code = EXIT_USAGE;
	for (size_t s = 0; s < nr_sides && readable; s++) {
		code = read_side(&in, files[s], nr[s], &sides[s], &readable);
		worst = code > worst ? code : worst;
	}
	if (nr_sides && readable)
		code = write_and_draw(sides, nr_sides, in.columns ? in.columns : ".");
	code = worst > code ? worst : code;
out:
	for (size_t s = 0; s < 2; s++)
		plot_side_release(&sides[s]);
	free(sides);
	input_release(&in);
	return code;
}
