// SPDX-License-Identifier: GPL-2.0-or-later
/* The columns of reports and of folios, each with the function that takes its figure out. */
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

#include "columns.h"
#include "json_out.h"

static struct cell unknown(void)
{
	return (struct cell){ .type = CELL_UNKNOWN };
}

static struct cell text(const char *words)
{
	return (struct cell){ .type = CELL_TEXT, .text = words };
}

static struct cell count(uint64_t n)
{
	return (struct cell){ .type = CELL_COUNT, .count = n };
}

static struct cell hex(uint64_t n)
{
	return (struct cell){ .type = CELL_HEX, .count = n };
}

static struct cell real(double value)
{
	return (struct cell){ .type = CELL_REAL, .real = value };
}

static struct cell yes_no(bool yes)
{
	return (struct cell){ .type = CELL_BOOL, .yes = yes };
}

static struct cell size(uint64_t bytes)
{
	return bytes ? (struct cell){ .type = CELL_SIZE, .count = bytes } : unknown();
}

static const void *at(const void *base, size_t offset)
{
	return (const char *)base + offset;
}

/* Recordings: offset is into struct recording. */

static const struct recording *rec_of(const void *row)
{
	return ((const struct report_row *)row)->rec;
}

static struct cell get_number(const void *row, const struct column *c)
{
	const struct report_row *r = row;

	return r->number ? count(r->number) : text("total");
}

static struct cell get_rec_text(const void *row, const struct column *c)
{
	return text(*(char *const *)at(rec_of(row), c->offset));
}

static struct cell get_rec_u64(const void *row, const struct column *c)
{
	return count(*(const uint64_t *)at(rec_of(row), c->offset));
}

static struct cell get_trace_id(const void *row, const struct column *c)
{
	uint64_t id = rec_of(row)->trace_id;

	return id ? hex(id) : unknown();
}

static struct cell get_page_size(const void *row, const struct column *c)
{
	return size(rec_of(row)->page_size);
}

static struct cell get_time_unit(const void *row, const struct column *c)
{
	return text(recording_time_unit(rec_of(row)));
}

static struct cell get_exact_clock(const void *row, const struct column *c)
{
	return yes_no(rec_of(row)->exact);
}

static struct cell get_cpus(const void *row, const struct column *c)
{
	return rec_of(row)->cpus ? count(rec_of(row)->cpus) : unknown();
}

static struct json_object *json_probes(const void *row, const struct column *c)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; list && i < rec_of(row)->nr_probes; i++)
		json_object_array_add(list, json_text(rec_of(row)->probes[i]));
	return list;
}

static struct json_object *json_damaged(const void *row, const struct column *c)
{
	const struct damages *d = &rec_of(row)->damages;
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; list && i < d->nr_kept; i++) {
		struct json_object *one = json_object_new_object();

		if (!one)
			break;
		json_object_object_add(one, "offset", json_object_new_uint64(d->list[i].offset));
		json_object_object_add(one, "reason", json_text(d->list[i].reason));
		json_object_array_add(list, one);
	}
	return list;
}

/* Classes: offset is into struct summary_row. */

static const struct summary_row *class_of(const void *row)
{
	return ((const struct report_row *)row)->row;
}

/* A word of a key: @number of @nr names. */
static struct cell word(unsigned int number, const char *const *names, unsigned int nr)
{
	return text(number < nr ? names[number] : NULL);
}

enum key_part {
	KEY_CLASS,
	KEY_FROM,
	KEY_ORDER,
	KEY_BYTES,
	KEY_LEVEL,
	KEY_EVIDENCE,
	KEY_SOURCE
};

static struct cell key_cell(const struct fault_key *key, uint64_t page_size, enum key_part part)
{
	switch (part) {
	case KEY_CLASS:
		return word(key->class, fault_class_names, NR_CLASSES);
	case KEY_FROM:
		return word(key->from, cow_from_names, NR_FROM);
	case KEY_LEVEL:
		return word(key->level, fault_level_names, NR_LEVELS);
	case KEY_EVIDENCE:
		return word(key->evidence, evidence_names, NR_EVIDENCE);
	case KEY_SOURCE:
		return word(key->source, folio_source_names, NR_SOURCES);
	case KEY_ORDER:
		return key->order == ORDER_UNKNOWN ? unknown() : count(key->order);
	case KEY_BYTES:
		return key->order == ORDER_UNKNOWN ? unknown() : size(page_size << key->order);
	}
	return unknown();
}

