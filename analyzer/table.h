/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables as text, TSV and CSV, and rows as JSON, all from one array of columns. Knows nothing about
 * faults: a column's function takes a figure out of a row, this room writes it.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_object;

enum format {
	FORMAT_TEXT,
	FORMAT_TSV,
	FORMAT_CSV,
	FORMAT_JSON
};

/* The format called @name, or -EINVAL. */
int format_parse(const char *name);

/* One figure. CELL_UNKNOWN is "n/a" in tables and null in JSON. */
struct cell {
	enum {
		CELL_UNKNOWN,
		CELL_TEXT,
		CELL_COUNT,
		CELL_REAL,
		CELL_HEX,
		CELL_BOOL,
		CELL_SIZE,
		CELL_STAMP
	} type;
	union {
		const char *text;
		uint64_t count; /* the rest; _HEX is 0x…; text shows bytes of _SIZE as 64K, ns of
				 * _STAMP as seconds */
		double real;	/* NAN is unknown */
		bool yes;
	};
};

#define COLUMN_TIME	 (1u << 0) /* in the row's time unit: "ns" in the key, else "ticks" */
#define COLUMN_JSON_ONLY (1u << 1)
#define COLUMN_NO_JSON	 (1u << 2)
#define COLUMN_LEFT	 (1u << 3) /* aligned left in text: words */
#define COLUMN_USER_BITS 8	   /* flags from this bit on are the caller's */

/*
 * A column. Its key is its heading in TSV and CSV, its name on the command line and its path in
 * JSON, where "a.b" is member b of object a.
 */
struct column {
	const char *key;
	const char *head; /* heading in text */
	const char *help;
	unsigned int flags;
	struct cell (*get)(const void *row, const struct column *column);
	struct json_object *(*json)(const void *row,
				    const struct column *column); /* or NULL: get */
	size_t offset;						  /* for get and json to use */
	int which;						  /* likewise */
};

/*
 * Check a comma-separated list of keys ("latency_ns" stands for all of latency_ns.*; "all").
 * Returns NULL, or the first name in @list that is no column.
 */
const char *columns_unknown(const struct column *columns, size_t nr, const char *list);

/*
 * The columns that such a list means, in its order, into @out with room for @max of them. Returns
 * how many there are.
 */
size_t columns_listed(const struct column *columns, size_t nr, const char *list,
		      const struct column **out, size_t max);

#define KEY_MAX 64 /* bytes of a key */

/* The key of @c for times in ns or in ticks: "latency_ns.p50" or "latency_ticks.p50". */
void column_key(char out[KEY_MAX], const struct column *c, bool ns);

/* Print key and help of each column, for --help. */
void columns_help(FILE *out, const struct column *columns, size_t nr);

/*
 * The JSON object of @row from the columns that have a flag of @wanted (0: all); NULL when out of
 * memory. @ns: its times are ns, else ticks: the ns keys are null then.
 */
struct json_object *columns_json(const struct column *columns, size_t nr, unsigned int wanted,
				 const void *row, bool ns);

/* Write @text for a terminal or a TSV field: control characters as \xNN. */
void text_write(FILE *out, const char *text);

struct table;

/*
 * Start a table in FORMAT_TEXT, _TSV or _CSV on @out. @list: columns to show in its order, NULL for
 * all. @ns, @ticks: which time units the rows will have; keys follow. Returns NULL when out of
 * memory or when @list names no column.
 */
struct table *table_open(FILE *out, enum format format, const struct column *columns, size_t nr,
			 const char *list, bool ns, bool ticks);

/* Add @row, whose times are ns or ticks. Returns 0 or -errno of memory or output. */
int table_row(struct table *t, const void *row, bool ns);

/* Print what is left and free @t (NULL is fine). Returns 0 or -errno. */
int table_close(struct table *t);

#endif
