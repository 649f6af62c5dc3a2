// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * KTAP: our parser against golden values, against the kernel's own parser where a kernel tree is in
 * the cache (its samples, ours, and texts made at random); bench lines; and the kunit command.
 */
#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <json-c/json.h>

#include "command.h"
#include "ktap.h"
#include "random.h"
#include "run_command.h"

#define DATA	      "analyzer/tests/data/ktap/"
#define NR_MADE	      600
#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

static const char *const samples[] = { "bench",	 "crlf", "cut",	   "dmesg", "errors", "executor",
				       "nested", "none", "prefix", "rest",  "words" };

/* Helpers. */

static int read_text(const char *text, size_t bytes, struct ktap_result *result)
{
	FILE *in = fmemopen((void *)text, bytes, "r");
	int err;

	assert_non_null(in);
	err = ktap_read(in, result);
	fclose(in);
	return err;
}

static int read_string(const char *text, struct ktap_result *result)
{
	*result = (struct ktap_result){ 0 };
	return read_text(text, strlen(text), result);
}

static int read_file(const char *path, struct ktap_result *result)
{
	FILE *in = fopen(path, "r");
	int err;

	if (!in)
		fail_msg("%s: %s", path, strerror(errno));
	*result = (struct ktap_result){ 0 };
	err = ktap_read(in, result);
	fclose(in);
	return err;
}

/* The text of the file at @path, to free(). */
static char *slurp(const char *path)
{
	FILE *in = fopen(path, "r");
	size_t bytes = 0;
	char *text = NULL;

	if (!in)
		fail_msg("%s: %s", path, strerror(errno));
	if (getdelim(&text, &bytes, '\0', in) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(in);
	return text;
}

static void write_file(const char *path, const char *text, size_t bytes)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, bytes, out), bytes);
	assert_int_equal(fclose(out), 0);
}

static void assert_contains(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("\"%s\" does not say \"%s\"", text, words);
}

/* A result as ktap_oracle.py prints the kernel's: passed/failed/skipped/crashed errors. */
static void dump(FILE *out, const struct ktap_result *result)
{
	for (size_t i = 0; i < result->nr_tests; i++) {
		const struct ktap_test *t = &result->tests[i];
		const struct ktap_counts *c = &t->counts;

		fprintf(out,
			"%*s%s \"%s\" %" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64 " %" PRIu64,
			2 * (int)t->depth, "", ktap_status_name(t->status), t->name, c->passed,
			c->failed, c->skipped, c->crashed, c->errors);
		if (t->missing)
			fprintf(out, " missing %" PRIu64, t->missing);
		if (t->skip_reason)
			fprintf(out, " (%s)", t->skip_reason);
		putc('\n', out);
	}
}

static void dump_file(FILE *out, const char *path)
{
	struct ktap_result result;
	int err = read_file(path, &result);

	if (err == -ENODATA)
		fputs("no KTAP\n", out);
	else if (err)
		fprintf(out, "error %d: %s\n", err, result.error.text);
	else
		dump(out, &result);
	ktap_release(&result);
}

/* Golden values: what kunit_parser.py of 7.3 says of our samples, read and found right. */

static void test_golden(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		char path[PATH_MAX], *text = NULL, *golden;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		assert_non_null(out);
		snprintf(path, sizeof(path), DATA "%s.ktap", samples[i]);
		dump_file(out, path);
		fclose(out);
		snprintf(path, sizeof(path), DATA "%s.golden", samples[i]);
		golden = slurp(path);
		assert_string_equal(text, golden);
		free(golden);
		free(text);
	}
}

