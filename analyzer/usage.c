// SPDX-License-Identifier: GPL-2.0-or-later
/* What is wrong with a command line, said in one line with a hint. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "usage.h"

int usage_error(const char *command, const char *fmt, ...)
{
	va_list ap;

	fputs("fault-analyze: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; see 'fault-analyze %s%s--help'\n", command ? command : "",
		command ? " " : "");
	return EXIT_USAGE;
}

int usage_wrong_option(const char *command, int c, char **argv)
{
	const char *word = argv[optind - 1];

	if (c == ':')
		return usage_error(command, "option '%s' needs a value", word);
	if (strncmp(word, "--", 2))
		return usage_error(command, "no option '-%c'", optopt);
	return optopt ? usage_error(command, "option '%s' takes no value", word)
		      : usage_error(command, "no option '%s', or more than one begins so", word);
}
