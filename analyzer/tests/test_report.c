// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recordings made by hand through the whole flow, up to their summary. The figures that are
 * expected stand in the comments and tables of each test, worked out from what it writes.
 */
#include <errno.h>
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "command.h"
#include "repeats.h"
#include "report.h"
#include "run_command.h"
#include "trace_writer.h"
#include "trace_writer_faults.h"

/* Addresses that 32-bit machines have too. */
#define BASE	0x70000000ULL
#define AT(n)	(BASE + 0x1000 * (n))
#define END	AT(1024)
#define MM	0x81001000ULL
#define CHILD	0x81002000ULL
#define OTHER	0x81003000ULL
#define USER	0x1255 /* WRITE | ALLOW_RETRY | KILLABLE | USER | INTERRUPTIBLE | VMA_LOCK */
#define TRIED	0x275  /* without the VMA lock, and TRIED */
#define KERNEL	0x215  /* WRITE | ALLOW_RETRY | KILLABLE | INTERRUPTIBLE */
#define REMOTE	0x81   /* WRITE | REMOTE */
#define RETRY	0x400
#define ABSENT	6 /* x86 error codes of a store from user space */
#define PRESENT 7

static const struct tw_vma vma = { BASE, END, MM };
static char path[] = "/tmp/test_report-XXXXXX";
static char path2[] = "/tmp/test_report-XXXXXX";

static struct trace_writer *writer(struct tw_config config)
{
	struct trace_writer *w = tw_new(&config);

	assert_non_null(w);
	return w;
}

static struct recording read_with(struct trace_writer *w, const struct report_options *options)
{
	struct recording rec = { 0 };
	const char *reason = NULL;

	if (w) {
		assert_int_equal(tw_write(w, path), 0);
		tw_free(w);
	}
	assert_int_equal(report_read(path, options, &rec, &reason), 0);
	if (rec.damages.nr)
		fail_msg("damaged: %s", rec.damages.list[0].reason);
	return rec;
}

static struct recording read_back(struct trace_writer *w)
{
	return read_with(w, &(struct report_options){ 0 });
}

/* What a row has to say; sum and p50 are of the latencies. */
struct expected {
	enum fault_class class;
	uint8_t order;
	enum evidence evidence;
	uint64_t faults, folios, episodes, ptes, touched, resolved, sum, p50;
};

static void expect_rows(const struct recording *rec, const struct expected *rows, size_t nr)
{
	assert_int_equal(rec->summary.nr_rows, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct summary_row *r = rec->summary.rows[i];
		const struct expected *e = &rows[i];

		assert_string_equal(fault_class_names[r->key.class], fault_class_names[e->class]);
		assert_int_equal(r->key.order, e->order);
		assert_string_equal(evidence_names[r->key.evidence], evidence_names[e->evidence]);
		assert_int_equal(r->faults, e->faults);
		assert_int_equal(r->folios, e->folios);
		assert_int_equal(r->episodes, e->episodes);
		assert_int_equal(r->ptes, e->ptes);
		assert_int_equal(r->ptes_touched, e->touched);
		assert_int_equal(r->ptes_resolved, e->resolved);
		assert_int_equal(r->latency.sum, e->sum);
		assert_int_equal(hist_quantile(&r->latency, 500), e->p50);
	}
}

#define EXPECT_ROWS(rec, ...)                                      \
	expect_rows(rec, (const struct expected[]){ __VA_ARGS__ }, \
		    sizeof((const struct expected[]){ __VA_ARGS__ }) / sizeof(struct expected))

#define SEEN	 EVIDENCE_SEEN
#define INFERRED EVIDENCE_INFERRED

/* Total, entries, exits, unpaired entries and exits, retries, major, remote. */
static void expect_counts(const struct recording *rec, const uint64_t counts[8])
{
	const struct fault_counts *c = &rec->summary.counts;
	const uint64_t have[8] = { c->total,	      c->entries, c->exits, c->unpaired_entries,
				   c->unpaired_exits, c->retries, c->major, c->remote };

	for (int i = 0; i < 8; i++)
		assert_int_equal(have[i], counts[i]);
}

#define EXPECT_COUNTS(rec, ...) expect_counts(rec, (const uint64_t[8]){ __VA_ARGS__ })

/* How the story below is told. */
struct telling {
	const char *name;
	struct tw_config config;
	const char *machine;
	bool two_buffers;      /* allocations, fork and exit_mmap in an instance of their own */
	unsigned int exit_cpu; /* tasks migrate in mid-fault */
	unsigned int how;      /* time extends, absolute stamps */
};

static void use(struct trace_writer *w, const struct telling *t, unsigned int cpu, bool instance)
{
	if (t->two_buffers)
		tw_use_buffer(w, instance);
	if (t->how)
		tw_next(w, cpu, t->how);
}

static void store(struct trace_writer *w, const struct telling *t, uint64_t ts, uint64_t lat,
		  uint64_t page, int order)
{
	use(w, t, 0, false);
	tw_fault_entry(w, TW_AT(0, ts, 10), &vma, AT(page), USER);
	if (order >= 0) {
		use(w, t, 0, true);
		tw_page_alloc(w, TW_AT(0, ts + 10, 10), 0x1000, order,
			      order ? TW_GFP_MTHP : TW_GFP_FOLIO);
		use(w, t, 0, true);
		tw_page_alloc(w, TW_AT(0, ts + 20, 10), 0x9000, 0, TW_GFP_TABLE);
	}
	use(w, t, t->exit_cpu, false);
	tw_fault_exit(w, TW_AT(t->exit_cpu, ts + lat, 10), 0);
}

/*
 * A task populates two folios of 64K (500 and 700 ns), forks, the child exits, and the task stores
 * to two pages of the first (100 and 120 ns) and one of the second (200 ns). 18 events, 4200 ns.
 */
