/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings made by hand for the tests of the rooms behind the model. */
#ifndef MAKE_RECORDING_H
#define MAKE_RECORDING_H

#include <stdio.h>

#include "recording.h"

/*
 * A recording with the figures of a reuse and a map row of @nr_folios folios of order 4, latencies
 * spread by @seed around @latency. Release with recording_release().
 */
struct recording make_recording(const char *file, uint64_t seed, unsigned int nr_folios,
				uint64_t latency);

/* One fault of @key with @latency, and the episode of its own that it makes. */
void make_fault(struct summary *s, const struct fault_key *key, uint64_t latency,
		uint32_t ptes_resolved);

/* What @write writes to a stream, as a string to free(). *err is what it returned. */
char *written_by(int (*write)(FILE *out, void *arg), void *arg, int *err);

#endif
