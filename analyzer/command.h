/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands, one cmd-NAME.c each, and the codes that they exit with. */
#ifndef COMMAND_H
#define COMMAND_H

enum exit_code {
	EXIT_GOOD = 0,
	EXIT_USAGE = 1,
	EXIT_DAMAGED = 2, /* damaged or unreadable input, or output that could not be written */
	EXIT_REFUSED = 3, /* a comparison refused or a validation missed */
};

/* Say in one line on stderr what is wrong with @what, a file or the like. Returns EXIT_DAMAGED. */
int command_complain(const char *what, const char *why);

/* Say that memory ran out. Returns EXIT_DAMAGED. */
int command_no_memory(void);

/* Each takes argv from its own name on and returns an exit code. */
int cmd_compare(int argc, char **argv);
int cmd_folios(int argc, char **argv);
int cmd_kunit(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);

#endif
