// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON values that json-c alone would not get right, and whether a stream took what was written. */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_out.h"
#include "version.h"

int output_error(FILE *out)
{
	if (!ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}

int output_flush(FILE *out)
{
	errno = 0;
	if (fflush(out))
		return errno ? -errno : -EIO;
	return output_error(out);
}

void real_text(char *buf, size_t size, double value)
{
	int digits = 15;

	do {
		snprintf(buf, size, "%.*g", digits, value);
	} while (strtod(buf, NULL) != value && ++digits <= 17);
	if (!strpbrk(buf, ".e"))
		strncat(buf, ".0", size - strlen(buf) - 1);
}

/* The length of the UTF-8 sequence at @s (RFC 3629, table 3-7 of Unicode), 0 when it is none. */
static size_t utf8_length(const unsigned char *s)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t length;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0; /* no overlong forms */
	else if (s[0] == 0xed)
		high = 0x9f; /* no surrogates */
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f; /* nothing past U+10FFFF */
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

struct json_object *json_text(const char *text)
{
	struct json_object *json;
	char *clean, *end;

	if (!text)
		return NULL;
	clean = end = malloc(3 * strlen(text) + 1);
	if (!clean)
		return NULL;
	while (*text) {
		size_t length = utf8_length((const unsigned char *)text);

		if (length) {
			memcpy(end, text, length);
			end += length;
			text += length;
		} else {
			memcpy(end, "\xef\xbf\xbd", 3); /* U+FFFD */
			end += 3;
			text++;
		}
	}
	*end = '\0';
	json = json_object_new_string(clean);
	free(clean);
	return json;
}

struct json_object *json_real(double value)
{
	char buf[REAL_MAX];

	if (!isfinite(value))
		return NULL;
	real_text(buf, sizeof(buf), value);
	return json_object_new_double_s(value, buf);
}

int json_write(FILE *out, struct json_object *value)
{
	const char *text;

	if (!value)
		return -ENOMEM;
	text = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN |
							     JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		fputs(text, out);
	json_object_put(value);
	return text ? output_error(out) : -ENOMEM;
}

struct json_object *json_document(void)
{
	struct json_object *root = json_object_new_object();

	if (!root)
		return NULL;
	json_object_object_add(root, "schema", json_object_new_string(REPORT_SCHEMA));
	json_object_object_add(root, "tool_version", json_text(tool_version));
	return root;
}

int json_begin(FILE *out)
{
	fputs("{\"schema\":\"" REPORT_SCHEMA "\",\n\"tool_version\":", out);
	return json_write(out, json_text(tool_version));
}

int json_write_document(FILE *out, struct json_object *value)
{
	int err = json_write(out, value);

	if (err)
		return err;
	putc('\n', out);
	return output_flush(out);
}
