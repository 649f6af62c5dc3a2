// SPDX-License-Identifier: GPL-2.0-or-later
/* The container: what versions 6 and 7 of trace.dat share, and opening and closing either. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "endian_read.h"
#include "grow.h"
#include "tracefile.h"

#define MAGIC_SIZE (sizeof(TRACEFILE_MAGIC) - 1)

/* An event system's name is part of a file's: 64 bytes in the kernel */
#define MAX_SYSTEM_NAME 255

/* What metadata may have, unpacked, beyond the size of the file: twice a large kernel's kallsyms */
#define METADATA_ALLOWANCE (48u << 20)

int tracefile_count_metadata(struct tracefile *tf, uint64_t size, uint64_t offset)
{
	tf->metadata_size += size;
	if (tf->metadata_size <= tf->size + METADATA_ALLOWANCE)
		return 0;
	damage_add(&tf->damages, offset, "metadata is larger than the file can hold");
	return -EBADMSG;
}

struct trace_buffer *tracefile_add_buffer(struct tracefile *tf)
{
	struct trace_buffer *list = grow_by_one(tf->buffers, tf->nr_buffers, sizeof(*list));

	if (!list)
		return NULL;
	tf->buffers = list;
	list[tf->nr_buffers] = (struct trace_buffer){ 0 };
	return &list[tf->nr_buffers++];
}

/*
 * Data of CPUs follow each other, each from the next page on. What is compressed begins with a word
 * that trace-cmd's sizes leave out.
 */
static void check_gap(struct tracefile *tf, const struct trace_buffer *b, uint64_t next)
{
	uint64_t page = tf->page_size > b->page_size ? tf->page_size : b->page_size;
	uint64_t word = b->compressed ? 4 : 0;

	if (b->data_end && next > b->data_end && next - b->data_end >= page + word)
		damage_add(&tf->damages, b->data_end, "%llu bytes of CPU data belong to no CPU",
			   (unsigned long long)(next - b->data_end));
}

void tracefile_end_cpus(struct tracefile *tf, const struct trace_buffer *b, uint64_t end)
{
	check_gap(tf, b, end);
}

int tracefile_add_cpu(struct tracefile *tf, struct trace_buffer *b, uint32_t cpu, uint64_t offset,
		      uint64_t size)
{
	struct trace_cpu *list;

	if (cpu >= TRACE_MAX_CPUS) {
		damage_add(&tf->damages, offset, "CPU %u is none that Linux can have", cpu);
		return 0;
	}
	if (b->nr_cpus && cpu <= b->cpus[b->nr_cpus - 1].cpu)
		damage_add(&tf->damages, offset, "CPU %u stands behind CPU %u", cpu,
			   b->cpus[b->nr_cpus - 1].cpu);
	if (offset > tf->size || size > tf->size - offset) {
		damage_add(&tf->damages, offset < tf->size ? offset : tf->size,
			   "the file ends before the data of CPU %u: %llu bytes at %llu", cpu,
			   (unsigned long long)size, (unsigned long long)offset);
		size = offset < tf->size ? tf->size - offset : 0;
	}
	if (size && (offset < b->data_end || size > tf->size - tf->cpu_data_size)) {
		damage_add(&tf->damages, offset, "data of CPU %u overlaps that of others", cpu);
		size = 0;
	}
	check_gap(tf, b, offset);
	b->data_end = offset + size;
	tf->cpu_data_size += size;
	list = grow_by_one(b->cpus, b->nr_cpus, sizeof(*list));
	if (!list)
		return -ENOMEM;
	b->cpus = list;
	tf->nr_cpus++;
	list[b->nr_cpus++] = (struct trace_cpu){ .cpu = cpu, .offset = offset, .size = size };
	return 0;
}

char *tracefile_parse_clock(const char *text)
{
	const char *start = strchr(text, '[');
	size_t len;

	if (!start)
		return NULL;
	len = strcspn(++start, "] \n");
	return len ? strndup(start, len) : NULL;
}

int tracefile_keep(struct tracefile *tf, char *memory)
{
	char **list = grow_by_one(tf->kept, tf->nr_kept, sizeof(*list));

	if (!list) {
		free(memory);
		return -ENOMEM;
	}
	tf->kept = list;
	list[tf->nr_kept++] = memory;
	return 0;
}

