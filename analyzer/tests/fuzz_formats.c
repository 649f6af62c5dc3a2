// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes formats and probes: texts that each end in a NUL, all of one system, the first a
 * header_page too; what follows the last NUL is an event.
 */
#include <string.h>

#include "fuzz.h"
#include "probes.h"

#define MAX_TEXTS 16

static void decode(const struct formats *f, const uint8_t *data, size_t size, bool big_endian)
{
	const struct probe_names names = { 0 };
	struct tracefile tf = { .fd = -1 };
	struct probes p;
	const char *reason;
	struct event e;
	struct record r = { .size = size & ~(size_t)3 };
	uint8_t *copy = malloc(r.size);

	fuzz_require(copy != NULL);
	memcpy(copy, data, r.size);
	r.data = copy;
	fuzz_require(!probes_bind(&p, f, &names, big_endian, &tf, &reason));
	probes_decode(&p, &r, &e);
	probes_release(&p);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FUZZ_BOUNDS(size);
	static char *const systems[] = { "faults", "kmem", "ftrace", "exceptions" };
	struct trace_text texts[MAX_TEXTS];
	struct damages damages = { 0 };
	struct formats formats = { 0 };
	struct page_layout layout;
	const uint8_t *end;
	size_t nr = 0;
	uint8_t how;

	if (!size)
		return 0;
	how = *data++;
	size--;
	while (nr < MAX_TEXTS && (end = memchr(data, '\0', size))) {
		size_t length = end - data;

		texts[nr++] = (struct trace_text){ .system = systems[how & 3],
						   .text = (char *)data,
						   .size = length };
		data += length + 1;
		size -= length + 1;
	}
	fuzz_require(!formats_parse(&formats, texts, nr, &damages));
	if (nr && !page_layout_parse(&layout, &texts[0], &damages))
		fuzz_require(layout.data_offset >= 12 && layout.data_offset < layout.page_size &&
			     layout.commit_offset + layout.commit_size <= layout.data_offset);
	if (size >= 4)
		decode(&formats, data, size, how & 4);
	formats_release(&formats);
	damages_release(&damages);
	return 0;
}
