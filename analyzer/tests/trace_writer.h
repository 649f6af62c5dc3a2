/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes trace.dat recordings for tests and benchmarks: an independent reading of the format, from
 * trace-cmd.dat.v6(5), trace-cmd.dat.v7(5) and the kernel's Documentation/trace/ring-buffer-design.
 *
 *	struct trace_writer *w = tw_new(&(struct tw_config){ .version = 7, .nr_cpus = 2 });
 *	struct tw_event *hit = tw_add_event(w, "demo", "hit", 700, "unsigned long address; int n");
 *
 *	tw_record(w, TW_AT(0, 1000, 42), hit, TW_VALUES(0x7f0000001000, 3));
 *	err = tw_write(w, "demo.dat");
 *	tw_free(w);
 *
 * Errors stick: after the first one every call does nothing and tw_write() returns it.
 */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_writer;
struct tw_event;

enum tw_compression {
	TW_PLAIN,
	TW_ZSTD,
	TW_ZLIB,
};

/* tw_config.flags */
#define TW_NO_OPTIONS	       0x01 /* v6: no options at all; v7: only those that locate sections */
#define TW_NO_CLOCK	       0x02 /* no TRACECLOCK option and no clock text */
#define TW_CLOCK_AFTER	       0x04 /* v6: an empty TRACECLOCK, the text only after the CPU table */
#define TW_ONE_OPTIONS_SECTION 0x08 /* v7: one, at the end, compressed if the file is */
#define TW_TAIL_PADDING	       0x10 /* pages end in a padding event that the commit covers */
#define TW_SIZE_WITH_COUNT     0x20 /* a CPU's compressed size counts its number of chunks too */

/* What kind of file to write; 0 or NULL in any field stands for the value in brackets. */
struct tw_config {
	unsigned int version;	  /* 6 or [7] */
	const char *version_text; /* in the file instead of the number, e.g. "0" or "" */
	bool big_endian;
	unsigned int long_size;	     /* of the kernel, [8] or 4: size of header_page's commit */
	unsigned int user_long_size; /* the file's byte [long_size] */
	unsigned int subbuf_size;    /* bytes, a power of two [4096]: header_page's data follows */
	unsigned int file_page_size; /* the file's word [subbuf_size], wrong if it differs */
	enum tw_compression compression; /* v7 only */
	unsigned int chunk_pages;	 /* sub-buffers a chunk [10] */
	unsigned int nr_cpus;		 /* [the highest CPU with data, plus one] */
	unsigned int header_cpus; /* v6: count before the options [nr_cpus]; if lower, CPUCOUNT
				   * corrects it and an empty entry follows the table */
	const char *clock;	  /* [local] */
	unsigned int flags;
};

/* Where and whose a record is: CPU, time stamp in units of the clock, thread. */
struct tw_at {
	unsigned int cpu;
	int pid;
	uint64_t ts;
};

#define TW_AT(cpu_, ts_, pid_) ((struct tw_at){ .cpu = (cpu_), .pid = (pid_), .ts = (ts_) })

/*
 * The values of an event's fields in the order of its declaration. A number stands for itself, an
 * array or string for a pointer: char arrays and dynamic strings take TW_STR("text"), other arrays
 * TW_STR(bytes) with the bytes as they shall stand in the file.
 */
#define TW_VALUES(...)                     \
	(const uint64_t[]){ __VA_ARGS__ }, \
		sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)
#define TW_STR(s) ((uint64_t)(uintptr_t)(s))

/* Returns a writer, NULL without memory or for a configuration that no file can have. */
struct trace_writer *tw_new(const struct tw_config *config);
void tw_free(struct trace_writer *w);

/* The first error so far, as -errno, or 0. */
int tw_error(const struct trace_writer *w);

/*
 * Declares an event; id goes into common_type. The declaration is a list of C fields after the
 * common ones: "unsigned long address; char comm[16]; __data_loc char[] filename; struct page * p".
 * Offsets follow the kernel's: natural alignment up to the long size (as on x86), or none in a
 * probe event. Events of system "ftrace" go to their own section. The writer owns the result,
 * which is NULL after an error.
 */
struct tw_event *tw_add_event(struct trace_writer *w, const char *system, const char *name,
			      unsigned int id, const char *declaration);
struct tw_event *tw_add_probe(struct trace_writer *w, const char *system, const char *name,
			      unsigned int id, const char *declaration);

/* Replaces the text after "print fmt: " by one of the caller's, good or bad. */
void tw_set_print_fmt(struct tw_event *event, const char *print_fmt);

/*
 * Replaces the whole format text, for tests of damaged ones; size in bytes, NUL allowed. Records
 * are laid out as declared.
 */
void tw_set_format(struct tw_event *event, const char *text, size_t size);

/* Appends a record to its CPU of the buffer in use. Time must not go back on a CPU (-ERANGE). */
void tw_record(struct trace_writer *w, struct tw_at at, const struct tw_event *event,
	       const uint64_t *values, size_t nr_values);

/* Appends a record of any bytes, common_type and all, at a CPU and time. */
void tw_raw(struct trace_writer *w, unsigned int cpu, uint64_t ts, const void *data, size_t size);

