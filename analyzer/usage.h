/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong with a command line, said in one line with a hint. */
#ifndef USAGE_H
#define USAGE_H

/*
 * Say what is wrong, as printf() does, and point at the help of @command (NULL: of the program).
 * Returns EXIT_USAGE.
 */
int usage_error(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * The same of an option that getopt_long() answered with @c, '?' or ':'. It has to be silent:
 * opterr 0, and a ':' in front of the short options.
 */
int usage_wrong_option(const char *command, int c, char **argv);

#endif
