// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace.dat version 6: the metadata stands in one fixed order, each piece with its size in front.
 * trace-cmd.dat.v6(5); what differs from that page is as trace-cmd writes and reads it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "tracefile.h"

#define TAG_SIZE 10

struct v6_state {
	uint32_t table_cpus;   /* entries in the CPU table */
	bool clock_text;       /* the clock's text follows the CPU table */
	bool spare_cpu;	       /* CPUCOUNT changed the count: one empty entry follows the table */
	size_t nr_instances;   /* named buffers, whose offsets are in `instances` */
	uint64_t *instances;   /* owned */
	char **instance_names; /* owned */
};

static void state_release(struct v6_state *s)
{
	for (size_t i = 0; i < s->nr_instances; i++)
		free(s->instance_names[i]);
	free(s->instances);
	free(s->instance_names);
}

static int cut(struct tracefile *tf, const struct cursor *c, const char *what)
{
	damage_add(&tf->damages, c->pos, "%s is cut or lies about its size", what);
	return -EBADMSG;
}

/* A BUFFER option of v6 is only an offset and a name. */
static int add_instance(struct tracefile *tf, struct v6_state *s, const void *data, size_t size,
			uint64_t offset)
{
	struct cursor c;
	uint64_t at;
	char *name;
	uint64_t *offsets;
	char **names;

	cursor_open_memory(&c, data, size, tf->big_endian);
	at = cursor_u64(&c);
	name = cursor_string(&c, size);
	if (!name) {
		damage_add(&tf->damages, offset, "a BUFFER option is cut");
		return 0;
	}
	if (s->nr_instances == TRACE_MAX_BUFFERS) {
		damage_add(&tf->damages, offset, "too many buffers");
		free(name);
		return 0;
	}
	offsets = grow_by_one(s->instances, s->nr_instances, sizeof(*offsets));
	if (offsets)
		s->instances = offsets;
	names = grow_by_one(s->instance_names, s->nr_instances, sizeof(*names));
	if (names)
		s->instance_names = names;
	if (!offsets || !names) {
		free(name);
		return -ENOMEM;
	}
	offsets[s->nr_instances] = at;
	names[s->nr_instances++] = name;
	return 0;
}

static int read_option(struct tracefile *tf, struct v6_state *s, struct cursor *c, unsigned int id)
{
	uint64_t offset = c->pos;
	uint32_t size = cursor_u32(c);
	char *data;
	int err;

	data = cursor_text(c, size);
	if (!data)
		return c->failed ? cut(tf, c, "an option") : -ENOMEM;
	/* the options of instances may be the same bytes */
	if (tracefile_count_metadata(tf, size, offset) < 0) {
		free(data);
		return -EBADMSG;
	}
	err = tracefile_option(tf, id, data, size, offset);
	if (!err && id == OPTION_BUFFER)
		err = add_instance(tf, s, data, size, offset);
	if (id == OPTION_TRACECLOCK && !tf->clock.name)
		s->clock_text = true;
	if (id == OPTION_CPUCOUNT && size >= 4) {
		struct cursor number;
		uint32_t cpus;

		cursor_open_memory(&number, data, size, tf->big_endian);
		cpus = cursor_u32(&number);
		s->spare_cpu = cpus > s->table_cpus;
		s->table_cpus = cpus;
	}
	free(data);
	return err;
}

/*
 * Read up to and including "flyrecord". Returns 0, -ENOTSUP when text follows, or -EBADMSG.
 */
static int read_options_and_type(struct tracefile *tf, struct v6_state *s, struct cursor *c)
{
	char tag[TAG_SIZE];
	int err = 0;

	cursor_bytes(c, tag, TAG_SIZE);
	if (!c->failed && !memcmp(tag, "options", 7)) {
		unsigned int id;

		while (!err && (id = cursor_u16(c)) != OPTION_DONE)
			err = read_option(tf, s, c, id);
		cursor_bytes(c, tag, TAG_SIZE);
	}
	if (err)
		return err;
	if (c->failed)
		return cut(tf, c, "the list of options");
	if (!memcmp(tag, "latency", 7)) {
		damage_add(&tf->damages, c->pos - TAG_SIZE,
			   "a latency recording is text and holds no events to analyze");
		return -ENOTSUP;
	}
	if (memcmp(tag, "flyrecord", 9)) {
		damage_add(&tf->damages, c->pos - TAG_SIZE, "no 'flyrecord' where it should be");
		return -EBADMSG;
	}
	return 0;
}

