// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event ids and fields, from the format texts that the traced kernel printed. A text is
 *
 *	name: NAME
 *	ID: NUMBER
 *	format:
 *		field:DECLARATION;	offset:N;	size:N;	signed:N;
 *	print fmt: …
 *
 * as trace_events.c writes it; "field special:" and a missing "signed:" are of old kernels.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "grow.h"

#define MAX_FIELD_SIZE (8u << 20) /* the largest sub-buffer: 128 pages of 64K */

/* One line of a text, without its newline. */
struct line {
	const char *start;
	size_t len;
};

static bool next_line(const char **pos, const char *end, struct line *l)
{
	const char *newline;

	if (*pos >= end)
		return false;
	newline = memchr(*pos, '\n', end - *pos);
	l->start = *pos;
	l->len = (newline ? newline : end) - *pos;
	*pos = newline ? newline + 1 : end;
	return true;
}

static bool starts(const struct line *l, const char *prefix)
{
	size_t n = strlen(prefix);

	return l->len >= n && !memcmp(l->start, prefix, n);
}

static void trim(struct line *l)
{
	while (l->len && (*l->start == ' ' || *l->start == '\t'))
		l->start++, l->len--;
	while (l->len && (l->start[l->len - 1] == ' ' || l->start[l->len - 1] == '\t'))
		l->len--;
}

static void advance(struct line *l, size_t n)
{
	l->start += n;
	l->len -= n;
}

/* A decimal number that is all of @l. */
static bool parse_number(struct line l, uint32_t *value)
{
	uint64_t v = 0;

	trim(&l);
	if (!l.len || l.len > 10)
		return false;
	for (size_t i = 0; i < l.len; i++) {
		if (l.start[i] < '0' || l.start[i] > '9')
			return false;
		v = 10 * v + (l.start[i] - '0');
	}
	*value = v;
	return v <= UINT32_MAX;
}

/* Cut the piece up to the next ';' off @l. */
static bool next_piece(struct line *l, struct line *piece)
{
	const char *semicolon = memchr(l->start, ';', l->len);

	if (!semicolon)
		return false;
	piece->start = l->start;
	piece->len = semicolon - l->start;
	advance(l, piece->len + 1);
	trim(piece);
	return true;
}

/* "offset:N" and the like. */
static bool keyed_number(struct line *l, const char *key, uint32_t *value)
{
	struct line piece;

	if (!next_piece(l, &piece) || !starts(&piece, key))
		return false;
	advance(&piece, strlen(key));
	return parse_number(piece, value);
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The name in a C declaration: the last identifier in front of array brackets. */
static char *declared_name(struct line decl)
{
	size_t end, start;

	if (decl.len && decl.start[decl.len - 1] == ']') {
		while (decl.len && decl.start[decl.len - 1] != '[')
			decl.len--;
		if (decl.len)
			decl.len--;
		trim(&decl);
	}
	for (end = decl.len; end && !is_name_char(decl.start[end - 1]); end--)
		;
	for (start = end; start && is_name_char(decl.start[start - 1]); start--)
		;
	return start == end ? NULL : strndup(decl.start + start, end - start);
}

static enum field_kind declared_kind(const struct line *decl, uint32_t size)
{
	if (starts(decl, "__data_loc"))
		return FIELD_DYNAMIC;
	if (starts(decl, "__rel_loc"))
		return FIELD_DYNAMIC_REL;
	if (decl->len && decl->start[decl->len - 1] == ']')
		return FIELD_ARRAY;
	return size == 1 || size == 2 || size == 4 || size == 8 ? FIELD_NUMBER : FIELD_ARRAY;
}

/* A field line becomes *f. Returns 1, 0 when it does not parse, -ENOMEM. */
static int parse_field(struct line l, struct field *f)
{
	struct line decl;
	uint32_t sign = 0;

	trim(&l);
	advance(&l, strlen("field"));
	trim(&l);
	if (starts(&l, "special"))
		advance(&l, strlen("special"));
	if (!starts(&l, ":"))
		return 0;
	advance(&l, 1);
	if (!next_piece(&l, &decl) || !keyed_number(&l, "offset:", &f->offset) ||
	    !keyed_number(&l, "size:", &f->size))
		return 0;
	trim(&l);
	if (l.len && !keyed_number(&l, "signed:", &sign))
		return 0;
	trim(&l);
	if (l.len || f->offset > MAX_FIELD_SIZE || f->size > MAX_FIELD_SIZE)
		return 0;
	f->is_signed = sign;
	f->kind = declared_kind(&decl, f->size);
	f->name = declared_name(decl);
	return f->name ? 1 : 0;
}

static void format_release(struct event_format *e)
{
	for (size_t i = 0; i < e->nr_fields; i++)
		free(e->fields[i].name);
	free(e->fields);
	free(e->system);
	free(e->name);
	*e = (struct event_format){ 0 };
}

static int add_field(struct event_format *e, struct field f)
{
	struct field *fields = grow_by_one(e->fields, e->nr_fields, sizeof(*fields));

	if (!fields)
		return -ENOMEM;
	e->fields = fields;
	fields[e->nr_fields++] = f;
	if (f.offset + f.size > e->size)
		e->size = f.offset + f.size;
	return 0;
}

/* The first byte that a format text cannot hold, or NULL. */
static const char *bad_byte(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = text[i];

		if ((c < ' ' && c != '\n' && c != '\t') || c > '~')
			return text + i;
	}
	return NULL;
}

