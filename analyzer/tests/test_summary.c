// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows, their sums and ratios, and summaries merged in any order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "random.h"
#include "recording.h"
#include "summary.h"

static struct fault_key random_key(uint64_t *rng)
{
	return (struct fault_key){
		.class = random_u64(rng) % NR_CLASSES,
		.order = random_u64(rng) % NR_ORDERS,
		.level = random_u64(rng) % NR_LEVELS,
		.evidence = random_u64(rng) % NR_EVIDENCE,
		.from = random_u64(rng) % NR_FROM,
		.source = random_u64(rng) % NR_SOURCES,
	};
}

static void add(struct summary *s, const struct fault_key *key, uint64_t latency)
{
	struct fault f = { .counted = true, .has_exit = true, .latency = latency };
	struct outcome o = { .key = *key };

	assert_int_equal(summary_add_fault(s, &f, &o), 0);
}

static void test_every_key_has_its_row(void **state)
{
	struct summary s = { 0 };
	struct fault_key k = { 0 };
	size_t nr = 0;

	for (k.class = 0; k.class < NR_CLASSES; k.class ++)
		for (k.order = 0; k.order < NR_ORDERS; k.order++)
			for (k.level = 0; k.level < NR_LEVELS; k.level++)
				for (k.evidence = 0; k.evidence < NR_EVIDENCE; k.evidence++)
					for (k.from = 0; k.from < NR_FROM; k.from++)
						for (k.source = 0; k.source < NR_SOURCES;
						     k.source++, nr++)
							add(&s, &k, nr);
	assert_int_equal(s.nr_rows, nr);
	summary_sort(&s);
	for (size_t i = 0; i < s.nr_rows; i++) {
		assert_ptr_equal(summary_row(&s, &s.rows[i]->key), s.rows[i]);
		assert_int_equal(s.rows[i]->faults, 1);
		if (i)
			assert_true(fault_key_compare(&s.rows[i - 1]->key, &s.rows[i]->key) < 0);
	}
	assert_int_equal(s.nr_rows, nr);
	summary_release(&s);
}

static void test_faults(void **state)
{
	struct fault f = { .counted = true, .retries = 2, .major = true, .remote = true };
	struct outcome o = { .key = { .class = CLASS_MAP, .order = 4 }, .ptes = 16 };
	struct summary s = { 0 };
	struct summary_row *row;

	assert_int_equal(summary_add_fault(&s, &f, &o), 0);
	f = (struct fault){ .counted = true, .has_exit = true, .latency = 700 };
	assert_int_equal(summary_add_fault(&s, &f, &o), 0);
	f = (struct fault){ .counted = false, .has_exit = true, .latency = 800, .retries = 1 };
	assert_int_equal(summary_add_fault(&s, &f, &o), 0);
	assert_int_equal(s.nr_rows, 1);
	row = summary_row(&s, &o.key);
	assert_int_equal(row->faults, 2);
	assert_int_equal(row->latency.count, 1); /* the first has no exit */
	assert_int_equal(row->latency.sum, 700);
	assert_int_equal(row->ptes_per_fault.sum, 32);
	assert_int_equal(s.counts.total, 2);
	assert_int_equal(s.counts.retries, 2);
	assert_int_equal(s.counts.major, 1);
	assert_int_equal(s.counts.remote, 1);
	assert_int_equal(s.counts.entries, 0);
	summary_release(&s);
}

/* A fault with the episode that it was all of adds what the two add by themselves. */
static void test_whole_episodes(void **state)
{
	struct summary one = { 0 }, two = { 0 };
	uint64_t rng = 9;

	for (unsigned int i = 0; i < 40000; i++) {
		struct fault f = { .counted = true,
				   .has_exit = random_u64(&rng) % 8,
				   .latency = random_u64(&rng) % (2 * HIST_MAX_EXACT) };
		struct outcome o = { .key = { .class = CLASS_REUSE,
					      .level = random_u64(&rng) % NR_LEVELS,
					      .evidence = random_u64(&rng) % NR_EVIDENCE },
				     .ptes = random_u64(&rng) % 2 };
		const struct episode e = { .key = o.key,
					   .faults = 1,
					   .ptes = 1,
					   .ptes_touched = 1,
					   .ptes_resolved = 1,
					   .latency = f.latency,
					   .complete = f.latency,
					   .timed = f.has_exit,
					   .completed = f.has_exit,
					   .waste_known = i % 2 || i > 20000,
					   .first_of_folio = random_u64(&rng) % 2 };

		assert_int_equal(summary_add_fault(&two, &f, &o), 0);
		assert_int_equal(summary_add_episode(&two, &e), 0);
		o.whole = random_u64(&rng) % 4 ? &e : NULL;
		assert_int_equal(summary_add_fault(&one, &f, &o), 0);
		if (!o.whole)
			assert_int_equal(summary_add_episode(&one, &e), 0);
	}
	for (int i = 0; i < 2; i++) { /* the second time there is nothing to do */
		assert_int_equal(summary_settle(&one), 0);
		summary_sort(&one);
		summary_sort(&two);
		assert_int_equal(one.nr_rows, 4);
		assert_int_equal(two.nr_rows, 4);
		for (size_t j = 0; j < two.nr_rows; j++)
			assert_true(row_equal(one.rows[j], two.rows[j]));
	}
	summary_release(&one);
	summary_release(&two);
}

