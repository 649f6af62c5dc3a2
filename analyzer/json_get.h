/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking a JSON document apart: each value is asked for by its type, and what is wrong is said with
 * its place in the document. Functions that return int give 0, -EINVAL with the error set, or
 * -ENOMEM.
 */
#ifndef JSON_GET_H
#define JSON_GET_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a document was refused: one line without the file's name and without a newline. */
struct json_error {
	char text[256];
};

/* A place in the document, linked up to its root, which has neither @up nor @key. */
struct json_place {
	const struct json_place *up;
	const char *key; /* NULL: element @index */
	size_t index;
	struct json_error *error;
};

struct json_place json_member(const struct json_place *up, const char *key);
struct json_place json_element(const struct json_place *up, size_t index);

/* Say what is wrong @at a place. Returns -EINVAL. */
int json_wrong(const struct json_place *at, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Member @key of @object, which is @at, when it has that @type. */
int json_get(const struct json_place *at, struct json_object *object, const char *key,
	     enum json_type type, struct json_object **value);

/* Whether the member is there and null. */
bool json_is_null(struct json_object *object, const char *key);

/* @value as a count: an integer, not negative. */
int json_as_u64(const struct json_place *at, struct json_object *value, uint64_t *out);

int json_get_u64(const struct json_place *at, struct json_object *object, const char *key,
		 uint64_t *out);

/* Null is 0. */
int json_get_u32(const struct json_place *at, struct json_object *object, const char *key,
		 uint32_t *out);

/* A copy for the caller to free(); null or no such member leaves *out alone. */
int json_get_text(const struct json_place *at, struct json_object *object, const char *key,
		  char **out);

int json_get_bool(const struct json_place *at, struct json_object *object, const char *key,
		  bool *out);

/* The index of a string in @names, some of which may be NULL; null is @null when that is < @nr. */
int json_get_word(const struct json_place *at, struct json_object *object, const char *key,
		  const char *const *names, unsigned int nr, uint8_t null, uint8_t *out);

/*
 * Parse the one JSON object that @path holds into *root, for the caller to json_object_put() even
 * when it fails. Errors of the text have their byte offset; other errors are -errno and set no
 * text.
 */
int json_read_file(const char *path, struct json_object **root, struct json_error *error);

#endif
