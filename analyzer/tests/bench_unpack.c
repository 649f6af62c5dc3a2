// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `make bench` compares with where a recording is compressed: its chunks read and unpacked,
 * nothing else done.
 */
#include <stdio.h>
#include <stdlib.h>

#include "endian_read.h"
#include "file_read.h"
#include "pages.h"

/* Unpack the data of one CPU. Returns its plain bytes. */
static uint64_t unpack_cpu(struct tracefile *tf, const struct trace_cpu *cpu, uint8_t *to)
{
	struct packed_block b = { .fd = tf->fd, .offset = cpu->offset };
	uint64_t sum = 0;
	uint8_t word[8];

	if (!cpu->size || file_read(tf->fd, word, 4, cpu->offset) != 4)
		return 0;
	b.offset += 4;
	for (uint32_t left = read_u32(word, tf->big_endian); left; left--) {
		if (file_read(tf->fd, word, 8, b.offset) != 8)
			break;
		b.offset += 8;
		b.packed = read_u32(word, tf->big_endian);
		b.size = read_u32(word + 4, tf->big_endian);
		if (b.size > PAGES_MAX_CHUNK || unpack_block(&tf->unpacker, &b, to))
			break;
		b.offset += b.packed;
		sum += b.size;
	}
	return sum;
}

int main(int argc, char **argv)
{
	uint8_t *to = malloc(PAGES_MAX_CHUNK);
	struct tracefile tf;
	uint64_t sum = 0;

	if (!to || argc != 2 || tracefile_open(&tf, argv[1]) < 0 || !tf.nr_buffers ||
	    !tf.buffers[0].compressed) {
		fputs("usage: bench_unpack COMPRESSED-RECORDING\n", stderr);
		return 1;
	}
	for (size_t i = 0; i < tf.nr_buffers; i++) {
		for (size_t j = 0; j < tf.buffers[i].nr_cpus; j++)
			sum += unpack_cpu(&tf, &tf.buffers[i].cpus[j], to);
	}
	printf("%llu bytes\n", (unsigned long long)sum);
	tracefile_close(&tf);
	free(to);
	return 0;
}