static void test_places(void **state)
{
	static const struct {
		const char *sample;
		int err;
		uint64_t errors, line;
		const char *text;
	} rows[] = {
		{ "bench", 0, 0, 0, "" },
		{ "dmesg", 0, 0, 0, "" },
		{ "crlf", 0, 1, 8, "KTAP is cut: no result of \"suite\"" },
		{ "cut", 0, 5, 14, "KTAP is cut: 3 of 4 tests of \"second\" missing" },
		{ "errors", 0, 9, 1, "version 2 of KTAP or TAP is not known" },
		{ "words", 0, 1, 18, "test number is not 14" },
		{ "executor", 0, 1, 1, "kunit executor: filter value not found: speed>fast" },
		{ "rest", 0, 1, 6, "results behind the end of the plan, counted nowhere" },
		{ "none", -ENODATA, 0, 3, "no KTAP: no line \"KTAP version 1\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ktap_result result;
		char path[PATH_MAX];

		snprintf(path, sizeof(path), DATA "%s.ktap", rows[i].sample);
		assert_int_equal(read_file(path, &result), rows[i].err);
		assert_string_equal(result.error.text, rows[i].text);
		assert_int_equal(result.error.line, rows[i].line);
		assert_int_equal(ktap_errors(&result), rows[i].errors);
		ktap_release(&result);
	}
}

/* The kernel's own parser. */

struct list {
	char **paths;
	size_t nr;
};

static void list_add(struct list *list, const char *path)
{
	list->paths = realloc(list->paths, (list->nr + 2) * sizeof(char *));
	assert_non_null(list->paths);
	list->paths[list->nr++] = strdup(path);
	list->paths[list->nr] = NULL;
}

static void list_release(struct list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->paths[i]);
	free(list->paths);
}

