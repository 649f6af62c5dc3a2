// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a command of the program inside a test and keeps what it prints. */
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "run_command.h"

#define MAX_WORDS 64

/* Point @stream at a new file; its descriptor before is returned. */
static int redirect(FILE *stream, FILE *to)
{
	int saved = dup(fileno(stream));

	assert_true(saved >= 0);
	fflush(stream);
	assert_true(dup2(fileno(to), fileno(stream)) >= 0);
	return saved;
}

/* Point @stream back and return what @file holds, which is closed. */
static char *restore(FILE *stream, int saved, FILE *file)
{
	char *text;
	long size;

	fflush(stream);
	dup2(saved, fileno(stream));
	close(saved);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	text = calloc(1, size + 1);
	assert_non_null(text);
	rewind(file);
	assert_int_equal(fread(text, 1, size, file), size);
	fclose(file);
	return text;
}

struct run run_command_words(int (*command)(int argc, char **argv), int argc, char **words)
{
	FILE *out = tmpfile(), *err = tmpfile();
	int saved_out, saved_err;
	struct run run;

	assert_non_null(out);
	assert_non_null(err);
	saved_out = redirect(stdout, out);
	saved_err = redirect(stderr, err);
	optind = 0; /* getopt starts anew */
	run.code = command(argc, words);
	run.out = restore(stdout, saved_out, out);
	run.err = restore(stderr, saved_err, err);
	return run;
}

struct run run_command(int (*command)(int argc, char **argv), ...)
{
	char *words[MAX_WORDS];
	int argc = 0;
	va_list ap;

	va_start(ap, command);
	do {
		assert_true(argc < MAX_WORDS);
		words[argc] = va_arg(ap, char *);
	} while (words[argc++]);
	va_end(ap);
	return run_command_words(command, argc - 1, words);
}

void run_release(struct run *run)
{
	free(run->out);
	free(run->err);
}

char *text_to_file(const char *text)
{
	char *path = strdup("/tmp/fault-analyze-test-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}
