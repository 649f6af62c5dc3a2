// SPDX-License-Identifier: GPL-2.0-or-later
/* What every command may have to say. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "table.h"

int command_complain(const char *what, const char *why)
{
	fputs("fault-analyze: ", stderr);
	text_write(stderr, what); /* names and words may come from a damaged file */
	fputs(": ", stderr);
	text_write(stderr, why);
	putc('\n', stderr);
	return EXIT_DAMAGED;
}

int command_no_memory(void)
{
	fprintf(stderr, "fault-analyze: %s\n", strerror(ENOMEM));
	return EXIT_DAMAGED;
}
