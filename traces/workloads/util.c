// SPDX-License-Identifier: GPL-2.0-or-later
/* Small files of the kernel's file systems, memory that fork shares, children, chance, and how to
 * give up. */
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "fault-workload: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(1);
}

int write_file(const char *path, const char *text)
{
	size_t len = strlen(text);
	int err = 0;
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len)
		err = -errno;
	close(fd);
	return err;
}

size_t read_file(const char *path, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	while (len < size - 1 && (n = read(fd, buf + len, size - 1 - len)) != 0) {
		if (n < 0)
			die("%s: %s", path, strerror(errno));
		len += n;
	}
	close(fd);
	buf[len] = '\0';
	return len;
}

void *shared_alloc(size_t size_bytes)
{
	void *p = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		die("no memory for %zu bytes: %s", size_bytes, strerror(errno));
	memset(p, 0, size_bytes);
	return p;
}

void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		die("a child failed");
}

uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}
