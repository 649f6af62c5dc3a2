// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a recording with libtracecmd and libtraceevent, whole, into plain arrays. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "oracle.h"

#define ARENA_BLOCK (1u << 20)
#define MAX_RECORD  (1 << 20) /* bytes; libtracecmd hands on any size that a damaged page names */

/* Record data is copied into blocks, since the libraries free their pages on the way. */
struct arena {
	struct arena *next;
	size_t used, size;
	uint8_t data[];
};

static void *arena_copy(struct oracle *o, const void *data, size_t size)
{
	struct arena *block = o->arena;

	if (!block || block->size - block->used < size) {
		size_t room = size > ARENA_BLOCK ? size : ARENA_BLOCK;

		block = malloc(sizeof(*block) + room);
		if (!block)
			return NULL;
		block->next = o->arena;
		block->used = 0;
		block->size = room;
		o->arena = block;
	}
	memcpy(block->data + block->used, data, size);
	block->used += size;
	return block->data + block->used - size;
}

/* Grows an array of *nr elements by one, doubling its room at powers of two; NULL without memory.
 */
static void *grow(void *array, size_t *nr, size_t size)
{
	char *grown = array;

	if (!(*nr & (*nr - 1)))
		grown = realloc(array, (*nr ? 2 * *nr : 1) * size);
	if (!grown)
		return NULL;
	memset(grown + *nr * size, 0, size);
	(*nr)++;
	return grown;
}

static bool is_numeric(const struct tep_format_field *f)
{
	if (f->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING | TEP_FIELD_IS_DYNAMIC))
		return false;
	return f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;
}

