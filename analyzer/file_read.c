// SPDX-License-Identifier: GPL-2.0-or-later
/* pread() that is not content with less than there is. */
#include <errno.h>
#include <unistd.h>

#include "file_read.h"

ssize_t file_read(int fd, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)to + done, size - done, offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += n;
	}
	return done;
}
