// SPDX-License-Identifier: GPL-2.0-or-later
/* Costs from the files that --costs names: KTAP of the suite's bench, or recordings. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "cost_files.h"
#include "ktap.h"
#include "tracefile.h"

static const char other_arch[] = "is of another architecture than the recording";

static bool is_recording(const char *path)
{
	char magic[3] = ""; /* of what a file begins with, the bytes that no text has */
	struct stat st;
	FILE *f = !stat(path, &st) && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
	bool is = f && fread(magic, 1, sizeof(magic), f) == sizeof(magic) &&
		  !memcmp(magic, TRACEFILE_MAGIC, sizeof(magic));

	if (f)
		fclose(f);
	return is;
}

/* Only cases that passed have figures to be trusted: the others' helpers get no name. */
static void drop_failed(struct ktap_result *ktap)
{
	for (size_t i = 0; i < ktap->nr_benches; i++) {
		size_t test = ktap->benches[i].test;

		if (test == KTAP_NO_TEST || ktap->tests[test].status != KTAP_PASSED)
			ktap->benches[i].helper[0] = '\0';
	}
}

/* Whether it says that it is of another architecture; by make's names, which uname's mostly are. */
static bool is_foreign(const struct ktap_result *ktap, const struct recording *before)
{
	const char *arch = strcmp(ktap->arch, "arm64") ? ktap->arch : "aarch64";

	return *arch && before->arch && strcmp(arch, before->arch);
}

static int read_ktap(const char *path, struct ktap_result *ktap, const struct recording *before)
{
	FILE *f = fopen(path, "r");
	char why[300];
	int err;

	if (!f)
		return command_complain(path, strerror(errno));
	err = ktap_read(f, ktap);
	fclose(f);
	drop_failed(ktap);
	if (is_foreign(ktap, before))
		return command_complain(path, other_arch);
	if (!err && !ktap_errors(ktap))
		return EXIT_GOOD;
	if (err)
		return command_complain(path, ktap->error.text);
	snprintf(why, sizeof(why), "line %" PRIu64 ": %s", ktap->error.line, ktap->error.text);
	return command_complain(path, why);
}

static int read_ktaps(struct costs *costs, const char *const *paths, size_t nr,
		      const struct recording *before, struct cost_needs needs)
{
	struct ktap_result ktaps[COST_MAX_FILES] = { 0 };
	const char *helper = NULL;
	bool foreign = false;
	char why[128];
	int code = EXIT_GOOD;

	for (size_t i = 0; i < nr; i++) {
		int one = read_ktap(paths[i], &ktaps[i], before);

		code = one > code ? one : code;
		foreign |= is_foreign(&ktaps[i], before);
	}
	if (!foreign)
		helper = costs_from_ktap(costs, ktaps, nr, needs.reuse, needs.copy);
	/* a file that is damaged was complained of: what it lacks is no second line */
	if (helper && !code) {
		snprintf(why, sizeof(why),
			 "has no bench lines of %s that passed; make kunit-bench makes them",
			 helper);
		code = command_complain(paths[0], why);
	}
	for (size_t i = 0; i < nr; i++)
		ktap_release(&ktaps[i]);
	return code;
}

/* A kernel's costs in one clock are no costs in another. */
static int check_alike(const char *path, const struct recording *rec,
		       const struct recording *before)
{
	if (rec->arch && before->arch && strcmp(rec->arch, before->arch))
		return command_complain(path, other_arch);
	if (rec->time_is_ns != before->time_is_ns)
		return command_complain(path, "has another clock than the recording");
	return EXIT_GOOD;
}

static int read_recordings(struct costs *costs, struct input *in, const char *const *paths,
			   size_t nr, const struct recording *before, struct cost_needs needs)
{
	struct recording recs[COST_MAX_FILES] = { 0 };
	int code = EXIT_GOOD;
	const char *why;
	bool readable;

	for (size_t i = 0; i < nr && !code; i++) {
		code = input_read(in, paths[i], &recs[i], &readable);
		if (!code)
			code = check_alike(paths[i], &recs[i], before);
	}
	if (!code) {
		why = costs_fit(costs, &before->summary, recs, nr, needs.reuse, needs.copy);
		if (why)
			code = command_complain(paths[0], why);
	}
	for (size_t i = 0; i < nr; i++)
		recording_release(&recs[i]);
	return code;
}

int cost_files_read(struct costs *costs, struct input *in, const char *const *paths, size_t nr,
		    const struct recording *before, struct cost_needs needs)
{
	size_t nr_recordings = 0;

	for (size_t i = 0; i < nr; i++)
		nr_recordings += is_recording(paths[i]);
	if (nr_recordings == nr)
		return read_recordings(costs, in, paths, nr, before, needs);
	if (nr_recordings)
		return command_complain(paths[0],
					"cannot be mixed: costs are of KTAP or of recordings");
	if (!before->time_is_ns)
		return command_complain(
			paths[0], "has costs in ns, and the recording's clock counts ticks; a "
				  "recording of a kernel that batches would do");
	return read_ktaps(costs, paths, nr, before, needs);
}