static void tell(struct trace_writer *w, const struct telling *t)
{
	char uname[64];

	snprintf(uname, sizeof(uname), "Linux box 7.3.4 %s", t->machine);
	tw_option_text(w, TW_OPT_UNAME, uname);
	tw_comm(w, 10, "main");
	tw_comm(w, 11, "child");
	if (t->two_buffers)
		tw_add_buffer(w, "kmem", 0, NULL);
	store(w, t, 1000, 500, 0, 4);
	store(w, t, 2000, 700, 31, 4);
	use(w, t, 0, true);
	tw_dup_mmap_entry(w, TW_AT(0, 3000, 10), CHILD, MM);
	use(w, t, 0, true);
	tw_dup_mmap_exit(w, TW_AT(0, 3100, 10), 0);
	use(w, t, 0, true);
	tw_process_fork(w, TW_AT(0, 3200, 10), "main", 11);
	use(w, t, 0, true);
	tw_exit_mmap(w, TW_AT(0, 3500, 11), CHILD);
	store(w, t, 4000, 100, 0, -1);
	store(w, t, 4200, 120, 1, -1);
	store(w, t, 5000, 200, 16, -1);
}

/* Two folios populated at once each; three of their 32 PTEs reused, one fault each. */
#define STORY                                                         \
	{ CLASS_MAP, 4, SEEN, 2, 2, 2, 32, 2, 32, 1200, 700 },        \
	{                                                             \
		CLASS_REUSE, 4, INFERRED, 3, 2, 2, 32, 3, 3, 420, 120 \
	}

static void same_story_in_every_file(void **state)
{
	static const struct telling tellings[] = {
		{ .name = "v7 plain", .machine = "x86_64" },
		{ .name = "v7 zstd", .config = { .compression = TW_ZSTD }, .machine = "x86_64" },
		{ .name = "v7 zlib", .config = { .compression = TW_ZLIB }, .machine = "aarch64" },
		{ .name = "v6", .config = { .version = 6 }, .machine = "aarch64" },
		{ .name = "big-endian", .config = { .big_endian = true }, .machine = "s390x" },
		{ .name = "v6 big-endian",
		  .config = { .version = 6, .big_endian = true },
		  .machine = "s390x" },
		{ .name = "32-bit v7", .config = { .long_size = 4 }, .machine = "i686" },
		{ .name = "32-bit big-endian",
		  .config = { .long_size = 4, .big_endian = true, .compression = TW_ZSTD },
		  .machine = "ppc" },
		{ .name = "32-bit v6",
		  .config = { .long_size = 4, .version = 6 },
		  .machine = "armv7l" },
		{ .name = "64K sub-buffers",
		  .config = { .subbuf_size = 65536 },
		  .machine = "x86_64" },
		{ .name = "256K sub-buffers",
		  .config = { .subbuf_size = 262144, .compression = TW_ZSTD },
		  .machine = "x86_64" },
		{ .name = "time extends", .machine = "x86_64", .how = TW_EXTEND },
		{ .name = "absolute stamps", .machine = "x86_64", .how = TW_ABSOLUTE },
		{ .name = "long lengths", .machine = "x86_64", .how = TW_BIG },
		{ .name = "two buffers", .machine = "x86_64", .two_buffers = true },
		{ .name = "v6 two buffers",
		  .config = { .version = 6 },
		  .machine = "x86_64",
		  .two_buffers = true },
		{ .name = "migration in mid-fault", .machine = "x86_64", .exit_cpu = 3 },
		{ .name = "migration, compressed",
		  .config = { .compression = TW_ZSTD, .chunk_pages = 1 },
		  .machine = "x86_64",
		  .exit_cpu = 1 },
		{ .name = "no clock", .config = { .flags = TW_NO_CLOCK }, .machine = "x86_64" },
		{ .name = "mono clock", .config = { .clock = "mono" }, .machine = "x86_64" },
	};

	for (size_t i = 0; i < sizeof(tellings) / sizeof(tellings[0]); i++) {
		struct trace_writer *w = writer(tellings[i].config);
		struct recording rec;

		print_message("%s\n", tellings[i].name);
		tell(w, &tellings[i]);
		rec = read_back(w);
		EXPECT_ROWS(&rec, STORY);
		EXPECT_COUNTS(&rec, 5, 5, 5, 0, 0, 0, 0, 0);
		assert_int_equal(rec.events, 18);
		assert_int_equal(rec.duration, 4200);
		assert_int_equal(rec.page_size, 4096);
		assert_true(rec.time_is_ns);
		assert_string_equal(rec.kernel, "7.3.4");
		assert_string_equal(rec.arch, tellings[i].machine);
		assert_int_equal(rec.lost_events + rec.lost_uncounted, 0);
		/* 500 and 700 to populate; 100 + 120 and 200 to store */
		assert_int_equal(rec.summary.rows[0]->per_folio_latency.sum, 1200);
		assert_int_equal(rec.summary.rows[0]->time_to_complete.max, 700);
		assert_int_equal(rec.summary.rows[0]->ptes_per_fault.min, 16);
		assert_int_equal(rec.summary.rows[1]->per_folio_latency.min, 200);
		assert_int_equal(rec.summary.rows[1]->per_folio_latency.max, 220);
		assert_int_equal(rec.summary.rows[1]->time_to_complete.count, 0);
		assert_int_equal(rec.summary.rows[1]->ptes_per_fault.count, 0);
		recording_release(&rec);
	}
}

/*
 * Both instances have recorded all of it, the second later by less than anything takes: each event
 * counts once. A fault that only the second one holds does, too, and so does the first fault that
 * happens once more.
 */
static void two_instances_tell_one_story(void **state)
{
	static const struct telling telling = { .machine = "x86_64" };
	struct trace_writer *w = writer((struct tw_config){ .nr_cpus = 1 });
	struct recording rec;

	tell(w, &telling);
	tw_add_buffer(w, "second", 0, NULL);
	tell(w, &telling);
	tw_fault(w, TW_AT(0, 6000, 10), 300, &vma, AT(16), USER, 0);
	tw_fault(w, TW_AT(0, 6400, 10), 400, &vma, AT(16), USER, 0);
	rec = read_back(w);
	EXPECT_COUNTS(&rec, 7, 7, 7, 0, 0, 0, 0, 0);
	assert_int_equal(rec.events, 40);
	assert_int_equal(rec.repeated_events, 16); /* of 18: page tables are of no use */
	assert_int_equal(rec.summary.rows[0]->latency.sum, 1200);
	assert_int_equal(rec.summary.rows[1]->latency.sum, 420);
	recording_release(&rec);
}

