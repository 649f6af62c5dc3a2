// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings made by hand for the tests of the rooms behind the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "make_recording.h"
#include "random.h"

#define PTES 16

static void add_fault(struct summary *s, const struct fault_key *key, uint64_t latency,
		      uint32_t ptes)
{
	struct fault f = { .counted = true, .has_exit = true, .latency = latency };
	struct outcome o = { .key = *key, .ptes = ptes };

	assert_int_equal(summary_add_fault(s, &f, &o), 0);
	s->counts.entries++;
	s->counts.exits++;
}

void make_fault(struct summary *s, const struct fault_key *key, uint64_t latency,
		uint32_t ptes_resolved)
{
	struct episode e = { .key = *key,
			     .latency = latency,
			     .complete = latency,
			     .faults = 1,
			     .ptes = 1u << key->order,
			     .ptes_touched = 1,
			     .ptes_resolved = ptes_resolved,
			     .timed = true,
			     .completed = ptes_resolved == 1u << key->order,
			     .first_of_folio = true };

	add_fault(s, key, latency, ptes_resolved);
	assert_int_equal(summary_add_episode(s, &e), 0);
}

/* A folio that takes a fault for each of its PTEs. */
static void add_reused_folio(struct summary *s, uint64_t *rng, uint64_t latency)
{
	struct episode e = { .key = { .class = CLASS_REUSE,
				      .order = 4,
				      .evidence = EVIDENCE_INFERRED,
				      .source = SOURCE_ALLOC },
			     .faults = PTES,
			     .ptes = PTES,
			     .ptes_touched = PTES,
			     .ptes_resolved = PTES,
			     .timed = true,
			     .completed = true,
			     .first_of_folio = true };

	for (unsigned int i = 0; i < PTES; i++) {
		uint64_t lat = latency + random_u64(rng) % (latency / 4 + 1);

		add_fault(s, &e.key, lat, 0);
		e.latency += lat;
	}
	e.complete = e.latency * 2;
	assert_int_equal(summary_add_episode(s, &e), 0);
}

static char *copy(const char *text)
{
	char *new = strdup(text);

	assert_non_null(new);
	return new;
}

struct recording make_recording(const char *file, uint64_t seed, unsigned int nr_folios,
				uint64_t latency)
{
	const struct fault_key map = { .class = CLASS_MAP, .order = 4, .source = SOURCE_ALLOC };
	struct recording r = { .file = copy(file),
			       .trace_id = seed + 1,
			       .kernel = copy("7.3.4"),
			       .arch = copy("x86_64"),
			       .page_size = 4096,
			       .clock = copy("local"),
			       .time_is_ns = true,
			       .cpus = 2,
			       .duration = 1234567890 };

	r.probes = calloc(2, sizeof(*r.probes));
	assert_non_null(r.probes);
	r.probes[r.nr_probes++] = copy("faults:fault_entry");
	r.probes[r.nr_probes++] = copy("faults:fault_exit");
	for (unsigned int i = 0; i < nr_folios; i++) {
		make_fault(&r.summary, &map, 5 * latency + random_u64(&seed) % latency, PTES);
		add_reused_folio(&r.summary, &seed, latency);
	}
	r.events = 2 * r.summary.counts.entries;
	summary_sort(&r.summary);
	return r;
}

char *written_by(int (*write)(FILE *out, void *arg), void *arg, int *err)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	*err = write(out, arg);
	assert_int_equal(fclose(out), 0);
	return text;
}
