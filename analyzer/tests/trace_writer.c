// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace writer's setting up and taking down: configuration, options, tables, memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace_writer_int.h"

int tw_fail(struct trace_writer *w, int err)
{
	if (!w->err)
		w->err = err;
	return w->err;
}

int tw_error(const struct trace_writer *w)
{
	return w->err;
}

void tw_bytes(struct trace_writer *w, struct bytes *b, const void *data, size_t size)
{
	if (w->err)
		return;
	if (size > b->cap - b->len) {
		size_t cap = b->cap ? b->cap : 4096;
		uint8_t *grown;

		while (cap - b->len < size)
			cap *= 2;
		grown = realloc(b->data, cap);
		if (!grown) {
			tw_fail(w, -ENOMEM);
			return;
		}
		b->data = grown;
		b->cap = cap;
	}
	if (size)
		memcpy(b->data + b->len, data, size);
	b->len += size;
}

void tw_store(const struct trace_writer *w, void *to, uint64_t value, unsigned int size)
{
	uint8_t *p = to;

	for (unsigned int i = 0; i < size; i++)
		p[w->config.big_endian ? size - 1 - i : i] = value >> (8 * i);
}

void tw_put(struct trace_writer *w, struct bytes *b, uint64_t value, unsigned int size)
{
	uint8_t word[8];

	tw_store(w, word, value, size);
	tw_bytes(w, b, word, size);
}

void *tw_grow(struct trace_writer *w, void *array, size_t *nr, size_t size)
{
	char *grown = realloc(array, (*nr + 1) * size);

	if (!grown) {
		tw_fail(w, -ENOMEM);
		return NULL;
	}
	memset(grown + *nr * size, 0, size);
	(*nr)++;
	return grown;
}

static int set_config(struct trace_writer *w, const struct tw_config *config)
{
	struct tw_config *c = &w->config;

	*c = *config;
	if (!c->version)
		c->version = 7;
	if (!c->long_size)
		c->long_size = 8;
	if (!c->user_long_size)
		c->user_long_size = c->long_size;
	if (!c->subbuf_size)
		c->subbuf_size = 4096;
	if (!c->file_page_size)
		c->file_page_size = c->subbuf_size;
	if (!c->chunk_pages)
		c->chunk_pages = 10;
	if (!c->clock)
		c->clock = "local";
	if (c->version != 6 && c->version != 7)
		return -EINVAL;
	if (c->long_size != 4 && c->long_size != 8)
		return -EINVAL;
	if (c->subbuf_size < 4096 || c->subbuf_size & (c->subbuf_size - 1))
		return -EINVAL;
	if (c->nr_cpus > TW_MAX_CPUS || (c->version == 6 && c->compression))
		return -EINVAL;
	return 0;
}

static void buffer_free(struct tw_buffer *b)
{
	if (!b)
		return;
	for (unsigned int i = 0; i < b->nr_streams; i++)
		tw_stream_free(b->streams[i]);
	free(b->name);
	free(b->clock);
	free(b);
}

struct trace_writer *tw_new(const struct tw_config *config)
{
	struct trace_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	if (!set_config(w, config))
		tw_add_buffer(w, "", 0, NULL);
	if (!w->nr_buffers || w->err) {
		tw_free(w);
		return NULL;
	}
	return w;
}

void tw_free(struct trace_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->nr_events; i++)
		tw_event_free(w->events[i]);
	for (size_t i = 0; i < w->nr_buffers; i++)
		buffer_free(w->buffers[i]);
	for (size_t i = 0; i < w->nr_options; i++)
		free(w->options[i].data.data);
	for (size_t i = 0; i < w->nr_sections; i++)
		free(w->sections[i].data.data);
	free(w->events);
	free(w->buffers);
	free(w->options);
	free(w->sections);
	free(w->comms.data);
	free(w->kallsyms.data);
	free(w->printk.data);
	free(w->strings.data);
	free(w->parts);
	free(w);
}

unsigned int tw_add_buffer(struct trace_writer *w, const char *name, unsigned int subbuf_size,
			   const char *clock)
{
	struct tw_buffer **grown, *b;

	if (w->err)
		return 0;
	grown = tw_grow(w, w->buffers, &w->nr_buffers, sizeof(*grown));
	if (!grown)
		return 0;
	w->buffers = grown;
	b = calloc(1, sizeof(*b));
	if (b) {
		b->name = strdup(name);
		b->clock = strdup(clock ? clock : w->config.clock);
		b->subbuf_size = subbuf_size ? subbuf_size : w->config.subbuf_size;
	}
	if (!b || !b->name || !b->clock)
		tw_fail(w, -ENOMEM);
	grown[w->nr_buffers - 1] = b;
	w->in_use = w->nr_buffers - 1;
	return w->in_use;
}