static int add_format(struct tracefile *tf, struct trace_text format)
{
	struct trace_text *list = grow_by_one(tf->formats, tf->nr_formats, sizeof(*list));

	if (!list)
		return -ENOMEM;
	tf->formats = list;
	list[tf->nr_formats++] = format;
	return 0;
}

/* Note that @what ends early at @c. */
static int short_metadata(struct tracefile *tf, const struct cursor *c, uint64_t base,
			  const char *what)
{
	damage_add(&tf->damages, base + c->pos, "%s is cut or lies about its size", what);
	return -EBADMSG;
}

/* A text of @size bytes, kept with the file; NULL: @c has failed, or no memory. */
static const char *read_text(struct tracefile *tf, struct cursor *c, uint64_t size)
{
	char *text;

	if (cursor_is_memory(c))
		return cursor_view(c, size);
	text = cursor_text(c, size);
	return text && !tracefile_keep(tf, text) ? text : NULL;
}

static int read_format(struct tracefile *tf, struct cursor *c, uint64_t base, const char *system)
{
	struct trace_text format = { .system = system, .size = cursor_u64(c) };

	format.offset = base + c->pos;
	format.text = read_text(tf, c, format.size);
	if (format.text)
		return add_format(tf, format);
	return c->failed ? short_metadata(tf, c, base, "a format text") : -ENOMEM;
}

int tracefile_read_ftrace_formats(struct tracefile *tf, struct cursor *c, uint64_t base)
{
	uint32_t nr = cursor_u32(c);
	int err = 0;

	for (uint32_t i = 0; i < nr && !err; i++)
		err = read_format(tf, c, base, "ftrace");
	if (!err && c->failed)
		err = short_metadata(tf, c, base, "the list of ftrace formats");
	return err;
}

int tracefile_read_event_formats(struct tracefile *tf, struct cursor *c, uint64_t base)
{
	uint32_t nr_systems = cursor_u32(c);
	int err = 0;

	for (uint32_t i = 0; i < nr_systems && !err; i++) {
		char *system = cursor_string(c, MAX_SYSTEM_NAME);
		uint32_t nr = cursor_u32(c);

		if (system)
			err = tracefile_keep(tf, system);
		for (uint32_t j = 0; system && j < nr && !err; j++)
			err = read_format(tf, c, base, system);
		if (!err && c->failed)
			err = short_metadata(tf, c, base, "the list of event formats");
	}
	return err;
}

int tracefile_read_header_info(struct tracefile *tf, struct cursor *c, uint64_t base)
{
	char tag[13];
	uint64_t size;

	cursor_bytes(c, tag, 12);
	if (!c->failed && memcmp(tag, "header_page", 12)) {
		damage_add(&tf->damages, base + c->pos - 12, "no header_page where it should be");
		return -EBADMSG;
	}
	size = cursor_u64(c);
	tf->header_page.offset = base + c->pos;
	tf->header_page.size = size;
	tf->header_page.text = read_text(tf, c, size);
	if (!tf->header_page.text)
		return c->failed ? short_metadata(tf, c, base, "header_page") : -ENOMEM;
	cursor_bytes(c, tag, 13);
	if (!c->failed && memcmp(tag, "header_event", 13)) {
		damage_add(&tf->damages, base + c->pos - 13, "no header_event where it should be");
		return -EBADMSG;
	}
	cursor_skip(c, cursor_u64(c));
	return c->failed ? short_metadata(tf, c, base, "header_event") : 0;
}

int tracefile_read_cmdlines(struct tracefile *tf, struct cursor *c, uint64_t base)
{
	uint64_t size = cursor_u64(c);

	char *text;

	tf->cmdlines.offset = base + c->pos;
	tf->cmdlines.size = size;
	text = cursor_text(c, size);
	tf->cmdlines.text = text;
	if (!text)
		return c->failed ? short_metadata(tf, c, base, "the list of command names")
				 : -ENOMEM;
	return tracefile_keep(tf, text);
}