static int add_fields(struct oracle_event *e, struct tep_format_field *f)
{
	for (; f; f = f->next) {
		struct oracle_field *grown = grow(e->fields, &e->nr_fields, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		e->fields = grown;
		grown[e->nr_fields - 1] = (struct oracle_field){
			.name = f->name,
			.offset = f->offset,
			.size = f->size,
			.is_signed = f->flags & TEP_FIELD_IS_SIGNED,
			.is_numeric = is_numeric(f),
		};
	}
	return 0;
}

static int read_events(struct oracle *o)
{
	struct tep_event **list = tep_list_events(o->tep, TEP_EVENT_SORT_ID);
	int err = 0;

	for (size_t i = 0; list && list[i] && !err; i++) {
		struct oracle_event *grown = grow(o->events, &o->nr_events, sizeof(*grown)), *e;

		if (!grown)
			return -ENOMEM;
		o->events = grown;
		e = &grown[o->nr_events - 1];
		e->id = list[i]->id;
		e->system = list[i]->system;
		e->name = list[i]->name;
		err = add_fields(e, list[i]->format.common_fields);
		if (!err)
			err = add_fields(e, list[i]->format.fields);
	}
	return err;
}

static struct oracle_cpu *find_or_add_cpu(struct oracle *o, unsigned int buffer, unsigned int cpu)
{
	struct oracle_cpu *grown = (struct oracle_cpu *)oracle_cpu(o, buffer, cpu);

	if (grown)
		return grown;
	grown = grow(o->cpus, &o->nr_cpus, sizeof(*grown));
	if (!grown)
		return NULL;
	o->cpus = grown;
	grown[o->nr_cpus - 1].buffer = buffer;
	grown[o->nr_cpus - 1].cpu = cpu;
	return &grown[o->nr_cpus - 1];
}

struct reading {
	struct oracle *o;
	unsigned int buffer;
	int err;
};

static int add_record(struct tracecmd_input *handle, struct tep_record *record, int cpu, void *ctx)
{
	struct reading *r = ctx;
	struct oracle_cpu *c = find_or_add_cpu(r->o, r->buffer, cpu);
	struct oracle_record *grown = NULL;
	void *data;

	if (record->size < 2 || record->size > MAX_RECORD) {
		r->err = -EBADF;
		return -1;
	}
	data = arena_copy(r->o, record->data, record->size);
	if (c)
		grown = grow(c->records, &c->nr_records, sizeof(*grown));
	if (!grown || !data) {
		r->err = -ENOMEM;
		return -1;
	}
	c->records = grown;
	grown[c->nr_records - 1] = (struct oracle_record){
		.ts = record->ts,
		.missed = record->missed_events,
		.id = tep_read_number(r->o->tep, record->data, 2),
		.size = record->size,
		.data = data,
	};
	return 0;
}

static int read_buffer(struct oracle *o, struct tracecmd_input *handle, const char *name)
{
	struct reading reading = { .o = o, .buffer = o->nr_buffers };
	struct oracle_buffer *grown = grow(o->buffers, &o->nr_buffers, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	o->buffers = grown;
	grown[o->nr_buffers - 1].name = name;
	grown[o->nr_buffers - 1].handle = handle;
	if (!handle)
		return -EBADF;
	tracecmd_iterate_events(handle, NULL, 0, add_record, &reading);
	return reading.err;
}

int oracle_open(struct oracle *o, const char *path)
{
	struct tracecmd_input *top;
	int err;

	memset(o, 0, sizeof(*o));
	tracecmd_set_loglevel(TEP_LOG_NONE);
	tep_set_loglevel(TEP_LOG_NONE);
	top = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!top)
		return -EBADF;
	o->tep = tracecmd_get_tep(top);
	err = read_buffer(o, top, "");
	for (int i = 0; i < tracecmd_buffer_instances(top) && !err; i++)
		err = read_buffer(o, tracecmd_buffer_instance_handle(top, i),
				  tracecmd_buffer_instance_name(top, i));
	if (!err)
		err = read_events(o);
	if (err)
		oracle_close(o);
	return err;
}

void oracle_close(struct oracle *o)
{
	for (size_t i = 0; i < o->nr_events; i++)
		free(o->events[i].fields);
	for (size_t i = 0; i < o->nr_cpus; i++)
		free(o->cpus[i].records);
	while (o->arena) {
		struct arena *block = o->arena;

		o->arena = block->next;
		free(block);
	}
	for (size_t i = o->nr_buffers; i-- > 0;) {
		if (o->buffers[i].handle)
			tracecmd_close(o->buffers[i].handle);
	}
	free(o->events);
	free(o->cpus);
	free(o->buffers);
	memset(o, 0, sizeof(*o));
}

const struct oracle_event *oracle_event(const struct oracle *o, unsigned int id)
{
	size_t low = 0, high = o->nr_events;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (o->events[middle].id == id)
			return &o->events[middle];
		if (o->events[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct oracle_cpu *oracle_cpu(const struct oracle *o, unsigned int buffer, unsigned int cpu)
{
	for (size_t i = 0; i < o->nr_cpus; i++) {
		if (o->cpus[i].buffer == buffer && o->cpus[i].cpu == cpu)
			return &o->cpus[i];
	}
	return NULL;
}

bool oracle_number(const struct oracle *o, const struct oracle_record *record,
		   const struct oracle_field *field, int64_t *value)
{
	unsigned int unused_bits = 64 - 8 * field->size;
	uint64_t bits;

	*value = 0;
	if (!field->is_numeric || field->offset > record->size ||
	    field->size > record->size - field->offset)
		return false;
	bits = tep_read_number(o->tep, record->data + field->offset, field->size);
	*value = bits;
	if (field->is_signed)
		*value = (int64_t)(bits << unused_bits) >> unused_bits;
	return true;
}

/* The child's part of oracle_try(): a crash leaves the pipe empty. */
static void try_in_child(const char *path, int pipe_fd)
{
	struct oracle o;
	int err, null = open("/dev/null", O_WRONLY);

	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	err = oracle_open(&o, path);
	if (write(pipe_fd, &err, sizeof(err)) != sizeof(err))
		_exit(1);
	_exit(0);
}

int oracle_try(const char *path)
{
	int fds[2], err, status;
	pid_t pid;

	if (pipe(fds))
		return -errno;
	pid = fork();
	if (!pid)
		try_in_child(path, fds[1]);
	close(fds[1]);
	if (pid < 0)
		err = -errno;
	else if (read(fds[0], &err, sizeof(err)) != sizeof(err))
		err = -ECHILD;
	close(fds[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return err;
}

/*
 * What the libraries never free, for builds with LeakSanitizer: the handle of a file that it
 * refuses, and the clock's name, which sscanf() allocates, where a file names it twice (no other
 * code here lets sscanf() allocate); and what libtraceevent never frees of a print format that it
 * gives up on.
 */
const char *__lsan_default_options(void);
const char *__lsan_default_suppressions(void);

const char *__lsan_default_options(void)
{
	return "print_suppressions=0";
}

const char *__lsan_default_suppressions(void)
{
	return "leak:tracecmd_alloc_fd\n"
	       "leak:vsscanf\n"
	       "leak:tep_parse_event\n";
}
