// SPDX-License-Identifier: GPL-2.0-or-later
/* What stands in FILE.json beside a recording FILE about how it was made. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manifest.h"

static int take_text(char **to, struct json_object *json, const char *key)
{
	struct json_object *member;

	if (!json_object_object_get_ex(json, key, &member) || !member ||
	    json_object_is_type(member, json_type_object))
		return 0;
	*to = strdup(json_object_get_string(member));
	return *to ? 0 : -ENOMEM;
}

static bool take_address(uint64_t *to, struct json_object *json, const char *key)
{
	const char *text = json_object_get_string(json_object_object_get(json, key));
	char *end;

	if (!text)
		return false;
	errno = 0;
	*to = strtoull(text, &end, 16);
	return !errno && end != text && !*end;
}

/* { "class": "reuse", "start": "7f00", "end": "7f80", "every": 16 }: one page in so many. */
static int take_range(struct used_pages *used, struct json_object *json, uint64_t page_size)
{
	const char *class = json_object_get_string(json_object_object_get(json, "class"));
	struct json_object *every;
	struct used_range range = { .step = page_size };
	unsigned int c = 0;

	while (c < NR_CLASSES && (!class || strcmp(class, fault_class_names[c])))
		c++;
	if (c == NR_CLASSES || !take_address(&range.start, json, "start") ||
	    !take_address(&range.end, json, "end") || range.start % page_size)
		return -EINVAL;
	if (json_object_object_get_ex(json, "every", &every)) {
		if (json_object_get_int64(every) <= 0 || json_object_get_int64(every) > INT32_MAX)
			return -EINVAL;
		range.step *= json_object_get_int64(every);
	}
	return used_add(used, c, &range);
}

static int take_used(struct manifest *m, struct json_object *json, uint64_t page_size)
{
	struct json_object *list;
	int err = 0;

	if (!json_object_object_get_ex(json, "used", &list))
		return 0;
	if (!json_object_is_type(list, json_type_array))
		return -EINVAL;
	for (size_t i = 0; i < json_object_array_length(list) && !err; i++)
		err = take_range(&m->used, json_object_array_get_idx(list, i), page_size);
	return err ? err : used_finish(&m->used);
}

static int take_members(struct manifest *m, struct json_object *json, uint64_t page_size)
{
	struct json_object *member;
	int err;

	if (json_object_object_get_ex(json, "exact", &member))
		m->exact = json_object_get_boolean(member);
	err = take_text(&m->boot, json, "boot");
	if (!err)
		err = take_text(&m->build, json, "build");
	if (!err)
		err = take_text(&m->workload, json, "workload");
	return err ? err : take_used(m, json, page_size);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The JSON of the file called @name; NULL with *why. */
static struct json_object *read_json(const char *name, const char **why)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct json_object *json;

	*why = fd < 0 ? strerror(errno) : "does not parse";
	if (fd < 0)
		return NULL;
	json = json_object_from_fd(fd);
	close(fd);
	return json;
}

static int read_manifest(struct manifest *m, const char *name, uint64_t page_size,
			 struct damages *damages)
{
	struct json_object *member;
	const char *schema, *why;
	struct json_object *json = read_json(name, &why);
	int err = 0;

	if (!json) {
		/* the name at the end, where a long one may be cut */
		damage_add(damages, 0, "the manifest is left out (%s): %s", why, last_part(name));
		return 0;
	}
	if (json_object_object_get_ex(json, "schema", &member)) {
		schema = json_object_get_string(member);
		if (schema && !strcmp(schema, MANIFEST_SCHEMA))
			err = take_members(m, json, page_size);
	}
	json_object_put(json);
	if (err != -EINVAL)
		return err;
	used_release(&m->used);
	damage_add(damages, 0, "the manifest's used pages are left out (they cannot be): %s",
		   last_part(name));
	return 0;
}

int manifest_read(struct manifest *m, const char *path, uint64_t page_size, struct damages *damages)
{
	struct stat st;
	char *name;
	int err = 0;

	*m = (struct manifest){ 0 };
	if (asprintf(&name, "%s.json", path) < 0)
		return -ENOMEM;
	/* empty: what "report -F json FILE > FILE.json" is about to write to */
	if (!stat(name, &st) && st.st_size)
		err = read_manifest(m, name, page_size, damages);
	free(name);
	return err;
}