static struct cell get_key(const void *row, const struct column *c)
{
	if (!class_of(row))
		return unknown();
	return key_cell(&class_of(row)->key, rec_of(row)->page_size, c->which);
}

static struct cell get_class_u64(const void *row, const struct column *c)
{
	if (!class_of(row))
		return unknown();
	return count(*(const uint64_t *)at(class_of(row), c->offset));
}

static struct cell get_resolved(const void *row, const struct column *c)
{
	return class_of(row) && class_of(row)->resolved_unknown ? unknown() : get_class_u64(row, c);
}

static struct cell get_faults_per_pte(const void *row, const struct column *c)
{
	return class_of(row) ? real(row_faults_per_pte(class_of(row))) : unknown();
}

static struct cell get_time_per_pte(const void *row, const struct column *c)
{
	return class_of(row) ? real(row_time_per_pte(class_of(row))) : unknown();
}

static struct cell get_waste(const void *row, const struct column *c)
{
	const struct summary_row *r = class_of(row);

	return r && row_waste_known(r) ? count(r->waste_ptes) : unknown();
}

enum stat {
	STAT_COUNT,
	STAT_MIN,
	STAT_MAX,
	STAT_MEAN,
	STAT_SUM,
	STAT_EXACT,
	STAT_QUANTILE = 100
};

static struct cell get_dist(const void *row, const struct column *c)
{
	const struct hist *h;

	if (!class_of(row))
		return unknown();
	h = at(class_of(row), c->offset);
	if (c->which == STAT_COUNT)
		return count(h->count);
	if (c->which == STAT_EXACT)
		return yes_no(hist_exact(h));
	if (!h->count)
		return unknown();
	switch (c->which) {
	case STAT_MIN:
		return count(h->min);
	case STAT_MAX:
		return count(h->max);
	case STAT_MEAN:
		return real(hist_mean(h));
	case STAT_SUM:
		return hist_has_sum(h) ? count(h->sum) : unknown();
	default:
		return count(hist_quantile(h, c->which - STAT_QUANTILE));
	}
}

/* Writes the values straight into the text, as thousands of JSON objects would be slow and large.
 */
static int print_values(struct json_object *json, struct printbuf *text, int level, int flags)
{
	const struct hist *h = json_object_get_userdata(json);
	struct hist_slot *sorted;
	size_t nr;
	int err = 0;

	sorted = hist_sorted(h, &nr);
	if (!sorted && nr)
		return -1;
	printbuf_strappend(text, "[");
	for (size_t i = 0; i < nr && err >= 0; i++)
		err = sprintbuf(text, "%s[%llu,%llu]", i ? "," : "",
				(unsigned long long)sorted[i].value,
				(unsigned long long)sorted[i].count);
	free(sorted);
	return err < 0 ? err : printbuf_strappend(text, "]");
}

static struct json_object *json_values(const void *row, const struct column *c)
{
	struct json_object *json = json_object_new_array();

	if (json)
		json_object_set_serializer(json, print_values, (void *)at(class_of(row), c->offset),
					   NULL);
	return json;
}

#define REC(member)   offsetof(struct recording, member)
#define CLASS(member) offsetof(struct summary_row, member)

#define COUNT(name, head, help)                                                \
	{                                                                      \
		"faults." #name, head, help, REPORT_FAULTS, get_rec_u64, NULL, \
			REC(summary.counts.name), 0                            \
	}

#define SUM(name, head, help)                                                        \
	{                                                                            \
#name, head, help, REPORT_CLASS, get_class_u64, NULL, CLASS(name), 0 \
	}

#define KEY(name, head, help, flags, part)                                     \
	{                                                                      \
		name, head, help, REPORT_CLASS | flags, get_key, NULL, 0, part \
	}

#define STAT(key, member, stat, head, words, help, flags, which)                             \
	{                                                                                    \
		key "." stat, head, words ": " help, REPORT_CLASS | (flags), get_dist, NULL, \
			CLASS(member), which                                                 \
	}

