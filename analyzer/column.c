// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures as text and as JSON, and lists of the columns that they stand in. */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "column.h"
#include "json_out.h"

/* Cells. */

/* Four significant digits, but never fewer than all digits before the point. */
static void readable_real(char *buf, size_t size, double value)
{
	snprintf(buf, size, fabs(value) >= 1000 ? "%.1f" : "%.4g", value);
	if (!strpbrk(buf, ".e"))
		strncat(buf, ".0", size - strlen(buf) - 1);
}

static void readable_size(char *buf, size_t size, uint64_t bytes)
{
	static const char units[] = "\0KMGTPE";
	unsigned int unit = 0;

	while (bytes && bytes % 1024 == 0 && units[unit + 1]) {
		bytes /= 1024;
		unit++;
	}
	snprintf(buf, size, "%llu%.1s", (unsigned long long)bytes, &units[unit]);
}

static void readable_count(char *buf, size_t size, const struct cell *cell)
{
	unsigned long long count = cell->count;

	if (cell->type == CELL_SIZE)
		readable_size(buf, size, count);
	else
		snprintf(buf, size, "%llu.%09llu", count / 1000000000, count % 1000000000);
}

static bool cell_unknown(const struct cell *cell)
{
	return cell->type == CELL_UNKNOWN || (cell->type == CELL_TEXT && !cell->text) ||
	       (cell->type == CELL_REAL && !isfinite(cell->real));
}

/* Whether people read it, and not programs. */
static bool is_readable(enum format format)
{
	return format == FORMAT_TEXT || format == FORMAT_HTML;
}

const char *cell_text(const struct cell *cell, enum format format, char buf[CELL_MAX])
{
	if (cell_unknown(cell))
		return "n/a";
	switch (cell->type) {
	case CELL_TEXT:
		return cell->text;
	case CELL_BOOL:
		return cell->yes ? "yes" : "no";
	case CELL_HEX:
		snprintf(buf, CELL_MAX, "0x%llx", (unsigned long long)cell->count);
		break;
	case CELL_REAL:
		if (is_readable(format))
			readable_real(buf, CELL_MAX, cell->real);
		else
			real_text(buf, CELL_MAX, cell->real);
		break;
	case CELL_SIZE:
	case CELL_STAMP:
		if (is_readable(format)) {
			readable_count(buf, CELL_MAX, cell);
			break;
		}
		/* fall through */
	default:
		snprintf(buf, CELL_MAX, "%llu", (unsigned long long)cell->count);
	}
	return buf;
}

/* JSON. */

static struct json_object *cell_json(const struct cell *cell)
{
	char buf[CELL_MAX];

	if (cell_unknown(cell))
		return NULL;
	switch (cell->type) {
	case CELL_TEXT:
		return json_text(cell->text);
	case CELL_REAL:
		return json_real(cell->real);
	case CELL_BOOL:
		return json_object_new_boolean(cell->yes);
	case CELL_HEX:
		return json_object_new_string(cell_text(cell, FORMAT_JSON, buf));
	default:
		return json_object_new_uint64(cell->count);
	}
}

/* Keys and lists of keys. */

static bool at_word_end(char c)
{
	return !c || c == '_' || c == '.';
}

/* The key of a column whose times are ticks: "latency_ns.p50" becomes "latency_ticks.p50". */
static void ticks_key(char out[KEY_MAX], const char *key)
{
	const char *ns = key;

	while ((ns = strstr(ns, "ns")) &&
	       !((ns == key || at_word_end(ns[-1])) && at_word_end(ns[2])))
		ns++;
	if (ns)
		snprintf(out, KEY_MAX, "%.*sticks%s", (int)(ns - key), key, ns + 2);
	else
		snprintf(out, KEY_MAX, "%s", key);
}

void column_key(char out[KEY_MAX], const struct column *c, bool ns)
{
	if (ns || !(c->flags & COLUMN_TIME))
		snprintf(out, KEY_MAX, "%s", c->key);
	else
		ticks_key(out, c->key);
}