/* The reason why a line is damage, NULL when it is none; *err is -ENOMEM or 0. */
static const char *parse_line(struct event_format *e, struct line l, bool *has_id, int *err)
{
	struct line body = l;
	struct field f;
	int ret;

	trim(&body);
	if (starts(&l, "name:") && !e->name) {
		advance(&body, strlen("name:"));
		trim(&body);
		e->name = strndup(body.start, body.len);
		*err = e->name ? 0 : -ENOMEM;
	} else if (starts(&l, "ID:")) {
		advance(&body, strlen("ID:"));
		*has_id = parse_number(body, &e->id);
		return *has_id ? NULL : "the event's ID is no number";
	} else if (starts(&body, "field")) {
		ret = parse_field(l, &f);
		if (!ret)
			return "a field line does not parse";
		*err = ret < 0 ? ret : add_field(e, f);
		if (*err)
			free(f.name);
	}
	return NULL;
}

/* Returns 1 parsed, 0 damaged (noted), -ENOMEM. */
static int parse_format(struct event_format *e, const struct trace_text *t, struct damages *d)
{
	const char *pos = t->text, *end = t->text + t->size;
	const char *bad = bad_byte(t->text, t->size);
	const char *reason = NULL;
	struct line l = { .start = t->text };
	bool has_id = false;
	int err = 0;

	if (bad) {
		damage_add(d, t->offset + (bad - t->text),
			   "a format text of '%.32s' holds a byte 0x%02x", t->system,
			   (unsigned char)*bad);
		return 0;
	}
	e->system = strdup(t->system);
	if (!e->system)
		return -ENOMEM;
	while (!err && !reason && next_line(&pos, end, &l) && !starts(&l, "print fmt:"))
		reason = parse_line(e, l, &has_id, &err);
	if (err)
		return err;
	if (!reason && (!e->name || !has_id))
		reason = "a format text has no name or no ID";
	if (reason) {
		damage_add(d, t->offset + (l.start - t->text), "%s, in '%.32s'", reason,
			   e->name ? e->name : t->system);
		return 0;
	}
	return 1;
}

int formats_parse(struct formats *f, const struct trace_text *texts, size_t nr, struct damages *d)
{
	*f = (struct formats){ .list = calloc(nr ? nr : 1, sizeof(*f->list)) };
	if (!f->list)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct event_format *e = &f->list[f->nr];
		int ret = parse_format(e, &texts[i], d);

		if (ret == 1)
			f->nr++;
		else
			format_release(e);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static bool layout_field(struct page_layout *l, const struct field *f)
{
	if (!strcmp(f->name, "timestamp"))
		return !f->offset && f->size == 8;
	if (!strcmp(f->name, "commit")) {
		l->commit_offset = f->offset;
		l->commit_size = f->size;
		return f->offset == 8 && (f->size == 4 || f->size == 8);
	}
	if (!strcmp(f->name, "data")) {
		l->data_offset = f->offset;
		l->page_size = f->offset + f->size;
		return f->offset >= 12 && f->size >= 16;
	}
	return true;
}

int page_layout_parse(struct page_layout *l, const struct trace_text *text, struct damages *d)
{
	struct event_format e = { 0 };
	const char *pos = text->text, *end = text->text + text->size;
	const char *bad = bad_byte(text->text, text->size);
	struct line line;
	bool has_id, good = !bad;
	int err = 0;

	*l = (struct page_layout){ 0 };
	while (good && !err && next_line(&pos, end, &line))
		good = !parse_line(&e, line, &has_id, &err);
	for (size_t i = 0; i < e.nr_fields && good; i++)
		good = layout_field(l, &e.fields[i]);
	good = good && l->commit_size && l->page_size && l->data_offset >= 8 + l->commit_size;
	if (!good && !err) {
		damage_add(d, text->offset + (bad ? bad - text->text : 0),
			   "header_page does not parse");
		err = -EBADMSG;
	}
	format_release(&e);
	return err;
}

const struct event_format *formats_find(const struct formats *f, const char *system,
					const char *name)
{
	for (size_t i = 0; i < f->nr; i++) {
		const struct event_format *e = &f->list[i];

		if (!strcmp(e->name, name) && (!system || !strcmp(e->system, system)))
			return e;
	}
	return NULL;
}

const struct field *format_field(const struct event_format *e, const char *name)
{
	for (size_t i = 0; i < e->nr_fields; i++) {
		if (!strcmp(e->fields[i].name, name))
			return &e->fields[i];
	}
	return NULL;
}

struct number format_number(const struct event_format *e, const char *const *names, bool big_endian)
{
	for (; *names; names++) {
		const struct field *f = format_field(e, *names);

		if (f && f->kind == FIELD_NUMBER && f->offset + f->size >= 8 &&
		    f->offset <= UINT16_MAX)
			return (struct number){ .at = f->offset + f->size - 8,
						.shift = 64 - 8 * f->size,
						.is_there = true,
						.is_plain = !big_endian &&
							    (!f->is_signed || f->size >= 4),
						.is_signed = f->is_signed,
						.big_endian = big_endian };
	}
	return (struct number){ 0 };
}

uint64_t number_value_any(struct number n, const uint8_t *data)
{
	uint64_t v;

	if (!n.is_there)
		return 0;
	v = read_u64(data + n.at, n.big_endian);
	if (n.big_endian)
		v <<= n.shift;
	return n.is_signed ? (uint64_t)((int64_t)v >> n.shift) : v >> n.shift;
}

void formats_release(struct formats *f)
{
	for (size_t i = 0; i < f->nr; i++)
		format_release(&f->list[i]);
	free(f->list);
	*f = (struct formats){ 0 };
}