/* The tree of kernel @version in the cache; "" where its KTAP parser is not there. */
static void find_tree(const char *version, char tree[PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char parser[PATH_MAX + 64];

	if (cache && *cache)
		snprintf(tree, PATH_MAX, "%s/fault-analyze/src/linux-%s", cache, version);
	else
		snprintf(tree, PATH_MAX, "%s/.cache/fault-analyze/src/linux-%s", home ? home : "",
			 version);
	snprintf(parser, sizeof(parser), "%s/tools/testing/kunit/kunit_parser.py", tree);
	if (access(parser, R_OK))
		*tree = '\0';
}

static void need_oracle(char tree[PATH_MAX])
{
	find_tree("7.3", tree);
	if (!*tree) {
		print_message("skipped: the kernel's kunit_parser.py, for there is no linux-7.3 in "
			      "the cache (scripts/kernel-source.sh 7.3)\n");
		skip();
	}
	if (system("python3 -c '' 2>/dev/null")) {
		print_message("skipped: the kernel's kunit_parser.py, for there is no python3\n");
		skip();
	}
}

/* What the parser in @tree says of the files in @list, to free(). */
static char *ask_oracle(const char *tree, const struct list *list)
{
	char path[] = "/tmp/test_ktap-XXXXXX", **argv, *text;
	int fd = mkstemp(path), status;
	pid_t pid;

	assert_true(fd >= 0);
	argv = calloc(list->nr + 4, sizeof(*argv));
	assert_non_null(argv);
	argv[0] = "python3";
	argv[1] = "analyzer/tests/ktap_oracle.py";
	argv[2] = (char *)tree;
	memcpy(argv + 3, list->paths, list->nr * sizeof(*argv));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fd, STDOUT_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_msg("ktap_oracle.py ended with status %#x", status);
	close(fd);
	text = slurp(path);
	unlink(path);
	free(argv);
	return text;
}

/* Fail at the first line where @ours and @theirs, dumps of several files, differ. */
static void assert_same_dump(const char *ours, const char *theirs)
{
	char file[PATH_MAX] = "";

	while (*ours || *theirs) {
		int a = strcspn(ours, "\n"), b = strcspn(theirs, "\n");

		if (a != b || strncmp(ours, theirs, a))
			fail_msg("%s: we say\n%.*s\nkunit_parser.py says\n%.*s", file, a, ours, b,
				 theirs);
		if (!strncmp(ours, "==", 2))
			snprintf(file, sizeof(file), "%.*s", a, ours);
		ours += a + (ours[a] == '\n');
		theirs += b + (theirs[b] == '\n');
	}
}

static void compare(const char *tree, const struct list *list)
{
	char *ours = NULL, *theirs;
	size_t bytes;
	FILE *out = open_memstream(&ours, &bytes);

	assert_non_null(out);
	for (size_t i = 0; i < list->nr; i++) {
		fprintf(out, "== %s\n", list->paths[i]);
		dump_file(out, list->paths[i]);
	}
	fclose(out);
	theirs = ask_oracle(tree, list);
	assert_same_dump(ours, theirs);
	free(ours);
	free(theirs);
}

static void add_kernel_samples(struct list *list, const char *tree)
{
	char pattern[PATH_MAX + 64];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/tools/testing/kunit/test_data/*", tree);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		list_add(list, found.gl_pathv[i]);
	globfree(&found);
}

static void test_samples_as_kunit_parser(void **state)
{
	char tree[PATH_MAX], older[PATH_MAX];
	struct list list = { 0 };
	size_t nr;

	need_oracle(tree);
	add_kernel_samples(&list, tree);
	find_tree("6.12", older);
	if (*older)
		add_kernel_samples(&list, older);
	else
		print_message("skipped: samples of linux-6.12, which is not in the cache\n");
	nr = list.nr;
	assert_true(nr >= 24);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), DATA "%s.ktap", samples[i]);
		list_add(&list, path);
	}
	compare(tree, &list);
	print_message("%zu samples of the kernel and %zu of ours read as by kunit_parser.py\n", nr,
		      ARRAY_SIZE(samples));
	list_release(&list);
}

/* Texts made at random: lines that mean something, in any order. */

static void make_lines(FILE *out, uint64_t *seed)
{
	static const char *const words[] = {
		"KTAP version 1",
		"TAP version 14",
		"KTAP version 2",
		"TAP version 12",
		"# Subtest: a",
		"# Subtest: b",
		"# Subtest: a",
		"1..1",
		"1..2",
		"1..3",
		"1..0",
		"ok 1 a",
		"ok 1 - a",
		"ok 1 - b",
		"not ok 1 - a",
		"not ok 2 b",
		"ok 2 - b",
		"ok 2 a",
		"ok 1 main",
		"ok 3 c",
		"ok 1",
		"ok 2 # SKIP",
		"ok 1 a # SKIP",
		"ok 1 - a # x",
		"ok 2 b # SKIP why # SKIP",
		"ok 1 a#b",
		"ok 1:- a",
		"ok 1 - # a # SKIP x",
		"not ok 1 a # SKIP y",
		"# a: noise",
		"ok",
		"1..",
		"# Subtest:",
		"noise # ok 1",
		"",
		"ok 1 - a #",
		"kunit executor: words",
		"reboot: System halted",
	};
	unsigned int nr = 1 + random_u64(seed) % 24, depth = 0;

	if (random_u64(seed) % 8)
		fputs("KTAP version 1\n", out);
	while (nr--) {
		size_t word = random_u64(seed) % ARRAY_SIZE(words);

		if (word == ARRAY_SIZE(words) - 1 && random_u64(seed) % 4)
			word = 0;
		depth = (depth + random_u64(seed) % 3 + 3) % 4;
		fprintf(out, "%*s%s%s", 2 * depth, "", words[word],
			random_u64(seed) % 16 ? "\n" : "\r\n");
	}
}

/* One of our samples with some bytes changed or taken out. */
static void make_mutant(FILE *out, uint64_t *seed)
{
	static const char bytes[] = " \t\r\n#-:.0129aknotSKIP\x1c\x1f\x0b";
	char path[PATH_MAX], *text;

	snprintf(path, sizeof(path), DATA "%s.ktap",
		 samples[random_u64(seed) % ARRAY_SIZE(samples)]);
	text = slurp(path);
	for (unsigned int i = 1 + random_u64(seed) % 6; i; i--) {
		size_t length = strlen(text), at = random_u64(seed) % (length + 1);

		if (random_u64(seed) % 2 && at < length)
			text[at] = bytes[random_u64(seed) % (sizeof(bytes) - 1)];
		else if (at < length)
			memmove(text + at, text + at + 1, length - at);
	}
	if (!(random_u64(seed) % 4))
		text[random_u64(seed) % (strlen(text) + 1)] = '\0';
	fputs(text, out);
	free(text);
}

static void test_random_texts_as_kunit_parser(void **state)
{
	char tree[PATH_MAX], dir[] = "/tmp/test_ktap-XXXXXX", path[64];
	struct list list = { 0 };
	uint64_t seed = 20260;

	need_oracle(tree);
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < NR_MADE; i++) {
		FILE *out;

		snprintf(path, sizeof(path), "%s/%d.ktap", dir, i);
		out = fopen(path, "w");
		assert_non_null(out);
		if (i % 3)
			make_lines(out, &seed);
		else
			make_mutant(out, &seed);
		fclose(out);
		list_add(&list, path);
	}
	compare(tree, &list);
	print_message("%d texts made at random read as by kunit_parser.py\n", NR_MADE);
	for (size_t i = 0; i < list.nr; i++)
		unlink(list.paths[i]);
	rmdir(dir);
	list_release(&list);
}

/* KTAP that ends too soon, at whatever line, is never good. */
static void test_every_cut_is_found(void **state)
{
	char *text = slurp(DATA "bench.ktap"), *last = strstr(text, "ok 2 folio_batch_live");
	struct ktap_result result = { 0 };

	assert_non_null(last);
	assert_int_equal(read_string(text, &result), 0);
	assert_int_equal(ktap_errors(&result), 0);
	ktap_release(&result);
	for (char *end = strchr(text, '\n') + 1; end <= last; end = strchr(end, '\n') + 1) {
		if (end == text + strlen("KTAP version 1\n"))
			continue; /* no plan yet: no tests */
		assert_int_equal(read_text(text, end - text, &result), 0);
		assert_true(ktap_errors(&result) > 0);
		assert_contains(result.error.text, "KTAP is cut: ");
		ktap_release(&result);
	}
	for (size_t bytes = 0; text[bytes]; bytes++) {
		int err = read_text(text, bytes, &result);

		assert_true(err == 0 || err == -ENODATA);
		ktap_release(&result);
	}
	free(text);
}

/* Limits. */

static void assert_refused_text(const char *text, size_t bytes, const char *words, uint64_t line)
{
	struct ktap_result result = { 0 };

	assert_int_equal(read_text(text, bytes, &result), -E2BIG);
	assert_contains(result.error.text, words);
	assert_int_equal(result.error.line, line);
	ktap_release(&result);
}

/* "KTAP version 1" and @nr times @line; to free(). */
static char *repeat(const char *line, size_t nr, size_t *bytes)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, bytes);

	assert_non_null(out);
	fputs("KTAP version 1\n", out);
	while (nr--)
		fputs(line, out);
	fclose(out);
	return text;
}

