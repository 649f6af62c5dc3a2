// SPDX-License-Identifier: GPL-2.0-or-later
/* Mode reclaim: clean, mapped, referenced file pages, reclaimed from a memory cgroup of their own.
 */
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void enter_cgroup(const char *dir)
{
	char path[512], pid[16];
	int err;

	if (mkdir(dir, 0755) && errno != EEXIST)
		die("%s: %s", dir, strerror(errno));
	snprintf(path, sizeof(path), "%.480s/cgroup.procs", dir);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	err = write_file(path, pid);
	if (err)
		die("%s: %s", path, strerror(-err));
}

static uint64_t memory_current(const char *dir)
{
	char path[512], text[32];

	snprintf(path, sizeof(path), "%.480s/memory.current", dir);
	read_file(path, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

/* A file whose pages are clean and not in memory. */
static int make_file(const char *path, size_t size_bytes)
{
	static char block[1 << 20];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	memset(block, 1, sizeof(block));
	for (size_t offset = 0; offset < size_bytes; offset += sizeof(block)) {
		if (write(fd, block, sizeof(block)) != sizeof(block))
			die("%s: %s", path, strerror(errno));
	}
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		die("%s: %s", path, strerror(errno));
	return fd;
}

static struct region map_file(int fd, size_t size_bytes)
{
	struct region r = { .size_bytes = size_bytes };
	char *space = mmap(NULL, size_bytes + 2 * PMD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	if (space == MAP_FAILED)
		die("no address space for %zu bytes: %s", size_bytes, strerror(errno));
	r.start = (char *)(((uintptr_t)space + PMD_BYTES) & ~(uintptr_t)(PMD_BYTES - 1));
	if (mmap(r.start, size_bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		die("cannot map the file: %s", strerror(errno));
	return r;
}

static void read_pages(const struct region *r)
{
	for (size_t offset = 0; offset < r->size_bytes; offset += PAGE_BYTES)
		(void)*(volatile char *)(r->start + offset);
}

/* A file system without large folios would show nothing: four fifths must lie in 64K and more. */
static void check_large(const struct region *r, const struct census *c)
{
	size_t nr_large = 0, nr_pages = r->size_bytes / PAGE_BYTES;

	for (unsigned int order = 4; order < 10; order++)
		nr_large += c->nr_pages[order];
	if (nr_large < nr_pages / 5 * 4)
		die("only %zu of %zu pages of the file lie in folios of 64 KiB or more", nr_large,
		    nr_pages);
}

void mode_reclaim(const struct options *opts)
{
	char path[512], amount[32];
	struct region r;
	struct phase *p;
	uint64_t before;
	int fd, err;

	if (!opts->file || !opts->cgroup)
		die("reclaim needs --file and --cgroup");
	enter_cgroup(opts->cgroup);
	fd = make_file(opts->file, opts->size_bytes);
	/* The page cache is filled by reads, whose readahead grows the folios; then mapped and
	 * touched. */
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL))
		die("%s: %s", opts->file, strerror(errno));
	r = map_file(fd, opts->size_bytes);
	for (size_t done = 0; done < opts->size_bytes;) {
		static char block[1 << 20];
		ssize_t n = pread(fd, block, sizeof(block), done);

		if (n <= 0)
			die("%s: %s", opts->file, strerror(errno));
		done += n;
	}

	p = phase_new(opts, &r, false);
	p->exact_faults = true;
	phase_warm(p);
	phase_begin(p);
	read_pages(&r);
	phase_end(p);
	phase_print(p, "touch");

	p = phase_new(opts, &r, false);
	check_large(&r, &p->census);
	snprintf(path, sizeof(path), "%.480s/memory.reclaim", opts->cgroup);
	snprintf(amount, sizeof(amount), "%zu", opts->reclaim_bytes);
	before = memory_current(opts->cgroup);
	phase_warm(p);
	phase_begin(p);
	err = write_file(path, amount);
	phase_end(p);
	snprintf(p->more, sizeof(p->more),
		 ", \"asked_bytes\": %zu, \"reclaimed_bytes\": %llu, \"error\": \"%s\"",
		 opts->reclaim_bytes, (unsigned long long)(before - memory_current(opts->cgroup)),
		 err ? strerror(-err) : "");
	phase_print(p, "reclaim");
	close(fd);
	unlink(opts->file);
}
