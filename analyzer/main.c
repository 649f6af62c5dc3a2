// SPDX-License-Identifier: GPL-2.0-or-later
/* fault-analyze: what the page faults of a recording cost, folio by folio. A table of commands. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "usage.h"
#include "version.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "report", cmd_report,
	  "count and time the faults of recordings, by class and folio order" },
	{ "folios", cmd_folios, "list what each folio cost, a row for each of its episodes" },
	{ "kunit", cmd_kunit,
	  "show the results of a KUnit run, and what its helpers cost per PTE" },
	{ "compare", cmd_compare, "compare recordings before and after a change, with statistics" },
	{ "replay", cmd_replay, "predict what another batching rule would do to a recording" },
	{ "plot", cmd_plot, "draw recordings, one or before and after, by gnuplot" },
	{ "record", cmd_record, "record a command's page faults with trace-cmd" },
	{ "merge", cmd_merge, "add up report JSONs of many machines" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(*commands))

static void usage(void)
{
	fputs("Usage: fault-analyze COMMAND [OPTIONS] [FILE...]\n\n", stdout);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		printf("  %-8s %s\n", commands[i].name, commands[i].help);
	fputs("\n'fault-analyze COMMAND --help' says more. A FILE is a recording of trace-cmd(1).\n"
	      "\n"
	      "Exit status: 0 good; 1 usage; 2 what could not be read whole, or written; 3 a comparison\n"
	      "refused, or a prediction missed. That of record is its command's.\n",
	      stdout);
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		fputs("fault-analyze: no command; see 'fault-analyze --help'\n", stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		usage();
		return EXIT_GOOD;
	}
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")) {
		printf("fault-analyze %s\n", tool_version);
		return EXIT_GOOD;
	}
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	}
	return usage_error(NULL, "no command '%s'", argv[1]);
}

int main(int argc, char **argv)
{
	int code = run(argc, argv);

	/* a help or version that nobody could read is no success either */
	if (code == EXIT_GOOD && (fflush(stdout) || ferror(stdout))) {
		fprintf(stderr, "fault-analyze: standard output: %s\n", strerror(errno));
		code = EXIT_DAMAGED;
	}
	return code;
}
