/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libtracecmd and libtraceevent make of a recording: the judge of our own reader and writer.
 * A whole recording is held in memory. Damaged files can crash these libraries: see oracle_try().
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracecmd_input;

struct oracle_field {
	const char *name;
	unsigned int offset, size; /* bytes; size 0 for an array that ends the record */
	bool is_signed;
	bool is_numeric; /* one number of 1, 2, 4 or 8 bytes: no array, no string */
};

struct oracle_event {
	unsigned int id;
	const char *system, *name;
	struct oracle_field *fields; /* the common ones first */
	size_t nr_fields;
};

struct oracle_record {
	uint64_t ts;	   /* all corrections of the file's options applied */
	int64_t missed;	   /* events lost before this one, -1 some, 0 none */
	unsigned int id;   /* common_type */
	unsigned int size; /* bytes, up to 3 more than the event's own */
	const uint8_t *data;
};

/* The records of one CPU of one buffer in file order. Buffer 0 is the top one. */
struct oracle_cpu {
	unsigned int buffer, cpu;
	struct oracle_record *records;
	size_t nr_records;
};

struct oracle_buffer {
	const char *name; /* "" for the top one */
	struct tracecmd_input *handle;
};

struct oracle {
	struct oracle_event *events; /* sorted by id */
	size_t nr_events;
	struct oracle_cpu *cpus; /* those with records */
	size_t nr_cpus;
	struct oracle_buffer *buffers;
	size_t nr_buffers;
	void *tep;
	void *arena; /* owns the records' data */
};

/* Reads a file. Returns 0, or -errno: -EBADF where libtracecmd refuses it. */
int oracle_open(struct oracle *o, const char *path);
void oracle_close(struct oracle *o);

/* The event with an id, the CPU of a buffer; NULL if there is none. */
const struct oracle_event *oracle_event(const struct oracle *o, unsigned int id);
const struct oracle_cpu *oracle_cpu(const struct oracle *o, unsigned int buffer, unsigned int cpu);

/*
 * Reads a numeric field from a record, sign-extended to 64 bits if signed. Returns false, and
 * *value 0, where the field does not lie inside the record.
 */
bool oracle_number(const struct oracle *o, const struct oracle_record *record,
		   const struct oracle_field *field, int64_t *value);

/*
 * Reads a file in a child process. Returns 0 if that went well, oracle_open()'s error, or
 * -ECHILD if the libraries crashed on it.
 */
int oracle_try(const char *path);

#endif
