/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the fuzz targets share: bytes as a file that has a path. Each target is one program. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The path of a file in memory that holds @data until the next call. */
static inline const char *fuzz_file(const void *data, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

/* What must hold whatever the input; a crash is how a fuzzer is told that it does not. */
static inline void fuzz_require(int condition)
{
	if (!condition)
		abort();
}

static inline double fuzz_cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static inline void fuzz_check_time(const double *start)
{
	fuzz_require(fuzz_cpu_seconds() - *start < 1);
}

/* The rest of the function takes less than a second of the processor, however busy that is. */
#define FUZZ_ONE_SECOND                                                             \
	const double fuzz_start __attribute__((cleanup(fuzz_check_time), unused)) = \
		fuzz_cpu_seconds()

#endif
