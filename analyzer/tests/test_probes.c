// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which events are taken for which: probes under any group and name, found by their arguments and
 * by the function they return from, and function_graph. Files come from the tests' writer, so that
 * byte order and word size are those of a real one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault.h"
#include "probes.h"
#include "timeline.h"
#include "trace_writer.h"
#include "trace_writer_faults.h"

#define MAX_EVENTS 64

/* Functions of the traced kernel. */
#define HANDLE 0xffffffff81200000ULL
#define DUP    0xffffffff81300000ULL
#define WORKER 0xffffffff81400000ULL
#define OTHER  0xffffffff81500000ULL
#define CALLER 0xffffffff81600000ULL

#define ENTRY_ARGS  "unsigned long __probe_ip; u64 start; u64 end; u64 mm; u64 address; u32 flags"
#define RETURN_ARGS "unsigned long __probe_func; unsigned long __probe_ret_ip; u32 ret"

static char path[] = "/tmp/test_probes-XXXXXX";

/* What a recording was decoded to, events of no use left out. */
struct decoded {
	struct event events[MAX_EVENTS];
	int nr;
	int bind_error;
	enum probe_kind kind;
	uint64_t unknown_events, short_events, early_exits;
};

static struct decoded decode(struct trace_writer *w, struct probe_names names)
{
	struct decoded d = { 0 };
	struct tracefile tf;
	struct formats formats = { 0 };
	struct page_layout layout;
	struct probes probes;
	struct timeline timeline;
	const struct record *record;
	const char *reason = NULL;

	assert_int_equal(tw_write(w, path), 0);
	tw_free(w);
	assert_int_equal(tracefile_open(&tf, path), 0);
	assert_int_equal(formats_parse(&formats, tf.formats, tf.nr_formats, &tf.damages), 0);
	assert_int_equal(page_layout_parse(&layout, &tf.header_page, &tf.damages), 0);
	d.bind_error = probes_bind(&probes, &formats, &names, tf.big_endian, &tf, &reason);
	if (d.bind_error)
		assert_non_null(reason);
	assert_int_equal(timeline_open(&timeline, &tf, &layout), 0);
	while (!d.bind_error && (record = timeline_next(&timeline))) {
		struct event *e = &d.events[d.nr];

		if (!probes_decode(&probes, record, e))
			continue;
		d.nr++;
		assert_true(d.nr < MAX_EVENTS);
	}
	d.kind = probes.kind;
	d.unknown_events = probes.unknown_events;
	d.short_events = probes.short_events;
	d.early_exits = probes_early_exits(&probes);
	timeline_close(&timeline);
	probes_release(&probes);
	formats_release(&formats);
	tracefile_close(&tf);
	return d;
}

static const struct probe_names no_names = { 0 };

static struct trace_writer *writer(struct tw_config config)
{
	struct trace_writer *w = tw_new(&config);

	assert_non_null(w);
	return w;
}

static void expect_roles(const struct decoded *d, const enum event_role *roles, int nr)
{
	assert_int_equal(d->bind_error, 0);
	assert_int_equal(d->nr, nr);
	for (int i = 0; i < nr; i++)
		assert_int_equal(d->events[i].role, roles[i]);
}

#define EXPECT_ROLES(d, ...)                                      \
	expect_roles(d, (const enum event_role[]){ __VA_ARGS__ }, \
		     sizeof((const enum event_role[]){ __VA_ARGS__ }) / sizeof(enum event_role))

static void expect_entry(const struct event *e, uint64_t ts, int pid, uint64_t address,
			 uint32_t flags)
{
	assert_int_equal(e->role, EVENT_ENTRY);
	assert_int_equal(e->ts, ts);
	assert_int_equal(e->pid, pid);
	assert_true(e->has_address);
	assert_int_equal(e->address, address);
	assert_true(e->has_flags);
	assert_int_equal(e->flags, flags);
}