static void repeats_are_told_from_what_happens_again(void **state)
{
	const struct tracefile tf = { .nr_buffers = 3,
				      .buffers = (struct trace_buffer[]){
					      { .cpus = &(struct trace_cpu){ .cpu = 3 },
						.nr_cpus = 1 },
					      { 0 },
					      { 0 } } };
	const struct {
		uint64_t ts, address;
		size_t stream;
		bool repeats;
	} events[] = {
		{ 1, 7, 0, false }, { 3, 7, 1, true },	/* one event, in two */
		{ 5, 7, 2, true },			/* and a third */
		{ 6, 7, 0, false }, { 7, 7, 1, true },	/* the same again */
		{ 8, 7, 1, false },			/* and again; the first has lost it */
		{ 9, 8, 0, false }, { 9, 9, 1, false }, /* one in each */
		{ 9, 8, 1, false },			/* not next to its like */
	};
	struct repeats r;

	assert_int_equal(repeats_open(&r, &tf), 0);
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		const struct event e = { .role = EVENT_ENTRY,
					 .ts = events[i].ts,
					 .address = events[i].address,
					 .cpu = 3 };

		assert_int_equal(repeats_event(&r, &e, events[i].stream), events[i].repeats);
	}
	assert_int_equal(r.nr, 3);
	repeats_close(&r);
}

/* A folio of order 1 on a machine whose pages are 64K. */
static void large_pages(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ .subbuf_size = 65536 });
	struct recording rec;

	tw_option_text(w, TW_OPT_UNAME, "Linux box 7.3.4 aarch64");
	tw_fault_entry(w, TW_AT(0, 1000, 10), &vma, BASE, USER);
	tw_page_alloc(w, TW_AT(0, 1010, 10), 0x10, 1, TW_GFP_MTHP);
	tw_fault_exit(w, TW_AT(0, 1500, 10), 0);
	rec = read_back(w);
	assert_int_equal(rec.page_size, 65536);
	EXPECT_ROWS(&rec, { CLASS_MAP, 1, SEEN, 1, 1, 1, 2, 1, 2, 500, 500 });
	recording_release(&rec);
}

/*
 * Seven lost between an entry and an exit, which are therefore of two faults; then some, in two
 * places that do not say how many.
 */
static void lost_events(void **state)
{
	for (unsigned int version = 6; version <= 7; version++) {
		struct trace_writer *w = writer((struct tw_config){ .version = version });
		struct recording rec;

		tw_fault_entry(w, TW_AT(0, 1000, 10), &vma, AT(0), USER);
		tw_fault_entry(w, TW_AT(1, 1100, 20), &vma, AT(9), USER);
		tw_lost(w, 0, 7, true);
		tw_fault_exit(w, TW_AT(0, 1500, 10), 0);
		tw_fault_exit(w, TW_AT(1, 1600, 20), 0); /* of the CPU that lost nothing */
		tw_lost(w, 0, 99, false);
		tw_fault(w, TW_AT(0, 2000, 10), 250, &vma, AT(1), USER, 0);
		tw_lost(w, 1, 0, false);
		tw_process_fork(w, TW_AT(1, 3000, 10), "x", 11);
		rec = read_back(w);
		assert_int_equal(rec.lost_events, 7);
		assert_int_equal(rec.lost_uncounted, 2);
		EXPECT_COUNTS(&rec, 2, 3, 3, 1, 1, 0, 0, 0);
		EXPECT_ROWS(&rec,
			    { CLASS_UNKNOWN, ORDER_UNKNOWN, INFERRED, 2, 0, 0, 0, 0, 0, 750, 500 });
		recording_release(&rec);
	}
}

/* A fault inside a fault: 100 ns of 1000, each with what it allocated. */
static void nested_fault(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct recording rec;

	tw_fault_entry(w, TW_AT(0, 1000, 10), &vma, AT(0), USER);
	tw_page_alloc(w, TW_AT(0, 1100, 10), 0x1000, 4, TW_GFP_MTHP);
	tw_fault_entry(w, TW_AT(0, 1200, 10), &vma, AT(64), KERNEL);
	tw_page_alloc(w, TW_AT(0, 1250, 10), 0x2000, 2, TW_GFP_MTHP);
	tw_fault_exit(w, TW_AT(0, 1300, 10), 0);
	tw_fault_exit(w, TW_AT(0, 2000, 10), 0);
	rec = read_back(w);
	EXPECT_COUNTS(&rec, 2, 2, 2, 0, 0, 0, 0, 0);
	EXPECT_ROWS(&rec, { CLASS_MAP, 2, SEEN, 1, 1, 1, 4, 1, 4, 100, 100 },
		    { CLASS_MAP, 4, SEEN, 1, 1, 1, 16, 1, 16, 1000, 1000 });
	recording_release(&rec);
}

/*
 * One fault of three entries, 1000 to 1900, major for TRIED; one that a signal ended after its
 * retry, which is none; one of another's memory, 60 ns.
 */
