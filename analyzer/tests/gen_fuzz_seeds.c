// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the fuzz targets' first inputs into DIR/TARGET/: small recordings of the tests' writer,
 * and pieces of the recordings that are named: format texts, sub-buffers, their reports as JSON.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats.h"
#include "output.h"
#include "pages.h"
#include "report.h"
#include "trace_writer.h"
#include "trace_writer_faults.h"

#define PARENT	  UINT64_C(0xffff888000100000)
#define CHILD	  UINT64_C(0xffff888000200000)
#define BASE	  UINT64_C(0x7f0000000000)
#define WRITE	  0x1255 /* and ALLOW_RETRY | KILLABLE | USER | INTERRUPTIBLE | VMA_LOCK */
#define READ	  0x1254
#define MAX_PAGES 8  /* sub-buffers of one recording that become seeds */
#define MAX_TEXTS 64 /* format texts likewise */

static const char *dir;

static void die(const char *what)
{
	fprintf(stderr, "gen_fuzz_seeds: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* "DIR/TARGET/NAME", in memory that the next call uses again. */
static const char *seed_path(const char *target, const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, target);
	if (mkdir(path, 0777) && errno != EEXIST)
		die(path);
	snprintf(path, sizeof(path), "%s/%s/%s", dir, target, name);
	return path;
}

static FILE *open_seed(const char *target, const char *name)
{
	const char *path = seed_path(target, name);
	FILE *out = fopen(path, "we");

	if (!out)
		die(path);
	return out;
}

static void close_seed(FILE *out)
{
	if (ferror(out) || fclose(out))
		die("a seed");
}

/* A page's life: mapped by the parent, forked, copied by the child, reused by the parent. */
static void record_faults(struct trace_writer *w)
{
	const struct tw_vma vma = { BASE, BASE + 0x200000, PARENT };
	const struct tw_vma copy = { BASE, BASE + 0x200000, CHILD };
	uint64_t ts = 1000;

	tw_process_exec(w, TW_AT(0, ts, 100), "/bin/gen", 100);
	tw_page_fault(w, TW_AT(0, ts + 10, 100), true, BASE + 8, 0x401000, 6);
	tw_fault_entry(w, TW_AT(0, ts + 20, 100), &vma, BASE + 8, WRITE);
	tw_page_alloc(w, TW_AT(0, ts + 30, 100), 0x1000, 4, TW_GFP_MTHP);
	tw_rss_stat(w, TW_AT(0, ts + 40, 100), true, 1, 0x10000);
	tw_fault_exit(w, TW_AT(0, ts + 50, 100), 0);
	tw_fault(w, TW_AT(0, ts + 60, 100), 5, &vma, BASE + 0x100008, READ, 0x400);
	tw_fault(w, TW_AT(0, ts + 70, 100), 5, &vma, BASE + 0x100008, READ | 0x20, 0x200);
	tw_dup_mmap_entry(w, TW_AT(0, ts + 80, 100), CHILD, PARENT);
	tw_dup_mmap_exit(w, TW_AT(0, ts + 90, 100), 0);
	tw_process_fork(w, TW_AT(0, ts + 95, 100), "gen", 101);
	tw_fault_entry(w, TW_AT(1, ts + 100, 101), &copy, BASE + 0x1008, WRITE);
	tw_page_alloc(w, TW_AT(1, ts + 110, 101), 0x2000, 0, TW_GFP_FOLIO);
	tw_fault_exit(w, TW_AT(1, ts + 120, 101), 0);
	tw_process_exit(w, TW_AT(1, ts + 130, 101), "gen", true);
	tw_exit_mmap(w, TW_AT(1, ts + 140, 101), CHILD);
	tw_lost(w, 1, 3, true);
	tw_fault(w, TW_AT(0, ts + 150, 100), 5, &vma, BASE + 0x2008, WRITE, 0);
	tw_fault(w, TW_AT(1, ts + 160, 102), 5, &vma, BASE + 0x3008, WRITE | 0x400, 0);
}

static const struct small_kind {
	const char *name;
	struct tw_config config;
	enum {
		INSTANCE = 1,
		TIMES = 2,
		GRAPH = 4
	} with;
} small_kinds[] = {
	{ "v6", { .version = 6, .nr_cpus = 2 }, 0 },
	{ "v6-big-32", { .version = 6, .nr_cpus = 2, .big_endian = true, .long_size = 4 }, TIMES },
	{ "v6-instance", { .version = 6, .nr_cpus = 2, .header_cpus = 1 }, INSTANCE },
	{ "v6-old", { .version = 6, .version_text = "", .flags = TW_NO_OPTIONS }, 0 },
	{ "v6-clock", { .version = 6, .flags = TW_CLOCK_AFTER }, GRAPH },
	{ "v7", { .nr_cpus = 2 }, 0 },
	{ "v7-instance", { .nr_cpus = 2 }, INSTANCE | TIMES },
	{ "v7-graph", { .nr_cpus = 2 }, GRAPH },
	{ "v7-zstd", { .nr_cpus = 2, .compression = TW_ZSTD }, 0 },
	{ "v7-zlib", { .nr_cpus = 2, .compression = TW_ZLIB, .chunk_pages = 1 }, INSTANCE },
	{ "v7-zstd-options", { .compression = TW_ZSTD, .flags = TW_ONE_OPTIONS_SECTION }, TIMES },
	{ "v7-big", { .nr_cpus = 2, .big_endian = true }, 0 },
};

static void add_times(struct trace_writer *w)
{
	static const struct tw_shift_sample two[] = { { 100, 7, 3, 1 }, { 900, -30, 5, 2 } };
	static const struct tw_shift_cpu cpus[] = { { two, 2 }, { two, 1 } };

	tw_time_shift(w, 1, TW_SHIFT_INTERPOLATE, cpus, 2, true);
	tw_tsc2nsec(w, 0x7edcba98, 31, 12345);
	tw_option_text(w, TW_OPT_OFFSET, "-123");
	tw_option_text(w, TW_OPT_DATE, "0x5f5e100");
}

static void record_graph(struct trace_writer *w)
{
	tw_kallsyms(w, "ffffffff81000000 T handle_mm_fault\n");
	tw_funcgraph_entry(w, TW_AT(0, 5000, 100), 0xffffffff81000000, 0);
	tw_funcgraph_exit(w, TW_AT(0, 6000, 100), 0xffffffff81000000, 0, 5000, 0);
}

static void write_recording(const struct small_kind *kind, const char *target)
{
	const char *path = seed_path(target, kind->name);
	struct trace_writer *w = tw_new(&kind->config);
	int err;

	if (!w)
		die(kind->name);
	tw_option_text(w, TW_OPT_UNAME, "Linux lab 7.3.4 x86_64");
	tw_option_u64(w, TW_OPT_TRACEID, 42);
	tw_comm(w, 100, "gen");
	if (kind->with & TIMES)
		add_times(w);
	if (kind->with & GRAPH)
		record_graph(w);
	else
		record_faults(w);
	if (kind->with & INSTANCE) {
		tw_add_buffer(w, "second", 0, NULL);
		record_faults(w);
	}
	err = tw_write(w, path);
	tw_free(w);
	if (err) {
		errno = -err;
		die(path);
	}
}

/* The report of a recording, as a seed. */
static void write_report(const char *path, const char *name)
{
	const struct report_options options = { 0 };
	const struct output_options output = { 0 };
	struct recording rec = { 0 }, total = { 0 };
	const char *reason;
	FILE *out = open_seed("json", name);

	if (report_read(path, &options, &rec, &reason) || recordings_total(&total, &rec, 1) ||
	    output_report(out, FORMAT_JSON, &rec, 1, &total, &output))
		die(path);
	close_seed(out);
	recording_release(&total);
	recording_release(&rec);
}

/* A format text and the start of a sub-buffer in place of an event: of the systems we know. */
static void write_formats(struct tracefile *tf, const char *name)
{
	static const char *const systems[] = { "faults", "kmem", "ftrace", "exceptions" };

	for (size_t i = 0, nr = 0; i < tf->nr_formats && nr < MAX_TEXTS; i++) {
		const struct trace_text *t = &tf->formats[i];
		char seed[300];
		int how = 0;
		FILE *out;

		while (how < 4 && strcmp(systems[how], t->system))
			how++;
		if (how == 4)
			continue;
		snprintf(seed, sizeof(seed), "%s-%zu", name, nr++);
		out = open_seed("formats", seed);
		putc(how | (tf->big_endian ? 4 : 0), out);
		fwrite(t->text, 1, t->size + 1, out);
		for (int b = 0; b < 128; b++)
			putc(b, out);
		close_seed(out);
	}
}

static void write_page(const uint8_t *page, const struct page_layout *l, bool big_endian,
		       const char *name, unsigned int nr)
{
	char seed[300];
	FILE *out;

	snprintf(seed, sizeof(seed), "%s-%u", name, nr);
	out = open_seed("ringbuf", seed);
	putc((l->commit_size == 4) | big_endian << 1, out);
	fwrite(page, 1, l->page_size, out);
	close_seed(out);
}

static void write_pieces(const char *path, const char *name)
{
	struct page_layout layout;
	struct tracefile tf;
	unsigned int nr = 0;

	if (tracefile_open(&tf, path) || page_layout_parse(&layout, &tf.header_page, &tf.damages))
		die(path);
	write_formats(&tf, name);
	for (size_t i = 0; i < tf.nr_buffers; i++) {
		for (size_t j = 0; j < tf.buffers[i].nr_cpus; j++) {
			struct pages pages;
			const uint8_t *page;
			uint64_t offset;

			pages_open(&pages, &tf, &tf.buffers[i], &tf.buffers[i].cpus[j],
				   layout.page_size, 1);
			while (nr < MAX_PAGES && (page = pages_next(&pages, &offset)))
				write_page(page, &layout, tf.big_endian, name, nr++);
			pages_close(&pages);
		}
	}
	tracefile_close(&tf);
}

int main(int argc, char **argv)
{
	char path[512];

	if (argc < 2) {
		fputs("usage: gen_fuzz_seeds DIR [RECORDING...]\n", stderr);
		return 1;
	}
	dir = argv[1];
	for (size_t i = 0; i < sizeof(small_kinds) / sizeof(*small_kinds); i++) {
		const char *name = small_kinds[i].name;

		write_recording(&small_kinds[i], "container");
		write_recording(&small_kinds[i], "report");
		snprintf(path, sizeof(path), "%s/report/%s", dir, name);
		write_report(path, name);
		write_pieces(path, name);
	}
	for (int i = 2; i < argc; i++) {
		const char *slash = strrchr(argv[i], '/');
		const char *name = slash ? slash + 1 : argv[i];

		write_report(argv[i], name);
		write_pieces(argv[i], name);
	}
	return 0;
}
