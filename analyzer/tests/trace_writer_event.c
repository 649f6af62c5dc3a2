// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace writer's events: from a C declaration to the format text and to the bytes of a record.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace_writer_int.h"

#define COMMON_SIZE 8
#define MAX_RECORD  3800 /* bytes; a page of 4096 has to hold it */

/* Size 0 stands for the size of long. char is unsigned in kernels since 6.2. */
static const struct {
	const char *name;
	unsigned int size;
	bool is_signed;
} types[] = {
	{ "char", 1, false },
	{ "signed char", 1, true },
	{ "unsigned char", 1, false },
	{ "bool", 1, false },
	{ "short", 2, true },
	{ "unsigned short", 2, false },
	{ "int", 4, true },
	{ "unsigned int", 4, false },
	{ "pid_t", 4, true },
	{ "gfp_t", 4, false },
	{ "long", 0, true },
	{ "unsigned long", 0, false },
	{ "long long", 8, true },
	{ "unsigned long long", 8, false },
	{ "u8", 1, false },
	{ "s8", 1, true },
	{ "u16", 2, false },
	{ "s16", 2, true },
	{ "u32", 4, false },
	{ "s32", 4, true },
	{ "u64", 8, false },
	{ "s64", 8, true },
};

static int field_set_type(const struct trace_writer *w, struct tw_field *f)
{
	if (strchr(f->type, '*')) {
		f->size = w->config.long_size;
		return 0;
	}
	if (!strncmp(f->type, "__data_loc ", 11) || !strncmp(f->type, "__rel_loc ", 10)) {
		f->is_dynamic = true;
		f->is_text = true;
		f->is_relative = f->type[2] == 'r';
		f->size = 4;
		return 0;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(f->type, types[i].name))
			continue;
		f->size = types[i].size ? types[i].size : w->config.long_size;
		f->is_signed = types[i].is_signed;
		return 0;
	}
	return -EINVAL;
}

/* Parses one "type name" or "type name[N]" of len bytes. */
static int field_parse(const struct trace_writer *w, struct tw_field *f, const char *text,
		       size_t len)
{
	const char *end = text + len, *bracket, *name;
	unsigned int nr = 1;
	int err;

	bracket = end;
	if (len && end[-1] == ']') {
		while (bracket > text && *bracket != '[')
			bracket--;
		if (end - bracket >= (long)sizeof(f->array))
			return -EINVAL;
		memcpy(f->array, bracket, end - bracket);
		nr = strtoul(bracket + 1, NULL, 0);
		f->is_array = true;
	}
	for (name = bracket; name > text && (isalnum(name[-1]) || name[-1] == '_'); name--)
		;
	f->name = strndup(name, bracket - name);
	while (name > text && name[-1] == ' ')
		name--;
	f->type = strndup(text, name - text);
	if (!f->name || !f->type)
		return -ENOMEM;
	if (!*f->name)
		return -EINVAL;
	err = field_set_type(w, f);
	if (f->is_array && !strcmp(f->type, "char"))
		f->is_text = true;
	f->element = f->size;
	f->size *= nr;
	return err;
}

static unsigned int field_alignment(const struct trace_writer *w, const struct tw_field *f)
{
	return f->element < w->config.long_size ? f->element : w->config.long_size;
}

static int parse_declaration(struct trace_writer *w, struct tw_event *event, const char *text,
			     bool packed)
{
	unsigned int offset = COMMON_SIZE;

	while (*text) {
		size_t len = strcspn(text, ";");
		struct tw_field *grown, *f;
		unsigned int align;
		int err;

		while (len && isspace(*text)) {
			text++;
			len--;
		}
		grown = tw_grow(w, event->fields, &event->nr_fields, sizeof(*f));
		if (!grown)
			return w->err;
		event->fields = grown;
		f = &grown[event->nr_fields - 1];
		err = field_parse(w, f, text, len);
		if (err)
			return err;
		align = packed ? 1 : field_alignment(w, f);
		offset = (offset + align - 1) / align * align;
		f->offset = offset;
		offset += f->size;
		text += len;
		if (*text)
			text++;
	}
	event->fixed_size = offset;
	return offset > MAX_RECORD ? -EMSGSIZE : 0;
}

static struct tw_event *add_event(struct trace_writer *w, const char *system, const char *name,
				  unsigned int id, const char *declaration, bool packed)
{
	struct tw_event *event, **grown;
	int err;

	if (w->err)
		return NULL;
	if (w->formats_written || id > UINT16_MAX) {
		tw_fail(w, -EINVAL);
		return NULL;
	}
	grown = tw_grow(w, w->events, &w->nr_events, sizeof(*grown));
	if (!grown)
		return NULL;
	w->events = grown;

	event = calloc(1, sizeof(*event));
	if (!event) {
		w->nr_events--;
		tw_fail(w, -ENOMEM);
		return NULL;
	}
	grown[w->nr_events - 1] = event;
	event->w = w;
	event->id = id;
	event->system = strdup(system);
	event->name = strdup(name);
	err = event->system && event->name ? 0 : -ENOMEM;
	if (!err)
		err = parse_declaration(w, event, declaration, packed);
	if (err) {
		tw_fail(w, err);
		return NULL;
	}
	return event;
}

struct tw_event *tw_add_event(struct trace_writer *w, const char *system, const char *name,
			      unsigned int id, const char *declaration)
{
	return add_event(w, system, name, id, declaration, false);
}

struct tw_event *tw_add_probe(struct trace_writer *w, const char *system, const char *name,
			      unsigned int id, const char *declaration)
{
	return add_event(w, system, name, id, declaration, true);
}