static void test_episodes(void **state)
{
	struct episode e = { .key = { .class = CLASS_REUSE, .order = 4 },
			     .faults = 16,
			     .ptes = 16,
			     .ptes_touched = 16,
			     .ptes_resolved = 16,
			     .timed = true,
			     .latency = 1600,
			     .completed = true,
			     .complete = 5000,
			     .first_of_folio = true };
	struct summary s = { 0 };
	struct summary_row *row;

	assert_int_equal(summary_add_episode(&s, &e), 0);
	e.first_of_folio = false; /* forked once more: a second episode of the same folio */
	e.completed = false;
	e.timed = false;
	e.ptes_touched = e.ptes_resolved = 1;
	assert_int_equal(summary_add_episode(&s, &e), 0);
	row = summary_row(&s, &e.key);
	row->faults = 17;
	assert_int_equal(row->folios, 1);
	assert_int_equal(row->episodes, 2);
	assert_int_equal(row->ptes, 32);
	assert_int_equal(row->ptes_touched, 17);
	assert_int_equal(row->ptes_resolved, 17);
	assert_int_equal(row->timed_ptes, 16);
	assert_int_equal(row->per_folio_latency.count, 1);
	assert_int_equal(row->time_to_complete.sum, 5000);
	assert_float_equal(row_faults_per_pte(row), 17.0 / 32, 0);
	assert_float_equal(row_time_per_pte(row), 100, 0);
	summary_release(&s);
}

static void test_undefined_ratios(void **state)
{
	struct summary_row row = { .faults = 3 };

	assert_true(isnan(row_faults_per_pte(&row)));
	assert_true(isnan(row_time_per_pte(&row)));
	row.timed_ptes = 1;
	assert_int_equal(hist_add(&row.per_folio_latency, UINT64_MAX, 2), 0);
	assert_true(isnan(row_time_per_pte(&row)));
	row_release(&row);
}

static void assert_rows_equal(const struct summary_row *a, const struct summary_row *b)
{
	assert_int_equal(fault_key_compare(&a->key, &b->key), 0);
	assert_int_equal(a->faults, b->faults);
	assert_int_equal(a->episodes, b->episodes);
	assert_int_equal(a->folios, b->folios);
	assert_int_equal(a->ptes, b->ptes);
	assert_int_equal(a->ptes_touched, b->ptes_touched);
	assert_int_equal(a->ptes_resolved, b->ptes_resolved);
	assert_int_equal(a->timed_ptes, b->timed_ptes);
	assert_int_equal(a->latency.count, b->latency.count);
	assert_int_equal(a->latency.sum, b->latency.sum);
	assert_int_equal(a->per_folio_latency.sum, b->per_folio_latency.sum);
	assert_int_equal(a->time_to_complete.max, b->time_to_complete.max);
	assert_int_equal(a->ptes_per_fault.sum, b->ptes_per_fault.sum);
	for (unsigned int permille = 100; permille <= 1000; permille += 100)
		assert_int_equal(hist_quantile(&a->latency, permille),
				 hist_quantile(&b->latency, permille));
}

static void add_at_random(uint64_t *rng, struct summary *a, struct summary *b)
{
	struct outcome o = { .key = random_key(rng), .ptes = random_u64(rng) % 3 };
	struct fault f = { .counted = random_u64(rng) % 8,
			   .has_exit = random_u64(rng) % 4,
			   .latency = random_u64(rng) % 100000,
			   .retries = random_u64(rng) % 2 };
	struct episode e = { .key = o.key,
			     .faults = 1,
			     .ptes = 16,
			     .ptes_touched = 1,
			     .ptes_resolved = 1 + random_u64(rng) % 16,
			     .latency = random_u64(rng) % 1000000,
			     .complete = random_u64(rng) % 1000000,
			     .timed = random_u64(rng) % 2,
			     .completed = random_u64(rng) % 2,
			     .first_of_folio = random_u64(rng) % 2 };

	o.key.level = e.key.level = o.key.from = e.key.from = 0; /* fewer, fuller rows */
	assert_int_equal(summary_add_fault(a, &f, &o), 0);
	assert_int_equal(summary_add_fault(b, &f, &o), 0);
	assert_int_equal(summary_add_episode(a, &e), 0);
	assert_int_equal(summary_add_episode(b, &e), 0);
}

