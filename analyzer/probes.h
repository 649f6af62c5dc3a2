/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events of a recording say what about faults, and decoding them. The probe pair may have any
 * group and name: it is known by its arguments, its return by the function that it returned from.
 */
#ifndef PROBES_H
#define PROBES_H

#include "event.h"
#include "formats.h"
#include "ringbuf.h"

#define PROBE_MAX_FIELDS 6

/* How one event is decoded. */
struct probe {
	/* No shorter event is one: the format's; but none is long enough until it is settled. */
	uint32_t size;
	enum event_role role; /* EVENT_NONE until a return's function is known */
	enum event_role fast; /* the same, where probes_decode_ROLE() decodes it */
	struct number pid;    /* common_pid */
	struct number fields[PROBE_MAX_FIELDS]; /* by role */
	uint64_t records;
	const struct event_format *format;
	bool is_return;	      /* a return probe whose function decides its role */
	bool is_graph;	      /* function_graph: only handle_mm_fault's count */
	uint32_t args_offset; /* of function_graph's arguments, 0 none */
	uint64_t undecided;   /* records seen before its function was known */
};

enum probe_kind {
	PROBES_NONE,	   /* nothing in the recording shows faults */
	PROBES_EXCEPTIONS, /* entries alone: no latency */
	PROBES_PAIR,	   /* entry and return */
	PROBES_GRAPH,	   /* function_graph showed handle_mm_fault */
};

/* All zero is unbound; probes_release() returns it to that. */
struct probes {
	enum probe_kind kind;
	bool big_endian;
	bool no_fast;	    /* each event is to be decoded by probes_decode_any() */
	struct probe *list; /* owned */
	size_t nr;
	uint16_t *by_id; /* by id as it stands in the recording, index into list: 0 an unknown id, 1
			    one of no use here; owned */
	uint64_t fault_ip,
		fork_ip;      /* of the functions, as their entry probes show them; 0 unknown */
	struct tracefile *tf; /* asked for kallsyms when function_graph shows up */
	uint64_t graph_start; /* the address of handle_mm_fault, 0 unknown */
	bool graph_asked;
	bool has_role[NR_EVENT_ROLES]; /* the recording has formats for them */
	bool seen[NR_EVENT_ROLES];     /* and so far records, of any function or kind */
	uint64_t unknown_events;       /* whose id has no format */
	uint64_t short_events;	       /* shorter than their format */
};

/* What the user names instead: "SYSTEM:NAME", or NULL. */
struct probe_names {
	const char *entry, *exit;
};

/*
 * Bind what @f offers; @tf is asked for kallsyms when function_graph shows up. Returns 0, -EINVAL
 * when an event of @names is not in the recording (*reason says which), -ENOMEM.
 */
int probes_bind(struct probes *p, const struct formats *f, const struct probe_names *names,
		bool big_endian, struct tracefile *tf, const char **reason);

/* Decode @r into *e. Returns its role, EVENT_NONE for an event of no use here. */
enum event_role probes_decode(struct probes *p, const struct record *r, struct event *e);

/*
 * The same in two steps: the probe that @r, of 4 bytes at least, is of, one without a role where it
 * is of no use here; and what it says.
 */
static inline struct probe *probes_find(struct probes *p, const struct record *r);
enum event_role probes_decode_any(struct probes *p, const struct probe *pr, const struct record *r,
				  struct event *e);

/*
 * The second step for the events that faults are made of, of probes whose `fast` is the role: none
 * is while p->no_fast is set.
 */
void probes_decode_exception(const struct probe *pr, const struct record *r, struct event *e);
void probes_decode_entry(const struct probe *pr, const struct record *r, struct event *e);
void probes_decode_exit(const struct probe *pr, const struct record *r, struct event *e);

/* What probes_find() does with a record that is short, unknown, or the first of its probe. */
struct probe *probes_find_slow(struct probes *p, struct probe *pr, const struct record *r);

/* Exits that were recorded before it was clear that they are handle_mm_fault's. */
uint64_t probes_early_exits(const struct probes *p);

void probes_release(struct probes *p);

static inline struct probe *probes_find(struct probes *p, const struct record *r)
{
	struct probe *pr = &p->list[p->by_id[read_u16(r->data, false)]];

	if (unlikely(r->size < pr->size))
		return probes_find_slow(p, pr, r);
	pr->records++;
	return pr;
}

#endif
