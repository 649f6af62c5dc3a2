// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes recordings of any size for benchmarks, in constant memory:
 *
 *	reuse	one busy CPU on a loop of the lab's reuse row: a process populates a range with 64K
 *		folios, forks, the child exits, the parent stores to every page once more
 *	random	CPUs that take turns in time, threads of one process that store to the pages of a
 *		range in random order, once to populate it and then again after each fork; or
 *		those of a child that stays, beside its parent
 *
 * Prints how many events it wrote, as "events N".
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_writer.h"
#include "trace_writer_faults.h"

#define PAGE_SIZE    4096ULL
#define BASE	     0x7f0000000000ULL
#define MM(nr)	     (0xffff888000100000ULL + 0x540 * (uint64_t)(nr))
#define PID	     1000
#define FLAGS	     0x1255 /* WRITE | ALLOW_RETRY | KILLABLE | USER | INTERRUPTIBLE | VMA_LOCK */
#define NOT_PRESENT  0x6    /* x86 error codes of a store from user space */
#define PROTECTED    0x7
#define FIRST_TS     1000000000ULL
#define CPU_TURN_NS  6400 /* one CPU's faults are this far apart, longer than any takes */
#define RESERVED_PID 500000

struct options {
	bool random;
	uint64_t nr_events;
	uint64_t range_size; /* bytes */
	unsigned int order;
	unsigned int nr_cpus, nr_tasks;
	unsigned int jitter_ns;
	unsigned int nr_more; /* events that are not recorded */
	bool child;
};

struct generator {
	struct options opt;
	struct tw_vma vma;
	uint64_t pfn; /* of the range's first page */
};

/* Of a machine that does not take the same time twice: 0 to the jitter that was asked for. */
static uint64_t jitter(const struct generator *g, uint64_t seed)
{
	seed = (seed ^ seed >> 31) * 0xbf58476d1ce4e5b9ULL;
	seed = (seed ^ seed >> 29) * 0x94d049bb133111ebULL;
	return (seed >> 32) % (g->opt.jitter_ns + 1);
}

/*
 * One store that faults: exception, entry, what it allocated, exit. nr_populated counts pages, this
 * fault's too. Latencies are like the lab's.
 */
static void store_fault(struct trace_writer *w, struct tw_at at, const struct generator *g,
			uint64_t page, bool populates, uint64_t nr_populated)
{
	uint64_t address = g->vma.start + page * PAGE_SIZE + 8;

	tw_page_fault(w, at, true, address, 0x401608, populates ? NOT_PRESENT : PROTECTED);
	at.ts += 1284 + jitter(g, at.ts);
	tw_fault_entry(w, at, &g->vma, address, FLAGS);
	if (populates) {
		at.ts += 1400;
		tw_page_alloc(w, at, g->pfn + page, g->opt.order,
			      g->opt.order ? TW_GFP_MTHP : TW_GFP_FOLIO);
		at.ts += 200;
		tw_rss_stat(w, at, true, 1, nr_populated * PAGE_SIZE);
		at.ts += 1185;
	} else {
		at.ts += 2780 + page % 32 + jitter(g, at.ts);
	}
	tw_fault_exit(w, at, 0);
}

static unsigned int events_per_fault(bool populates)
{
	return populates ? 5 : 3;
}

static void do_fork(struct trace_writer *w, struct tw_at *at, uint64_t mm, uint64_t child_mm)
{
	tw_dup_mmap_entry(w, *at, child_mm, mm);
	at->ts += 200;
	tw_dup_mmap_exit(w, *at, 0);
	at->ts += 10;
	tw_process_fork(w, *at, "gen", RESERVED_PID);
}

/* fork() and the exit of the child; pages of the parent are its own again, and read-only. */
static void fork_and_exit(struct trace_writer *w, struct tw_at at, uint64_t mm, uint64_t child_mm)
{
	struct tw_at child = at;

	do_fork(w, &at, mm, child_mm);
	child.pid = RESERVED_PID;
	child.ts = at.ts + 100;
	tw_process_exit(w, child, "gen", true);
	child.ts += 100;
	tw_exit_mmap(w, child, child_mm);
}

#define EVENTS_PER_FORK 5

static int generate_reuse(struct trace_writer *w, unsigned int cpu, void *ctx)
{
	struct generator *g = ctx;
	const uint64_t nr_pages = g->opt.range_size / PAGE_SIZE, per_folio = 1ULL << g->opt.order;
	uint64_t nr = 0, ts = FIRST_TS;

	for (unsigned int round = 0; nr < g->opt.nr_events && !tw_error(w); round++) {
		int pid = PID + round % g->opt.nr_tasks;

		g->vma.mm = MM(2 * (round % 2)); /* freed and soon used again, as by a slab */
		tw_process_exec(w, TW_AT(cpu, ts, pid), "/bin/gen", pid);
		ts += 1000;
		for (uint64_t page = 0; page < nr_pages; page += per_folio) {
			store_fault(w, TW_AT(cpu, ts, pid), g, page, true, page + per_folio);
			ts += CPU_TURN_NS + jitter(g, ts);
		}
		fork_and_exit(w, TW_AT(cpu, ts, pid), g->vma.mm, MM(1));
		ts += 1000;
		for (uint64_t page = 0; page < nr_pages; page++) {
			store_fault(w, TW_AT(cpu, ts, pid), g, page, false, 0);
			ts += CPU_TURN_NS + jitter(g, ts);
		}
		tw_process_exit(w, TW_AT(cpu, ts, pid), "gen", true);
		tw_exit_mmap(w, TW_AT(cpu, ts + 100, pid), g->vma.mm);
		ts += 1000;
		nr += 3 + EVENTS_PER_FORK + nr_pages / per_folio * events_per_fault(true) +
		      nr_pages * events_per_fault(false);
	}
	return tw_error(w);
}

