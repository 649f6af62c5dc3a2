// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads report JSON into recordings and checks that what it says adds up. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json_get.h"
#include "json_in.h"
#include "json_out.h"
#include "json_summary.h"
#include "stream.h"

/* Recordings. */

static int read_trace_id(const struct json_place *up, struct json_object *object, uint64_t *id)
{
	struct json_place at = json_member(up, "trace_id");
	struct json_object *value;
	const char *text;
	char *end;
	int err;

	if (json_is_null(object, "trace_id"))
		return 0;
	err = json_get(up, object, "trace_id", json_type_string, &value);
	if (err)
		return err;
	text = json_object_get_string(value);
	errno = 0;
	*id = strtoull(text, &end, 16);
	if (errno || strncmp(text, "0x", 2) || end == text + 2 || *end || !*id)
		return json_wrong(&at, "is no number in hex");
	return 0;
}

static int read_probes(const struct json_place *up, struct json_object *object, struct recording *r)
{
	struct json_place at = json_member(up, "probes");
	struct json_object *list;
	size_t nr;
	int err = json_get(up, object, "probes", json_type_array, &list);

	if (err)
		return err;
	nr = json_object_array_length(list);
	r->probes = calloc(nr ? nr : 1, sizeof(*r->probes));
	if (!r->probes)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct json_object *probe = json_object_array_get_idx(list, i);
		struct json_place here = json_element(&at, i);

		if (!json_object_is_type(probe, json_type_string))
			return json_wrong(&here, "is no string");
		r->probes[i] = strdup(json_object_get_string(probe));
		if (!r->probes[i])
			return -ENOMEM;
		r->nr_probes++;
	}
	return 0;
}

static int read_damages(const struct json_place *up, struct json_object *object, struct damages *d)
{
	struct json_place at = json_member(up, "damaged");
	struct json_object *list;
	uint64_t nr = 0;
	int err = json_get(up, object, "damaged", json_type_array, &list);

	for (size_t i = 0; !err && i < json_object_array_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i), *reason;
		struct json_place here = json_element(&at, i);
		uint64_t offset;

		if (!json_object_is_type(one, json_type_object))
			return json_wrong(&here, "is no object");
		err = json_get_u64(&here, one, "offset", &offset);
		if (!err)
			err = json_get(&here, one, "reason", json_type_string, &reason);
		if (!err)
			damage_add(d, offset, "%s", json_object_get_string(reason));
	}
	if (!err)
		err = json_get_u64(up, object, "damaged_places", &nr);
	if (err)
		return err;
	if (nr < json_object_array_length(list))
		return json_wrong(&at, "more places than damaged_places");
	d->nr += nr - json_object_array_length(list); /* those that were found and not kept */
	return 0;
}

static int read_origin(const struct json_place *at, struct json_object *object, struct recording *r)
{
	static const char *const units[] = { "ns", "ticks", "cycles" };
	struct json_place unit_at = json_member(at, "time_unit");
	uint8_t unit;
	int err = json_get_text(at, object, "file", &r->file);

	if (!err)
		err = read_trace_id(at, object, &r->trace_id);
	if (!err)
		err = json_get_text(at, object, "kernel", &r->kernel);
	if (!err)
		err = json_get_text(at, object, "arch", &r->arch);
	if (!err)
		err = json_get_u32(at, object, "page_size", &r->page_size);
	if (!err)
		err = json_get_text(at, object, "clock", &r->clock);
	if (!err)
		err = json_get_word(at, object, "time_unit", units, 3, 3, &unit);
	if (!err)
		err = json_get_bool(at, object, "exact", &r->exact);
	if (!err)
		err = json_get_text(at, object, "boot", &r->boot);
	if (!err)
		err = json_get_text(at, object, "build", &r->build);
	if (!err)
		err = json_get_u32(at, object, "cpus", &r->cpus);
	if (err)
		return err;
	r->time_is_ns = unit == 0;
	if (strcmp(recording_time_unit(r), units[unit]))
		return json_wrong(&unit_at, "is not the unit of the clock");
	return 0;
}

static int read_recording(const struct json_place *at, struct json_object *object,
			  struct recording *r)
{
	int err;

	if (!json_object_is_type(object, json_type_object))
		return json_wrong(at, "is no object");
	err = read_origin(at, object, r);
	if (!err)
		err = read_probes(at, object, r);
	if (!err)
		err = json_get_u64(at, object, r->time_is_ns ? "duration_ns" : "duration_ticks",
				   &r->duration);
	if (!err)
		err = json_get_u64(at, object, "events", &r->events);
	if (!err)
		err = json_get_u64(at, object, "lost_events", &r->lost_events);
	if (!err)
		err = json_get_u64(at, object, "lost_uncounted", &r->lost_uncounted);
	if (!err)
		err = json_get_u64(at, object, "unknown_events", &r->unknown_events);
	/* of a key that reports had no need of before it was there */
	if (!err && json_object_object_get_ex(object, "repeated_events", NULL))
		err = json_get_u64(at, object, "repeated_events", &r->repeated_events);
	if (!err)
		err = json_get_u64(at, object, "unmatched_exceptions", &r->unmatched_exceptions);
	if (!err)
		err = json_get_u64(at, object, "untracked_forks", &r->untracked_forks);
	if (!err)
		err = read_damages(at, object, &r->damages);
	return err ? err : json_read_summary(at, object, r->time_is_ns, &r->summary);
}

/* The whole file. */