static int read_shift_samples(struct time_shift *s, struct cursor *c)
{
	uint32_t nr = cursor_u32(c);

	if (cursor_left(c) / 24 < nr) {
		c->failed = true;
		return 0;
	}
	s->samples = calloc(nr ? nr : 1, sizeof(*s->samples));
	if (!s->samples)
		return -ENOMEM;
	s->nr = nr;
	for (uint32_t i = 0; i < nr; i++)
		s->samples[i].time = cursor_u64(c);
	for (uint32_t i = 0; i < nr; i++)
		s->samples[i].offset = cursor_u64(c);
	for (uint32_t i = 0; i < nr; i++)
		s->samples[i].scaling = cursor_u64(c);
	return 0;
}

/* The layout: trace-cmd.dat.v7(5), TIME_SHIFT; the fraction bits follow all CPUs and are newer. */
static int option_time_shift(struct trace_clock *clock, struct cursor *c)
{
	uint32_t nr_cpus;

	cursor_skip(c, 8); /* the peer's trace id */
	clock->shift_flags = cursor_u32(c);
	nr_cpus = cursor_u32(c);
	if (clock->shifts || cursor_left(c) / 4 < nr_cpus) {
		c->failed = true;
		return 0;
	}
	clock->shifts = calloc(nr_cpus ? nr_cpus : 1, sizeof(*clock->shifts));
	if (!clock->shifts)
		return -ENOMEM;
	clock->nr_shifts = nr_cpus;
	for (uint32_t i = 0; i < nr_cpus; i++) {
		if (read_shift_samples(&clock->shifts[i], c) < 0)
			return -ENOMEM;
	}
	for (uint32_t i = 0; cursor_left(c) && i < nr_cpus; i++) {
		for (size_t j = 0; j < clock->shifts[i].nr; j++) {
			clock->shifts[i].samples[j].fraction = cursor_u64(c);
			if (clock->shifts[i].samples[j].fraction > 63)
				c->failed = true;
		}
	}
	for (uint32_t i = 0; i < nr_cpus; i++) {
		if (c->failed)
			clock->shifts[i].nr = 0;
		time_shift_sort(&clock->shifts[i]);
	}
	return 0;
}

static void option_tsc2nsec(struct trace_clock *clock, struct cursor *c)
{
	uint32_t mult = cursor_u32(c);
	uint32_t shift = cursor_u32(c);

	cursor_skip(c, 8); /* an offset that trace-cmd writes and ignores */
	if (shift > 63)
		c->failed = true;
	if (c->failed || !mult)
		return;
	clock->tsc2nsec = true;
	clock->mult = mult;
	clock->shift = shift;
}

/* A decimal or 0x number, as strtoll() reads it, times @unit added to the clock's offset. */
static int option_add_offset(struct trace_clock *clock, const void *data, size_t size, int64_t unit)
{
	char *text = strndup(data, size);

	if (!text)
		return -ENOMEM;
	clock->offset_ns = (uint64_t)clock->offset_ns + (uint64_t)strtoll(text, NULL, 0) * unit;
	free(text);
	return 0;
}

static int option_text(char **to, const void *data, size_t size)
{
	free(*to);
	*to = strndup(data, size);
	return *to ? 0 : -ENOMEM;
}

int tracefile_option(struct tracefile *tf, unsigned int id, const void *data, size_t size,
		     uint64_t offset)
{
	struct cursor c;
	char *text = NULL;
	int err = 0;

	cursor_open_memory(&c, data, size, tf->big_endian);
	switch (id) {
	case OPTION_DATE:
		err = option_add_offset(&tf->clock, data, size, 1000);
		break;
	case OPTION_OFFSET:
		err = option_add_offset(&tf->clock, data, size, 1);
		break;
	case OPTION_TIME_SHIFT:
		err = option_time_shift(&tf->clock, &c);
		break;
	case OPTION_TSC2NSEC:
		option_tsc2nsec(&tf->clock, &c);
		break;
	case OPTION_TRACEID:
		tf->trace_id = cursor_u64(&c);
		break;
	case OPTION_UNAME:
		err = option_text(&tf->uname, data, size);
		break;
	case OPTION_TRACECLOCK:
		err = option_text(&text, data, size);
		if (!err && strchr(text, '[')) {
			free(tf->clock.name);
			tf->clock.name = tracefile_parse_clock(text);
		}
		free(text);
		break;
	}
	if (c.failed)
		damage_add(&tf->damages, offset, "option %u is shorter than it says", id);
	return err;
}