static void retries_and_remote(void **state)
{
	const struct tw_vma other = { BASE, END, OTHER };
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct recording rec;

	tw_page_fault(w, TW_AT(0, 990, 10), true, AT(0) + 8, 0x400000, ABSENT);
	tw_fault(w, TW_AT(0, 1000, 10), 100, &vma, AT(0) + 8, USER, RETRY);
	tw_fault(w, TW_AT(0, 1200, 10), 100, &vma, AT(0) + 8, USER & ~0x1000, RETRY);
	tw_fault_entry(w, TW_AT(0, 1500, 10), &vma, AT(0) + 8, TRIED);
	tw_page_alloc(w, TW_AT(0, 1600, 10), 0x1000, 0, TW_GFP_FOLIO);
	tw_fault_exit(w, TW_AT(0, 1900, 10), 0);
	tw_page_fault(w, TW_AT(0, 2000, 10), true, AT(5), 0x400000, ABSENT);
	tw_fault(w, TW_AT(0, 2010, 10), 100, &vma, AT(5), USER, RETRY);
	tw_page_fault(w, TW_AT(0, 2990, 10), true, AT(7), 0x400000, ABSENT);
	tw_fault_entry(w, TW_AT(0, 3000, 10), &vma, AT(7), USER);
	tw_page_alloc(w, TW_AT(0, 3010, 10), 0x1001, 0, TW_GFP_FOLIO);
	tw_fault_exit(w, TW_AT(0, 3050, 10), 0);
	tw_fault_entry(w, TW_AT(0, 4000, 10), &other, AT(0), REMOTE);
	tw_page_alloc(w, TW_AT(0, 4010, 10), 0x1002, 2, TW_GFP_MTHP);
	tw_fault_exit(w, TW_AT(0, 4060, 10), 0);
	rec = read_back(w);
	EXPECT_COUNTS(&rec, 3, 6, 6, 0, 0, 3, 1, 1);
	EXPECT_ROWS(&rec, { CLASS_MAP, 0, SEEN, 2, 2, 2, 2, 2, 2, 950, 900 },
		    { CLASS_MAP, 2, SEEN, 1, 1, 1, 4, 1, 4, 60, 60 });
	assert_int_equal(rec.unmatched_exceptions, 0);
	recording_release(&rec);
}

/* Exits of faults from before, one of which comes before any entry; an entry that never ends. */
static void unpaired(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct recording rec;

	tw_fault_exit(w, TW_AT(0, 500, 10), 0);
	tw_fault(w, TW_AT(0, 1000, 10), 100, &vma, AT(0), USER, 0);
	tw_fault_exit(w, TW_AT(1, 1500, 20), 0);
	tw_fault_entry(w, TW_AT(0, 2000, 10), &vma, AT(0), USER);
	rec = read_back(w);
	EXPECT_COUNTS(&rec, 1, 2, 3, 1, 2, 0, 0, 0);
	recording_release(&rec);
}

static void populate(struct trace_writer *w, uint64_t ts, int pid, uint64_t mm, uint64_t page,
		     unsigned int order)
{
	const struct tw_vma of_mm = { BASE, END, mm };

	tw_fault_entry(w, TW_AT(0, ts, pid), &of_mm, AT(page), USER);
	tw_page_alloc(w, TW_AT(0, ts + 10, pid), 0x1000, order, TW_GFP_MTHP);
	tw_fault_exit(w, TW_AT(0, ts + 100, pid), 0);
}

/* The new task's mm is another, and so is its folio at the same address. */
static void pid_reused(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct recording rec;

	populate(w, 1000, 10, MM, 0, 4);
	tw_fault_entry(w, TW_AT(0, 1500, 10), &vma, AT(32), USER); /* killed in it */
	tw_process_exit(w, TW_AT(0, 2000, 10), "x", true);
	tw_exit_mmap(w, TW_AT(0, 2100, 10), MM);
	tw_process_fork(w, TW_AT(0, 2500, 1), "init", 10);
	populate(w, 3000, 10, OTHER, 0, 4);
	rec = read_back(w);
	EXPECT_COUNTS(&rec, 2, 3, 2, 1, 0, 0, 0, 0);
	EXPECT_ROWS(&rec, { CLASS_MAP, 4, SEEN, 2, 2, 2, 32, 2, 32, 200, 100 });
	recording_release(&rec);
}

/* The same pointer, another address space: its folio is new, not copied, nor there already. */
static void mm_reused_after_exit_mmap(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct recording rec;

	populate(w, 1000, 10, MM, 0, 4);
	tw_exit_mmap(w, TW_AT(0, 2000, 10), MM);
	populate(w, 3000, 20, MM, 0, 4);
	rec = read_back(w);
	EXPECT_ROWS(&rec, { CLASS_MAP, 4, SEEN, 2, 2, 2, 32, 2, 32, 200, 100 });
	recording_release(&rec);
}

/* Without exit_mmap, exec shows that the old mm has ended. The new one's stack is remote. */
static void mm_reused_after_exec(void **state)
{
	const struct tw_vma new_mm = { BASE, END, OTHER };
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct recording rec;

	populate(w, 1000, 10, MM, 0, 4);
	tw_fault_entry(w, TW_AT(0, 2000, 10), &new_mm, AT(512), REMOTE);
	tw_page_alloc(w, TW_AT(0, 2010, 10), 0x1000, 2, TW_GFP_MTHP);
	tw_fault_exit(w, TW_AT(0, 2030, 10), 0);
	tw_process_exec(w, TW_AT(0, 2500, 10), "/bin/x", 10);
	populate(w, 3000, 20, MM, 0, 4);
	rec = read_back(w);
	EXPECT_COUNTS(&rec, 3, 3, 3, 0, 0, 0, 0, 1);
	EXPECT_ROWS(&rec, { CLASS_MAP, 2, SEEN, 1, 1, 1, 4, 1, 4, 30, 30 },
		    { CLASS_MAP, 4, SEEN, 2, 2, 2, 32, 2, 32, 200, 100 });
	recording_release(&rec);
}

/*
 * The child lives: the parent's store copies 4K of its 64K folio (300 ns). The child exits, and the
 * parent's store to another page reuses it (80 ns). Both in one episode of its 16 PTEs.
 */
static void fork_cow_then_reuse(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct recording rec;

	populate(w, 1000, 10, MM, 0, 4);
	tw_dup_mmap_entry(w, TW_AT(0, 2000, 10), CHILD, MM);
	tw_dup_mmap_exit(w, TW_AT(0, 2100, 10), 0);
	tw_fault_entry(w, TW_AT(0, 3000, 10), &vma, AT(3), USER);
	tw_page_alloc(w, TW_AT(0, 3010, 10), 0x2000, 0, TW_GFP_FOLIO);
	tw_fault_exit(w, TW_AT(0, 3300, 10), 0);
	tw_exit_mmap(w, TW_AT(0, 4000, 11), CHILD);
	tw_fault(w, TW_AT(0, 5000, 10), 80, &vma, AT(4), USER, 0);
	rec = read_back(w);
	EXPECT_ROWS(&rec, { CLASS_MAP, 4, SEEN, 1, 1, 1, 16, 1, 16, 100, 100 },
		    { CLASS_REUSE, 4, INFERRED, 1, 1, 1, 16, 1, 1, 80, 80 },
		    { CLASS_COW, 4, SEEN, 1, 1, 1, 16, 1, 1, 300, 300 });
	assert_int_equal(rec.summary.rows[2]->key.from, FROM_ANON);
	recording_release(&rec);
}

