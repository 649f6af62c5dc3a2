// SPDX-License-Identifier: GPL-2.0-or-later
/* What stands in FILE.json beside a recording FILE about how it was made. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "manifest.h"

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
		if (schema && !strcmp(schema, MANIFEST_SCHEMA) &&
		    json_object_object_get_ex(json, "exact", &member))
			m->exact = json_object_get_boolean(member);
	}
	json_object_put(json);
	return err;
}