void tw_use_buffer(struct trace_writer *w, unsigned int buffer)
{
	if (buffer < w->nr_buffers)
		w->in_use = buffer;
	else
		tw_fail(w, -EINVAL);
}

void tw_generate(struct trace_writer *w,
		 int (*fn)(struct trace_writer *w, unsigned int cpu, void *ctx), void *ctx)
{
	if (w->err)
		return;
	w->buffers[w->in_use]->generate = fn;
	w->buffers[w->in_use]->generate_ctx = ctx;
}

void tw_comm(struct trace_writer *w, int pid, const char *comm)
{
	char line[64];

	snprintf(line, sizeof(line), "%d %s\n", pid, comm);
	tw_bytes(w, &w->comms, line, strlen(line));
}

void tw_kallsyms(struct trace_writer *w, const char *text)
{
	tw_bytes(w, &w->kallsyms, text, strlen(text));
}

void tw_printk(struct trace_writer *w, const char *text)
{
	tw_bytes(w, &w->printk, text, strlen(text));
}

static struct bytes *new_option(struct trace_writer *w, unsigned int id)
{
	struct tw_option *grown;

	if (w->err)
		return NULL;
	grown = tw_grow(w, w->options, &w->nr_options, sizeof(*grown));
	if (!grown)
		return NULL;
	w->options = grown;
	grown[w->nr_options - 1].id = id;
	return &grown[w->nr_options - 1].data;
}

void tw_option(struct trace_writer *w, unsigned int id, const void *data, size_t size)
{
	struct bytes *b = new_option(w, id);

	if (b)
		tw_bytes(w, b, data, size);
}

void tw_option_text(struct trace_writer *w, unsigned int id, const char *text)
{
	tw_option(w, id, text, strlen(text) + 1);
}

void tw_option_u64(struct trace_writer *w, unsigned int id, uint64_t value)
{
	struct bytes *b = new_option(w, id);

	if (b)
		tw_put(w, b, value, 8);
}

void tw_tsc2nsec(struct trace_writer *w, uint32_t mult, uint32_t shift, uint64_t offset)
{
	struct bytes *b = new_option(w, TW_OPT_TSC2NSEC);

	if (!b)
		return;
	tw_put(w, b, mult, 4);
	tw_put(w, b, shift, 4);
	tw_put(w, b, offset, 8);
}

void tw_time_shift(struct trace_writer *w, uint64_t peer_id, uint32_t flags,
		   const struct tw_shift_cpu *cpus, unsigned int nr_cpus, bool with_fraction)
{
	struct bytes *b = new_option(w, TW_OPT_TIME_SHIFT);

	if (!b)
		return;
	tw_put(w, b, peer_id, 8);
	tw_put(w, b, flags, 4);
	tw_put(w, b, nr_cpus, 4);
	for (unsigned int c = 0; c < nr_cpus; c++) {
		tw_put(w, b, cpus[c].nr, 4);
		for (unsigned int i = 0; i < cpus[c].nr; i++)
			tw_put(w, b, cpus[c].samples[i].time, 8);
		for (unsigned int i = 0; i < cpus[c].nr; i++)
			tw_put(w, b, cpus[c].samples[i].offset, 8);
		for (unsigned int i = 0; i < cpus[c].nr; i++)
			tw_put(w, b, cpus[c].samples[i].scaling, 8);
	}
	for (unsigned int c = 0; with_fraction && c < nr_cpus; c++) {
		for (unsigned int i = 0; i < cpus[c].nr; i++)
			tw_put(w, b, cpus[c].samples[i].fraction, 8);
	}
}

void tw_section(struct trace_writer *w, unsigned int id, const void *data, size_t size, bool listed)
{
	struct tw_extra_section *grown;

	if (w->err)
		return;
	grown = tw_grow(w, w->sections, &w->nr_sections, sizeof(*grown));
	if (!grown)
		return;
	w->sections = grown;
	grown[w->nr_sections - 1].id = id;
	grown[w->nr_sections - 1].listed = listed;
	tw_bytes(w, &grown[w->nr_sections - 1].data, data, size);
}

uint64_t tw_nr_records(const struct trace_writer *w)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < w->nr_buffers; i++) {
		const struct tw_buffer *b = w->buffers[i];

		for (unsigned int cpu = 0; cpu < b->nr_streams; cpu++)
			nr += b->streams[cpu] ? b->streams[cpu]->nr_records : 0;
	}
	return nr;
}

const struct tw_part *tw_parts(const struct trace_writer *w, size_t *nr)
{
	*nr = w->nr_parts;
	return w->parts;
}
