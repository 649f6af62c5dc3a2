/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes as people write them: 64K, 2M. */
#ifndef SIZE_H
#define SIZE_H

#include <stdint.h>

/* The bytes that @text begins with, as 64K or 65536; 0 when it is none. *end is what follows. */
uint64_t size_parse(const char *text, char **end);

#endif
