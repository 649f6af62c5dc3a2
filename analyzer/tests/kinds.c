// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings of every kind that the writer can make, with a list of what is in them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds.h"

#define GRID 48 /* kinds that are combinations */

struct run {
	const struct kind *kind;
	struct trace_writer *w;
	struct tw_event *numbers, *packed, *text, *blob;
	struct kind_record *list;
	size_t nr;
	unsigned int buffer;
	uint64_t seed;
};

static uint64_t next_random(struct run *r)
{
	r->seed ^= r->seed << 13;
	r->seed ^= r->seed >> 7;
	r->seed ^= r->seed << 17;
	return r->seed;
}

static void declare(struct run *r)
{
	r->numbers = tw_add_event(r->w, "writer", "numbers", KIND_NUMBERS,
				  "unsigned char a; short b; int c; unsigned long d; u64 e; s8 f; "
				  "long g; struct page * h");
	r->packed =
		tw_add_probe(r->w, "writer", "packed", KIND_PACKED, "u8 a; u64 b; u16 c; s32 d");
	r->text = tw_add_event(r->w, "text", "text", KIND_TEXT,
			       "char comm[16]; __data_loc char[] path; int n");
	r->blob = tw_add_event(r->w, "ftrace", "blob", KIND_BLOB, "int n; u64 words[64]");
}

static struct kind_record *expect(struct run *r, struct tw_at at, unsigned int id)
{
	struct kind_record *e = &r->list[r->nr < KIND_MAX_RECORDS ? r->nr++ : 0];

	*e = (struct kind_record){
		.buffer = r->buffer, .cpu = at.cpu, .ts = at.ts, .pid = at.pid, .id = id
	};
	return e;
}

static struct kind_record *put_numbers(struct run *r, struct tw_at at)
{
	struct kind_record *e = expect(r, at, KIND_NUMBERS);

	e->nr_values = 8;
	for (size_t i = 0; i < e->nr_values; i++)
		e->values[i] = next_random(r);
	tw_record(r->w, at, r->numbers, e->values, e->nr_values);
	return e;
}

static void put_packed(struct run *r, struct tw_at at)
{
	struct kind_record *e = expect(r, at, KIND_PACKED);

	e->nr_values = 4;
	for (size_t i = 0; i < e->nr_values; i++)
		e->values[i] = next_random(r);
	tw_record(r->w, at, r->packed, e->values, e->nr_values);
}

static void put_text(struct run *r, struct tw_at at)
{
	struct kind_record *e = expect(r, at, KIND_TEXT);

	e->nr_values = 3;
	e->values[0] = TW_STR("worker");
	e->values[1] = TW_STR("/a/file/of/some/length");
	e->values[2] = next_random(r);
	tw_record(r->w, at, r->text, e->values, e->nr_values);
}

/* More bytes than type_len can say. */
static void put_blob(struct run *r, struct tw_at at)
{
	static const uint8_t words[64 * 8] = "blob";
	struct kind_record *e = expect(r, at, KIND_BLOB);

	e->nr_values = 2;
	e->values[0] = next_random(r);
	e->values[1] = TW_STR(words);
	tw_record(r->w, at, r->blob, e->values, e->nr_values);
}

/* Enough of everything for several sub-buffers, small steps. */
static void fill_plain(struct run *r, unsigned int cpu)
{
	uint64_t ts = 1000000;

	for (int i = 0; i < 300; i++) {
		ts += next_random(r) % 5000;
		put_numbers(r, TW_AT(cpu, ts, 100 + i));
		put_packed(r, TW_AT(cpu, ts, -1));
		put_text(r, TW_AT(cpu, ts + 1, 100));
		if (i % 3 == 0)
			put_blob(r, TW_AT(cpu, ts + 2, 100));
		ts += 2;
	}
}

