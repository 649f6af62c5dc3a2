/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pread() that is not content with less than there is. */
#ifndef FILE_READ_H
#define FILE_READ_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns the bytes read, fewer than @size only at the end of the file, or -errno. */
ssize_t file_read(int fd, void *to, size_t size, uint64_t offset);

#endif