static void test_merge_any_order(void **state)
{
	enum {
		PARTS = 5
	};
	uint64_t rng = 4;

	for (unsigned int round = 0; round < 10; round++) {
		struct summary whole = { 0 }, parts[PARTS] = { 0 };
		size_t left = PARTS;

		for (unsigned int i = 0; i < 20000; i++)
			add_at_random(&rng, &whole, &parts[random_u64(&rng) % PARTS]);
		while (left > 1) {
			size_t to = random_u64(&rng) % left, from = random_u64(&rng) % left;

			if (to == from)
				continue;
			assert_int_equal(summary_merge(&parts[to], &parts[from]), 0);
			summary_release(&parts[from]);
			parts[from] = parts[--left];
			parts[left] = (struct summary){ 0 };
		}
		summary_sort(&whole);
		summary_sort(&parts[0]);
		assert_int_equal(parts[0].nr_rows, whole.nr_rows);
		for (size_t i = 0; i < whole.nr_rows; i++)
			assert_rows_equal(parts[0].rows[i], whole.rows[i]);
		assert_memory_equal(&parts[0].counts, &whole.counts, sizeof(whole.counts));
		summary_release(&parts[0]);
		summary_release(&whole);
	}
}

static void test_counters_saturate(void **state)
{
	struct summary a = { .counts = { .entries = UINT64_MAX - 1 } };
	struct summary b = { .counts = { .entries = 5, .exits = 5 } };

	assert_int_equal(summary_merge(&a, &b), 0);
	assert_int_equal(a.counts.entries, UINT64_MAX);
	assert_int_equal(a.counts.exits, 5);
}

static void test_total_of_recordings(void **state)
{
	struct recording recs[2] = {
		{ .kernel = strdup("7.3.4"),
		  .arch = strdup("x86_64"),
		  .time_is_ns = true,
		  .events = 10,
		  .lost_events = 1,
		  .duration = 100,
		  .page_size = 4096 },
		{ .kernel = strdup("7.3.4"),
		  .arch = strdup("aarch64"),
		  .time_is_ns = true,
		  .events = 20,
		  .duration = 50,
		  .page_size = 4096 },
	};
	struct fault_key key = { .class = CLASS_REUSE, .order = 4 };
	struct recording total = { 0 };

	add(&recs[0].summary, &key, 10);
	add(&recs[1].summary, &key, 30);
	damage_add(&recs[1].damages, 7, "a test");
	assert_int_equal(recordings_total(&total, recs, 2), 0);
	assert_string_equal(total.kernel, "7.3.4");
	assert_null(total.arch);
	assert_int_equal(total.events, 30);
	assert_int_equal(total.lost_events, 1);
	assert_int_equal(total.duration, 150);
	assert_int_equal(total.damages.nr, 1);
	assert_int_equal(total.damages.nr_kept, 0);
	assert_int_equal(total.summary.rows[0]->latency.sum, 40);
	recording_release(&total);

	recs[1].time_is_ns = false; /* ns and ticks have no sum; faults do */
	assert_true(recordings_mix_units(recs, 2));
	assert_int_equal(recordings_total(&total, recs, 2), 0);
	assert_int_equal(total.summary.rows[0]->faults, 2);
	assert_int_equal(total.summary.rows[0]->latency.count, 0);
	recording_release(&total);
	recording_release(&recs[0]);
	recording_release(&recs[1]);
}

static void test_time_units(void **state)
{
	struct recording ns = { .time_is_ns = true, .clock = (char *)"x86-tsc" };
	struct recording tsc = { .clock = (char *)"x86-tsc" };
	struct recording uptime[2] = { { .clock = (char *)"uptime" },
				       { .clock = (char *)"counter" } };

	assert_string_equal(recording_time_unit(&ns), "ns");
	assert_string_equal(recording_time_unit(&tsc), "cycles");
	assert_string_equal(recording_time_unit(&uptime[0]), "ticks");
	assert_true(recordings_mix_units(uptime, 2));
}

/* What is noted again is counted where it stands; what differs in offset or text is another. */
static void test_damages(void **state)
{
	struct damages d = { 0 };
	char all[160];

	memset(all, 'x', sizeof(all) - 1);
	all[sizeof(all) - 1] = '\0';
	for (int i = 0; i < 4; i++) {
		damage_add(&d, 7, "page of CPU %d", 1);
		damage_add(&d, 7, "page of CPU %d", 2);
		damage_add(&d, 8, "%s", all);
	}
	damage_add(&d, 9, "page of CPU %d", 1);
	assert_int_equal(d.nr, 4);
	assert_int_equal(d.nr_kept, 4);
	assert_string_equal(d.list[0].reason, "page of CPU 1 (4 times)");
	assert_string_equal(d.list[1].reason, "page of CPU 2 (4 times)");
	assert_non_null(strstr(d.list[2].reason, "xxx (4 times)"));
	assert_string_equal(d.list[3].reason, "page of CPU 1");
	for (int i = 0; i < 2 * DAMAGE_MAX_KEPT; i++)
		damage_add(&d, 100 + i, "another");
	assert_int_equal(d.nr_kept, DAMAGE_MAX_KEPT);
	assert_int_equal(d.nr, 4 + 2 * DAMAGE_MAX_KEPT);
	damages_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_key_has_its_row),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_damages),
		cmocka_unit_test(test_episodes),
		cmocka_unit_test(test_whole_episodes),
		cmocka_unit_test(test_undefined_ratios),
		cmocka_unit_test(test_merge_any_order),
		cmocka_unit_test(test_counters_saturate),
		cmocka_unit_test(test_total_of_recordings),
		cmocka_unit_test(test_time_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