/* A batched kernel whose worker returns how many PTEs it made writable: 16 by one fault. */
static void worker_tells_the_batch(void **state)
{
	const struct telling t = { .machine = "x86_64" };
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct tw_event *worker = tw_add_probe(w, "faults", "worker", 1070,
					       "unsigned long __probe_func; "
					       "unsigned long __probe_ret_ip; u32 ptes");
	struct recording rec;

	store(w, &t, 1000, 500, 0, 4);
	tw_dup_mmap_entry(w, TW_AT(0, 3000, 10), CHILD, MM);
	tw_dup_mmap_exit(w, TW_AT(0, 3100, 10), 0);
	tw_exit_mmap(w, TW_AT(0, 3500, 11), CHILD);
	tw_fault_entry(w, TW_AT(0, 4000, 10), &vma, AT(5), USER);
	tw_record(w, TW_AT(0, 4100, 10), worker, TW_VALUES(0x81230000, 0x81240000, 16));
	tw_fault_exit(w, TW_AT(0, 4150, 10), 0);
	rec = read_back(w);
	EXPECT_ROWS(&rec, { CLASS_MAP, 4, SEEN, 1, 1, 1, 16, 1, 16, 500, 500 },
		    { CLASS_REUSE, 4, SEEN, 1, 1, 1, 16, 1, 16, 150, 150 });
	assert_true(row_faults_per_pte(rec.summary.rows[1]) == 0.0625);
	assert_int_equal(rec.summary.rows[1]->ptes_per_fault.max, 16);
	assert_int_equal(rec.summary.rows[1]->time_to_complete.sum, 150);
	recording_release(&rec);
}

/* No allocation is recorded; the user says what the folios are. */
static void folio_size_of_the_user(void **state)
{
	const struct report_options options = { .steps.folio_size = 65536 };
	const struct report_options wrong = { .steps.folio_size = 3 * 4096 };
	const struct telling t = { .machine = "x86_64" };
	struct trace_writer *w = writer((struct tw_config){ 0 });
	const char *reason = NULL;
	struct recording rec;

	store(w, &t, 1000, 500, 0, -1);
	store(w, &t, 2000, 700, 31, -1);
	rec = read_with(w, &options);
	EXPECT_ROWS(&rec, { CLASS_MAP, 4, INFERRED, 2, 2, 2, 32, 2, 32, 1200, 700 });
	assert_int_equal(rec.summary.rows[0]->key.source, SOURCE_ASSUMED);
	recording_release(&rec);
	rec = read_back(NULL);
	EXPECT_ROWS(&rec, { CLASS_UNKNOWN, ORDER_UNKNOWN, INFERRED, 2, 0, 0, 0, 0, 0, 1200, 700 });
	recording_release(&rec);
	assert_int_equal(report_read(path, &wrong, &rec, &reason), -EINVAL);
	assert_non_null(reason);
	recording_release(&rec);
}

/* Exceptions count faults and have no latency; the second CPU's, the last of its task, too. */
static void exceptions_alone(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct recording rec;

	tw_page_fault(w, TW_AT(0, 1000, 10), true, AT(0), 0x400000, ABSENT);
	tw_page_fault(w, TW_AT(1, 1100, 10), true, AT(1), 0x400000, ABSENT);
	tw_page_fault(w, TW_AT(1, 1200, 20), false, AT(2), 0x81000000, ABSENT);
	tw_process_exit(w, TW_AT(1, 1300, 10), "x", true);
	rec = read_back(w);
	EXPECT_COUNTS(&rec, 3, 3, 0, 0, 0, 0, 0, 0);
	assert_int_equal(rec.summary.nr_rows, 1);
	assert_int_equal(rec.summary.rows[0]->faults, 3);
	assert_int_equal(rec.summary.rows[0]->latency.count, 0);
	recording_release(&rec);
}

/* The program's JSON of the file, parsed. */
static struct json_object *json_of(const char *file, const char *file2)
{
	struct run run = run_command(cmd_report, "report", "-F", "json", file, file2, NULL);
	struct json_object *json = json_tokener_parse(run.out);

	assert_string_equal(run.err, "");
	assert_int_equal(run.code, EXIT_GOOD);
	assert_non_null(json);
	run_release(&run);
	return json;
}

/* The member at a path like "/recordings/0/clock"; NULL when it is null. */
static struct json_object *at(struct json_object *json, const char *where)
{
	struct json_object *member;

	if (json_pointer_get(json, where, &member))
		fail_msg("no %s", where);
	return member;
}

/* A raw TSC counts cycles, and never ns: not one key with _ns says anything. */
static void raw_tsc(void **state)
{
	const struct telling t = { .config = { .clock = "x86-tsc" }, .machine = "x86_64" };
	struct trace_writer *w = writer(t.config);
	struct json_object *json;
	struct recording rec;

	tell(w, &t);
	rec = read_back(w);
	assert_false(rec.time_is_ns);
	EXPECT_ROWS(&rec, STORY);
	assert_string_equal(recording_time_unit(&rec), "cycles");
	recording_release(&rec);
	json = json_of(path, NULL);
	assert_string_equal(json_object_get_string(at(json, "/recordings/0/time_unit")), "cycles");
	assert_null(at(json, "/recordings/0/duration_ns"));
	assert_int_equal(json_object_get_int64(at(json, "/recordings/0/duration_ticks")), 4200);
	assert_null(at(json, "/classes/1/latency_ns"));
	assert_null(at(json, "/classes/1/per_folio_latency_ns"));
	assert_null(at(json, "/classes/1/time_to_complete_ns"));
	assert_null(at(json, "/classes/1/ns_per_pte"));
	assert_int_equal(json_object_get_int64(at(json, "/classes/1/latency_ticks/sum")), 420);
	assert_int_equal(json_object_get_int64(at(json, "/classes/1/latency_ticks/p50")), 120);
	json_object_put(json);
}

