// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer target: any bytes as KTAP, read and added up. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "ktap.h"

/* What every result must hold, good text or not. */
static void check(const struct ktap_result *result, int err)
{
	uint64_t cases = 0;

	if (err && !result->error.text[0])
		abort();
	if (!err && !result->error.text[0] != !ktap_errors(result))
		abort();
	for (size_t i = 0; i < result->nr_tests; i++) {
		const struct ktap_test *t = &result->tests[i];

		if (i ? t->parent >= i || t->depth != result->tests[t->parent].depth + 1 : t->depth)
			abort();
		if (i && ktap_total(&t->counts) > ktap_total(&result->tests[0].counts))
			abort();
		cases += t->missing;
	}
	if (result->nr_tests && ktap_total(&result->tests[0].counts) > cases + result->nr_tests)
		abort();
	for (size_t i = 0; i < result->nr_benches; i++)
		if (!result->benches[i].nr_ptes || (result->benches[i].test != KTAP_NO_TEST &&
						    result->benches[i].test >= result->nr_tests))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FUZZ_BOUNDS(size);
	FILE *in = fmemopen((void *)data, size, "r");
	struct ktap_result result = { 0 };

	if (!in)
		return 0;
	check(&result, ktap_read(in, &result));
	fclose(in);
	ktap_release(&result);
	return 0;
}
