/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a command of the program inside a test and keeps what it prints. */
#ifndef RUN_COMMAND_H
#define RUN_COMMAND_H

struct run {
	int code;
	char *out, *err; /* owned */
};

/* Run @command with the words that follow, up to NULL; the first is its name. */
struct run run_command(int (*command)(int argc, char **argv), ...) __attribute__((sentinel));

/* The same of @argc words, with NULL behind them. */
struct run run_command_words(int (*command)(int argc, char **argv), int argc, char **words);

void run_release(struct run *run);

/* The path of a new file that holds @text; to unlink() and free(). */
char *text_to_file(const char *text);

#endif