/* Every way to store a time stamp and a length. */
static void fill_stamps(struct run *r, unsigned int cpu)
{
	const uint64_t high = 5ULL << 59; /* bits that absolute stamps do not hold */

	put_numbers(r, TW_AT(cpu, 50, 1));
	put_numbers(r, TW_AT(cpu, 50 + (1 << 27) - 1, 1));
	put_numbers(r, TW_AT(cpu, 50 + (1 << 28), 1)); /* needs an extend */
	put_numbers(r, TW_AT(cpu, 1ULL << 45, 1));
	tw_next(r->w, cpu, TW_EXTEND);
	put_packed(r, TW_AT(cpu, (1ULL << 45) + 1, 1));
	tw_next(r->w, cpu, TW_BIG);
	put_packed(r, TW_AT(cpu, (1ULL << 45) + 2, 1));
	tw_padding(r->w, cpu, 8, 1);
	put_numbers(r, TW_AT(cpu, (1ULL << 45) + 3, 1));
	tw_padding(r->w, cpu, 200, 1000);
	put_numbers(r, TW_AT(cpu, (1ULL << 45) + 5000, 1));
	tw_next(r->w, cpu, TW_ABSOLUTE);
	put_numbers(r, TW_AT(cpu, (1ULL << 45) + 6000, 1));
	put_numbers(r, TW_AT(cpu, (1ULL << 45) + 6001, 1));
	tw_next(r->w, cpu, TW_ABSOLUTE | TW_BIG);
	put_numbers(r, TW_AT(cpu, (1ULL << 45) + 5500, 1)); /* back */
	tw_begin_page(r->w, cpu, high);
	put_numbers(r, TW_AT(cpu, high + 17, 1));
	tw_next(r->w, cpu, TW_ABSOLUTE);
	put_numbers(r, TW_AT(cpu, high + (1ULL << 50), 1));
	put_blob(r, TW_AT(cpu, high + (1ULL << 50) + 1, 1));
}

/* A sub-buffer that ends in the shortest padding, a header with no length and no delta. */
static void fill_to_the_end(struct run *r, unsigned int cpu, uint64_t ts)
{
	const size_t room = r->kind->config.subbuf_size ? r->kind->config.subbuf_size : 4096;

	tw_begin_page(r->w, cpu, ts);
	put_packed(r, TW_AT(cpu, ts, 7)); /* 28 bytes, behind the page's 16 */
	tw_padding(r->w, cpu, room - 16 - 28 - 4, 1);
	tw_end_page(r->w, cpu);
}

/* Half-full and empty sub-buffers, and lost events told in both ways. */
static void fill_lost(struct run *r, unsigned int cpu)
{
	uint64_t ts = 2000;

	for (int i = 0; i < 10; i++)
		put_numbers(r, TW_AT(cpu, ts++, 7));
	tw_lost(r->w, cpu, 12345, true);
	put_numbers(r, TW_AT(cpu, ts++, 7))->missed = 12345;
	for (int i = 0; i < 10; i++)
		put_text(r, TW_AT(cpu, ts++, 7));
	tw_lost(r->w, cpu, 99, false);
	put_numbers(r, TW_AT(cpu, ts++, 7))->missed = -1;
	put_numbers(r, TW_AT(cpu, ts++, 7));
	tw_end_page(r->w, cpu);
	put_packed(r, TW_AT(cpu, ts++, 7));
	if (r->kind->config.flags & TW_TAIL_PADDING)
		fill_to_the_end(r, cpu, ts++);
	tw_begin_page(r->w, cpu, ts++); /* stays empty */
	tw_begin_page(r->w, cpu, ts++);
	put_packed(r, TW_AT(cpu, ts + 100, 7));
}

static void fill(struct run *r)
{
	fill_plain(r, 0);
	fill_stamps(r, 1);
	fill_lost(r, r->kind->last_cpu ? r->kind->last_cpu : 5);
}

static void add_unknown_parts(struct trace_writer *w)
{
	tw_option(w, 99, "who knows", 10);
	tw_option(w, 1000, NULL, 0);
	tw_option_text(w, TW_OPT_UNAME, "Linux lab 7.3.4 x86_64");
	tw_option_u64(w, TW_OPT_TRACEID, 0x1122334455667788);
	tw_option_text(w, TW_OPT_CPUSTAT, "CPU: 0\nentries: 0\noverrun: 0\n");
	tw_section(w, 77, "a section of the future", 24, true);
	tw_section(w, 78, NULL, 0, false);
}

