// SPDX-License-Identifier: GPL-2.0-or-later
/* Modes on anonymous memory: populate, reuse, cow, fork, unmap, dontneed and usemem. */
#include "workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Maps a region and fills it in a phase of its own; what backs it is checked by the next phase. */
static struct region populated(const struct options *opts)
{
	struct region r;
	struct phase *p;

	thp_allow_only(opts->folio_bytes, "madvise");
	r = region_map(opts);
	p = phase_new(opts, &r, false);
	p->exact_faults = true;
	phase_warm(p);
	phase_begin(p);
	region_populate(&r);
	phase_end(p);
	phase_print(p, "populate");
	if (opts->by_ptes)
		region_split_pmds(&r);
	return r;
}

static pid_t fork_or_die(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	return pid;
}

/* A child that holds the region until the returned descriptor is closed, then checks its own view
 * of it. */
static pid_t fork_holder(const struct options *opts, const struct region *r, int *release_fd)
{
	int fds[2];
	char byte;
	pid_t pid;

	if (pipe(fds))
		die("pipe: %s", strerror(errno));
	pid = fork_or_die();
	if (pid == 0) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) != 0)
			_exit(1);
		region_check_content(opts, r, false);
		_exit(0);
	}
	close(fds[0]);
	*release_fd = fds[1];
	return pid;
}

static void store_phase(const struct options *opts, const struct region *r, bool check)
{
	struct phase *p = phase_new(opts, r, check);

	p->exact_faults = true;
	if (opts->store == STORE_BYTE)
		p->times = shared_alloc(sizeof(*p->times) + store_nr_pages(opts, r->size_bytes) *
								    sizeof(p->times->ns[0]));
	snprintf(p->more, sizeof(p->more),
		 ", \"store\": \"%s\", \"every\": %zu, \"pages_stored\": %zu",
		 store_name(opts->store), opts->every, store_nr_pages(opts, r->size_bytes));
	store_run(p);
	phase_print(p, "store");
	region_check_content(opts, r, true);
}

void mode_populate(const struct options *opts)
{
	struct region r = populated(opts);
	struct census c;

	region_census(&r, &c);
	region_check(opts, &r, &c);
}

void mode_reuse(const struct options *opts)
{
	struct region r = populated(opts);
	pid_t pid = fork_or_die();

	if (pid == 0)
		_exit(0);
	wait_for(pid);
	store_phase(opts, &r, true);
}

void mode_cow(const struct options *opts)
{
	struct region r = populated(opts);
	int release_fd;
	pid_t pid = fork_holder(opts, &r, &release_fd);

	store_phase(opts, &r, true);
	close(release_fd);
	wait_for(pid);
}

/* The call alone is timed. Its child exits at once; the next fork finds the PTEs as the first left
 * them. */
void mode_fork(const struct options *opts)
{
	struct region r = populated(opts);
	struct phase *p = phase_new(opts, &r, true);
	pid_t pid;

	for (unsigned int i = 0; i < opts->repeat; i++) {
		phase_warm(p);
		phase_begin(p);
		pid = fork_or_die();
		if (pid == 0)
			_exit(0);
		phase_end(p);
		wait_for(pid);
		phase_print(p, "fork");
	}
}

void mode_unmap(const struct options *opts)
{
	struct region r = populated(opts);
	struct phase *p = phase_new(opts, &r, true);

	phase_warm(p);
	phase_begin(p);
	if (munmap(r.start, r.size_bytes))
		die("munmap: %s", strerror(errno));
	phase_end(p);
	phase_print(p, "unmap");
}

void mode_dontneed(const struct options *opts)
{
	struct region r = populated(opts);
	struct phase *p = phase_new(opts, &r, true);

	p->exact_faults = true;
	phase_warm(p);
	phase_begin(p);
	if (madvise(r.start, r.size_bytes, MADV_DONTNEED))
		die("MADV_DONTNEED: %s", strerror(errno));
	phase_end(p);
	phase_print(p, "dontneed");

	p = phase_new(opts, &r, false);
	p->exact_faults = true;
	phase_warm(p);
	phase_begin(p);
	region_populate(&r);
	phase_end(p);
	phase_print(p, "repopulate");
}

/* One child after the other is let go, so that stdout and the recording keep their order. */
void mode_usemem(const struct options *opts)
{
	struct region r = populated(opts);
	struct phase *p = phase_new(opts, &r, true);
	pid_t *pids = shared_alloc(opts->nr_children * sizeof(*pids));
	int(*fds)[2] = shared_alloc(opts->nr_children * sizeof(*fds));
	unsigned int i;
	pid_t pid;
	char byte;

	for (i = 0; i < opts->nr_children; i++) {
		if (pipe(fds[i]))
			die("pipe: %s", strerror(errno));
		pid = fork_or_die();
		if (pid) {
			pids[i] = pid; /* shared memory: the parent's to write */
			continue;
		}
		if (read(fds[i][0], &byte, 1) != 1)
			_exit(1);
		store_phase(opts, &r, false);
		_exit(0);
	}
	phase_warm(p);
	phase_begin(p);
	for (i = 0; i < opts->nr_children; i++) {
		if (write(fds[i][1], "g", 1) != 1)
			die("write: %s", strerror(errno));
		wait_for(pids[i]);
	}
	phase_end(p);
	phase_print(p, "children");
	region_check_content(opts, &r, false);
}
