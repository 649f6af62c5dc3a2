/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing JSON values and reals, and knowing whether a stream took what was written. */
#ifndef JSON_OUT_H
#define JSON_OUT_H

#include <stddef.h>
#include <stdio.h>

struct json_object;

#define REPORT_SCHEMA "fault-analyze/1"

#define REAL_MAX 40 /* bytes of a real as text */

/* @value with as few digits as come back the same, and always a point or an exponent. */
void real_text(char *buf, size_t size, double value);

/* Write one JSON value without spaces and give it back. Returns 0 or -errno; -ENOMEM for NULL. */
int json_write(FILE *out, struct json_object *value);

/*
 * What each of our documents begins with, its schema and our version: as an object to add to, or
 * NULL; written to @out, with the object left open for the next member. That returns 0 or -errno.
 */
struct json_object *json_document(void);
int json_begin(FILE *out);

/* As json_write(), for a value that is all of a document: it ends its line, and @out is flushed. */
int json_write_document(FILE *out, struct json_object *value);

/* A JSON string of @text, NULL for NULL; bytes that are no UTF-8 become U+FFFD. */
struct json_object *json_text(const char *text);

/* A JSON real as short as it comes back the same; NULL for NAN. */
struct json_object *json_real(double value);

/* 0, or -errno of the write to @out that has just failed. */
int output_error(FILE *out);

/* Flush @out. Returns 0, or -errno when not all that was written has arrived. */
int output_flush(FILE *out);

#endif
