/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event ids and fields, from the format texts that the traced kernel printed
 * (events/SYSTEM/NAME/format), and reading a field's value from an event's data. Print formats are
 * not looked at.
 */
#ifndef FORMATS_H
#define FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "damage.h"
#include "endian_read.h"
#include "tracefile.h"

enum field_kind {
	FIELD_NUMBER,	   /* 1, 2, 4 or 8 bytes */
	FIELD_ARRAY,	   /* or a struct: bytes */
	FIELD_DYNAMIC,	   /* __data_loc: 16 bits offset in the event, 16 bits size */
	FIELD_DYNAMIC_REL, /* __rel_loc: offset counts from behind the field */
};

struct field {
	const char *name;
	uint32_t offset, size; /* bytes, in the event's data */
	enum field_kind kind;
	bool is_signed;
};

struct event_format {
	const char *system; /* of the text, whose owner's it stays */
	const char *name;
	uint32_t id;
	const struct field *fields;
	size_t nr_fields;
	uint32_t size; /* of an event's fixed part: no shorter event is one */
};

/*
 * All zero is empty; formats_release() frees all. A kernel has 1,500 events of 15,000 fields: they
 * and their names have memory in common, which is as large as the texts allow.
 */
struct formats {
	struct event_format *list; /* owned, as are the others */
	size_t nr;
	struct field *fields; /* of all events, those of each together */
	size_t nr_fields;
	char *names; /* each with its NUL */
	size_t names_size;
};

/* Where a sub-buffer has its parts: events/header_page. */
struct page_layout {
	uint32_t commit_offset, commit_size; /* 4 or 8: the kernel's long */
	uint32_t data_offset;
	uint32_t page_size; /* data_offset and the data's size */
};

/*
 * Parse all texts; one that is damaged is noted in @d and left out. 0 or -ENOMEM.
 */
int formats_parse(struct formats *f, const struct trace_text *texts, size_t nr, struct damages *d);

/* Parse header_page. 0, -EBADMSG (noted in @d) or -ENOMEM. */
int page_layout_parse(struct page_layout *l, const struct trace_text *text, struct damages *d);

/*
 * A number in an event, made to be read fast: the 8 bytes that end with it hold it in their upper
 * bits. All zero: the event has no such number.
 */
struct number {
	uint16_t at;   /* of the 8 bytes */
	uint8_t shift; /* 64 minus its bits */
	bool is_there : 1;
	bool is_plain : 1; /* there, of this machine's byte order, and nothing is to be extended */
	bool is_signed : 1;
	bool big_endian : 1;
};

/* NULL when the recording has no such event, or field; @system NULL takes any. */
const struct event_format *formats_find(const struct formats *f, const char *system,
					const char *name);
const struct field *format_field(const struct event_format *e, const char *name);

/*
 * The first of @names, which NULL ends, that is a FIELD_NUMBER of @e. None may end in front of the
 * eighth byte: there stands what all events have in common.
 */
struct number format_number(const struct event_format *e, const char *const *names,
			    bool big_endian);

void formats_release(struct formats *f);

/* The value of a FIELD_NUMBER in an event of at least the format's size, sign-extended. */
static inline uint64_t field_value(const struct field *f, const uint8_t *data, bool big_endian)
{
	const uint8_t *p = data + f->offset;

	switch (f->size) {
	case 8:
		return read_u64(p, big_endian);
	case 4: {
		uint32_t v = read_u32(p, big_endian);

		return f->is_signed ? (uint64_t)(int32_t)v : v;
	}
	case 2: {
		uint16_t v = read_u16(p, big_endian);

		return f->is_signed ? (uint64_t)(int16_t)v : v;
	}
	default:
		return f->is_signed ? (uint64_t)(int8_t)*p : *p;
	}
}

/* What number_value() does where the number is not plain. */
uint64_t number_value_any(struct number n, const uint8_t *data);

/* The value of a number that is plain, in an event of at least the format's size. */
static inline uint64_t number_plain(struct number n, const uint8_t *data)
{
	return read_u64(data + n.at, false) >> n.shift;
}

/* The same of one of 64 bits. */
static inline uint64_t number_word(struct number n, const uint8_t *data)
{
	return read_u64(data + n.at, false);
}

/*
 * The value of a number in an event of at least the format's size; 0: not there. Sign-extended to
 * 32 bits, which is where all numbers of less than 64 end up.
 */
static inline uint64_t number_value(struct number n, const uint8_t *data)
{
	return likely(n.is_plain) ? number_plain(n, data) : number_value_any(n, data);
}

#endif
