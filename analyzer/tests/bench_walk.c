// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bare walk that `make bench` measures the analyzer against: the pages of an uncompressed
 * recording read in pieces of 256 KB, each event's id and first field touched, nothing else done.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file_read.h"
#include "tracefile.h"

#define PIECE	  (256 << 10)
#define PAGE_SIZE 4096
#define DATA	  16

static uint64_t sum, events;

static void walk_page(const uint8_t *page)
{
	uint32_t commit, header, length;
	const uint8_t *p = page + DATA, *end;

	memcpy(&commit, page + 8, sizeof(commit));
	end = p + (commit & 0x3fffffff);
	while (p < end) {
		uint64_t first;
		uint16_t id;

		memcpy(&header, p, sizeof(header));
		length = header & 31;
		if (length == 0)
			memcpy(&length, p + 4, sizeof(length));
		else if (length >= 29)
			length = 4;
		else
			length *= 4;
		if ((header & 31) < 29) {
			memcpy(&id, p + 4, sizeof(id));
			memcpy(&first, p + 12, sizeof(first));
			sum += id + first;
			events++;
		}
		p += 4 + length;
	}
}

int main(int argc, char **argv)
{
	static uint8_t piece[PIECE];
	struct tracefile tf;

	if (argc != 2 || tracefile_open(&tf, argv[1]) < 0 || !tf.nr_buffers ||
	    tf.buffers[0].compressed || tf.big_endian) {
		fputs("usage: bench_walk UNCOMPRESSED-RECORDING\n", stderr);
		return 1;
	}
	for (size_t i = 0; i < tf.buffers[0].nr_cpus; i++) {
		struct trace_cpu *cpu = &tf.buffers[0].cpus[i];

		for (uint64_t done = 0; done < cpu->size;) {
			ssize_t got = file_read(tf.fd, piece, sizeof(piece), cpu->offset + done);

			if (got < PAGE_SIZE)
				break;
			for (ssize_t at = 0; at + PAGE_SIZE <= got; at += PAGE_SIZE)
				walk_page(piece + at);
			done += got;
		}
	}
	printf("%llu events, sum %llx\n", (unsigned long long)events, (unsigned long long)sum);
	tracefile_close(&tf);
	return 0;
}
