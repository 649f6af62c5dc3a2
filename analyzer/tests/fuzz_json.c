// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the reader of report JSON: what it takes, it must take again from our own output. */
#include "fuzz.h"
#include "json_in.h"
#include "output.h"

static char *report_text(const struct report_file *file, size_t *size)
{
	const struct output_options options = { 0 };
	struct recording total = { 0 };
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	fuzz_require(
		out && !recordings_total(&total, file->recs, file->nr_recs) &&
		!output_report(out, FORMAT_JSON, file->recs, file->nr_recs, &total, &options) &&
		!fclose(out));
	recording_release(&total);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FUZZ_BOUNDS(size);
	const char *path = fuzz_file(data, size);
	struct report_file file = { 0 };
	struct json_error error;
	char *text;
	size_t length;

	report_json_probe(path);
	if (report_json_read(path, &file, &error)) {
		fuzz_require(error.text[0] && !file.recs && !file.filters);
		return 0;
	}
	text = report_text(&file, &length);
	report_file_release(&file);
	if (report_json_read(fuzz_file(text, length), &file, &error)) {
		fprintf(stderr, "%s\n%s\n", text, error.text);
		abort();
	}
	report_file_release(&file);
	free(text);
	return 0;
}
