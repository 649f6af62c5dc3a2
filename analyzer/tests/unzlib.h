/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rewrites a zlib recording without compression, for libraries that were built without zlib. */
#ifndef UNZLIB_H
#define UNZLIB_H

/*
 * Reads a v7 recording compressed with zlib and writes the same one uncompressed. Both are held
 * in memory. Returns 0 or -errno; -EINVAL for any other file and for one that does not add up.
 */
int unzlib(const char *from, const char *to);

#endif