static void test_limits(void **state)
{
	struct ktap_result result;
	size_t bytes;
	char *text = repeat("# Subtest: a\n", KTAP_MAX_DEPTH, &bytes);

	assert_int_equal(read_string(text, &result), 0);
	assert_int_equal(result.nr_tests, KTAP_MAX_DEPTH + 1);
	ktap_release(&result);
	free(text);
	text = repeat("# Subtest: a\n", KTAP_MAX_DEPTH + 1, &bytes);
	assert_refused_text(text, bytes, "nested deeper than 64", KTAP_MAX_DEPTH + 2);
	free(text);
	text = repeat("ok 1 a\n", KTAP_MAX_TESTS, &bytes);
	assert_refused_text(text, bytes, "more than 1048576 tests", KTAP_MAX_TESTS + 1);
	free(text);
	text = repeat("x", KTAP_MAX_LINE + 1, &bytes);
	assert_refused_text(text, bytes, "line longer than 65536 bytes", 2);
	text[bytes - 1] = '\n';
	assert_int_equal(read_text(text, bytes, &result), 0);
	ktap_release(&result);
	free(text);
	text = "KTAP version 1\n1..1048577\n";
	assert_refused_text(text, strlen(text), "a plan of more than", 2);
	assert_int_equal(read_string("KTAP version 1\n1..1048576\n", &result), 0);
	assert_int_equal(result.tests[0].counts.crashed, 1048576);
	ktap_release(&result);
}

/* A comment above the text says of which architecture it is; what is in the text says nothing. */
static void test_arch(void **state)
{
	static const struct {
		const char *head, *arch;
	} cases[] = {
		{ "", "" },
		{ "# of a kernel\n# bench: make kunit-bench ARCH=arm64, twice\n", "arm64" },
		{ "# ARCH=x86_64\n# ARCH=arm64\n", "x86_64" },
		{ "# ARCH=\n", "" },
		{ "# ARCH=a_name_of_16_chr\n", "" },
		{ "Kernel command line: ARCH=arm64\n", "" },
	};
	struct ktap_result result;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[256];

		snprintf(text, sizeof(text), "%sKTAP version 1\n1..1\n# ARCH=late\nok 1 a\n",
			 cases[i].head);
		assert_int_equal(read_string(text, &result), 0);
		assert_int_equal(ktap_errors(&result), 0);
		assert_string_equal(result.arch, cases[i].arch);
		ktap_release(&result);
	}
}

/* Bench lines. */

