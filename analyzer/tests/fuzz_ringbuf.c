// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the ring buffer: one sub-buffer of any size, layout and byte order. */
#include <string.h>

#include "fuzz.h"
#include "ringbuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FUZZ_BOUNDS(size);
	struct page_layout layout = { .commit_offset = 8 };
	struct record r = { 0 };
	struct ringbuf rb;
	uint64_t lost;
	uint8_t *page;
	size_t nr = 0;

	if (size < 1 + 17)
		return 0;
	layout.commit_size = data[0] & 1 ? 4 : 8;
	layout.data_offset = layout.commit_offset + layout.commit_size;
	layout.page_size = size - 1;
	/* of its own: a byte read past the page's end is found */
	page = malloc(layout.page_size);
	fuzz_require(page != NULL);
	memcpy(page, data + 1, layout.page_size);
	if (!ringbuf_load(&rb, &layout, page, data[0] & 2, &lost)) {
		while (ringbuf_next(&rb, &r) == 1) {
			/* every event has its id */
			fuzz_require(r.size >= 2 && r.data > page &&
				     r.data + r.size <= page + layout.page_size);
			nr++;
		}
		fuzz_require(nr <= layout.page_size / 8);
	}
	free(page);
	return 0;
}