static int read_cpu_table(struct tracefile *tf, struct v6_state *s, struct cursor *c, char *name)
{
	struct trace_buffer *b;
	int err = 0;

	if (cursor_left(c) / 16 < s->table_cpus || s->table_cpus > TRACE_MAX_CPUS - tf->nr_cpus) {
		free(name);
		return cut(tf, c, "the table of CPUs");
	}
	b = tracefile_add_buffer(tf);
	if (!b || !name) {
		free(name);
		return -ENOMEM;
	}
	b->name = name;
	for (uint32_t cpu = 0; cpu < s->table_cpus && !err; cpu++) {
		uint64_t offset = cursor_u64(c);
		uint64_t size = cursor_u64(c);

		err = tracefile_add_cpu(tf, b, cpu, offset, size);
	}
	/* the data of instances follow those of the top one */
	if (!err && !s->nr_instances)
		tracefile_end_cpus(tf, b, tf->size);
	return err;
}

/* A named buffer has "flyrecord" (or options) and a CPU table at its offset. */
static int read_instance(struct tracefile *tf, struct v6_state *s, uint64_t offset, char *name)
{
	struct v6_state own = { .table_cpus = s->table_cpus };
	struct cursor c;
	int err;

	err = cursor_open_file(&c, tf->fd, offset, tf->size, tf->big_endian);
	if (!err)
		err = read_options_and_type(tf, &own, &c);
	if (!err)
		err = read_cpu_table(tf, &own, &c, name);
	else
		free(name);
	cursor_release(&c);
	state_release(&own);
	/* its damage is noted, the other buffers can be read */
	return err == -EBADMSG || err == -ENOTSUP ? 0 : err;
}

static int read_clock_text(struct tracefile *tf, struct cursor *c)
{
	uint64_t size = cursor_u64(c);
	char *text = cursor_text(c, size);

	/* old trace-cmd lost this text: without it the clock is local, as the library has it */
	if (!text)
		return c->failed ? 0 : -ENOMEM;
	tf->clock.name = tracefile_parse_clock(text);
	free(text);
	return 0;
}

static int read_up_to_cpus(struct tracefile *tf, struct v6_state *s, struct cursor *c)
{
	int err;

	err = tracefile_read_header_info(tf, c, 0);
	if (!err)
		err = tracefile_read_ftrace_formats(tf, c, 0);
	if (!err)
		err = tracefile_read_event_formats(tf, c, 0);
	if (err)
		return err;
	tf->kallsyms.size = cursor_u32(c);
	tf->kallsyms.offset = c->pos;
	cursor_skip(c, tf->kallsyms.size);
	if (c->failed)
		return cut(tf, c, "kallsyms");
	cursor_skip(c, cursor_u32(c));
	if (c->failed)
		return cut(tf, c, "the list of printk formats");
	err = tracefile_read_cmdlines(tf, c, 0);
	if (err)
		return err;
	s->table_cpus = cursor_u32(c);
	return c->failed ? cut(tf, c, "the number of CPUs") : 0;
}

int tracefile_read_v6(struct tracefile *tf, struct cursor *c)
{
	struct v6_state s = { 0 };
	int err;

	unpacker_open(&tf->unpacker, "none");
	err = read_up_to_cpus(tf, &s, c);
	if (!err)
		err = read_options_and_type(tf, &s, c);
	if (!err)
		err = read_cpu_table(tf, &s, c, strdup(""));
	if (!err && s.spare_cpu)
		cursor_skip(c, 16);
	if (!err && s.clock_text)
		err = read_clock_text(tf, c);
	for (size_t i = 0; i < s.nr_instances && !err; i++) {
		err = read_instance(tf, &s, s.instances[i], s.instance_names[i]);
		s.instance_names[i] = NULL;
	}
	state_release(&s);
	return err;
}