/* The same TSC with its conversion in the file is ns: 1.5 of them a cycle. */
static void tsc_with_conversion(void **state)
{
	const struct telling t = { .config = { .clock = "x86-tsc" }, .machine = "x86_64" };
	struct trace_writer *w = writer(t.config);
	struct recording rec;

	tell(w, &t);
	tw_tsc2nsec(w, 3, 1, 0);
	rec = read_back(w);
	assert_true(rec.time_is_ns);
	EXPECT_ROWS(&rec, { CLASS_MAP, 4, SEEN, 2, 2, 2, 32, 2, 32, 1800, 1050 },
		    { CLASS_REUSE, 4, INFERRED, 3, 2, 2, 32, 3, 3, 630, 180 });
	recording_release(&rec);
}

/* The story, and another process on CPU 1 that populates 4K in 90 ns, at 6000 ns. */
static void write_two_processes(const char *to)
{
	const struct telling t = { .machine = "x86_64" };
	const struct tw_vma other = { BASE, END, OTHER };
	struct trace_writer *w = writer((struct tw_config){ 0 });

	tell(w, &t);
	tw_comm(w, 20, "other");
	tw_page_fault(w, TW_AT(1, 5990, 20), true, AT(900), 0x400000, ABSENT);
	tw_fault_entry(w, TW_AT(1, 6000, 20), &other, AT(900), USER);
	tw_page_alloc(w, TW_AT(1, 6010, 20), 0x3000, 0, TW_GFP_FOLIO);
	tw_fault_exit(w, TW_AT(1, 6090, 20), 0);
	assert_int_equal(tw_write(w, to), 0);
	tw_free(w);
}

static void every_filter(void **state)
{
	static const struct {
		const char *names[2], *values[2];
		uint64_t faults, sum; /* of latencies */
	} cases[] = {
		{ { "pid" }, { "10" }, 5, 1620 },
		{ { "pid" }, { "20" }, 1, 90 },
		{ { "pid" }, { "10,20" }, 6, 1710 },
		{ { "pid", "pid" }, { "10", "20" }, 6, 1710 },
		{ { "pid" }, { "11" }, 0, 0 },
		{ { "pid" }, { "11-19" }, 0, 0 },
		{ { "pid" }, { "0-9,11-20" }, 1, 90 },
		{ { "pid" }, { "9-10" }, 5, 1620 },
		{ { "pid" }, { "0-9223372036854775807" }, 6, 1710 },
		{ { "comm" }, { "main" }, 5, 1620 },
		{ { "comm" }, { "other" }, 1, 90 },
		{ { "comm" }, { "oth" }, 0, 0 },
		{ { "comm" }, { "oth,main" }, 5, 1620 },
		{ { "comm" }, { "other,main" }, 6, 1710 },
		{ { "comm", "comm" }, { "other", "main" }, 6, 1710 },
		{ { "cpu" }, { "0" }, 5, 1620 },
		{ { "cpu" }, { "1" }, 1, 90 },
		{ { "cpu" }, { "0-3" }, 6, 1710 },
		{ { "cpu" }, { "1-3" }, 1, 90 },
		{ { "mm" }, { "81003000" }, 1, 90 },
		{ { "mm" }, { "0x81001000" }, 5, 1620 },
		{ { "addr" }, { "70001000-70002000" }, 1, 120 },
		{ { "addr" }, { "0x70000000-0x7001f000" }, 4, 920 }, /* not page 31 */
		{ { "addr" }, { "70000001-70001000" }, 0, 0 },
		{ { "addr", "addr" }, { "70001000-70001001", "70384000-70385000" }, 2, 210 },
		{ { "time" }, { "0.000004-0.000005" }, 2, 220 },
		{ { "time" }, { "-0.000003" }, 2, 1200 },
		{ { "time" }, { "0.000005-" }, 2, 290 },
		{ { "time", "time" }, { "0-0.0000015", "0.000006-.0000061" }, 2, 590 },
		{ { "class" }, { "reuse" }, 3, 420 },
		{ { "class" }, { "map,reuse" }, 6, 1710 },
		{ { "class" }, { "cow" }, 0, 0 },
		{ { "order" }, { "4" }, 5, 1620 },
		{ { "order" }, { "0" }, 1, 90 },
		{ { "order" }, { "64K" }, 5, 1620 },
		{ { "order" }, { "4k" }, 1, 90 },
		{ { "order" }, { "4K,64K" }, 6, 1710 },
		{ { "order" }, { "0,64K" }, 6, 1710 },
		{ { "order" }, { "8K-1M" }, 5, 1620 },
		{ { "order" }, { "1-4" }, 5, 1620 },
		{ { "order" }, { "2M" }, 0, 0 },
		{ { "order" }, { "2K" }, 0, 0 },   /* less than a page */
		{ { "order" }, { "128M" }, 0, 0 }, /* 15 stands for unknown */
		{ { "order", "class" }, { "4", "map" }, 2, 1200 },
		{ { "pid", "class" }, { "20", "reuse" }, 0, 0 },
		/* the model sees the rest: still reused, of two folios */
		{ { "addr", "class" }, { "70010000-70011000", "reuse" }, 1, 200 },
	};

	write_two_processes(path);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filter filter = { 0 };
		struct recording rec;
		uint64_t sum = 0;

		for (int j = 0; j < 2 && cases[i].names[j]; j++)
			assert_null(filter_add(&filter, cases[i].names[j], cases[i].values[j]));
		rec = read_with(NULL, &(struct report_options){ .steps.filter = &filter });
		for (size_t j = 0; j < rec.summary.nr_rows; j++)
			sum += rec.summary.rows[j]->latency.sum;
		if (rec.summary.counts.total != cases[i].faults || sum != cases[i].sum)
			fail_msg("--%s %s: %llu faults, %llu ns", cases[i].names[0],
				 cases[i].values[0], (unsigned long long)rec.summary.counts.total,
				 (unsigned long long)sum);
		/* as recorded, whatever is counted */
		assert_int_equal(rec.summary.counts.entries, 6);
		assert_int_equal(rec.events, 22);
		recording_release(&rec);
		filter_release(&filter);
	}
}