static void test_bench(void **state)
{
	static const struct ktap_bench expected[] = {
		{ "wrprotect_ptes", 1, 12, 12, 15, 0 },
		{ "wrprotect_ptes", 16, 40, 190, 16, 0 },
		{ "wrprotect_ptes", 512, 1093.5, 6144.25, 17, 0 },
		{ "modify_prot_start_ptes", 16, 52, 208, 20, 0 },
	};
	static const char *const cases[] = { "bench_wrprotect", "bench_wrprotect",
					     "bench_wrprotect", "bench_modify_prot" };
	struct ktap_result result;

	assert_int_equal(read_file(DATA "bench.ktap", &result), 0);
	assert_int_equal(result.nr_benches, ARRAY_SIZE(expected));
	for (size_t i = 0; i < result.nr_benches; i++) {
		const struct ktap_bench *b = &result.benches[i];

		assert_string_equal(b->helper, expected[i].helper);
		assert_int_equal(b->nr_ptes, expected[i].nr_ptes);
		assert_true(b->batched_ns == expected[i].batched_ns);
		assert_true(b->single_ns == expected[i].single_ns);
		assert_int_equal(b->line, expected[i].line);
		assert_string_equal(result.tests[b->test].name, cases[i]);
	}
	ktap_release(&result);
	assert_int_equal(read_file(DATA "cut.ktap", &result), 0);
	assert_int_equal(result.nr_benches, 1);
	assert_true(result.benches[0].test == KTAP_NO_TEST);
	ktap_release(&result);
}

