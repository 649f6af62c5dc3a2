// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the container: its metadata, and what it says of where the CPUs' data are. */
#include "fuzz.h"
#include "tracefile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FUZZ_BOUNDS(size);
	struct tracefile tf;
	size_t symbols_size;
	uint64_t sum = 0;
	int err = tracefile_open(&tf, fuzz_file(data, size));

	fuzz_require(!err || tf.damages.nr);
	for (size_t i = 0; i < tf.nr_buffers; i++) {
		for (size_t j = 0; j < tf.buffers[i].nr_cpus; j++) {
			const struct trace_cpu *cpu = &tf.buffers[i].cpus[j];

			fuzz_require(!cpu->size || cpu->offset + cpu->size <= size);
			sum += cpu->size;
		}
	}
	fuzz_require(sum <= size);
	if (!err)
		free(tracefile_kallsyms(&tf, &symbols_size));
	tracefile_close(&tf);
	return 0;
}