/* The members of DIST in the JSON contract. */
#define DIST(key, member, head, words, flags)                                                      \
	STAT(key, member, "count", head "COUNT", words, "how many", flags, STAT_COUNT),            \
		STAT(key, member, "min", head "MIN", words, "least", flags, STAT_MIN),             \
		STAT(key, member, "p50", head "P50", words, "median", flags, STAT_QUANTILE + 500), \
		STAT(key, member, "p90", head "P90", words, "90th percentile", flags,              \
		     STAT_QUANTILE + 900),                                                         \
		STAT(key, member, "p99", head "P99", words, "99th percentile", flags,              \
		     STAT_QUANTILE + 990),                                                         \
		STAT(key, member, "p999", head "P999", words, "99.9th percentile", flags,          \
		     STAT_QUANTILE + 999),                                                         \
		STAT(key, member, "max", head "MAX", words, "largest", flags, STAT_MAX),           \
		STAT(key, member, "mean", head "MEAN", words, "mean", flags, STAT_MEAN),           \
		STAT(key, member, "sum", head "SUM", words, "sum", flags, STAT_SUM),               \
		STAT(key, member, "exact", head "EXACT", words, "every value kept", flags,         \
		     STAT_EXACT),                                                                  \
	{                                                                                          \
		key ".values", NULL, NULL, REPORT_CLASS | COLUMN_JSON_ONLY | (flags), NULL,        \
			json_values, CLASS(member), 0                                              \
	}

