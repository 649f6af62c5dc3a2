// SPDX-License-Identifier: GPL-2.0-or-later
/* Holds back the signals that would end the program. */
#include <stddef.h>
#include <sys/signalfd.h>

#include "signals.h"

/* One that is ignored would wait as well while it is blocked. */
static sigset_t ending_signals(void)
{
	static const int all[] = { SIGHUP, SIGINT, SIGTERM };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct sigaction action;

		if (!sigaction(all[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&set, all[i]);
	}
	return set;
}

void signals_hold(sigset_t *before)
{
	const sigset_t set = ending_signals();

	sigprocmask(SIG_BLOCK, &set, before);
}

int signals_open(void)
{
	const sigset_t set = ending_signals();

	return signalfd(-1, &set, SFD_CLOEXEC);
}

void signals_let(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}