/* The names that the kernel gives by default, and those that people give. */
static void any_group_and_name(void **state)
{
	static const char *const names[][4] = {
		{ "faults", "fault_entry", "faults", "fault_exit" },
		{ "fprobes", "handle_mm_fault__entry", "fprobes", "handle_mm_fault__exit" },
		{ "kprobes", "p_handle_mm_fault_0", "kprobes", "r_handle_mm_fault_0" },
		{ "kprobes", "myprobe", "kretprobes", "myretprobe" },
		{ "zzz", "b", "aaa", "a" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct trace_writer *w = writer((struct tw_config){ 0 });
		struct tw_event *in = tw_add_probe(w, names[i][0], names[i][1], 900, ENTRY_ARGS);
		struct tw_event *out = tw_add_probe(w, names[i][2], names[i][3], 901, RETURN_ARGS);
		struct decoded d;

		tw_record(w, TW_AT(0, 100, 42), in,
			  TW_VALUES(HANDLE, 0x1000, 0x9000, 0xffff888000000000, 0x2008, 0x1255));
		tw_record(w, TW_AT(0, 200, 42), out, TW_VALUES(HANDLE, CALLER, 0x104));
		d = decode(w, no_names);
		EXPECT_ROLES(&d, EVENT_ENTRY, EVENT_EXIT);
		expect_entry(&d.events[0], 100, 42, 0x2008, 0x1255);
		assert_int_equal(d.kind, PROBES_PAIR);
		assert_int_equal(d.events[0].mm, 0xffff888000000000);
		assert_int_equal(d.events[0].start, 0x1000);
		assert_int_equal(d.events[0].end, 0x9000);
		assert_true(d.events[1].has_ret);
		assert_int_equal(d.events[1].ret, 0x104);
		assert_int_equal(d.events[1].ts, 200);
	}
}

/* Names of members and parameters, as BTF gives them, in another order and of other sizes. */
static void names_of_btf(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct tw_event *in = tw_add_probe(w, "f", "in", 900,
					   "unsigned long __probe_ip; u64 vma; u32 flags; "
					   "u64 addr; u64 vm_mm; u64 vm_end; u64 vm_start");
	struct tw_event *out =
		tw_add_probe(w, "f", "out", 901,
			     "unsigned long __probe_func; unsigned long __probe_ret_ip; "
			     "u32 retval");
	struct decoded d;

	tw_record(w, TW_AT(0, 100, 42), in,
		  TW_VALUES(HANDLE, 0xffff000, 0x41, 0x7000, 0xabc0, 0x8000, 0x6000));
	tw_record(w, TW_AT(0, 200, 42), out, TW_VALUES(HANDLE, CALLER, 0x400));
	d = decode(w, no_names);
	EXPECT_ROLES(&d, EVENT_ENTRY, EVENT_EXIT);
	expect_entry(&d.events[0], 100, 42, 0x7000, 0x41);
	assert_int_equal(d.events[0].mm, 0xabc0);
	assert_int_equal(d.events[0].start, 0x6000);
	assert_int_equal(d.events[0].end, 0x8000);
	assert_int_equal(d.events[1].ret, 0x400);
}

/* Big-endian and 32-bit machines; a kprobe's address is the function's, past the landing pad. */
static void every_machine(void **state)
{
	for (unsigned int bits = 0; bits < 4; bits++) {
		struct tw_config config = { .big_endian = bits & 1, .long_size = bits & 2 ? 4 : 8 };
		const uint64_t mask = bits & 2 ? UINT32_MAX : UINT64_MAX;
		struct trace_writer *w = writer(config);
		struct tw_event *in = tw_add_probe(w, "f", "in", 900,
						   "unsigned long __probe_ip; unsigned long mm; "
						   "unsigned long address; u16 flags");
		struct tw_event *out = tw_add_probe(w, "f", "out", 901, RETURN_ARGS);
		struct decoded d;

		tw_record(w, TW_AT(0, 100, -7), in,
			  TW_VALUES((HANDLE + 4) & mask, 0x8123000, 0x7000, 0x1241));
		tw_record(w, TW_AT(0, 200, -7), out, TW_VALUES(HANDLE & mask, CALLER & mask, 0));
		d = decode(w, no_names);
		EXPECT_ROLES(&d, EVENT_ENTRY, EVENT_EXIT);
		expect_entry(&d.events[0], 100, -7, 0x7000, 0x1241);
		assert_int_equal(d.events[0].mm, 0x8123000);
		assert_int_equal(d.events[0].end, 0);
		assert_int_equal(d.events[1].ret, 0);
	}
}

/* Other pairs in the same recording are told apart by the function that they return from. */
static void other_pairs(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct tw_event *other_out = tw_add_probe(w, "a", "other_out", 900, RETURN_ARGS);
	struct tw_event *dup_out = tw_add_probe(w, "a", "dup_out", 901, RETURN_ARGS);
	struct tw_event *worker = tw_add_probe(w, "a", "worker", 902,
					       "unsigned long __probe_func; "
					       "unsigned long __probe_ret_ip; s32 ptes");
	struct tw_event *out = tw_add_probe(w, "a", "out", 903, RETURN_ARGS);
	struct tw_event *in = tw_add_probe(w, "b", "in", 904, ENTRY_ARGS);
	struct tw_event *dup_in =
		tw_add_probe(w, "b", "dup_in", 905, "unsigned long __probe_ip; u64 mm; u64 oldmm");
	struct tw_event *other_in =
		tw_add_probe(w, "b", "other_in", 906, "unsigned long __probe_ip; u64 address");
	struct decoded d;

	tw_record(w, TW_AT(0, 100, 1), dup_in, TW_VALUES(DUP, 0xc0, 0xd0));
	tw_record(w, TW_AT(0, 110, 1), other_in, TW_VALUES(OTHER, 0x5000));
	tw_record(w, TW_AT(0, 120, 1), other_out, TW_VALUES(OTHER, CALLER, 9));
	tw_record(w, TW_AT(0, 130, 1), dup_out, TW_VALUES(DUP, CALLER, 0));
	tw_record(w, TW_AT(0, 140, 1), in, TW_VALUES(HANDLE, 0x1000, 0x9000, 0xc0, 0x2000, 1));
	tw_record(w, TW_AT(0, 150, 1), worker, TW_VALUES(WORKER, CALLER, 16));
	tw_record(w, TW_AT(0, 160, 1), other_out, TW_VALUES(OTHER, CALLER, 9));
	tw_record(w, TW_AT(0, 170, 1), out, TW_VALUES(HANDLE, CALLER, 0x100));
	d = decode(w, no_names);
	EXPECT_ROLES(&d, EVENT_FORK_COPY, EVENT_FORK_COPIED, EVENT_ENTRY, EVENT_WORKER, EVENT_EXIT);
	assert_int_equal(d.events[0].mm, 0xc0);
	assert_int_equal(d.events[0].oldmm, 0xd0);
	assert_int_equal(d.events[3].number, 16);
	assert_int_equal(d.events[4].ret, 0x100);
	assert_int_equal(d.early_exits, 0);
}

/* A function that ends 16 bytes in front of handle_mm_fault is another one. */
static void neighbouring_function(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct tw_event *in = tw_add_probe(w, "f", "in", 900, ENTRY_ARGS);
	struct tw_event *out = tw_add_probe(w, "f", "out", 901, RETURN_ARGS);
	struct tw_event *near = tw_add_probe(w, "f", "near", 902, RETURN_ARGS);
	struct decoded d;

	tw_record(w, TW_AT(0, 100, 1), in, TW_VALUES(HANDLE, 0x1000, 0x9000, 0xc0, 0x2000, 1));
	tw_record(w, TW_AT(0, 110, 1), near, TW_VALUES(HANDLE - 16, CALLER, 0));
	tw_record(w, TW_AT(0, 120, 1), near, TW_VALUES(HANDLE + 16, CALLER, 0));
	tw_record(w, TW_AT(0, 130, 1), out, TW_VALUES(HANDLE, CALLER, 0));
	d = decode(w, no_names);
	EXPECT_ROLES(&d, EVENT_ENTRY, EVENT_EXIT);
	assert_int_equal(d.events[1].ts, 130);
}

/* Exits from before the first entry are of faults that the recording began in. */
static void exits_before_the_first_entry(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct tw_event *in = tw_add_probe(w, "f", "in", 900, ENTRY_ARGS);
	struct tw_event *out = tw_add_probe(w, "f", "out", 901, RETURN_ARGS);
	struct tw_event *other = tw_add_probe(w, "f", "other", 902, RETURN_ARGS);
	struct decoded d;

	tw_record(w, TW_AT(0, 80, 1), other, TW_VALUES(OTHER, CALLER, 0));
	tw_record(w, TW_AT(0, 90, 1), out, TW_VALUES(HANDLE, CALLER, 0));
	tw_record(w, TW_AT(0, 95, 2), out, TW_VALUES(HANDLE, CALLER, 0));
	tw_record(w, TW_AT(0, 100, 1), in, TW_VALUES(HANDLE, 0x1000, 0x9000, 0xc0, 0x2000, 1));
	tw_record(w, TW_AT(0, 120, 1), out, TW_VALUES(HANDLE, CALLER, 0));
	d = decode(w, no_names);
	EXPECT_ROLES(&d, EVENT_ENTRY, EVENT_EXIT);
	assert_int_equal(d.early_exits, 2);
}

/* Probed twice, by fprobe and by kprobe: still one entry and one exit a fault. */
static void function_probed_twice(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct tw_event *poor = tw_add_probe(w, "a", "poor", 900,
					     "unsigned long __probe_ip; u64 address; u32 flags");
	struct tw_event *rich = tw_add_probe(w, "b", "rich", 901, ENTRY_ARGS);
	struct tw_event *out1 = tw_add_probe(w, "a", "out1", 902, RETURN_ARGS);
	struct tw_event *out2 = tw_add_probe(w, "a", "out2", 903, RETURN_ARGS);
	struct decoded d;

	for (int i = 0; i < 2; i++) {
		tw_record(w, TW_AT(0, 100 + 100 * i, 1), poor, TW_VALUES(HANDLE, 0x2000, 1));
		tw_record(w, TW_AT(0, 110 + 100 * i, 1), rich,
			  TW_VALUES(HANDLE, 0x1000, 0x9000, 0xc0, 0x2000, 1));
		tw_record(w, TW_AT(0, 120 + 100 * i, 1), out2, TW_VALUES(HANDLE, CALLER, 0));
		tw_record(w, TW_AT(0, 130 + 100 * i, 1), out1, TW_VALUES(HANDLE, CALLER, 0));
	}
	d = decode(w, no_names);
	EXPECT_ROLES(&d, EVENT_ENTRY, EVENT_EXIT, EVENT_ENTRY, EVENT_EXIT);
	assert_int_equal(d.events[0].mm, 0xc0);
	assert_int_equal(d.events[1].ts, 120);
	assert_int_equal(d.events[3].ts, 220);
}

/* What --entry and --exit name, whatever else looks alike. */
static void named_by_the_user(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct tw_event *in1 = tw_add_probe(w, "a", "in", 900, ENTRY_ARGS);
	struct tw_event *in2 = tw_add_probe(w, "b", "in", 901, ENTRY_ARGS);
	struct tw_event *out1 = tw_add_probe(w, "a", "out", 902, RETURN_ARGS);
	struct tw_event *out2 = tw_add_probe(w, "b", "out", 903, RETURN_ARGS);
	struct tw_event *dup_in =
		tw_add_probe(w, "b", "dup_in", 905, "unsigned long __probe_ip; u64 mm; u64 oldmm");
	struct tw_event *dup_out = tw_add_probe(w, "b", "dup_out", 906, RETURN_ARGS);
	struct decoded d;

	tw_record(w, TW_AT(0, 90, 1), dup_in, TW_VALUES(DUP, 0xc0, 0xd0));
	tw_record(w, TW_AT(0, 95, 1), dup_out, TW_VALUES(DUP, CALLER, 0));
	tw_record(w, TW_AT(0, 100, 1), in1, TW_VALUES(HANDLE, 0x1000, 0x9000, 0xc0, 0x2000, 1));
	tw_record(w, TW_AT(0, 110, 1), in2, TW_VALUES(HANDLE, 0x1000, 0x9000, 0xc0, 0x3000, 1));
	tw_record(w, TW_AT(0, 120, 1), out2, TW_VALUES(HANDLE, CALLER, 7));
	tw_record(w, TW_AT(0, 130, 1), out1, TW_VALUES(HANDLE, CALLER, 8));
	d = decode(w, (struct probe_names){ .entry = "b:in", .exit = "a:out" });
	EXPECT_ROLES(&d, EVENT_FORK_COPY, EVENT_FORK_COPIED, EVENT_ENTRY, EVENT_EXIT);
	assert_int_equal(d.events[2].address, 0x3000);
	assert_int_equal(d.events[3].ts, 130);
	assert_int_equal(d.events[3].ret, 8);
}

/* Events that do not look like a pair are one where the user says so: plain tracepoints. */
static void tracepoints_named_by_the_user(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct tw_event *in = tw_add_event(w, "mm", "fault_begin", 900, "unsigned long address");
	struct tw_event *out = tw_add_event(w, "mm", "fault_end", 901, "int x");
	struct decoded d;

	tw_record(w, TW_AT(0, 100, 1), in, TW_VALUES(0x2000));
	tw_record(w, TW_AT(0, 130, 1), out, TW_VALUES(1));
	d = decode(w, (struct probe_names){ .entry = "mm:fault_begin", .exit = "mm:fault_end" });
	EXPECT_ROLES(&d, EVENT_ENTRY, EVENT_EXIT);
	assert_true(d.events[0].has_address);
	assert_false(d.events[0].has_flags);
	assert_false(d.events[1].has_ret);
}

static void names_that_the_recording_lacks(void **state)
{
	static const struct probe_names wrong[] = {
		{ .entry = "faults:no_such" }, { .exit = "faults:no_such" },
		{ .entry = "fault_entry" },    { .entry = "other:fault_entry" },
		{ .entry = "faults:" },	       { .exit = "" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct trace_writer *w = writer((struct tw_config){ 0 });
		struct decoded d;

		tw_declare_faults(w);
		tw_process_fork(w, TW_AT(0, 100, 1), "x", 2);
		d = decode(w, wrong[i]);
		assert_int_equal(d.bind_error, -EINVAL);
	}
}

#define GRAPH_SYMBOLS                             \
	"ffffffff81100000 T do_user_addr_fault\n" \
	"ffffffff81150000 t __handle_mm_fault\n"  \
	"ffffffff81200000 T handle_mm_fault\n"    \
	"ffffffff81250000 T handle_mm_fault_more\n"

/* The tracer's own events; the function's address is from the recording's kallsyms. */
static void function_graph(void **state)
{
	for (unsigned int version = 6; version <= 7; version++) {
		struct trace_writer *w = writer((struct tw_config){ .version = version });
		struct decoded d;

		tw_declare_faults(w); /* without one record of the pair */
		tw_kallsyms(w, GRAPH_SYMBOLS);
		d = decode(w, no_names);
		assert_int_equal(d.kind, PROBES_PAIR);

		w = writer((struct tw_config){ .version = version });
		tw_kallsyms(w, GRAPH_SYMBOLS);
		tw_funcgraph_entry(w, TW_AT(0, 100, 5), 0xffffffff81100000, 0);
		tw_funcgraph_entry(w, TW_AT(0, 110, 5), 0xffffffff81200004, 1);
		tw_funcgraph_entry(w, TW_AT(0, 120, 5), 0xffffffff81250000, 2);
		tw_funcgraph_exit(w, TW_AT(0, 130, 5), 0xffffffff81250000, 2, 120, 0);
		tw_funcgraph_exit(w, TW_AT(0, 140, 5), 0xffffffff81200004, 1, 110, 0);
		tw_funcgraph_exit(w, TW_AT(0, 150, 5), 0xffffffff81100000, 0, 100, 0);
		d = decode(w, no_names);
		EXPECT_ROLES(&d, EVENT_ENTRY, EVENT_EXIT);
		assert_int_equal(d.kind, PROBES_GRAPH);
		assert_int_equal(d.events[0].ts, 110);
		assert_int_equal(d.events[0].pid, 5);
		assert_false(d.events[0].has_address);
		assert_int_equal(d.events[1].ts, 140);
	}
}

/* With its arguments: (vma, address, flags, regs), as many longs. */
static void function_graph_with_arguments(void **state)
{
	for (unsigned int bits = 0; bits < 4; bits++) {
		struct tw_config config = { .big_endian = bits & 1, .long_size = bits & 2 ? 4 : 8 };
		const unsigned int size = config.long_size;
		struct trace_writer *w = writer(config);
		uint8_t args[32] = { 0 };
		struct tw_event *in = tw_add_event(w, "ftrace", "funcgraph_entry", 11,
						   bits & 2 ? "unsigned long func; "
							      "unsigned long depth; u8 args[16]"
							    : "unsigned long func; "
							      "unsigned long depth; u8 args[32]");
		struct tw_event *out = tw_add_event(w, "ftrace", "funcgraph_exit", 10,
						    "unsigned long func; unsigned int depth; "
						    "unsigned int overrun");
		struct decoded d;

		/* address 0x12345000, flags 0x255 */
		for (unsigned int i = 0; i < 4; i++) {
			const uint64_t address = 0x12345000, flags = 0x255;
			unsigned int at = bits & 1 ? size - 1 - i : i;

			args[size + at] = address >> 8 * i;
			args[2 * size + at] = flags >> 8 * i;
		}
		tw_kallsyms(w, bits & 2 ? "81200000 T handle_mm_fault\n" : GRAPH_SYMBOLS);
		tw_record(w, TW_AT(0, 100, 5), in,
			  TW_VALUES(bits & 2 ? 0x81200000 : HANDLE, 1, TW_STR(args)));
		tw_record(w, TW_AT(0, 150, 5), out,
			  TW_VALUES(bits & 2 ? 0x81200000 : HANDLE, 1, 0));
		d = decode(w, no_names);
		EXPECT_ROLES(&d, EVENT_ENTRY, EVENT_EXIT);
		expect_entry(&d.events[0], 100, 5, 0x12345000, 0x255);
	}
}

static void function_graph_without_symbols(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct decoded d;

	tw_funcgraph_entry(w, TW_AT(0, 110, 5), HANDLE, 1);
	tw_funcgraph_exit(w, TW_AT(0, 140, 5), HANDLE, 1, 110, 0);
	d = decode(w, no_names);
	assert_int_equal(d.nr, 0);
	assert_int_equal(d.kind, PROBES_NONE);
}

static void exceptions_alone(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct decoded d;

	tw_page_fault(w, TW_AT(0, 100, 9), true, 0x7008, 0x401000, 6);
	tw_page_fault(w, TW_AT(0, 110, 9), false, 0x8008, 0xffffffff81000000, 2);
	d = decode(w, no_names);
	EXPECT_ROLES(&d, EVENT_EXCEPTION, EVENT_EXCEPTION);
	assert_int_equal(d.kind, PROBES_EXCEPTIONS);
	assert_int_equal(d.events[0].address, 0x7008);
	assert_int_equal(d.events[0].flags, 6);
	assert_int_equal(d.events[1].flags, 2);
}

/* Events of fixed names, and what of them counts. */
static void fixed_events(void **state)
{
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct tw_event *newtask =
		tw_add_event(w, "task", "task_newtask", 300,
			     "pid_t pid; char comm[16]; unsigned long clone_flags; short adj");
	struct tw_event *collapse = tw_add_event(w, "huge_memory", "mm_collapse_huge_page", 301,
						 "struct mm_struct * mm; int isolated; int status");
	struct decoded d;

	tw_page_alloc(w, TW_AT(0, 100, 1), 0x1000, 4, TW_GFP_MTHP);
	tw_page_alloc(w, TW_AT(0, 101, 1), 0x1000, 0, TW_GFP_TABLE); /* no user page */
	tw_page_alloc(w, TW_AT(0, 102, 1), 0x1000, 0, TW_GFP_FOLIO);
	tw_rss_stat(w, TW_AT(0, 103, 1), true, 1, 4096);
	tw_rss_stat(w, TW_AT(0, 104, 1), false, 1, 4096); /* another's mm */
	tw_rss_stat(w, TW_AT(0, 105, 1), true, 9, 4096);  /* no counter */
	tw_process_fork(w, TW_AT(0, 106, 1), "x", 2);
	tw_record(w, TW_AT(0, 107, 1), newtask, TW_VALUES(3, TW_STR("x"), 0x100, 0));
	tw_record(w, TW_AT(0, 108, 1), newtask, TW_VALUES(4, TW_STR("x"), 0x11, 0));
	tw_exit_mmap(w, TW_AT(0, 109, 1), 0xc0);
	tw_process_exec(w, TW_AT(0, 110, 1), "/x", 1);
	tw_process_exit(w, TW_AT(0, 111, 1), "x", true);
	tw_record(w, TW_AT(0, 112, 9), collapse, TW_VALUES(0xd0, 1, 1));
	tw_record(w, TW_AT(0, 113, 9), collapse, TW_VALUES(0xd0, 1, 17)); /* it failed */
	d = decode(w, no_names);
	EXPECT_ROLES(&d, EVENT_ALLOC, EVENT_ALLOC, EVENT_RSS, EVENT_FORK, EVENT_FORK, EVENT_FORK,
		     EVENT_MM_EXIT, EVENT_EXEC, EVENT_TASK_EXIT, EVENT_COLLAPSE);
	assert_int_equal(d.events[0].number, 4);
	assert_int_equal(d.events[1].number, 0);
	assert_int_equal(d.events[2].number, RSS_ANON);
	assert_int_equal(d.events[3].number, 2);
	assert_false(d.events[3].knows_sharing);
	assert_int_equal(d.events[4].number, 3);
	assert_true(d.events[4].knows_sharing && d.events[4].shares_mm);
	assert_true(d.events[5].knows_sharing && !d.events[5].shares_mm);
	assert_int_equal(d.events[6].mm, 0xc0);
	assert_int_equal(d.events[9].mm, 0xd0);
	assert_int_equal(d.kind, PROBES_NONE);
}

/* Too short for its format, down to its id; and an id that no format has. */
static void short_and_unknown_events(void **state)
{
	static const uint8_t exception[8] = { 79 }, unknown[8] = { 0x34, 0x12 };

	for (unsigned int size = 2; size <= 8; size++) {
		struct trace_writer *w = writer((struct tw_config){ 0 });
		struct decoded d;

		tw_page_fault(w, TW_AT(0, 100, 9), true, 0x7008, 0x401000, 6);
		tw_next(w, 0, TW_BIG);
		tw_raw(w, 0, 110, exception, size);
		tw_next(w, 0, TW_BIG);
		tw_raw(w, 0, 120, unknown, 8);
		d = decode(w, no_names);
		EXPECT_ROLES(&d, EVENT_EXCEPTION);
		assert_int_equal(d.short_events, 1);
		assert_int_equal(d.unknown_events, 1);
	}
}

/* The ring buffer can say so, even if no kernel writes it. */
static void record_of_no_bytes(void **state)
{
	struct formats formats = { 0 };
	struct probes probes;
	const char *reason;
	uint8_t *nothing = malloc(0); /* for ASan to guard */
	struct record record = { .data = nothing };
	struct event event;

	assert_int_equal(probes_bind(&probes, &formats, &no_names, false, NULL, &reason), 0);
	assert_int_equal(probes_decode(&probes, &record, &event), EVENT_NONE);
	assert_int_equal(probes.short_events, 1);
	probes_release(&probes);
	free(nothing);
}

/* One format's common_pid lies far out: no other event is read there. */
static void formats_that_disagree(void **state)
{
	static const char text[] = "name: odd\nID: 80\nformat:\n"
				   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;"
				   "\tsigned:0;\n"
				   "\tfield:int common_pid;\toffset:60000;\tsize:4;\tsigned:1;\n"
				   "\nprint fmt: \"\"\n";
	struct trace_writer *w = writer((struct tw_config){ 0 });
	struct tw_event *odd = tw_add_event(w, "exceptions", "odd", 80, "int x");
	struct decoded d;

	tw_set_format(odd, text, strlen(text));
	tw_page_fault(w, TW_AT(0, 100, 9), true, 0x7008, 0x401000, 6);
	d = decode(w, no_names);
	EXPECT_ROLES(&d, EVENT_EXCEPTION);
	assert_int_equal(d.events[0].pid, 9);
}

static int make_path(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_group_and_name),
		cmocka_unit_test(names_of_btf),
		cmocka_unit_test(every_machine),
		cmocka_unit_test(other_pairs),
		cmocka_unit_test(neighbouring_function),
		cmocka_unit_test(exits_before_the_first_entry),
		cmocka_unit_test(function_probed_twice),
		cmocka_unit_test(named_by_the_user),
		cmocka_unit_test(tracepoints_named_by_the_user),
		cmocka_unit_test(names_that_the_recording_lacks),
		cmocka_unit_test(function_graph),
		cmocka_unit_test(function_graph_with_arguments),
		cmocka_unit_test(function_graph_without_symbols),
		cmocka_unit_test(exceptions_alone),
		cmocka_unit_test(fixed_events),
		cmocka_unit_test(short_and_unknown_events),
		cmocka_unit_test(record_of_no_bytes),
		cmocka_unit_test(formats_that_disagree),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