/* A name may hold commas, and a list may hold such a name's parts. */
static void lists_of_comms(void **state)
{
	static const struct {
		const char *list, *name;
		bool passes;
	} cases[] = {
		{ "a", "a", true },	 { "a", "b", false },	 { "a", "", false },
		{ "a", "aa", false },	 { "aa", "a", false },	 { "a,b", "a", true },
		{ "a,b", "b", true },	 { "a,b", "a,b", true }, { "a,b", "a,", false },
		{ "a,b", "", false },	 { "a,,b", "b", true },	 { "a,,b", "", false },
		{ "a,,b", "a,", false }, { ",", ",", true },	 { "b c,d", "b c", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filter filter = { 0 };

		assert_null(filter_add(&filter, "comm", cases[i].list));
		if (filter_comm(&filter, cases[i].name) != cases[i].passes)
			fail_msg("--comm '%s' of '%s'", cases[i].list, cases[i].name);
		filter_release(&filter);
	}
}

/* Of a filter that lets nothing pass: how many faults there are, and of whom if names were wrong.
 */
static void hints(void **state)
{
	static const struct {
		const char *names[2], *values[2], *comms;
	} cases[] = {
		{ { "comm" }, { "oth" }, "main, other" },
		{ { "comm", "cpu" }, { "oth", "5" }, "main, other" },
		{ { "comm", "cpu" }, { "other", "5" }, NULL },
		{ { "pid" }, { "11" }, NULL },
		{ { "class" }, { "swap" }, NULL },
	};

	write_two_processes(path);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filter filter = { 0 };
		struct filter_hint hint = { 0 };
		struct recording rec;

		for (int j = 0; j < 2 && cases[i].names[j]; j++)
			assert_null(filter_add(&filter, cases[i].names[j], cases[i].values[j]));
		rec = read_with(NULL, &(struct report_options){ .steps.filter = &filter,
								.steps.hint = &hint });
		assert_int_equal(rec.summary.counts.total, 0);
		assert_int_equal(hint.faults, 6);
		if (cases[i].comms)
			assert_string_equal(hint.comms, cases[i].comms);
		else
			assert_null(hint.comms);
		filter_hint_release(&hint);
		recording_release(&rec);
		filter_release(&filter);
	}
}

/* The tasks with most faults are named first, those of one name together, and not all. */
static void names_in_hints(void **state)
{
	struct comm list[] = { { 1, "b", 3 }, { 2, "a", 3 }, { 3, "c", 2 }, { 4, "c", 2 },
			       { 5, "d", 0 }, { 6, "e", 1 }, { 7, "f", 1 }, { 8, "g", 1 } };
	const struct comms comms = { .list = list, .nr = sizeof(list) / sizeof(*list) };
	struct filter filter = { 0 };
	struct filter_hint hint = { 0 };

	assert_null(filter_add(&filter, "comm", "d"));
	assert_int_equal(filter_hint_take(&hint, &filter, &comms), 0);
	assert_string_equal(hint.comms, "c, a, b, e, f and 1 more");
	filter_hint_release(&hint);
	filter_release(&filter);
}

static void wrong_filters(void **state)
{
	static const char *const wrong[][2] = {
		{ "pid", "" },
		{ "pid", "x" },
		{ "pid", "1,," },
		{ "pid", "1 2" },
		{ "cpu", "3-0" },
		{ "cpu", "0-" },
		{ "cpu", "-3" },
		{ "cpu", "0-1-2" },
		{ "cpu", "0-99999999999999999999" },
		{ "cpu", "99999999999999999999" },
		{ "mm", "" },
		{ "mm", "xyz" },
		{ "addr", "1000" },
		{ "addr", "2000-1000" },
		{ "addr", "1000-1000" },
		{ "addr", "-1000" },
		{ "addr", "1000-" },
		{ "addr", "10 00-2000" },
		{ "time", "5" },
		{ "time", "a-b" },
		{ "time", "1.2.3-" },
		{ "time", ".-" },
		{ "class", "" },
		{ "class", "mapp" },
		{ "class", "map,," },
		{ "order", "-1" },
		{ "order", "15" },
		{ "order", "4-2" },
		{ "order", "4-15" },
		{ "order", "3K" },
		{ "order", "0K" },
		{ "order", "4KB" },
		{ "order", "K" },
		{ "order", "4-64K" },
		{ "order", "64K-4K" },
		{ "order", "64K-" },
		{ "order", "99999999999999999999" },
		{ "order", "" },
		{ "pid", "-5" },
		{ "cpu", "-1" },
		{ "comm", "" },
		{ "time", "5-4" },
		{ "time", "-" },
		{ "mm", "-1" },
		{ "addr", "1000--1" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct filter filter = { 0 };

		if (!filter_add(&filter, wrong[i][0], wrong[i][1]))
			fail_msg("--%s '%s' is taken", wrong[i][0], wrong[i][1]);
		filter_release(&filter);
	}
}

/* Two files: 5 and 6 faults, 18 and 22 events; the total has both, in ns and in counts. */
static void several_files_and_total(void **state)
{
	const struct telling t = { .config = { .version = 6 }, .machine = "aarch64" };
	struct trace_writer *w = writer(t.config);
	struct recording recs[2], total = { 0 };
	struct json_object *json;

	write_two_processes(path2);
	tell(w, &t);
	recs[0] = read_back(w);
	recs[1] = (struct recording){ 0 };
	assert_int_equal(report_read(path2, &(struct report_options){ 0 }, &recs[1],
				     &(const char *){ NULL }),
			 0);
	assert_int_equal(recordings_total(&total, recs, 2), 0);
	EXPECT_COUNTS(&total, 11, 11, 11, 0, 0, 0, 0, 0);
	EXPECT_ROWS(&total, { CLASS_MAP, 0, SEEN, 1, 1, 1, 1, 1, 1, 90, 90 },
		    { CLASS_MAP, 4, SEEN, 4, 4, 4, 64, 4, 64, 2400, 700 },
		    { CLASS_REUSE, 4, INFERRED, 6, 4, 4, 64, 6, 6, 840, 120 });
	assert_int_equal(total.events, 40);
	recording_release(&total);
	recording_release(&recs[0]);
	recording_release(&recs[1]);

	json = json_of(path, path2);
	assert_int_equal(json_object_array_length(at(json, "/recordings")), 2);
	assert_int_equal(json_object_get_int64(at(json, "/recordings/0/faults/total")), 5);
	assert_int_equal(json_object_get_int64(at(json, "/recordings/1/faults/total")), 6);
	assert_int_equal(json_object_get_int64(at(json, "/faults/total")), 11);
	assert_int_equal(json_object_get_int64(at(json, "/classes/2/latency_ns/sum")), 840);
	json_object_put(json);
}

/* What has no event is a report too. */
static void no_events(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ .nr_cpus = 2 });
	struct recording rec;

	tw_declare_faults(w);
	rec = read_back(w);
	assert_int_equal(rec.events, 0);
	assert_int_equal(rec.summary.nr_rows, 0);
	assert_int_equal(rec.duration, 0);
	recording_release(&rec);
}

