// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the whole of report: a recording to its summary to JSON, which must read back as what it
 * was.
 */
#include <string.h>

#include "fuzz.h"
#include "json_in.h"
#include "output.h"
#include "report.h"

static int count_episode(void *ctx, const struct episode *e, const char *comm)
{
	uint64_t *nr = ctx;

	fuzz_require(e->faults && e->key.class < NR_CLASSES && e->key.order < NR_ORDERS);
	++*nr;
	return 0;
}

static char *report_text(const struct recording *rec, size_t *size)
{
	const struct output_options options = { 0 };
	struct recording total = { 0 };
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	fuzz_require(out && !recordings_total(&total, rec, 1) &&
		     !output_report(out, FORMAT_JSON, rec, 1, &total, &options) && !fclose(out));
	recording_release(&total);
	return text;
}

static void read_back(const struct recording *rec)
{
	struct report_file file = { 0 };
	struct json_error error;
	size_t size, again_size;
	char *text = report_text(rec, &size), *again;

	if (report_json_read(fuzz_file(text, size), &file, &error)) {
		fprintf(stderr, "%s\n%s\n", text, error.text);
		abort();
	}
	again = report_text(&file.recs[0], &again_size);
	fuzz_require(size == again_size && !memcmp(text, again, size));
	report_file_release(&file);
	free(again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FUZZ_BOUNDS(size);
	uint64_t nr_episodes = 0, nr = 0;
	struct report_options options = { .episode = count_episode, .ctx = &nr_episodes };
	struct recording rec = { 0 };
	const char *reason;
	int err;

	err = report_read(fuzz_file(data, size), &options, &rec, &reason);
	if (err) {
		fuzz_require(reason && rec.damages.nr);
	} else {
		for (size_t i = 0; i < rec.summary.nr_rows; i++)
			nr += rec.summary.rows[i]->episodes;
		fuzz_require(nr == nr_episodes);
		read_back(&rec);
	}
	recording_release(&rec);
	return 0;
}