/* A permutation of the numbers below a power of two: each step can be undone. */
static uint64_t shuffle(uint64_t value, uint64_t mask, unsigned int round)
{
	const unsigned int shift = __builtin_popcountll(mask) * 2 / 5 + 1;

	value = (value + round * 0x9e3779b97f4a7c15ULL) & mask;
	for (int i = 0; i < 4; i++) {
		value ^= value >> shift;
		value = value * 0xbf58476d1ce4e5b9ULL & mask;
	}
	return value ^ value >> shift;
}

/* Round 0 populates, the others find their pages read-only after a fork at the start of each. */
static int generate_random(struct trace_writer *w, unsigned int cpu, void *ctx)
{
	struct generator copy = *(const struct generator *)ctx, *g = &copy;
	const unsigned int nr_cpus = g->opt.nr_cpus;
	const unsigned int tasks_here = (g->opt.nr_tasks + nr_cpus - 1 - cpu) / nr_cpus;
	const uint64_t nr_folios = g->opt.range_size / PAGE_SIZE >> g->opt.order;
	const uint64_t turns = (nr_folios + nr_cpus - 1) / nr_cpus;
	uint64_t ts = FIRST_TS, nr = 0;

	for (unsigned int round = 0; nr < g->opt.nr_events && !tw_error(w); round++) {
		ts += CPU_TURN_NS; /* the last faults of the round before end in here */
		if (round == 1 && g->opt.child) {
			struct tw_at at = TW_AT(cpu, ts, PID);

			if (!cpu)
				do_fork(w, &at, g->vma.mm, MM(1));
			g->vma.mm = MM(1);
		} else if (round && !g->opt.child && !cpu) {
			fork_and_exit(w, TW_AT(cpu, ts, PID), g->vma.mm, MM(1));
		}
		ts += 1000;
		for (uint64_t turn = 0; turn < turns; turn++, ts += CPU_TURN_NS) {
			uint64_t i = turn * nr_cpus + cpu;
			unsigned int task =
				cpu + nr_cpus * (shuffle(i, UINT32_MAX, round) % tasks_here);

			if (i >= nr_folios)
				continue;
			store_fault(
				w,
				TW_AT(cpu, ts + (uint64_t)cpu * CPU_TURN_NS / nr_cpus, PID + task),
				g, shuffle(i, nr_folios - 1, round) << g->opt.order, !round,
				(i + 1) << g->opt.order);
		}
		nr += nr_folios * events_per_fault(!round) + (round ? EVENTS_PER_FORK : 0);
	}
	return tw_error(w);
}

/* Formats of events that nothing records, as long as a kernel's are. */
static void declare_more(struct trace_writer *w, unsigned int nr)
{
	char system[16], name[16], print_fmt[1024];

	memset(print_fmt, 'x', sizeof(print_fmt) - 1);
	print_fmt[sizeof(print_fmt) - 1] = '\0';
	for (unsigned int i = 0; i < nr; i++) {
		struct tw_event *event;

		snprintf(system, sizeof(system), "system%u", i / 20);
		snprintf(name, sizeof(name), "event%u", i);
		event = tw_add_event(w, system, name, 2000 + i,
				     "unsigned long a; unsigned long b; int c; int d; u64 e");
		if (event)
			tw_set_print_fmt(event, print_fmt);
	}
}

static void usage(FILE *to)
{
	fputs("usage: gen_recording [options] FILE\n"
	      "  -k, --kind KIND          reuse (default) or random\n"
	      "  -n, --events N           at least this many [1000000]; whole rounds are made\n"
	      "  -s, --size BYTES         of the range, a power of two [8 MiB; random: 1 GiB]\n"
	      "  -o, --order N            of the folios [4; random: 0]\n"
	      "  -c, --cpus N             [1; random: 64]\n"
	      "  -t, --tasks N            [1; random: 1000]\n"
	      "  -j, --jitter NS          of the times in a fault, 1000 at most [0]\n"
	      "  -C, --child              random: the child of one fork stays, and its pages are written\n"
	      "  -m, --more N             formats of events that are not recorded, 2000 at most [0]\n"
	      "  -z, --compression NAME   none (default), zstd or zlib\n"
	      "  -f, --format 6|7         version of the file [7]\n"
	      "  -b, --subbuf BYTES       sub-buffer size [4096]\n"
	      "  -e, --big-endian\n",
	      to);
}