/* clang-format off */
static const struct column report_list[] = {
	{ "recording", "RECORDING", "number of the recording, or total",
	  REPORT_RECORDING | COLUMN_NO_JSON | COLUMN_LEFT, get_number, NULL, 0, 0 },
	{ "file", "FILE", "name of its file",
	  REPORT_RECORDING | COLUMN_LEFT, get_rec_text, NULL, REC(file), 0 },
	{ "trace_id", "TRACE-ID", "what tells it from others",
	  REPORT_RECORDING | COLUMN_LEFT, get_trace_id, NULL, 0, 0 },
	{ "kernel", "KERNEL", "release of the kernel",
	  REPORT_RECORDING | COLUMN_LEFT, get_rec_text, NULL, REC(kernel), 0 },
	{ "arch", "ARCH", "machine, as uname -m",
	  REPORT_RECORDING | COLUMN_LEFT, get_rec_text, NULL, REC(arch), 0 },
	{ "page_size", "PAGE", "bytes of a page",
	  REPORT_RECORDING, get_page_size, NULL, 0, 0 },
	{ "clock", "CLOCK", "trace clock",
	  REPORT_RECORDING | COLUMN_LEFT, get_rec_text, NULL, REC(clock), 0 },
	{ "time_unit", "UNIT", "unit of its times",
	  REPORT_RECORDING | COLUMN_LEFT, get_time_unit, NULL, 0, 0 },
	{ "exact", "EXACT", "its clock counts instructions",
	  REPORT_RECORDING | COLUMN_LEFT, get_exact_clock, NULL, 0, 0 },
	{ "boot", "BOOT", "which boot of the machine",
	  REPORT_RECORDING | COLUMN_LEFT, get_rec_text, NULL, REC(boot), 0 },
	{ "build", "BUILD", "which build of the kernel",
	  REPORT_RECORDING | COLUMN_LEFT, get_rec_text, NULL, REC(build), 0 },
	{ "cpus", "CPUS", "processors recorded", REPORT_RECORDING, get_cpus, NULL, 0, 0 },
	{ "probes", NULL, NULL, REPORT_RECORDING | COLUMN_JSON_ONLY, NULL, json_probes, 0, 0 },
	{ "duration_ns", "DURATION", "last minus first time stamp",
	  REPORT_RECORDING | COLUMN_TIME, get_rec_u64, NULL, REC(duration), 0 },
	{ "events", "EVENTS", "events read", REPORT_RECORDING, get_rec_u64, NULL, REC(events), 0 },
	{ "lost_events", "LOST", "events lost while recording, where counted",
	  REPORT_RECORDING, get_rec_u64, NULL, REC(lost_events), 0 },
	{ "lost_uncounted", "LOST-PLACES", "places where events were lost and not counted",
	  REPORT_RECORDING, get_rec_u64, NULL, REC(lost_uncounted), 0 },
	{ "unknown_events", "UNKNOWN-EVENTS", "events whose id has no format in the recording",
	  REPORT_RECORDING, get_rec_u64, NULL, REC(unknown_events), 0 },
	{ "repeated_events", "REPEATED", "events that another instance holds, too: counted once",
	  REPORT_RECORDING, get_rec_u64, NULL, REC(repeated_events), 0 },
	{ "unmatched_exceptions", "UNMATCHED", "page faults that never entered handle_mm_fault()",
	  REPORT_RECORDING, get_rec_u64, NULL, REC(unmatched_exceptions), 0 },
	{ "untracked_forks", "UNTRACKED", "forks of address spaces too large to follow",
	  REPORT_RECORDING, get_rec_u64, NULL, REC(untracked_forks), 0 },
	{ "damaged", NULL, NULL, REPORT_RECORDING | COLUMN_JSON_ONLY, NULL, json_damaged, 0, 0 },
	{ "damaged_places", "DAMAGED", "places found damaged",
	  REPORT_RECORDING, get_rec_u64, NULL, REC(damages.nr), 0 },

	COUNT(total, "ALL-FAULTS", "logical faults counted, all classes"),
	COUNT(entries, "ENTRIES", "fault entries recorded"),
	COUNT(exits, "EXITS", "fault exits recorded"),
	COUNT(unpaired_entries, "UNPAIRED-ENTRIES", "entries without an exit"),
	COUNT(unpaired_exits, "UNPAIRED-EXITS", "exits without an entry"),
	COUNT(retries, "RETRIES", "exits with RETRY, merged into the fault that came back"),
	COUNT(major, "MAJOR", "major faults among those counted"),
	COUNT(remote, "REMOTE", "faults of another task's memory among those counted"),

	KEY("class", "CLASS", "what the faults were for", COLUMN_LEFT, KEY_CLASS),
	KEY("from", "FROM", "what a cow copied from", COLUMN_LEFT, KEY_FROM),
	KEY("order", "ORDER", "order of the folio", 0, KEY_ORDER),
	KEY("folio_bytes", "SIZE", "bytes of the folio", COLUMN_NO_JSON, KEY_BYTES),
	KEY("level", "LEVEL", "page table level: pte or pmd", COLUMN_LEFT, KEY_LEVEL),
	KEY("evidence", "EVIDENCE", "seen in an event, or inferred", COLUMN_LEFT, KEY_EVIDENCE),
	KEY("source", "SOURCE", "where the order is known from", COLUMN_LEFT, KEY_SOURCE),
	SUM(faults, "FAULTS", "logical faults"),
	SUM(folios, "FOLIOS", "folios"),
	SUM(episodes, "EPISODES", "times that a folio was write-protected and faulted"),
	SUM(ptes, "PTES", "PTEs of the folios, each episode"),
	SUM(ptes_touched, "TOUCHED", "PTEs that took a fault of their own"),
	{ "ptes_resolved", "RESOLVED", "PTEs made usable", REPORT_CLASS, get_resolved, NULL,
	  CLASS(ptes_resolved), 0 },
	{ "timed_ptes", "TIMED", "PTEs made usable where every fault has an exit", REPORT_CLASS,
	  get_resolved, NULL, CLASS(timed_ptes), 0 },
	{ "faults_per_pte", "FAULTS/PTE", "faults / PTEs", REPORT_CLASS, get_faults_per_pte,
	  NULL, 0, 0 },
	{ "ns_per_pte", "TIME/PTE", "per-folio latency / PTEs resolved",
	  REPORT_CLASS | COLUMN_TIME, get_time_per_pte, NULL, 0, 0 },
	{ "waste_ptes", "WASTE", "PTEs resolved and never used", REPORT_CLASS, get_waste, NULL, 0, 0 },
	DIST("latency_ns", latency, "", "latency of a fault", COLUMN_TIME),
	DIST("per_folio_latency_ns", per_folio_latency, "FOLIO-", "latency of a folio's faults",
	     COLUMN_TIME),
	DIST("time_to_complete_ns", time_to_complete, "DONE-", "time to complete a folio",
	     COLUMN_TIME),
	DIST("ptes_per_fault", ptes_per_fault, "BATCH-", "PTEs per fault", 0),
};
/* clang-format on */

const struct column *report_columns(size_t *nr)
{
	*nr = sizeof(report_list) / sizeof(*report_list);
	return report_list;
}

/* Episodes: offset is into struct episode. */

static const struct episode *episode_of(const void *row)
{
	return ((const struct folio_row *)row)->episode;
}

static struct cell get_episode_key(const void *row, const struct column *c)
{
	const struct folio_row *r = row;

	return key_cell(&r->episode->key, r->rec->page_size, c->which);
}

static struct cell get_episode_hex(const void *row, const struct column *c)
{
	return hex(*(const uint64_t *)at(episode_of(row), c->offset));
}