static void test_bad_bench(void **state)
{
	static const struct {
		const char *words, *error;
	} rows[] = {
		{ "helper=a nr=1 batched_ns=1 single_ns=0.25", NULL },
		{ "helper=a single_ns=1 batched_ns=1 new=x nr=8192", NULL },
		{ "helper=a nr=1 batched_ns=999999999999999 single_ns=0", NULL },
		{ "helper= nr=1 batched_ns=1 single_ns=1", "without helper=" },
		{ "helper=a", "without nr=" },
		{ "helper=a nr=0 batched_ns=1 single_ns=1", "without nr=" },
		{ "helper=a nr=8193 batched_ns=1 single_ns=1", "without nr=" },
		{ "helper=a nr=18446744073709551617 batched_ns=1 single_ns=1", "without nr=" },
		{ "helper=a nr=1x batched_ns=1 single_ns=1", "without nr=" },
		{ "helper=a nr= batched_ns=1 single_ns=1", "without nr=" },
		{ "helper=a xnr=1 batched_ns=1 single_ns=1", "without nr=" },
		{ "helper=a nr=1 single_ns=1", "without batched_ns=" },
		{ "helper=a nr=1 batched_ns=-1 single_ns=1", "without batched_ns=" },
		{ "helper=a nr=1 batched_ns=1e3 single_ns=1", "without batched_ns=" },
		{ "helper=a nr=1 batched_ns=1.2.3 single_ns=1", "without batched_ns=" },
		{ "helper=a nr=1 batched_ns=1. single_ns=1", "without batched_ns=" },
		{ "helper=a nr=1 batched_ns=nan single_ns=1", "without batched_ns=" },
		{ "helper=a nr=1 batched_ns=1 single_ns=", "without single_ns=" },
		{ "helper=a nr=1 batched_ns=1 single_n", "without single_ns=" },
		{ "helper=a nr=1 batched_ns=1 single_ns=1000000000000000", "without single_ns=" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ktap_result result;
		char text[256];

		snprintf(text, sizeof(text), "KTAP version 1\n1..1\n# bench: %s\nok 1 a\n",
			 rows[i].words);
		assert_int_equal(read_string(text, &result), 0);
		assert_int_equal(result.nr_benches, !rows[i].error);
		assert_int_equal(result.bad_benches, !!rows[i].error);
		assert_int_equal(ktap_errors(&result), !!rows[i].error);
		if (rows[i].error) {
			assert_contains(result.error.text, rows[i].error);
			assert_int_equal(result.error.line, 3);
		}
		ktap_release(&result);
	}
}

/* The command. */

static void assert_run(const struct run *run, int code, const char *err)
{
	if (run->code != code)
		fail_msg("exit code %d and \"%s\"", run->code, run->err);
	if (!*err) {
		assert_string_equal(run->err, "");
		return;
	}
	assert_contains(run->err, err);
	if (code != EXIT_USAGE) /* one line */
		assert_ptr_equal(strchr(run->err, '\n'), run->err + strlen(run->err) - 1);
}

static void test_text(void **state)
{
	struct run run = run_command(cmd_kunit, "kunit", DATA "bench.ktap", NULL);

	assert_run(&run, 0, "");
	assert_contains(run.out, DATA "bench.ktap\n"
				      "  7 tests: 6 passed, 0 failed, 1 skipped, 0 crashed\n");
	assert_contains(run.out,
			"\n"
			"TEST                STATUS  PASSED FAILED SKIPPED CRASHED LINE REASON\n"
			"folio_batch         passed       5      0       0       0   24 \n"
			"  wrprotect         passed       1      0       0       0    7 \n"
			"  set_ptes          passed       2      0       0       0   14 \n"
			"    nr=1            passed       1      0       0       0   11 \n");
	assert_contains(run.out, "\n"
				 "  uffd              skipped      0      0       1       0   29 "
				 "no CONFIG_USERFAULTFD\n");
	assert_contains(run.out,
			"\n"
			"HELPER                 PTES BATCHED SINGLE BATCHED/PTE SINGLE/PTE "
			"SINGLE/BATCHED\n");
	assert_contains(
		run.out,
		"\n"
		"wrprotect_ptes           16    40.0  190.0         2.5      11.88           "
		"4.75\n");
	assert_null(strstr(run.out, "damaged"));
	run_release(&run);
	run = run_command(cmd_kunit, "kunit", "-b", DATA "dmesg.ktap", NULL);
	assert_run(&run, 0, "dmesg.ktap: 2 of 4 tests failed, 0 crashed\n");
	assert_contains(run.out, "SINGLE/BATCHED STATUS\n"); /* its case failed */
	assert_null(strstr(run.out, "reuse"));
	run_release(&run);
}

static void test_tables(void **state)
{
	struct run run = run_command(cmd_kunit, "kunit", "-F", "tsv", DATA "dmesg.ktap", NULL);

	assert_run(&run, 0, "2 of 4 tests failed");
	assert_string_equal(
		run.out,
		"depth\ttest\tstatus\tline\tpassed\tfailed\tskipped\tcrashed\tmissing\terrors\t"
		"skip_reason\n"
		"1\tfolio_batch\tfailed\t17\t1\t2\t0\t0\t0\t0\t\n"
		"2\twrprotect\tpassed\t8\t1\t0\t0\t0\t0\t0\t\n"
		"2\treuse\tfailed\t13\t0\t1\t0\t0\t0\t0\t\n"
		"2\tbench_wrprotect\tfailed\t15\t0\t1\t0\t0\t0\t0\t\n"
		"1\tother\tskipped\t22\t0\t0\t1\t0\t0\t0\t\n"
		"2\tcase\tskipped\t21\t0\t0\t1\t0\t0\t0\tneeds two nodes\n");
	run_release(&run);
	run = run_command(cmd_kunit, "kunit", "--format=csv", "--bench", DATA "bench.ktap", NULL);
	assert_run(&run, 0, "");
	assert_string_equal(
		run.out,
		"helper,nr_ptes,batched_ns,single_ns,batched_ns_per_pte,single_ns_per_pte,ratio,"
		"case,case_status,line\n"
		"wrprotect_ptes,1,12.0,12.0,12.0,12.0,1.0,bench_wrprotect,passed,15\n"
		"wrprotect_ptes,16,40.0,190.0,2.5,11.875,4.75,bench_wrprotect,passed,16\n"
		"wrprotect_ptes,512,1093.5,6144.25,2.1357421875,12.00048828125,"
		"5.618884316415181,bench_wrprotect,passed,17\n"
		"modify_prot_start_ptes,16,52.0,208.0,3.25,13.0,4.0,bench_modify_prot,passed,20\n");
	run_release(&run);
}

static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, name, &value))
		fail_msg("no member \"%s\"", name);
	return value;
}

