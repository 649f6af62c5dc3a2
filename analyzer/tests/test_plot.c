// SPDX-License-Identifier: GPL-2.0-or-later
/* Plots: their data adds up, they are drawn, and failures leave the data and one line. */
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "command.h"
#include "plot_tsv.h"
#include "run_command.h"

#define BEFORE_FILE "traces/lab/x86_64-reuse-64k.dat"
#define AFTER_FILE  "traces/lab/x86_64-cow-64k.dat"

/* A new folder, to free() and remove with remove_folder(). */
static char *new_folder(void)
{
	char *path = strdup("/tmp/fault-analyze-test-XXXXXX");

	assert_non_null(mkdtemp(path));
	return path;
}

static void remove_folder(char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	assert_int_equal(rmdir(path), 0);
	free(path);
}

static char *path_in(const char *dir, const char *name, const char *kind)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s.%s", dir, name, kind) > 0);
	return path;
}

static off_t size_of(const char *dir, const char *name, const char *kind)
{
	char *path = path_in(dir, name, kind);
	struct stat st;
	off_t size = stat(path, &st) ? -1 : st.st_size;

	free(path);
	return size;
}

static char *text_of(const char *dir, const char *name, const char *kind)
{
	char *path = path_in(dir, name, kind), *text = NULL;
	size_t size = 0;
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	if (getdelim(&text, &size, '\0', in) < 0)
		fail_msg("%s is empty", path);
	fclose(in);
	free(path);
	return text;
}

/* The sum of the second column of series @title. */
static double series_sum(const char *tsv, const char *title)
{
	char quoted[64];
	const char *line;
	double sum = 0, x, y;

	snprintf(quoted, sizeof(quoted), "\t\"%s\"\n", title);
	line = strstr(tsv, quoted);
	if (!line)
		fail_msg("no series %s in:\n%.500s", title, tsv);
	line += strlen(quoted);
	while (sscanf(line, "%lf\t%lf", &x, &y) == 2 && *line != '\n') {
		sum += y;
		line = strchr(line, '\n') + 1;
	}
	return sum;
}

static void assert_pictures(const char *dir)
{
	for (size_t i = 0; plot_name(i); i++) {
		char *svg = text_of(dir, plot_name(i), "svg");

		assert_true(size_of(dir, plot_name(i), "tsv") > 0);
		assert_true(size_of(dir, plot_name(i), "png") > 2000);
		assert_non_null(strstr(svg, "</svg>"));
		free(svg);
	}
}

static void test_one_recording(void **state)
{
	char *dir = new_folder(), *tsv;
	struct run run = run_command(cmd_plot, "plot", "-o", dir, BEFORE_FILE, NULL);

	assert_string_equal(run.err, "");
	assert_int_equal(run.code, 0);
	assert_pictures(dir);
	/* 2048 + 7 reuse and 128 + 16 map faults: the report's rows. */
	tsv = text_of(dir, "faults-over-time", "tsv");
	assert_true(series_sum(tsv, "reuse") == 2055);
	assert_true(series_sum(tsv, "map") == 144);
	free(tsv);
	tsv = text_of(dir, "latency-histogram", "tsv");
	assert_true(series_sum(tsv, "reuse") == 2055);
	free(tsv);
	tsv = text_of(dir, "ptes-per-fault", "tsv");
	assert_true(series_sum(tsv, "map 64K") == 128);
	free(tsv);
	tsv = text_of(dir, "faults-per-pte", "tsv");
	assert_non_null(strstr(tsv, "\nreuse 64K\t1.0\n"));
	assert_non_null(strstr(tsv, "\nmap 64K\t0.0625\n"));
	free(tsv);
	tsv = text_of(dir, "per-folio-latency", "tsv");
	assert_non_null(strstr(tsv, "\treuse 64K\t"));
	free(tsv);
	run_release(&run);
	remove_folder(dir);
}

static void test_before_and_after(void **state)
{
	char *dir = new_folder(), *tsv, *svg;
	struct run run = run_command(cmd_plot, "plot", "-o", dir, BEFORE_FILE, AFTER_FILE, NULL);

	assert_string_equal(run.err, "");
	assert_int_equal(run.code, 0);
	assert_pictures(dir);
	tsv = text_of(dir, "faults-over-time", "tsv");
	assert_true(series_sum(tsv, "before reuse") == 2055);
	assert_true(series_sum(tsv, "after cow") > 1024);
	assert_true(strstr(tsv, "\"before ") < strstr(tsv, "\"after "));
	free(tsv);
	tsv = text_of(dir, "faults-per-pte", "tsv");
	assert_non_null(strstr(tsv, "\nreuse 64K\t1.0\tn/a\n"));
	free(tsv);
	svg = text_of(dir, "faults-per-pte", "svg");
	assert_non_null(strstr(svg, ">before<"));
	assert_non_null(strstr(svg, ">after<"));
	free(svg);
	run_release(&run);
	remove_folder(dir);
}

/* The lines of a CDF rise from 0 to 1. */
static void test_cdf_rises(void **state)
{
	char *dir = new_folder(), *tsv, *line;
	struct run run = run_command(cmd_plot, "plot", "-o", dir, BEFORE_FILE, NULL);
	double last = 1, x, y;

	tsv = text_of(dir, "latency-cdf", "tsv");
	for (line = strtok(tsv, "\n"); line; line = strtok(NULL, "\n")) {
		if (sscanf(line, "%lf\t%lf", &x, &y) != 2) {
			assert_true(last == 1);
			last = 0;
			continue;
		}
		assert_true(y >= last && y <= 1);
		last = y;
	}
	assert_true(last == 1);
	free(tsv);
	run_release(&run);
	remove_folder(dir);
}