static int copy_bounds(const struct trace_writer *w, size_t **bounds, size_t *nr)
{
	size_t nr_parts;
	const struct tw_part *parts = tw_parts(w, &nr_parts);

	*nr = 2 * nr_parts;
	*bounds = calloc(*nr + 1, sizeof(**bounds));
	if (!*bounds)
		return -ENOMEM;
	for (size_t i = 0; i < nr_parts; i++) {
		(*bounds)[2 * i] = parts[i].offset;
		(*bounds)[2 * i + 1] = parts[i].end;
	}
	return 0;
}

int kind_write(const struct kind *kind, const char *path, struct kind_record **list, size_t *nr)
{
	return kind_write_parts(kind, path, list, nr, NULL, NULL);
}

int kind_write_parts(const struct kind *kind, const char *path, struct kind_record **list,
		     size_t *nr, size_t **bounds, size_t *nr_bounds)
{
	struct run r = { .kind = kind, .seed = 88172645463325252ULL };
	int err;

	r.w = tw_new(&kind->config);
	r.list = calloc(KIND_MAX_RECORDS, sizeof(*r.list));
	if (!r.w || !r.list) {
		tw_free(r.w);
		free(r.list);
		return -ENOMEM;
	}
	declare(&r);
	tw_comm(r.w, 100, "worker");
	tw_kallsyms(r.w, "ffffffff81000000 T _text\n");
	tw_printk(r.w, "0xffffffff819d7ec7 : \"hello\"\n");
	if (kind->unknown_parts)
		add_unknown_parts(r.w);
	if (!kind->no_records)
		fill(&r);
	if (kind->two_buffers) {
		r.buffer = tw_add_buffer(r.w, "second", kind->second_subbuf_size, NULL);
		fill(&r);
	}
	err = r.nr < KIND_MAX_RECORDS ? tw_write(r.w, path) : -E2BIG;
	if (!err && bounds)
		err = copy_bounds(r.w, bounds, nr_bounds);
	tw_free(r.w);
	*list = r.list;
	*nr = r.nr;
	return err;
}

/* Version, byte order, long size, sub-buffer size and compression in all their combinations. */
static size_t add_grid(struct kind *kinds)
{
	static const char *const packed[] = { "plain", "zstd", "zlib" };

	for (unsigned int bits = 0; bits < GRID; bits++) {
		unsigned int how = bits / 4 % 4, pages = bits / 16;
		struct tw_config c = {
			.version = how < 3 ? 7 : 6,
			.compression = how < 3 ? how : TW_PLAIN,
			.big_endian = bits & 1,
			.long_size = bits & 2 ? 4 : 8,
			.subbuf_size = 4096 << 2 * pages,
		};
		struct kind *k = &kinds[bits];

		k->config = c;
		snprintf(k->name, sizeof(k->name), "v%u %s %u-bit %s-endian %uK", c.version,
			 packed[c.compression], 8 * c.long_size, c.big_endian ? "big" : "little",
			 c.subbuf_size / 1024);
	}
	return GRID;
}

