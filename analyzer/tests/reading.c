// SPDX-License-Identifier: GPL-2.0-or-later
/* All that our reader makes of a recording, kept to be compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats.h"
#include "grow.h"
#include "oracle.h"
#include "reading.h"
#include "timeline.h"
#include "tracefile.h"

/* FNV-1a */
static uint64_t hash_bytes(const uint8_t *data, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 0x100000001b3;
	return hash;
}

static void *checked(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static void add_stream(struct reading *r, const char *buffer, uint32_t cpu)
{
	r->streams = checked(grow_by_one(r->streams, r->nr_streams, sizeof(*r->streams)));
	r->streams[r->nr_streams++] =
		(struct read_stream){ .buffer = checked(strdup(buffer)), .cpu = cpu };
}

static void add_record(struct reading *r, struct read_stream *s, const struct record *record)
{
	s->list = checked(grow_by_one(s->list, s->nr, sizeof(*s->list)));
	s->list[s->nr++] = (struct read_record){ .ts = record->ts,
						 .hash = hash_bytes(record->data, record->size),
						 .size = record->size,
						 .after_loss = record->after_loss };
	r->nr_records++;
}

static void read_events(struct reading *r, struct tracefile *tf, const struct page_layout *layout)
{
	const struct record *record;
	struct timeline t;

	for (size_t i = 0; i < tf->nr_buffers; i++)
		for (size_t j = 0; j < tf->buffers[i].nr_cpus; j++)
			add_stream(r, tf->buffers[i].name, tf->buffers[i].cpus[j].cpu);
	if (timeline_open(&t, tf, layout))
		abort();
	while ((record = timeline_next(&t)))
		add_record(r, &r->streams[timeline_stream(&t)], record);
	timeline_close(&t);
}

void reading_open(struct reading *r, const char *path)
{
	struct formats formats = { 0 };
	struct page_layout layout;
	struct tracefile tf;

	*r = (struct reading){ 0 };
	if (!tracefile_open(&tf, path)) {
		if (formats_parse(&formats, tf.formats, tf.nr_formats, &tf.damages))
			abort();
		if (!tf.header_page.text)
			damage_add(&tf.damages, 0, "no header_page");
		else if (!page_layout_parse(&layout, &tf.header_page, &tf.damages))
			read_events(r, &tf, &layout);
	}
	r->nr_damages = tf.damages.nr;
	if (r->nr_damages)
		snprintf(r->reason, sizeof(r->reason), "%s", tf.damages.list[0].reason);
	formats_release(&formats);
	tracefile_close(&tf);
}

void reading_of_oracle(struct reading *r, const struct oracle *o)
{
	*r = (struct reading){ 0 };
	for (size_t i = 0; i < o->nr_cpus; i++) {
		const struct oracle_cpu *cpu = &o->cpus[i];

		add_stream(r, o->buffers[cpu->buffer].name, cpu->cpu);
		for (size_t j = 0; j < cpu->nr_records; j++) {
			const struct oracle_record *theirs = &cpu->records[j];
			const struct record record = { .ts = theirs->ts,
						       .data = theirs->data,
						       .size = theirs->size,
						       .after_loss = theirs->missed };

			add_record(r, &r->streams[i], &record);
		}
	}
}

void reading_close(struct reading *r)
{
	for (size_t i = 0; i < r->nr_streams; i++) {
		free(r->streams[i].buffer);
		free(r->streams[i].list);
	}
	free(r->streams);
}

static const struct read_stream *same_stream(const struct reading *r, const struct read_stream *s)
{
	for (size_t i = 0; i < r->nr_streams; i++) {
		if (r->streams[i].cpu == s->cpu && !strcmp(r->streams[i].buffer, s->buffer))
			return &r->streams[i];
	}
	return NULL;
}

static bool same_record(const struct read_record *a, const struct read_record *b)
{
	return a->ts == b->ts && a->size == b->size && a->hash == b->hash &&
	       a->after_loss == b->after_loss;
}

const struct read_stream *reading_beyond(const struct reading *r, const struct reading *whole)
{
	for (size_t i = 0; i < r->nr_streams; i++) {
		const struct read_stream *s = &r->streams[i], *of = same_stream(whole, s);

		if (s->nr && (!of || s->nr > of->nr))
			return s;
		for (size_t j = 0; j < s->nr; j++) {
			if (!same_record(&s->list[j], &of->list[j]))
				return s;
		}
	}
	return NULL;
}

bool reading_same_records(const struct reading *a, const struct reading *b)
{
	if (a->nr_streams != b->nr_streams || a->nr_records != b->nr_records)
		return false;
	for (size_t i = 0; i < a->nr_streams; i++) {
		if (a->streams[i].nr != b->streams[i].nr)
			return false;
		for (size_t j = 0; j < a->streams[i].nr; j++) {
			if (!same_record(&a->streams[i].list[j], &b->streams[i].list[j]))
				return false;
		}
	}
	return true;
}

bool reading_same(const struct reading *a, const struct reading *b)
{
	return a->nr_records == b->nr_records && !reading_beyond(a, b) && !reading_beyond(b, a);
}

int memory_file(const void *data, size_t size, char path[32])
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

uint8_t *file_bytes(const char *path, size_t *size)
{
	FILE *in = fopen(path, "re");
	uint8_t *data;
	long end;

	if (!in || fseek(in, 0, SEEK_END) || (end = ftell(in)) < 0 || fseek(in, 0, SEEK_SET))
		abort();
	*size = end;
	data = checked(malloc(*size + 1));
	if (fread(data, 1, *size, in) != *size)
		abort();
	fclose(in);
	return data;
}