static struct cell get_episode_u32(const void *row, const struct column *c)
{
	return count(*(const uint32_t *)at(episode_of(row), c->offset));
}

static struct cell get_episode_faults_per_pte(const void *row, const struct column *c)
{
	const struct episode *e = episode_of(row);

	return e->ptes ? real((double)e->faults / e->ptes) : unknown();
}

static struct cell get_episode_latency(const void *row, const struct column *c)
{
	return episode_of(row)->timed ? count(episode_of(row)->latency) : unknown();
}

static struct cell get_episode_resolved(const void *row, const struct column *c)
{
	const struct episode *e = episode_of(row);

	return resolved_is_all(&e->key, e->ptes_resolved, e->ptes) ? count(e->ptes_resolved)
								   : unknown();
}

static struct cell get_episode_time_per_pte(const void *row, const struct column *c)
{
	const struct episode *e = episode_of(row);

	return e->timed && e->ptes_resolved && resolved_is_all(&e->key, e->ptes_resolved, e->ptes)
		       ? real((double)e->latency / e->ptes_resolved)
		       : unknown();
}

static struct cell get_episode_first(const void *row, const struct column *c)
{
	const struct folio_row *r = row;

	return (struct cell){ .type = r->rec->time_is_ns ? CELL_STAMP : CELL_COUNT,
			      .count = r->episode->first };
}

static struct cell get_episode_complete(const void *row, const struct column *c)
{
	return episode_of(row)->completed ? count(episode_of(row)->complete) : unknown();
}

#define EPISODE(member) offsetof(struct episode, member)

/* clang-format off */
static const struct column folio_list[] = {
	{ "mm", "MM", "address space: its mm_struct", 0, get_episode_hex, NULL, EPISODE(mm), 0 },
	{ "address", "ADDRESS", "of the folio's first PTE", 0, get_episode_hex, NULL,
	  EPISODE(address), 0 },
	{ "order", "ORDER", "order of the folio", 0, get_episode_key, NULL, 0, KEY_ORDER },
	{ "folio_bytes", "SIZE", "bytes of the folio", COLUMN_NO_JSON, get_episode_key, NULL, 0,
	  KEY_BYTES },
	{ "level", "LEVEL", "page table level: pte or pmd", COLUMN_LEFT, get_episode_key, NULL, 0,
	  KEY_LEVEL },
	{ "class", "CLASS", "what the faults were for", COLUMN_LEFT, get_episode_key, NULL, 0,
	  KEY_CLASS },
	{ "from", "FROM", "what a cow copied from", COLUMN_LEFT, get_episode_key, NULL, 0,
	  KEY_FROM },
	{ "evidence", "EVIDENCE", "seen in an event, or inferred", COLUMN_LEFT, get_episode_key,
	  NULL, 0, KEY_EVIDENCE },
	{ "source", "SOURCE", "where the order is known from", COLUMN_LEFT, get_episode_key, NULL,
	  0, KEY_SOURCE },
	{ "ptes", "PTES", "that the folio has here", 0, get_episode_u32, NULL, EPISODE(ptes), 0 },
	{ "ptes_touched", "TOUCHED", "PTEs that took a fault of their own", 0, get_episode_u32,
	  NULL, EPISODE(ptes_touched), 0 },
	{ "ptes_resolved", "RESOLVED", "PTEs made usable", 0, get_episode_resolved, NULL, 0, 0 },
	{ "faults", "FAULTS", "logical faults", 0, get_episode_u32, NULL, EPISODE(faults), 0 },
	{ "faults_per_pte", "FAULTS/PTE", "faults / PTEs", 0, get_episode_faults_per_pte, NULL,
	  0, 0 },
	{ "latency_ns", "LATENCY", "sum of the faults' latencies", COLUMN_TIME,
	  get_episode_latency, NULL, 0, 0 },
	{ "ns_per_pte", "TIME/PTE", "latency / PTEs resolved", COLUMN_TIME,
	  get_episode_time_per_pte, NULL, 0, 0 },
	{ "first_ns", "FIRST", "time of the first entry", COLUMN_TIME, get_episode_first, NULL,
	  0, 0 },
	{ "time_to_complete_ns", "COMPLETE", "first entry to the exit that completed the folio",
	  COLUMN_TIME, get_episode_complete, NULL, 0, 0 },
};
/* clang-format on */

const struct column *folio_columns(size_t *nr)
{
	*nr = sizeof(folio_list) / sizeof(*folio_list);
	return folio_list;
}