void tw_event_free(struct tw_event *event)
{
	if (!event)
		return;
	for (size_t i = 0; i < event->nr_fields; i++) {
		free(event->fields[i].type);
		free(event->fields[i].name);
	}
	free(event->fields);
	free(event->system);
	free(event->name);
	free(event->print_fmt);
	free(event->format.data);
	free(event);
}

void tw_set_print_fmt(struct tw_event *event, const char *print_fmt)
{
	if (!event || event->w->err)
		return;
	free(event->print_fmt);
	event->print_fmt = strdup(print_fmt);
	if (!event->print_fmt)
		tw_fail(event->w, -ENOMEM);
}

void tw_set_format(struct tw_event *event, const char *text, size_t size)
{
	if (!event || event->w->err)
		return;
	event->format.len = 0;
	tw_bytes(event->w, &event->format, text, size);
}

static void put_text(struct tw_event *event, struct bytes *to, const char *text)
{
	tw_bytes(event->w, to, text, strlen(text));
}

static void put_field(struct tw_event *event, struct bytes *to, const struct tw_field *f)
{
	char line[512];

	snprintf(line, sizeof(line), "\tfield:%s %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n",
		 f->type, f->name, f->array, f->offset, f->size, f->is_signed);
	put_text(event, to, line);
}

static void put_print_fmt(struct tw_event *event, struct bytes *to)
{
	char arg[256];

	put_text(event, to, "\nprint fmt: ");
	if (event->print_fmt) {
		put_text(event, to, event->print_fmt);
		put_text(event, to, "\n");
		return;
	}
	put_text(event, to, "\"");
	for (size_t i = 0; i < event->nr_fields; i++) {
		const struct tw_field *f = &event->fields[i];
		const char *how = "0x%llx";

		if (f->is_text)
			how = "%s";
		else if (f->is_array)
			how = "[]";
		snprintf(arg, sizeof(arg), "%s%s=%s", i ? " " : "", f->name, how);
		put_text(event, to, arg);
	}
	put_text(event, to, "\"");
	for (size_t i = 0; i < event->nr_fields; i++) {
		const struct tw_field *f = &event->fields[i];

		if (f->is_array && !f->is_text)
			continue;
		if (f->is_dynamic)
			snprintf(arg, sizeof(arg), ", %s(%s)",
				 f->is_relative ? "__get_rel_str" : "__get_str", f->name);
		else if (f->is_array)
			snprintf(arg, sizeof(arg), ", REC->%s", f->name);
		else
			snprintf(arg, sizeof(arg), ", (unsigned long long)REC->%s", f->name);
		put_text(event, to, arg);
	}
	put_text(event, to, "\n");
}

/* Appends the event's format text, as the kernel's events/SYSTEM/NAME/format shows it. */
void tw_event_format(struct tw_event *event, struct bytes *text)
{
	static const struct tw_field common[] = {
		{ .type = "unsigned short", .name = "common_type", .offset = 0, .size = 2 },
		{ .type = "unsigned char", .name = "common_flags", .offset = 2, .size = 1 },
		{ .type = "unsigned char", .name = "common_preempt_count", .offset = 3, .size = 1 },
		{ .type = "int", .name = "common_pid", .offset = 4, .size = 4, .is_signed = true },
	};
	char line[256];

	if (event->format.data) {
		tw_bytes(event->w, text, event->format.data, event->format.len);
		return;
	}
	snprintf(line, sizeof(line), "name: %s\nID: %u\nformat:\n", event->name, event->id);
	put_text(event, text, line);
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		put_field(event, text, &common[i]);
	put_text(event, text, "\n");
	for (size_t i = 0; i < event->nr_fields; i++)
		put_field(event, text, &event->fields[i]);
	put_print_fmt(event, text);
}

/* Stores a string at *end of the record and its place and length in the field. */
static int store_dynamic(const struct trace_writer *w, uint8_t *record, size_t *end,
			 const struct tw_field *f, const char *text)
{
	size_t len = strlen(text) + 1, from = *end;

	if (from + len > MAX_RECORD)
		return -EMSGSIZE;
	memcpy(record + from, text, len);
	*end += len;
	if (f->is_relative)
		from -= f->offset + f->size;
	tw_store(w, record + f->offset, len << 16 | from, 4);
	return 0;
}

void tw_record(struct trace_writer *w, struct tw_at at, const struct tw_event *event,
	       const uint64_t *values, size_t nr_values)
{
	uint8_t record[MAX_RECORD];
	size_t end;

	if (w->err)
		return;
	if (!event || nr_values != event->nr_fields) {
		tw_fail(w, -EINVAL);
		return;
	}
	end = event->fixed_size;
	memset(record, 0, end);
	tw_store(w, record, event->id, 2);
	tw_store(w, record + 4, (uint32_t)at.pid, 4);
	for (size_t i = 0; i < nr_values; i++) {
		const struct tw_field *f = &event->fields[i];
		const void *pointer = (const void *)(uintptr_t)values[i];
		int err = 0;

		if (f->is_dynamic)
			err = store_dynamic(w, record, &end, f, pointer);
		else if (f->is_text)
			memcpy(record + f->offset, pointer, strnlen(pointer, f->size));
		else if (f->is_array)
			memcpy(record + f->offset, pointer, f->size);
		else
			tw_store(w, record + f->offset, values[i], f->size);
		if (err) {
			tw_fail(w, err);
			return;
		}
	}
	tw_raw(w, at.cpu, at.ts, record, end);
}