static int compare_totals(const struct json_place *at, struct summary *stated,
			  const struct summary *sum)
{
	struct json_place faults = json_member(at, "faults"), classes = json_member(at, "classes");

	if (memcmp(&stated->counts, &sum->counts, sizeof(sum->counts)))
		return json_wrong(&faults, "are not the sum of the recordings'");
	summary_sort(stated);
	if (stated->nr_rows != sum->nr_rows)
		return json_wrong(&classes, "are not the sum of the recordings'");
	for (size_t i = 0; i < sum->nr_rows; i++)
		if (!row_equal(stated->rows[i], sum->rows[i]))
			return json_wrong(&classes,
					  "%s, order %u: is not the sum of the recordings'",
					  fault_class_names[sum->rows[i]->key.class],
					  sum->rows[i]->key.order);
	return 0;
}

static int check_total(const struct json_place *at, struct json_object *root,
		       const struct report_file *file)
{
	struct recording total = { 0 };
	struct summary stated = { 0 };
	int err = recordings_total(&total, file->recs, file->nr_recs);

	if (!err)
		err = json_read_summary(at, root, total.time_is_ns, &stated);
	if (!err)
		err = compare_totals(at, &stated, &total.summary);
	summary_release(&stated);
	recording_release(&total);
	return err;
}

static int compare_filters(const void *a, const void *b)
{
	return strcmp(((const struct report_filter *)a)->name,
		      ((const struct report_filter *)b)->name);
}

static int read_filters(const struct json_place *up, struct json_object *root,
			struct report_file *file)
{
	struct json_place at = json_member(up, "filters");
	struct json_object *filters;
	int err = json_get(up, root, "filters", json_type_object, &filters);

	if (err)
		return err;
	file->filters = calloc(json_object_object_length(filters) + 1, sizeof(*file->filters));
	if (!file->filters)
		return -ENOMEM;
	json_object_object_foreach(filters, name, value)
	{
		struct report_filter *new = &file->filters[file->nr_filters];
		struct json_place here = json_member(&at, name);

		if (!json_object_is_type(value, json_type_string))
			return json_wrong(&here, "is no string");
		new->name = strdup(name);
		new->value = strdup(json_object_get_string(value));
		file->nr_filters++;
		if (!new->name || !new->value)
			return -ENOMEM;
	}
	qsort(file->filters, file->nr_filters, sizeof(*file->filters), compare_filters);
	return 0;
}

static int check_schema(const struct json_place *up, struct json_object *root)
{
	struct json_place at = json_member(up, "schema");
	struct json_object *schema;
	int err = json_get(up, root, "schema", json_type_string, &schema);

	if (!err && strcmp(json_object_get_string(schema), REPORT_SCHEMA))
		return json_wrong(&at, "is \"%.40s\", not \"" REPORT_SCHEMA "\"",
				  json_object_get_string(schema));
	return err;
}

static int read_root(const struct json_place *at, struct json_object *root,
		     struct report_file *file)
{
	struct json_place recordings = json_member(at, "recordings");
	struct json_object *list;
	int err = check_schema(at, root);

	if (!err)
		err = json_get_text(at, root, "tool_version", &file->tool_version);
	if (!err)
		err = read_filters(at, root, file);
	if (!err)
		err = json_get(at, root, "recordings", json_type_array, &list);
	if (err)
		return err;
	file->recs = calloc(json_object_array_length(list) + 1, sizeof(*file->recs));
	if (!file->recs)
		return -ENOMEM;
	for (size_t i = 0; i < json_object_array_length(list) && !err; i++) {
		struct json_place here = json_element(&recordings, i);

		file->nr_recs++;
		err = read_recording(&here, json_object_array_get_idx(list, i), &file->recs[i]);
	}
	return err ? err : check_total(at, root, file);
}

int report_json_read(const char *path, struct report_file *file, struct json_error *error)
{
	const struct json_place top = { .error = error };
	struct json_object *root = NULL;
	int err;

	error->text[0] = '\0';
	err = json_read_file(path, &root, error);
	if (!err)
		err = read_root(&top, root, file);
	json_object_put(root);
	if (err)
		report_file_release(file);
	if (err && !error->text[0])
		snprintf(error->text, sizeof(error->text), "%s", strerror(-err));
	return err;
}

int report_json_probe(const char *path)
{
	struct stat st;
	FILE *in;
	int c, err;

	if (!stream_is_stdin(path)) {
		if (stat(path, &st))
			return -errno;
		if (!S_ISREG(st.st_mode))
			return S_ISDIR(st.st_mode) ? -EISDIR : 0;
	}
	in = stream_open(path);
	if (!in)
		return -errno;
	errno = 0;
	do {
		c = getc(in);
	} while (c == ' ' || c == '\t' || c == '\r' || c == '\n');
	err = ferror(in) ? -errno : c == '{';
	if (in == stdin)
		ungetc(c, in);
	stream_close(in);
	return err;
}

bool same_filters(const struct report_file *a, const struct report_file *b)
{
	if (a->nr_filters != b->nr_filters)
		return false;
	for (size_t i = 0; i < a->nr_filters; i++)
		if (strcmp(a->filters[i].name, b->filters[i].name) ||
		    strcmp(a->filters[i].value, b->filters[i].value))
			return false;
	return true;
}

void report_file_release(struct report_file *file)
{
	free(file->tool_version);
	for (size_t i = 0; i < file->nr_recs; i++)
		recording_release(&file->recs[i]);
	free(file->recs);
	for (size_t i = 0; i < file->nr_filters; i++) {
		free(file->filters[i].name);
		free(file->filters[i].value);
	}
	free(file->filters);
	*file = (struct report_file){ 0 };
}