static int read_long_header(struct tracefile *tf, struct cursor *c)
{
	char magic[MAGIC_SIZE];
	char *version;
	char *end;
	long number;

	cursor_bytes(c, magic, MAGIC_SIZE);
	if (c->failed || memcmp(magic, TRACEFILE_MAGIC, MAGIC_SIZE)) {
		damage_add(&tf->damages, 0, "not a trace.dat recording");
		return -ENOTSUP;
	}
	version = cursor_string(c, 16);
	if (!version) {
		damage_add(&tf->damages, MAGIC_SIZE, "the header is cut");
		return -ENOTSUP;
	}
	/* a missing version, or 0, is what trace-cmd wrote before it counted: version 6 */
	number = strtol(version, &end, 10);
	tf->version = number ? number : 6;
	if (*end || (tf->version != 6 && tf->version != 7)) {
		damage_add(&tf->damages, MAGIC_SIZE, "version '%s' is not known, only 6 and 7 are",
			   version);
		free(version);
		return -ENOTSUP;
	}
	free(version);
	tf->big_endian = cursor_u8(c);
	c->big_endian = tf->big_endian;
	tf->user_long_size = cursor_u8(c);
	tf->page_size = cursor_u32(c);
	if (c->failed) {
		damage_add(&tf->damages, c->pos, "the header is cut");
		return -ENOTSUP;
	}
	return 0;
}

static int read_metadata(struct tracefile *tf)
{
	struct cursor c;
	int err;

	err = cursor_open_file(&c, tf->fd, 0, tf->size, false);
	if (!err)
		err = read_long_header(tf, &c);
	if (!err)
		err = tf->version == 7 ? tracefile_read_v7(tf, &c) : tracefile_read_v6(tf, &c);
	cursor_release(&c);
	return err;
}

int tracefile_open(struct tracefile *tf, const char *path)
{
	struct stat st;

	*tf = (struct tracefile){ .fd = -1 };
	if (!strcmp(path, "-")) /* standard input, to who writes that */
		return -ESPIPE;
	tf->path = strdup(path);
	if (!tf->path)
		return -ENOMEM;
	tf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (tf->fd < 0 || fstat(tf->fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -ESPIPE;
	tf->size = st.st_size;
	if (!tf->size) {
		damage_add(&tf->damages, 0, "the file is empty");
		return -ENOTSUP;
	}
	return read_metadata(tf);
}

char *tracefile_kallsyms(struct tracefile *tf, size_t *size)
{
	struct trace_section *k = &tf->kallsyms;
	struct cursor c;
	char *section = NULL;
	char *text = NULL;

	if (!k->size)
		return NULL;
	if (tf->version == 7) {
		size_t section_size;

		section = tracefile_section(tf, k->offset, OPTION_KALLSYMS, &section_size);
		if (!section)
			return NULL;
		cursor_open_memory(&c, section, section_size, tf->big_endian);
		*size = cursor_u32(&c);
	} else {
		if (cursor_open_file(&c, tf->fd, k->offset, tf->size, tf->big_endian) < 0)
			return NULL;
		*size = k->size;
	}
	text = cursor_text(&c, *size);
	if (!text && c.failed)
		short_metadata(tf, &c, tf->version == 7 ? k->offset : 0, "kallsyms");
	if (tf->version != 7)
		cursor_release(&c);
	free(section);
	return text;
}

void tracefile_close(struct tracefile *tf)
{
	for (size_t i = 0; i < tf->nr_kept; i++)
		free(tf->kept[i]);
	free(tf->kept);
	for (size_t i = 0; i < tf->nr_buffers; i++) {
		free(tf->buffers[i].name);
		free(tf->buffers[i].clock);
		free(tf->buffers[i].cpus);
	}
	free(tf->formats);
	free(tf->buffers);
	free(tf->uname);
	free(tf->path);
	trace_clock_release(&tf->clock);
	unpacker_close(&tf->unpacker);
	free(tf->shared.bytes);
	damages_release(&tf->damages);
	if (tf->fd >= 0)
		close(tf->fd);
	*tf = (struct tracefile){ .fd = -1 };
}
