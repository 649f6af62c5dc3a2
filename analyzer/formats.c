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

#define MAX_FIELD_SIZE (8u << 20) /* the largest sub-buffer: 128 pages of 64K */
#define SHORTEST_FIELD "field:a;offset:0;size:1;"

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

static inline bool starts(const struct line *l, const char *prefix)
{
	size_t n = strlen(prefix);

	return l->len >= n && !memcmp(l->start, prefix, n);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline void trim(struct line *l)
{
	const char *start = l->start, *end = start + l->len;

	while (start < end && is_blank(*start))
		start++;
	while (start < end && is_blank(end[-1]))
		end--;
	*l = (struct line){ .start = start, .len = end - start };
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

/* A name of its own, which is a part of a text that there is room for. */
static const char *add_name(struct formats *f, const char *name, size_t len)
{
	char *copy = memcpy(f->names + f->names_size, name, len);

	copy[len] = '\0';
	f->names_size += len + 1;
	return copy;
}

/* The name in a C declaration: the last identifier in front of array brackets; NULL: none. */
static const char *declared_name(struct formats *f, struct line decl)
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
	return start == end ? NULL : add_name(f, decl.start + start, end - start);
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

/* A field line becomes one more of @e, whose fields are @f's last. False: it does not parse. */
static bool parse_field(struct formats *f, struct event_format *e, struct line l)
{
	struct field *field = &f->fields[f->nr_fields];
	struct line decl;
	uint32_t sign = 0;

	trim(&l);
	advance(&l, strlen("field"));
	trim(&l);
	if (starts(&l, "special"))
		advance(&l, strlen("special"));
	if (!starts(&l, ":"))
		return false;
	advance(&l, 1);
	if (!next_piece(&l, &decl) || !keyed_number(&l, "offset:", &field->offset) ||
	    !keyed_number(&l, "size:", &field->size))
		return false;
	trim(&l);
	if (l.len && !keyed_number(&l, "signed:", &sign))
		return false;
	trim(&l);
	if (l.len || field->offset > MAX_FIELD_SIZE || field->size > MAX_FIELD_SIZE)
		return false;
	field->is_signed = sign;
	field->kind = declared_kind(&decl, field->size);
	field->name = declared_name(f, decl);
	if (!field->name)
		return false;
	if (field->offset + field->size > e->size)
		e->size = field->offset + field->size;
	f->nr_fields++;
	e->nr_fields++;
	return true;
}

static unsigned char is_bad(unsigned char c)
{
	return ((unsigned char)(c - ' ') > '~' - ' ') & (c != '\n') & (c != '\t');
}

/* The first byte that a format text cannot hold, or NULL. */
static const char *bad_byte(const char *text, size_t size)
{
	size_t i = 0;

	/* without a jump for each byte, compilers look at many at once */
	for (unsigned char bad = 0; !bad && size - i >= 64; i += bad ? 0 : 64) {
		for (int j = 0; j < 64; j++)
			bad |= is_bad(text[i + j]);
	}
	for (; i < size; i++) {
		if (is_bad(text[i]))
			return text + i;
	}
	return NULL;
}

/* Take in a line of @e. The reason why it is damage, NULL when it is none. */
static const char *parse_line(struct formats *f, struct event_format *e, struct line l,
			      bool *has_id)
{
	struct line body = l;

	trim(&body);
	if (starts(&l, "name:") && !e->name) {
		advance(&body, strlen("name:"));
		trim(&body);
		e->name = add_name(f, body.start, body.len);
	} else if (starts(&l, "ID:")) {
		advance(&body, strlen("ID:"));
		*has_id = parse_number(body, &e->id);
		return *has_id ? NULL : "the event's ID is no number";
	} else if (starts(&body, "field") && !parse_field(f, e, l)) {
		return "a field line does not parse";
	}
	return NULL;
}

/* False: damaged, which was noted. */
static bool parse_format(struct formats *f, struct event_format *e, const struct trace_text *t,
			 struct damages *d)
{
	const char *pos = t->text, *end = t->text + t->size;
	const char *bad = bad_byte(t->text, t->size);
	const char *reason = NULL;
	struct line l = { .start = t->text };
	bool has_id = false;

	if (bad) {
		damage_add(d, t->offset + (bad - t->text),
			   "a format text of '%.32s' holds a byte 0x%02x", t->system,
			   (unsigned char)*bad);
		return false;
	}
	*e = (struct event_format){ .system = t->system, .fields = &f->fields[f->nr_fields] };
	while (!reason && next_line(&pos, end, &l) && !starts(&l, "print fmt:"))
		reason = parse_line(f, e, l, &has_id);
	if (!reason && (!e->name || !has_id))
		reason = "a format text has no name or no ID";
	if (reason)
		damage_add(d, t->offset + (l.start - t->text), "%s, in '%.32s'", reason,
			   e->name ? e->name : t->system);
	return !reason;
}

/* Room for @nr events, and for the fields and names that texts of @size bytes may hold. */
static int make_room(struct formats *f, size_t nr, uint64_t size)
{
	*f = (struct formats){ .list = calloc(nr + 1, sizeof(*f->list)),
			       .fields = reallocarray(NULL, size / strlen(SHORTEST_FIELD) + 1,
						      sizeof(*f->fields)),
			       .names = malloc(size + 1) };
	return f->list && f->fields && f->names ? 0 : -ENOMEM;
}

int formats_parse(struct formats *f, const struct trace_text *texts, size_t nr, struct damages *d)
{
	uint64_t size = 0;
	int err;

	for (size_t i = 0; i < nr; i++)
		size += texts[i].size;
	err = make_room(f, nr, size);
	for (size_t i = 0; i < nr && !err; i++)
		f->nr += parse_format(f, &f->list[f->nr], &texts[i], d);
	return err;
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
	struct formats f;
	bool has_id, good = !bad;
	int err = make_room(&f, 0, text->size);

	*l = (struct page_layout){ 0 };
	while (good && !err && next_line(&pos, end, &line))
		good = !parse_line(&f, &e, line, &has_id);
	for (size_t i = 0; i < e.nr_fields && good; i++)
		good = layout_field(l, &f.fields[i]);
	good = good && l->commit_size && l->page_size && l->data_offset >= 8 + l->commit_size;
	if (!good && !err) {
		damage_add(d, text->offset + (bad ? bad - text->text : 0),
			   "header_page does not parse");
		err = -EBADMSG;
	}
	formats_release(&f);
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
	free(f->list);
	free(f->fields);
	free(f->names);
	*f = (struct formats){ 0 };
}