/* A number with nothing behind it; false if it is none. */
static bool parse_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && end != text && !*end && *value <= max && *text != '-';
}

static bool parse_compression(const char *text, enum tw_compression *compression)
{
	static const char *const names[] = { "none", "zstd", "zlib" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			*compression = i;
			return true;
		}
	}
	return false;
}

static bool parse_option(int option, const char *arg, struct options *opt, struct tw_config *config)
{
	uint64_t value = 0;

	switch (option) {
	case 'k':
		opt->random = !strcmp(arg, "random");
		return opt->random || !strcmp(arg, "reuse");
	case 'z':
		return parse_compression(arg, &config->compression);
	case 'e':
		config->big_endian = true;
		return true;
	case 'C':
		opt->child = true;
		return true;
	}
	if (!parse_number(arg, 1ULL << 40, &value) || (!value && option != 'o'))
		return false;
	switch (option) {
	case 'n':
		opt->nr_events = value;
		return true;
	case 's':
		opt->range_size = value;
		return !(value & (value - 1));
	case 'o':
		opt->order = value;
		return value <= 10;
	case 'c':
		opt->nr_cpus = value;
		return value <= 4096;
	case 't':
		opt->nr_tasks = value;
		return value < RESERVED_PID - PID;
	case 'j':
		opt->jitter_ns = value;
		return value <= 1000;
	case 'm':
		opt->nr_more = value;
		return value <= 2000;
	case 'f':
		config->version = value;
		return value == 6 || value == 7;
	case 'b':
		config->subbuf_size = value;
		return value <= 1 << 20;
	}
	return false;
}

static int generate(const struct generator *made, const struct tw_config *config, const char *path)
{
	struct generator g = *made;
	struct trace_writer *w = tw_new(config);
	int err;

	if (!w)
		return -EINVAL;
	tw_declare_faults(w);
	declare_more(w, g.opt.nr_more);
	tw_option_text(w, TW_OPT_UNAME, "Linux gen 7.3.4 x86_64");
	for (unsigned int i = 0; i < g.opt.nr_tasks; i++)
		tw_comm(w, PID + i, "gen");
	tw_comm(w, RESERVED_PID, "gen");
	tw_generate(w, g.opt.random ? generate_random : generate_reuse, &g);
	err = tw_write(w, path);
	if (!err)
		printf("events %" PRIu64 "\n", tw_nr_records(w));
	tw_free(w);
	return err;
}

static struct options with_defaults(struct options opt, bool order_given)
{
	if (!opt.nr_events)
		opt.nr_events = 1000000;
	if (!opt.range_size)
		opt.range_size = opt.random ? 1ULL << 30 : 8ULL << 20;
	if (!order_given)
		opt.order = opt.random ? 0 : 4;
	if (!opt.nr_cpus)
		opt.nr_cpus = opt.random ? 64 : 1;
	if (!opt.nr_tasks)
		opt.nr_tasks = opt.random ? 1000 : 1;
	if (opt.nr_tasks < opt.nr_cpus)
		opt.nr_tasks = opt.nr_cpus; /* no CPU without a thread of its own */
	return opt;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "kind", required_argument, NULL, 'k' },
		{ "events", required_argument, NULL, 'n' },
		{ "size", required_argument, NULL, 's' },
		{ "order", required_argument, NULL, 'o' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "tasks", required_argument, NULL, 't' },
		{ "jitter", required_argument, NULL, 'j' },
		{ "child", no_argument, NULL, 'C' },
		{ "more", required_argument, NULL, 'm' },
		{ "compression", required_argument, NULL, 'z' },
		{ "format", required_argument, NULL, 'f' },
		{ "subbuf", required_argument, NULL, 'b' },
		{ "big-endian", no_argument, NULL, 'e' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct tw_config config = { 0 };
	struct generator g = { .pfn = 0x100000 };
	struct options opt = { 0 };
	bool order_given = false;
	int option, err;

	while ((option = getopt_long(argc, argv, "k:n:s:o:c:t:j:Cm:z:f:b:eh", longs, NULL)) != -1) {
		if (option == 'h') {
			usage(stdout);
			return 0;
		}
		order_given |= option == 'o';
		if (option == '?' || !parse_option(option, optarg, &opt, &config)) {
			if (option != '?')
				fprintf(stderr, "gen_recording: bad value for -%c\n", option);
			usage(stderr);
			return 1;
		}
	}
	if (optind != argc - 1) {
		usage(stderr);
		return 1;
	}
	g.opt = with_defaults(opt, order_given);
	config.nr_cpus = g.opt.nr_cpus;
	g.vma = (struct tw_vma){ BASE, BASE + g.opt.range_size, MM(0) };
	if (g.opt.range_size >> g.opt.order < PAGE_SIZE || (!g.opt.random && g.opt.nr_cpus > 1)) {
		fputs("gen_recording: a range of at least one folio, reuse on one CPU\n", stderr);
		return 1;
	}
	err = generate(&g, &config, argv[optind]);
	if (err) {
		fprintf(stderr, "gen_recording: %s: %s\n", argv[optind], strerror(-err));
		return 2;
	}
	return 0;
}