static void test_json(void **state)
{
	struct run run = run_command(cmd_kunit, "kunit", "-F", "json", DATA "cut.ktap", NULL);
	struct json_object *json = json_tokener_parse(run.out), *row;

	assert_run(&run, 2,
		   "cut.ktap: line 14: KTAP is cut: 3 of 4 tests of \"second\" missing (and 4 "
		   "more)\n");
	assert_non_null(json);
	assert_string_equal(json_object_get_string(member(json, "schema")), "fault-analyze/1");
	assert_string_equal(json_object_get_string(member(json, "status")), "crashed");
	assert_int_equal(json_object_get_int(member(member(json, "counts"), "passed")), 2);
	assert_int_equal(json_object_get_int(member(member(json, "counts"), "crashed")), 4);
	assert_int_equal(json_object_get_int(member(member(json, "error"), "line")), 14);
	assert_int_equal(json_object_array_length(member(json, "tests")), 4);
	row = json_object_array_get_idx(member(json, "tests"), 2);
	assert_string_equal(json_object_get_string(member(row, "test")), "second");
	assert_int_equal(json_object_get_int(member(row, "missing")), 3);
	assert_null(member(row, "skip_reason"));
	row = json_object_array_get_idx(member(json, "benches"), 0);
	assert_true(json_object_get_double(member(row, "ratio")) == 4.75);
	assert_null(member(row, "case_status"));
	json_object_put(json);
	run_release(&run);
	run = run_command(cmd_kunit, "kunit", "-b", "-F", "json", DATA "dmesg.ktap", NULL);
	json = json_tokener_parse(run.out);
	assert_non_null(json);
	assert_null(member(json, "error"));
	assert_false(json_object_object_get_ex(json, "tests", &row));
	json_object_put(json);
	run_release(&run);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *format, *file;
		int code;
		const char *err;
	} rows[] = {
		{ "text", DATA "none.ktap", 2, "none.ktap: line 3: no KTAP" },
		{ "json", "/dev/null", 2, "/dev/null: no KTAP" },
		{ "tsv", "/dev/zero", 2, "/dev/zero: line 1: line longer than 65536 bytes" },
		{ "text", "/no/such.ktap", 2, "/no/such.ktap: No such file" },
		{ "text", DATA, 2, "Is a directory" },
		{ "xml", DATA "bench.ktap", 1, "--format 'xml' is no format; see" },
	};
	struct run run;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		run = run_command(cmd_kunit, "kunit", "-F", rows[i].format, rows[i].file, NULL);
		assert_run(&run, rows[i].code, rows[i].err);
		assert_string_equal(run.out, "");
		run_release(&run);
	}
	run = run_command(cmd_kunit, "kunit", NULL);
	assert_run(&run, 1, "takes one file of KTAP; see");
	run_release(&run);
	run = run_command(cmd_kunit, "kunit", DATA "bench.ktap", DATA "cut.ktap", NULL);
	assert_run(&run, 1, "takes one file of KTAP; see");
	run_release(&run);
	run = run_command(cmd_kunit, "kunit", "-b", DATA "words.ktap", NULL);
	assert_run(&run, 2, "line 18: test number is not 14");
	run_release(&run);
	run = run_command(cmd_kunit, "kunit", "-b", DATA "rest.ktap", NULL);
	assert_run(&run, 2, "line 6: results behind the end of the plan");
	run_release(&run);
	run = run_command(cmd_kunit, "kunit", "--help", NULL);
	assert_run(&run, 0, "");
	assert_contains(run.out, "Exit status: 0");
	assert_contains(run.out, "batched_ns_per_pte");
	run_release(&run);
}

/* Control characters of a name never reach the terminal. */
static void test_control_characters(void **state)
{
	const char text[] = "KTAP version 1\n1..2\nok 1 a\033[2Jb\0c\n# Subtest: \033]0;x\n";
	char path[] = "/tmp/test_ktap-XXXXXX";
	static const char *const formats[] = { "text", "tsv", "csv", "json" };

	close(mkstemp(path));
	write_file(path, text, sizeof(text) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct run run = run_command(cmd_kunit, "kunit", "-F", formats[i], path, NULL);

		assert_run(&run, 2, "\\x1b]0;x");
		assert_null(strchr(run.err, '\033'));
		if (strcmp(formats[i], "csv")) /* which keeps what it is given */
			assert_null(strchr(run.out, '\033'));
		assert_contains(run.out, "[2Jb?c");
		run_release(&run);
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_samples_as_kunit_parser),
		cmocka_unit_test(test_random_texts_as_kunit_parser),
		cmocka_unit_test(test_every_cut_is_found),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_arch),
		cmocka_unit_test(test_bench),
		cmocka_unit_test(test_bad_bench),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_control_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
