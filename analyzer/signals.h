/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals that would end the program, held back while it has something to take away first: SIGHUP,
 * SIGINT and SIGTERM, but for those that are ignored. Holds may be nested.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>

/* Hold them back from now on; *before is for signals_let(). No other thread may run. */
void signals_hold(sigset_t *before);

/* A file that can be read when one of them has come, to be closed; -1 when there is none. */
int signals_open(void);

/* End the hold of *before. Where it is the outermost, a signal that has come ends the program. */
void signals_let(const sigset_t *before);

#endif
