/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A column: what a figure is called, and the function that takes it out of a row. One array of them
 * gives text, TSV, CSV, HTML and JSON. Knows nothing about faults.
 */
#ifndef COLUMN_H
#define COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_object;

enum format {
	FORMAT_TEXT,
	FORMAT_TSV,
	FORMAT_CSV,
	FORMAT_JSON,
	FORMAT_HTML /* not for the command line: --html names a file */
};

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

#define CELL_MAX 64 /* bytes of a figure as text */

/* The cell as text: in @buf, or what it points to. */
const char *cell_text(const struct cell *cell, enum format format, char buf[CELL_MAX]);

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

#endif
