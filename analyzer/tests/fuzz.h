/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the fuzz targets share: bytes as a file, bounds of time and memory. Each is one program. */
#ifndef FUZZ_H
#define FUZZ_H

#include <sanitizer/allocator_interface.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FUZZ_MEMORY	     (64 << 20) /* bytes */
#define FUZZ_MEMORY_PER_BYTE 16

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

/* Bytes allocated and not freed since the input began; and what it may have at a time. */
static int64_t fuzz_live, fuzz_allowed;

static void fuzz_on_malloc(const volatile void *ptr, size_t size)
{
	fuzz_require(__atomic_add_fetch(&fuzz_live, size, __ATOMIC_RELAXED) <= fuzz_allowed);
}

static void fuzz_on_free(const volatile void *ptr)
{
	if (ptr)
		__atomic_sub_fetch(&fuzz_live, __sanitizer_get_allocated_size(ptr),
				   __ATOMIC_RELAXED);
}

static inline double fuzz_begin(size_t size)
{
	static int installed;

	if (!installed)
		installed = __sanitizer_install_malloc_and_free_hooks(fuzz_on_malloc, fuzz_on_free);
	fuzz_require(installed);
	fuzz_live = 0;
	fuzz_allowed = FUZZ_MEMORY + FUZZ_MEMORY_PER_BYTE * size;
	return fuzz_cpu_seconds();
}

static inline void fuzz_end(const double *start)
{
	fuzz_allowed = INT64_MAX; /* libFuzzer's own */
	fuzz_require(fuzz_cpu_seconds() - *start < 1);
}

/*
 * The rest of the function takes less than a second of the processor, however busy that is, and
 * never has more memory than 64 MiB and what @size bytes justify: they may be packed.
 */
#define FUZZ_BOUNDS(size) \
	const double fuzz_start __attribute__((cleanup(fuzz_end), unused)) = fuzz_begin(size)

#endif
