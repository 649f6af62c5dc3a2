/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inputs that are read from front to back: a file, a pipe, or "-", standard input. */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stdio.h>

bool stream_is_stdin(const char *path);

/* Open @path for reading. NULL with errno set when it cannot be. */
FILE *stream_open(const char *path);

/* Standard input stays open. */
void stream_close(FILE *in);

#endif
