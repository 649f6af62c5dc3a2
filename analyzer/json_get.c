// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads JSON text and takes members out of it, each checked for its type. */
#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_get.h"
#include "stream.h"

#define MAX_DEPTH  12 /* a report needs 9 */
#define READ_BYTES 65536

static size_t print_place(const struct json_place *at, char *buf, size_t size)
{
	size_t used = at->up ? print_place(at->up, buf, size) : 0;
	int n;

	if (at->key)
		n = snprintf(buf + used, size - used, "%s%s", used ? "." : "", at->key);
	else if (at->up)
		n = snprintf(buf + used, size - used, "[%zu]", at->index);
	else
		n = 0;
	used += n;
	return used < size ? used : size - 1;
}

int json_wrong(const struct json_place *at, const char *fmt, ...)
{
	char place[160] = "", what[80];
	va_list ap;

	print_place(at, place, sizeof(place));
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	snprintf(at->error->text, sizeof(at->error->text), "%s: %s", place, what);
	return -EINVAL;
}

struct json_place json_member(const struct json_place *up, const char *key)
{
	return (struct json_place){ .up = up, .key = key, .error = up->error };
}

struct json_place json_element(const struct json_place *up, size_t index)
{
	return (struct json_place){ .up = up, .index = index, .error = up->error };
}

int json_get(const struct json_place *at, struct json_object *object, const char *key,
	     enum json_type type, struct json_object **value)
{
	struct json_place here = json_member(at, key);

	if (!json_object_object_get_ex(object, key, value))
		return json_wrong(&here, "missing");
	if (!json_object_is_type(*value, type))
		return json_wrong(&here, "is %s, not %s",
				  json_type_to_name(json_object_get_type(*value)),
				  json_type_to_name(type));
	return 0;
}

bool json_is_null(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) && !value;
}

int json_as_u64(const struct json_place *at, struct json_object *value, uint64_t *out)
{
	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0)
		return json_wrong(at, "is not a count");
	*out = json_object_get_uint64(value);
	return 0;
}

int json_get_u64(const struct json_place *at, struct json_object *object, const char *key,
		 uint64_t *out)
{
	struct json_place here = json_member(at, key);
	struct json_object *value;
	int err = json_get(at, object, key, json_type_int, &value);

	return err ? err : json_as_u64(&here, value, out);
}

int json_get_u32(const struct json_place *at, struct json_object *object, const char *key,
		 uint32_t *out)
{
	struct json_place here = json_member(at, key);
	uint64_t value = 0;
	int err;

	if (!json_is_null(object, key)) {
		err = json_get_u64(at, object, key, &value);
		if (err)
			return err;
	}
	if (value > UINT32_MAX)
		return json_wrong(&here, "is too large");
	*out = value;
	return 0;
}

int json_get_text(const struct json_place *at, struct json_object *object, const char *key,
		  char **out)
{
	struct json_object *value;
	int err;

	if (!json_object_object_get_ex(object, key, &value) || !value)
		return 0;
	err = json_get(at, object, key, json_type_string, &value);
	if (err)
		return err;
	*out = strdup(json_object_get_string(value));
	return *out ? 0 : -ENOMEM;
}

int json_get_bool(const struct json_place *at, struct json_object *object, const char *key,
		  bool *out)
{
	struct json_object *value;
	int err = json_get(at, object, key, json_type_boolean, &value);

	if (!err)
		*out = json_object_get_boolean(value);
	return err;
}

int json_get_word(const struct json_place *at, struct json_object *object, const char *key,
		  const char *const *names, unsigned int nr, uint8_t null, uint8_t *out)
{
	struct json_place here = json_member(at, key);
	struct json_object *value;
	const char *word;
	int err;

	*out = null;
	if (null < nr && json_is_null(object, key))
		return 0;
	err = json_get(at, object, key, json_type_string, &value);
	if (err)
		return err;
	word = json_object_get_string(value);
	for (unsigned int i = 0; i < nr; i++) {
		if (names[i] && !strcmp(word, names[i])) {
			*out = i;
			return 0;
		}
	}
	return json_wrong(&here, "no such %s: %.40s", key, word);
}

static int refuse(struct json_error *error, const char *what, unsigned long long offset,
		  const char *why)
{
	snprintf(error->text, sizeof(error->text), "%s at byte %llu%s%s", what, offset,
		 *why ? ": " : "", why);
	return -EINVAL;
}

/* Give the @nr bytes at @offset of the text to @tokener; *root once they end the value. */
static int parse_piece(struct json_tokener *tokener, const char *buf, size_t nr,
		       unsigned long long offset, struct json_object **root,
		       struct json_error *error)
{
	enum json_tokener_error state;
	size_t used = 0;

	if (!*root) {
		*root = json_tokener_parse_ex(tokener, buf, nr);
		used = json_tokener_get_parse_end(tokener);
		state = json_tokener_get_error(tokener);
		if (!*root && state != json_tokener_continue)
			return refuse(error, "no JSON", offset + used,
				      json_tokener_error_desc(state));
	}
	for (; *root && used < nr; used++)
		if (!strchr(" \t\r\n", buf[used]) || !buf[used])
			return refuse(error, "more than one JSON value", offset + used, "");
	return 0;
}

static int parse(FILE *in, struct json_tokener *tokener, struct json_object **root,
		 struct json_error *error)
{
	unsigned long long offset = 0;
	char *buf = malloc(READ_BYTES);
	int err = buf ? 0 : -ENOMEM;
	size_t nr;

	errno = 0;
	while (!err && (nr = fread(buf, 1, READ_BYTES, in)) > 0) {
		err = parse_piece(tokener, buf, nr, offset, root, error);
		offset += nr;
	}
	if (!err && ferror(in))
		err = errno ? -errno : -EIO;
	if (!err && !*root)
		err = refuse(error, "JSON is cut", offset, "");
	free(buf);
	return err;
}

int json_read_file(const char *path, struct json_object **root, struct json_error *error)
{
	FILE *in = stream_open(path);
	struct json_tokener *tokener;
	int err;

	if (!in)
		return -errno;
	tokener = json_tokener_new_ex(MAX_DEPTH);
	err = tokener ? 0 : -ENOMEM;
	if (!err) {
		json_tokener_set_flags(tokener, JSON_TOKENER_STRICT |
							JSON_TOKENER_ALLOW_TRAILING_CHARS |
							JSON_TOKENER_VALIDATE_UTF8);
		err = parse(in, tokener, root, error);
	}
	if (!err && !json_object_is_type(*root, json_type_object)) {
		snprintf(error->text, sizeof(error->text), "is no JSON object");
		err = -EINVAL;
	}
	json_tokener_free(tokener);
	stream_close(in);
	return err;
}
