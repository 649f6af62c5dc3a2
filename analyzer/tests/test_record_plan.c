// SPDX-License-Identifier: GPL-2.0-or-later
/* What record would set, on kernels that offer much, little or nothing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record_plan.h"

/* A kernel: its functions and events, a name a word. */
struct kernel {
	const char *functions, *events;
};

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

static bool has_function(void *ctx, const char *name)
{
	return has_word(((struct kernel *)ctx)->functions, name);
}

static bool has_event(void *ctx, const char *system, const char *name)
{
	return has_word(((struct kernel *)ctx)->events, name);
}

static struct record_offer offer_of(struct kernel *kernel, bool fprobes, bool kprobes)
{
	return (struct record_offer){ .fprobes = fprobes,
				      .kprobes = kprobes,
				      .has_function = has_function,
				      .has_event = has_event,
				      .ctx = kernel };
}

static bool plans_event(const struct record_plan *plan, const char *event)
{
	for (size_t i = 0; i < plan->nr_events; i++)
		if (!strcmp(plan->events[i], event))
			return true;
	return false;
}

static void fprobes_and_all_events(void **state)
{
	struct kernel kernel = { "do_fault handle_mm_fault dup_mmap", "exit_mmap mm_page_alloc" };
	struct record_offer offer = offer_of(&kernel, true, true);
	struct record_plan plan = { 0 };
	const char *reason;

	assert_int_equal(record_plan_make(&plan, "fault", "g", &offer, &reason), 0);
	assert_int_equal(plan.nr_probes, 4);
	assert_string_equal(plan.probes[0],
			    "f:g/fault_entry handle_mm_fault start=+0($arg1):x64 end=+8($arg1):x64 "
			    "mm=+16($arg1):x64 address=$arg2:x64 flags=$arg3:x32");
	assert_string_equal(plan.probes[1],
			    "f:g/fault_exit handle_mm_fault%return ret=$retval:x32");
	assert_true(plans_event(&plan, "g:fault_entry"));
	assert_true(plans_event(&plan, "g:dup_mmap_exit"));
	assert_true(plans_event(&plan, "mmap:exit_mmap"));
	assert_true(plans_event(&plan, "kmem:mm_page_alloc"));
	assert_int_equal(plan.nr_events, 6);
	assert_false(plan.whole_system);
	record_plan_release(&plan);
	assert_null(plan.probes);
}

static void one_sided_probes(void **state)
{
	struct kernel kernel = { "handle_mm_fault wp_reuse_folio contpte_convert", "" };
	struct record_offer offer = offer_of(&kernel, true, true);
	struct record_plan plan = { 0 };
	const char *reason;

	assert_int_equal(record_plan_make(&plan, "fault", "g", &offer, &reason), 0);
	assert_int_equal(plan.nr_probes, 4);
	assert_string_equal(plan.probes[2],
			    "f:g/reuse_worker wp_reuse_folio%return ptes=$retval:s32");
	assert_string_equal(plan.probes[3], "f:g/contpte_convert contpte_convert address=$arg2:x64 "
					    "cont=$arg4:b1@52/64");
	assert_int_equal(plan.nr_events, 4);
	record_plan_release(&plan);
}

static void kprobes_where_fprobes_are_missing(void **state)
{
	struct kernel kernel = { "handle_mm_fault", "" };
	struct record_offer offer = offer_of(&kernel, false, true);
	struct record_plan plan = { 0 };
	const char *reason;

	assert_int_equal(record_plan_make(&plan, "fault", "g", &offer, &reason), 0);
	assert_int_equal(plan.nr_probes, 2);
	assert_memory_equal(plan.probes[0], "p:g/fault_entry handle_mm_fault ", 32);
	assert_string_equal(plan.probes[1], "r1024:g/fault_exit handle_mm_fault ret=$retval:x32");
	assert_int_equal(plan.nr_events, 2);
	record_plan_release(&plan);
}

static void each_preset_has_its_own(void **state)
{
	struct kernel kernel = { "handle_mm_fault copy_page_range folio_referenced",
				 "mm_collapse_huge_page mm_vmscan_lru_shrink_inactive" };
	struct record_offer offer = offer_of(&kernel, true, true);
	static const struct {
		const char *preset, *event;
		bool whole_system;
	} cases[] = { { "fork", "g:copy_page_range_entry", false },
		      { "reclaim", "g:folio_referenced_exit", true },
		      { "reclaim", "vmscan:mm_vmscan_lru_shrink_inactive", true },
		      { "collapse", "huge_memory:mm_collapse_huge_page", true } };
	struct record_plan plan = { 0 };
	const char *reason;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(record_plan_make(&plan, cases[i].preset, "g", &offer, &reason), 0);
		assert_true(plans_event(&plan, cases[i].event));
		assert_true(plans_event(&plan, "g:fault_entry"));
		assert_int_equal(plan.whole_system, cases[i].whole_system);
		record_plan_release(&plan);
	}
	assert_int_equal(record_plan_make(&plan, "fault", "g", &offer, &reason), 0);
	assert_false(plans_event(&plan, "g:copy_page_range_entry"));
	record_plan_release(&plan);
}

static void refusals_have_a_reason(void **state)
{
	struct kernel whole = { "handle_mm_fault", "" }, without = { "handle_mm_faults", "" };
	struct record_offer none = offer_of(&whole, false, false);
	struct record_offer hidden = offer_of(&without, true, true);
	struct record_plan plan = { 0 };
	const char *reason = NULL;

	assert_int_equal(record_plan_make(&plan, "fault", "g", &none, &reason), -EOPNOTSUPP);
	assert_non_null(reason);
	assert_int_equal(record_plan_make(&plan, "fault", "g", &hidden, &reason), -EOPNOTSUPP);
	assert_non_null(reason);
	assert_int_equal(record_plan_make(&plan, "faults", "g", &none, &reason), -EINVAL);
	assert_null(plan.probes);
	assert_int_equal(plan.nr_events, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fprobes_and_all_events),
		cmocka_unit_test(one_sided_probes),
		cmocka_unit_test(kprobes_where_fprobes_are_missing),
		cmocka_unit_test(each_preset_has_its_own),
		cmocka_unit_test(refusals_have_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
