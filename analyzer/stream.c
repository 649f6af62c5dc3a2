// SPDX-License-Identifier: GPL-2.0-or-later
/* Inputs that are read from front to back: a file, a pipe, or "-", standard input. */
#include <string.h>

#include "stream.h"

bool stream_is_stdin(const char *path)
{
	return !strcmp(path, "-");
}

FILE *stream_open(const char *path)
{
	return stream_is_stdin(path) ? stdin : fopen(path, "re");
}

void stream_close(FILE *in)
{
	if (in != stdin)
		fclose(in);
}
