// SPDX-License-Identifier: GPL-2.0-or-later
/* Sizes as people write them: 64K, 2M. */
#include <stdlib.h>

#include "size.h"

uint64_t size_parse(const char *text, char **end)
{
	uint64_t n = strtoull(text, end, 10);

	if (*end == text || n > UINT64_MAX >> 30)
		return 0;
	switch (**end) {
	case 'G':
	case 'g':
		n <<= 10;
		/* fall through */
	case 'M':
	case 'm':
		n <<= 10;
		/* fall through */
	case 'K':
	case 'k':
		n <<= 10;
		++*end;
		break;
	}
	return n;
}
