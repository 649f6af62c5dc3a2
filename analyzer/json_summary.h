/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the summary of a recording, or of all, from report JSON. */
#ifndef JSON_SUMMARY_H
#define JSON_SUMMARY_H

#include "json_get.h"
#include "summary.h"

/*
 * Read "faults" and "classes" of @object, which is @at, into @s, which was empty. @ns: times are
 * under the _ns keys, else _ticks. Returns 0, -EINVAL with the error set, or -ENOMEM.
 */
int json_read_summary(const struct json_place *at, struct json_object *object, bool ns,
		      struct summary *s);

#endif