/* Each point has its address beside it, and the axis says where it begins. */
static void test_address_map(void **state)
{
	char *dir = new_folder(), *line, *tsv, *svg, label[64];
	struct run run = run_command(cmd_plot, "plot", "-o", dir, BEFORE_FILE, NULL);
	uint64_t address, begin = UINT64_MAX;
	double time, offset;
	size_t nr = 0;

	assert_int_equal(run.code, 0);
	tsv = text_of(dir, "address-map", "tsv");
	for (line = tsv; line; line = strchr(line + 1, '\n')) {
		if (sscanf(line, "%lf\t%lf\t0x%" SCNx64, &time, &offset, &address) != 3)
			continue;
		if (begin == UINT64_MAX)
			begin = address - (uint64_t)(offset * (1 << 20) + 0.5);
		assert_float_equal((address - begin) / 1048576.0, offset, 1e-7 * offset);
		nr++;
	}
	assert_true(nr > 2000);
	svg = text_of(dir, "address-map", "svg");
	snprintf(label, sizeof(label), "offset from 0x%" PRIx64 " (MiB)", begin);
	assert_non_null(strstr(svg, label));
	free(svg);
	free(tsv);
	run_release(&run);
	remove_folder(dir);
}

/* A report has no single faults: the picture that would need them says so. */
static void test_nothing_to_draw(void **state)
{
	struct run report = run_command(cmd_report, "report", "-F", "json", BEFORE_FILE, NULL);
	char *dir = new_folder(), *path = text_to_file(report.out), *svg;
	struct run run = run_command(cmd_plot, "plot", "-o", dir, path, NULL);

	assert_int_equal(run.code, 0);
	assert_pictures(dir);
	svg = text_of(dir, "address-map", "svg");
	assert_non_null(strstr(svg, "nothing to draw: no address"));
	free(svg);
	svg = text_of(dir, "latency-cdf", "svg");
	assert_null(strstr(svg, "nothing to draw"));
	free(svg);
	unlink(path);
	free(path);
	run_release(&report);
	run_release(&run);
	remove_folder(dir);
}

static void assert_one_line(const char *text)
{
	if (strchr(text, '\n') != text + strlen(text) - 1)
		fail_msg("not one line: %s", text);
}

static void test_no_gnuplot(void **state)
{
	char *dir = new_folder(), *path = strdup(getenv("PATH"));
	struct run run;

	setenv("PATH", "/nonexistent", 1);
	run = run_command(cmd_plot, "plot", "-o", dir, BEFORE_FILE, NULL);
	setenv("PATH", path, 1);
	assert_int_equal(run.code, 2);
	assert_non_null(strstr(run.err, "gnuplot is not installed; the data is in /tmp/"));
	assert_one_line(run.err);
	for (size_t i = 0; plot_name(i); i++)
		assert_true(size_of(dir, plot_name(i), "tsv") > 0);
	run_release(&run);
	remove_folder(dir);
	free(path);
}

static void test_gnuplot_fails(void **state)
{
	char *dir = new_folder(), *scripts = new_folder(), *script;
	struct run run;
	FILE *out;

	script = path_in(scripts, "latency-cdf", "gp");
	out = fopen(script, "w");
	fputs("set terminal svg\nset output ARG1.'/latency-cdf.svg'\nplot x\nnonsense\n", out);
	fclose(out);
	setenv("FAULT_ANALYZE_PLOTS", scripts, 1);
	run = run_command(cmd_plot, "plot", "-o", dir, BEFORE_FILE, NULL);
	unsetenv("FAULT_ANALYZE_PLOTS");
	assert_int_equal(run.code, 2);
	assert_one_line(run.err);
	assert_non_null(strstr(run.err, "gnuplot: "));
	assert_int_equal(size_of(dir, "latency-cdf", "svg"), -1);
	assert_true(size_of(dir, "latency-cdf", "tsv") > 0);
	run_release(&run);
	free(script);
	remove_folder(scripts);
	remove_folder(dir);
}

static void test_bad_use(void **state)
{
	struct run run = run_command(cmd_plot, "plot", "-o", "/proc/no", BEFORE_FILE, NULL);

	assert_int_equal(run.code, 2);
	assert_one_line(run.err);
	run_release(&run);
	run = run_command(cmd_plot, "plot", "--", BEFORE_FILE, NULL);
	assert_int_equal(run.code, 1);
	run_release(&run);
	run = run_command(cmd_plot, "plot", "/no/such", NULL);
	assert_int_equal(run.code, 2);
	assert_one_line(run.err);
	run_release(&run);
}

/* However many faults come, however late: bins and points stay bounded and count right. */
static void test_bounded(void **state)
{
	struct plot_side *side = calloc(1, sizeof(*side));

	assert_non_null(side);
	for (uint64_t i = 0; i < 1000000; i++) {
		const struct fault f = { .entry = 5 + i * i,
					 .address = i << 12,
					 .has_address = true };
		const struct outcome o = { .key = { .class = i % 2 ? CLASS_MAP : CLASS_REUSE } };

		assert_int_equal(plot_side_add(side, &f, &o), 0);
	}
	assert_true(side->nr_points <= PLOT_POINTS && side->nr_points >= PLOT_POINTS / 4);
	for (unsigned int class = CLASS_MAP; class <= CLASS_REUSE; class ++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < PLOT_BINS; i++)
			sum += side->bins[i][class];
		assert_int_equal(sum, 500000);
	}
	plot_side_release(side);
	free(side);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_recording), cmocka_unit_test(test_before_and_after),
		cmocka_unit_test(test_cdf_rises),     cmocka_unit_test(test_nothing_to_draw),
		cmocka_unit_test(test_no_gnuplot),    cmocka_unit_test(test_gnuplot_fails),
		cmocka_unit_test(test_bad_use),	      cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_address_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
