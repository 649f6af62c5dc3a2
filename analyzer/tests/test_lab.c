// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lab's recordings against the figures that they were published with, which a separate script
 * worked out from `trace-cmd report -t` and the workload's own ru_minflt. See traces/README.md.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "report.h"

struct phase {
	uint8_t class, order, level, from;
	uint64_t faults, p50, sum;
};

static const struct lab {
	const char *name;
	const char *base; /* the workload's region, as --addr takes it */
	uint64_t bytes;
	uint64_t events, pairs; /* of the whole recording */
	struct phase populate, store;
} recordings[] = {
	{ "x86_64-reuse-64k",
	  "7fc78c200000-7fc78ca00000",
	  8 << 20,
	  7138,
	  2230,
	  { CLASS_MAP, 4, LEVEL_PTE, FROM_NONE, 128, 15570, 2025793 },
	  { CLASS_REUSE, 4, LEVEL_PTE, FROM_NONE, 2048, 2797, 5742876 } },
	{ "x86_64-reuse-4k",
	  "7f7783c00000-7f7783e00000",
	  2 << 20,
	  4439,
	  1078,
	  { CLASS_MAP, 0, LEVEL_PTE, FROM_NONE, 512, 5732, 3159099 },
	  { CLASS_REUSE, 0, LEVEL_PTE, FROM_NONE, 512, 2780, 1457007 } },
	{ "x86_64-reuse-2m-pmd",
	  "7fc3a1e00000-7fc3a2600000",
	  8 << 20,
	  382,
	  60,
	  { CLASS_MAP, 9, LEVEL_PMD, FROM_NONE, 4, 282896, 1142492 },
	  { CLASS_REUSE, 9, LEVEL_PMD, FROM_NONE, 4, 2689, 10756 } },
	{ "x86_64-cow-64k",
	  "7f4f57800000-7f4f57c00000",
	  4 << 20,
	  4754,
	  1139,
	  { CLASS_MAP, 4, LEVEL_PTE, FROM_NONE, 64, 15570, 1014414 },
	  { CLASS_COW, 4, LEVEL_PTE, FROM_ANON, 1024, 6418, 7011357 } },
	{ "aarch64-reuse-64k",
	  "ffff96000000-ffff96800000",
	  8 << 20,
	  4883,
	  2230,
	  { CLASS_MAP, 4, LEVEL_PTE, FROM_NONE, 128, 12768, 1657040 },
	  { CLASS_REUSE, 4, LEVEL_PTE, FROM_NONE, 2048, 2928, 6134432 } },
	{ "aarch64-reuse-4k",
	  "ffffb7800000-ffffb7a00000",
	  2 << 20,
	  3535,
	  1154,
	  { CLASS_MAP, 0, LEVEL_PTE, FROM_NONE, 512, 5984, 3332944 },
	  { CLASS_REUSE, 0, LEVEL_PTE, FROM_NONE, 512, 2896, 1498672 } },
	{ "aarch64-reuse-2m-pmd",
	  "ffff86400000-ffff86c00000",
	  8 << 20,
	  503,
	  138,
	  { CLASS_MAP, 9, LEVEL_PMD, FROM_NONE, 4, 159232, 649776 },
	  { CLASS_REUSE, 9, LEVEL_PMD, FROM_NONE, 4, 2736, 10928 } },
	{ "aarch64-cow-64k",
	  "ffffb6800000-ffffb6c00000",
	  4 << 20,
	  3801,
	  1218,
	  { CLASS_MAP, 4, LEVEL_PTE, FROM_NONE, 64, 12800, 833872 },
	  { CLASS_COW, 4, LEVEL_PTE, FROM_ANON, 1024, 5648, 6383520 } },
};