static size_t add_special_kinds(struct kind *kinds)
{
	static const struct kind special[] = {
		{ .name = "v6 version 0", .config = { .version = 6, .version_text = "0" } },
		{ .name = "v6 no version", .config = { .version = 6, .version_text = "" } },
		{ .name = "v6 no options", .config = { .version = 6, .flags = TW_NO_OPTIONS } },
		{ .name = "v6 no clock", .config = { .version = 6, .flags = TW_NO_CLOCK } },
		{ .name = "v6 clock after the table",
		  .config = { .version = 6, .flags = TW_CLOCK_AFTER } },
		{ .name = "v6 CPUCOUNT corrects the count",
		  .config = { .version = 6, .header_cpus = 2 } },
		{ .name = "v6 CPUs without data at the end",
		  .config = { .version = 6, .nr_cpus = 20 } },
		{ .name = "v6 padded pages", .config = { .version = 6, .flags = TW_TAIL_PADDING } },
		{ .name = "v6 two buffers", .config = { .version = 6 }, .two_buffers = true },
		{ .name = "v6 unknown options", .config = { .version = 6 }, .unknown_parts = true },
		{ .name = "v6 no records", .config = { .version = 6 }, .no_records = true },
		{ .name = "v6 user space of 32 bits",
		  .config = { .version = 6, .user_long_size = 4 } },
		{ .name = "v7 no options", .config = { .flags = TW_NO_OPTIONS } },
		{ .name = "v7 no clock", .config = { .flags = TW_NO_CLOCK } },
		{ .name = "v7 mono clock", .config = { .clock = "mono" } },
		{ .name = "v7 one options section", .config = { .flags = TW_ONE_OPTIONS_SECTION } },
		{ .name = "v7 compressed options",
		  .config = { .compression = TW_ZSTD, .flags = TW_ONE_OPTIONS_SECTION } },
		{ .name = "v7 zlib compressed options",
		  .config = { .compression = TW_ZLIB, .flags = TW_ONE_OPTIONS_SECTION } },
		{ .name = "v7 padded pages",
		  .config = { .compression = TW_ZSTD, .flags = TW_TAIL_PADDING } },
		{ .name = "v7 two buffers", .config = { .version = 7 }, .two_buffers = true },
		{ .name = "v7 two buffers of two page sizes",
		  .config = { .version = 7 },
		  .two_buffers = true,
		  .second_subbuf_size = 16384 },
		{ .name = "v7 zlib two buffers of two page sizes",
		  .config = { .compression = TW_ZLIB },
		  .two_buffers = true,
		  .second_subbuf_size = 16384 },
		/* libtracecmd finds the second buffer's pages not aligned */
		{ .name = "v7 zstd two buffers of two page sizes",
		  .config = { .compression = TW_ZSTD },
		  .two_buffers = true,
		  .second_subbuf_size = 16384,
		  .unknown_to_libtracecmd = true },
		/* header_page is right; libtracecmd believes the file's word */
		{ .name = "v6 page size larger than the sub-buffers",
		  .config = { .version = 6, .file_page_size = 16384 },
		  .unknown_to_libtracecmd = true },
		{ .name = "v7 page size smaller than the sub-buffers",
		  .config = { .subbuf_size = 16384, .file_page_size = 4096 },
		  .unknown_to_libtracecmd = true },
		{ .name = "v7 zlib two buffers",
		  .config = { .compression = TW_ZLIB },
		  .two_buffers = true },
		{ .name = "v7 only the instance has records",
		  .config = { .compression = TW_ZSTD },
		  .two_buffers = true,
		  .no_records = true },
		{ .name = "v7 chunks of one page",
		  .config = { .compression = TW_ZSTD, .chunk_pages = 1 } },
		{ .name = "v7 chunks of 1000 pages",
		  .config = { .compression = TW_ZSTD, .chunk_pages = 1000 } },
		{ .name = "v7 zlib chunks of three",
		  .config = { .compression = TW_ZLIB, .chunk_pages = 3 } },
		{ .name = "v7 sizes with the number of chunks",
		  .config = { .compression = TW_ZSTD, .flags = TW_SIZE_WITH_COUNT } },
		{ .name = "v7 zlib sizes with the number of chunks",
		  .config = { .compression = TW_ZLIB, .flags = TW_SIZE_WITH_COUNT } },
		{ .name = "v7 CPUs far apart",
		  .config = { .compression = TW_ZSTD },
		  .last_cpu = 63 },
		{ .name = "v7 unknown options and sections",
		  .config = { .compression = TW_ZSTD },
		  .unknown_parts = true },
		{ .name = "v7 zlib unknown options and sections",
		  .config = { .compression = TW_ZLIB },
		  .unknown_parts = true },
		{ .name = "v7 no records",
		  .config = { .compression = TW_ZSTD },
		  .no_records = true },
		{ .name = "v7 user space of 32 bits", .config = { .user_long_size = 4 } },
	};

	memcpy(kinds, special, sizeof(special));
	return sizeof(special) / sizeof(special[0]);
}

const struct kind *kinds(size_t *nr)
{
	static struct kind all[KIND_MAX_KINDS];
	static size_t nr_all;

	if (!nr_all) {
		nr_all = add_grid(all);
		nr_all += add_special_kinds(all + nr_all);
	}
	*nr = nr_all;
	return all;
}
