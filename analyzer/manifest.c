// SPDX-License-Identifier: GPL-2.0-or-later
/* What stands in FILE.json beside a recording FILE about how it was made. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "manifest.h"

static int take_text(char **to, struct json_object *json, const char *key)
{
	struct json_object *member;

	if (!json_object_object_get_ex(json, key, &member) || !member)
		return 0;
	*to = strdup(json_object_get_string(member));
	return *to ? 0 : -ENOMEM;
}

static int take_members(struct manifest *m, struct json_object *json)
{
	struct json_object *member;
	int err;

	if (json_object_object_get_ex(json, "exact", &member))
		m->exact = json_object_get_boolean(member);
	err = take_text(&m->boot, json, "boot");
	return err ? err : take_text(&m->build, json, "build");
}

int manifest_read(struct manifest *m, const char *path)
{
	struct json_object *json, *member;
	const char *schema;
	struct stat st;
	char *name;
	int err = 0;

	*m = (struct manifest){ 0 };
	if (asprintf(&name, "%s.json", path) < 0)
		return -ENOMEM;
	/* empty: what "report -F json FILE > FILE.json" is about to write to */
	if (stat(name, &st) < 0 || !st.st_size) {
		free(name);
		return 0;
	}
	json = json_object_from_file(name);
	free(name);
	if (!json) {
		err = -EBADMSG;
	} else if (json_object_object_get_ex(json, "schema", &member)) {
		schema = json_object_get_string(member);
		if (schema && !strcmp(schema, MANIFEST_SCHEMA))
			err = take_members(m, json);
	}
	json_object_put(json);
	return err;
}