/* How well @name of @length means a key: 2 itself, 1 the object that it is a member of, 0 not. */
static int name_matches(const char *name, size_t length, const char *key)
{
	if (strncmp(name, key, length))
		return 0;
	return !key[length] ? 2 : key[length] == '.';
}

static int name_means(const char *name, size_t length, const struct column *c)
{
	int ns, ticks;
	char key[KEY_MAX];

	if (c->flags & COLUMN_JSON_ONLY || !length)
		return 0;
	if (length == 3 && !strncmp(name, "all", 3))
		return 2;
	column_key(key, c, false);
	ns = name_matches(name, length, c->key);
	ticks = name_matches(name, length, key);
	return ns > ticks ? ns : ticks;
}

/* The best that @name means among the columns: "faults" is a column, and not faults.total too. */
static int best_meaning(const char *name, size_t length, const struct column *columns, size_t nr)
{
	int best = 0;

	for (size_t i = 0; i < nr; i++) {
		int means = name_means(name, length, &columns[i]);

		if (means > best)
			best = means;
	}
	return best;
}

const char *columns_unknown(const struct column *columns, size_t nr, const char *list)
{
	while (*list) {
		size_t length = strcspn(list, ",");

		if (!best_meaning(list, length, columns, nr))
			return list;
		list += length;
		list += *list == ',';
	}
	return NULL;
}

size_t columns_listed(const struct column *columns, size_t nr, const char *list,
		      const struct column **out, size_t max)
{
	size_t nr_out = 0;

	while (*list) {
		size_t length = strcspn(list, ",");
		int best = best_meaning(list, length, columns, nr);

		for (size_t i = 0; i < nr && best; i++) {
			if (name_means(list, length, &columns[i]) != best)
				continue;
			if (nr_out < max)
				out[nr_out] = &columns[i];
			nr_out++;
		}
		list += length;
		list += *list == ',';
	}
	return nr_out;
}

void columns_help(FILE *out, const struct column *columns, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!(columns[i].flags & COLUMN_JSON_ONLY))
			fprintf(out, "  %-26s %s\n", columns[i].key, columns[i].help);
}

/* Set member "a.b" of @object. Takes over @value; -ENOMEM then frees it. */
static int set_path(struct json_object *object, const char *path, struct json_object *value)
{
	const char *dot = strchr(path, '.');
	char name[KEY_MAX];
	struct json_object *member;

	if (dot) {
		snprintf(name, sizeof(name), "%.*s", (int)(dot - path), path);
		if (!json_object_object_get_ex(object, name, &member)) {
			member = json_object_new_object();
			if (!member || json_object_object_add(object, name, member))
				goto no_memory;
		}
		object = member;
		path = dot + 1;
	}
	if (json_object_object_add(object, path, value))
		goto no_memory;
	return 0;
no_memory:
	json_object_put(value);
	return -ENOMEM;
}

/* Say null for the ns key of a figure in ticks; of an object once, not for each member. */
static int set_null_root(struct json_object *object, const char *key)
{
	char root[KEY_MAX];

	snprintf(root, sizeof(root), "%.*s", (int)strcspn(key, "."), key);
	return json_object_object_add(object, root, NULL) ? -ENOMEM : 0;
}

struct json_object *columns_json(const struct column *columns, size_t nr, unsigned int wanted,
				 const void *row, bool ns)
{
	struct json_object *object = json_object_new_object();
	int err = object ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++) {
		const struct column *c = &columns[i];
		char key[KEY_MAX];
		struct cell cell;

		if (c->flags & COLUMN_NO_JSON || (wanted && !(c->flags & wanted)))
			continue;
		if (!ns && c->flags & COLUMN_TIME)
			err = set_null_root(object, c->key);
		if (err)
			break;
		column_key(key, c, ns);
		if (c->json) {
			err = set_path(object, key, c->json(row, c));
		} else {
			cell = c->get(row, c);
			err = set_path(object, key, cell_json(&cell));
		}
	}
	if (err) {
		json_object_put(object);
		return NULL;
	}
	return object;
}