/* How the next record of a CPU is to be stored, where the ring buffer has a choice. */
#define TW_EXTEND   0x1 /* behind a time extend, however small the step */
#define TW_ABSOLUTE 0x2 /* behind an absolute time stamp, which may go back */
#define TW_BIG	    0x4 /* with its length in a word (type_len 0), however small */
void tw_next(struct trace_writer *w, unsigned int cpu, unsigned int how);

/* A discarded event: size_bytes in all (at least 8, a multiple of 4) and a step in time (1 up). */
void tw_padding(struct trace_writer *w, unsigned int cpu, size_t size_bytes, uint32_t delta);

/* Ends the CPU's sub-buffer where it is: the rest of it stays empty. */
void tw_end_page(struct trace_writer *w, unsigned int cpu);

/* Starts a sub-buffer with this stamp; without a record after it, it holds nothing. */
void tw_begin_page(struct trace_writer *w, unsigned int cpu, uint64_t ts);

/*
 * Says that nr events were lost here: ends the sub-buffer and flags the next one (commit bit 31),
 * with the number behind its data if stored (bit 30), without it as where the data left no room.
 */
void tw_lost(struct trace_writer *w, unsigned int cpu, uint64_t nr, bool stored);

/*
 * Adds an instance's buffer, with its own sub-buffer size (v7; 0 as the top buffer's) and clock
 * (v7; NULL likewise), and uses it from now on. Returns its number; the top buffer is 0.
 */
unsigned int tw_add_buffer(struct trace_writer *w, const char *name, unsigned int subbuf_size,
			   const char *clock);
void tw_use_buffer(struct trace_writer *w, unsigned int buffer);

/*
 * Makes the records of the buffer in use while the file is written, so that memory does not grow
 * with it: fn appends those of one CPU, which leave as their sub-buffers fill, and returns 0 or
 * -errno. Called once for each CPU below the config's nr_cpus, in order.
 */
void tw_generate(struct trace_writer *w,
		 int (*fn)(struct trace_writer *w, unsigned int cpu, void *ctx), void *ctx);

void tw_comm(struct trace_writer *w, int pid, const char *comm);
void tw_kallsyms(struct trace_writer *w, const char *text);
void tw_printk(struct trace_writer *w, const char *text);

/* Options (ids as in trace-cmd.dat.v7(5)), written in the order of the calls. */
enum tw_option_id {
	TW_OPT_DONE = 0,
	TW_OPT_DATE = 1,
	TW_OPT_CPUSTAT = 2,
	TW_OPT_BUFFER = 3,
	TW_OPT_TRACECLOCK = 4,
	TW_OPT_UNAME = 5,
	TW_OPT_OFFSET = 7,
	TW_OPT_CPUCOUNT = 8,
	TW_OPT_VERSION = 9,
	TW_OPT_TRACEID = 11,
	TW_OPT_TIME_SHIFT = 12,
	TW_OPT_GUEST = 13,
	TW_OPT_TSC2NSEC = 14,
	TW_OPT_STRINGS = 15,
	TW_OPT_HEADER_INFO = 16,
	TW_OPT_FTRACE_EVENTS = 17,
	TW_OPT_EVENT_FORMATS = 18,
	TW_OPT_KALLSYMS = 19,
	TW_OPT_PRINTK = 20,
	TW_OPT_CMDLINES = 21,
	TW_OPT_BUFFER_TEXT = 22,
};

void tw_option(struct trace_writer *w, unsigned int id, const void *data, size_t size);
void tw_option_text(struct trace_writer *w, unsigned int id, const char *text);
void tw_option_u64(struct trace_writer *w, unsigned int id, uint64_t value);
void tw_tsc2nsec(struct trace_writer *w, uint32_t mult, uint32_t shift, uint64_t offset);

struct tw_shift_sample {
	int64_t time, offset, scaling, fraction;
};

#define TW_SHIFT_INTERPOLATE 0x1u

/* One CPU's corrections, in any order of their times. */
struct tw_shift_cpu {
	const struct tw_shift_sample *samples;
	unsigned int nr;
};

/* TIME_SHIFT; without with_fraction the option ends before the fraction bits, as old files do. */
void tw_time_shift(struct trace_writer *w, uint64_t peer_id, uint32_t flags,
		   const struct tw_shift_cpu *cpus, unsigned int nr_cpus, bool with_fraction);

/* Adds a section to a v7 file; listed: an option of the same id gives its place. */
void tw_section(struct trace_writer *w, unsigned int id, const void *data, size_t size,
		bool listed);

/* Writes the file. Returns 0, the first error of any call, or that of the file, as -errno. */
int tw_write(struct trace_writer *w, const char *path);

/* How many records there are, in memory and, once written, generated. */
uint64_t tw_nr_records(const struct trace_writer *w);

/* The parts of the file just written, in file order; in v6 ids are those of v7's sections. */
struct tw_part {
	unsigned int id;
	uint64_t offset, end; /* of the header, where there is one; first byte behind it */
};

const struct tw_part *tw_parts(const struct trace_writer *w, size_t *nr);

#endif