/* One class of faults fills the region: every PTE of it is in an episode, and is resolved. */
static void assert_phase(const struct summary_row *row, const struct phase *p, uint64_t ptes)
{
	assert_int_equal(row->key.class, p->class);
	assert_int_equal(row->key.order, p->order);
	assert_int_equal(row->key.level, p->level);
	assert_int_equal(row->key.from, p->from);
	assert_int_equal(row->key.source, SOURCE_ALLOC);
	assert_int_equal(row->faults, p->faults);
	assert_int_equal(row->latency.count, p->faults);
	assert_int_equal(row->latency.sum, p->sum);
	assert_int_equal(hist_quantile(&row->latency, 500), p->p50);
	assert_true(hist_exact(&row->latency));
	assert_int_equal(row->folios, ptes >> p->order);
	assert_int_equal(row->episodes, ptes >> p->order);
	assert_int_equal(row->ptes, ptes);
	assert_int_equal(row->ptes_touched, p->faults);
	assert_int_equal(row->ptes_resolved, ptes);
	assert_int_equal(row->per_folio_latency.count, ptes >> p->order);
	assert_int_equal(row->per_folio_latency.sum, p->sum);
	assert_int_equal(row->time_to_complete.count, ptes >> p->order);
	assert_true(fabs(row_faults_per_pte(row) - (double)p->faults / ptes) < 1e-12);
	assert_true(fabs(row_time_per_pte(row) - (double)p->sum / ptes) < 1e-9);
}

static void test_region(void **state)
{
	const struct lab *lab = *state;
	struct filter filter = { 0 };
	struct report_options options = { .steps.filter = &filter };
	struct recording rec = { 0 };
	const struct summary *s = &rec.summary;
	const char *reason;
	char path[128];

	snprintf(path, sizeof(path), "traces/lab/%s.dat", lab->name);
	assert_null(filter_add(&filter, "addr", lab->base));
	assert_int_equal(report_read(path, &options, &rec, &reason), 0);
	assert_int_equal(rec.events, lab->events);
	assert_int_equal(rec.damages.nr + rec.lost_events + rec.lost_uncounted, 0);
	assert_int_equal(s->counts.entries, lab->pairs);
	assert_int_equal(s->counts.exits, lab->pairs);
	assert_int_equal(s->counts.unpaired_entries + s->counts.unpaired_exits, 0);
	assert_int_equal(s->counts.total, lab->populate.faults + lab->store.faults);
	assert_int_equal(s->nr_rows, 2);
	assert_phase(s->rows[0], &lab->populate, lab->bytes / rec.page_size);
	assert_phase(s->rows[1], &lab->store, lab->bytes / rec.page_size);
	recording_release(&rec);
	filter_release(&filter);
}

/* Every entry of the whole recording is in a row, was a retry, or was counted as unpaired. */
static void test_whole(void **state)
{
	const struct lab *lab = *state;
	struct report_options options = { 0 };
	struct recording rec = { 0 };
	const struct fault_counts *c = &rec.summary.counts;
	const char *reason;
	uint64_t faults = 0;
	char path[128];

	snprintf(path, sizeof(path), "traces/lab/%s.dat", lab->name);
	assert_int_equal(report_read(path, &options, &rec, &reason), 0);
	for (size_t i = 0; i < rec.summary.nr_rows; i++)
		faults += rec.summary.rows[i]->faults;
	assert_int_equal(faults, c->total);
	assert_int_equal(c->entries, lab->pairs);
	assert_int_equal(c->total + c->retries + c->unpaired_entries, c->entries);
	assert_int_equal(c->retries, 1); /* each recording holds one */
	assert_string_equal(rec.kernel, "7.3.4");
	assert_true(rec.time_is_ns);
	recording_release(&rec);
}

int main(void)
{
	enum {
		NR = sizeof(recordings) / sizeof(*recordings)
	};
	struct CMUnitTest tests[2 * NR];

	for (size_t i = 0; i < NR; i++) {
		tests[2 * i] = (struct CMUnitTest){ recordings[i].name, test_region, NULL, NULL,
						    (void *)&recordings[i] };
		tests[2 * i + 1] = (struct CMUnitTest){ recordings[i].name, test_whole, NULL, NULL,
							(void *)&recordings[i] };
	}
	return cmocka_run_group_tests_name("lab", tests, NULL, NULL);
}