/* One store that faults; a populating one allocates @order. */
static void store_page(struct trace_writer *w, uint64_t *ts, uint64_t page, bool populates)
{
	uint64_t address = AT(page);

	tw_page_fault(w, TW_AT(0, *ts, 10), true, address, 0x1000, populates ? ABSENT : PRESENT);
	tw_fault_entry(w, TW_AT(0, *ts + 100, 10), &(struct tw_vma){ BASE, AT(4096), MM }, address,
		       USER);
	if (populates)
		tw_page_alloc(w, TW_AT(0, *ts + 200, 10), 0x1000 + page, 0, TW_GFP_FOLIO);
	tw_fault_exit(w, TW_AT(0, *ts + 300 + page % 97, 10), 0);
	*ts += 1000;
}

static int add_told_fault(void *ctx, const struct fault *f, const struct outcome *o,
			  const char *comm)
{
	return summary_add_fault(ctx, f, o);
}

static int add_told_episode(void *ctx, const struct episode *e, const char *comm)
{
	return summary_add_episode(ctx, e);
}

/*
 * Whoever is told of each fault and episode can add up the report's rows: also of small folios that
 * are written again in large numbers, which the model takes in runs.
 */
static void what_is_told_adds_up(void **state)
{
	enum {
		PAGES = 4096
	};
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct summary told = { 0 };
	struct recording rec, plain;
	uint64_t ts = 1000;

	tw_process_exec(w, TW_AT(0, ts, 10), "/bin/a", 10);
	for (uint64_t page = 0; page < PAGES; page++)
		store_page(w, &ts, page, true);
	for (int round = 0; round < 2; round++) {
		tw_dup_mmap_entry(w, TW_AT(0, ts, 10), CHILD, MM);
		tw_dup_mmap_exit(w, TW_AT(0, ts + 100, 10), 0);
		tw_process_fork(w, TW_AT(0, ts + 200, 10), "a", 11);
		tw_exit_mmap(w, TW_AT(0, ts + 300, 11), CHILD);
		ts += 1000;
		for (uint64_t page = 0; page < PAGES; page++)
			store_page(w, &ts, page * 1237 % PAGES, false);
	}
	rec = read_with(w, &(struct report_options){ .fault = add_told_fault,
						     .episode = add_told_episode,
						     .ctx = &told });
	plain = read_with(NULL, &(struct report_options){ 0 });
	summary_sort(&told);
	/* latencies: 200 and page % 97 more, twice */
	EXPECT_ROWS(&rec,
		    { CLASS_MAP, 0, SEEN, PAGES, PAGES, PAGES, PAGES, PAGES, PAGES,
		      rec.summary.rows[0]->latency.sum, 248 },
		    { CLASS_REUSE, 0, INFERRED, 2 * PAGES, PAGES, 2 * PAGES, 2 * PAGES, 2 * PAGES,
		      2 * PAGES, 2 * rec.summary.rows[0]->latency.sum, 248 });
	assert_int_equal(told.nr_rows, 2);
	assert_int_equal(plain.summary.nr_rows, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct summary_row *row = rec.summary.rows[i];

		assert_true(row_equal(row, told.rows[i]));
		assert_true(row_equal(row, plain.summary.rows[i]));
		assert_int_equal(row->per_folio_latency.sum, row->latency.sum);
		assert_int_equal(row->time_to_complete.sum, row->latency.sum);
	}
	summary_release(&told);
	recording_release(&rec);
	recording_release(&plain);
}

static int make_paths(void **state)
{
	int fd = mkstemp(path), fd2 = mkstemp(path2);

	return fd < 0 || fd2 < 0 ? -1 : close(fd) | close(fd2);
}

static int remove_paths(void **state)
{
	return unlink(path) | unlink(path2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_story_in_every_file),
		cmocka_unit_test(two_instances_tell_one_story),
		cmocka_unit_test(repeats_are_told_from_what_happens_again),
		cmocka_unit_test(large_pages),
		cmocka_unit_test(lost_events),
		cmocka_unit_test(nested_fault),
		cmocka_unit_test(retries_and_remote),
		cmocka_unit_test(unpaired),
		cmocka_unit_test(pid_reused),
		cmocka_unit_test(mm_reused_after_exit_mmap),
		cmocka_unit_test(mm_reused_after_exec),
		cmocka_unit_test(fork_cow_then_reuse),
		cmocka_unit_test(worker_tells_the_batch),
		cmocka_unit_test(folio_size_of_the_user),
		cmocka_unit_test(exceptions_alone),
		cmocka_unit_test(raw_tsc),
		cmocka_unit_test(tsc_with_conversion),
		cmocka_unit_test(every_filter),
		cmocka_unit_test(lists_of_comms),
		cmocka_unit_test(hints),
		cmocka_unit_test(names_in_hints),
		cmocka_unit_test(wrong_filters),
		cmocka_unit_test(several_files_and_total),
		cmocka_unit_test(no_events),
		cmocka_unit_test(what_is_told_adds_up),
	};

	return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
