// SPDX-License-Identifier: GPL-2.0-or-later
/* Decoding the events that say something about faults. */
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "probes.h"
#include "probes_int.h"

#define CLONE_VM     0x100
#define SCAN_SUCCEED 1 /* the second of enum scan_result since it exists */

/* include/linux/gfp_types.h: these bits have not moved since 2.6. */
#define GFP_HIGHMEM_BIT 0x2u
#define GFP_MOVABLE_BIT 0x8u

/* An entry probe and a kprobe on the same function may differ by the landing pad and the nops. */
#define MAX_ENTRY_DISTANCE 15 /* functions are aligned to 16 */

static uint64_t value(const struct probe *pr, int slot, const uint8_t *data)
{
	return number_value(pr->fields[slot], data);
}

static bool same_function(uint64_t a, uint64_t b)
{
	return a && b && (a > b ? a - b : b - a) <= MAX_ENTRY_DISTANCE;
}

/* A return of a function that is not known yet waits for the entry probes to show who it is. */
static bool knows_function(struct probes *p, struct probe *pr, uint64_t func)
{
	if (same_function(func, p->fault_ip)) {
		/* else --exit names another, or the function is probed twice */
		if (!p->has_role[EVENT_EXIT])
			pr->role = EVENT_EXIT;
		p->has_role[EVENT_EXIT] = true;
	} else if (same_function(func, p->fork_ip)) {
		pr->role = EVENT_FORK_COPIED;
	} else if (!p->fault_ip || (p->has_role[EVENT_FORK_COPY] && !p->fork_ip)) {
		pr->undecided++;
		return false;
	}
	return true;
}

/* Where every kernel has it. */
static const struct number usual_pid = { .at = 0, .shift = 32, .is_there = true, .is_plain = true };

/*
 * Whether common_pid and the fields from @first to @last are there, and read as they stand: those
 * up to @last_word as words of 64 bits.
 */
static bool are_plain(const struct probe *pr, int first, int last_word, int last)
{
	bool plain = pr->pid.is_plain && pr->pid.at == usual_pid.at &&
		     pr->pid.shift == usual_pid.shift && !pr->is_graph;

	for (int i = first; i <= last; i++)
		plain = plain && pr->fields[i].is_plain && (i > last_word || !pr->fields[i].shift);
	return plain;
}

static enum event_role fast_role(const struct probe *pr)
{
	bool plain = false;

	if (pr->role == EVENT_EXCEPTION)
		plain = are_plain(pr, EXCEPTION_ADDRESS, EXCEPTION_CODE, EXCEPTION_CODE);
	else if (pr->role == EVENT_ENTRY)
		plain = are_plain(pr, ENTRY_START, ENTRY_ADDRESS, ENTRY_FLAGS);
	else if (pr->role == EVENT_EXIT)
		plain = are_plain(pr, RETURN_VALUE, -1, RETURN_VALUE);
	return plain ? pr->role : EVENT_NONE;
}

/* The first records of a probe, until all is known of it. */
static void settle(struct probes *p, struct probe *pr, const uint8_t *data)
{
	bool settled = true;

	if (pr->role == EVENT_ENTRY && !pr->is_graph && !p->fault_ip)
		settled = (p->fault_ip = value(pr, ENTRY_IP, data));
	if (pr->is_return && !pr->role)
		settled = knows_function(p, pr, value(pr, RETURN_FUNC, data));
	p->seen[pr->role] = true;
	if (settled) {
		pr->size = pr->format->size;
		pr->fast = p->no_fast ? EVENT_NONE : fast_role(pr);
	}
}

noinline struct probe *probes_find_slow(struct probes *p, struct probe *pr, const struct record *r)
{
	if (!pr->format) {
		p->unknown_events++;
		return pr;
	}
	if (r->size < pr->format->size) {
		p->short_events++;
		return &p->list[1];
	}
	pr->records++;
	settle(p, pr, r->data);
	return pr;
}

/*
 * funcgraph_entry carries the arguments where the recording has them:
 * (vma, address, flags, regs), a long each, behind the fixed part.
 */
static void decode_graph_args(struct probes *p, const struct probe *pr, const struct record *r,
			      struct event *e)
{
	uint32_t word = (64 - pr->fields[GRAPH_FUNC].shift) / 8;
	const uint8_t *at;

	if (!pr->args_offset || word < 4 || r->size < pr->args_offset + 3 * word)
		return;
	at = r->data + pr->args_offset + word;
	e->address = word == 8 ? read_u64(at, p->big_endian) : read_u32(at, p->big_endian);
	e->flags =
		word == 8 ? read_u64(at + word, p->big_endian) : read_u32(at + word, p->big_endian);
	e->has_address = e->has_flags = true;
}

/* The address of handle_mm_fault in the text of /proc/kallsyms, 0 when it is not there. */
static uint64_t find_handle_mm_fault(struct tracefile *tf)
{
	size_t size;
	char *text = tracefile_kallsyms(tf, &size);
	char *hit = text;
	uint64_t address = 0;

	while (hit && (hit = strstr(hit, " handle_mm_fault"))) {
		char *line = hit;

		hit += strlen(" handle_mm_fault");
		if (*hit != '\n' && *hit != '\0' && *hit != '\t')
			continue;
		while (line > text && line[-1] != '\n')
			line--;
		address = strtoull(line, NULL, 16);
		break;
	}
	free(text);
	return address;
}

static enum event_role decode_graph(struct probes *p, const struct probe *pr,
				    const struct record *r, struct event *e)
{
	if (!p->graph_asked)
		p->graph_start = find_handle_mm_fault(p->tf);
	p->graph_asked = true;
	if (!same_function(value(pr, GRAPH_FUNC, r->data), p->graph_start))
		return EVENT_NONE;
	p->kind = PROBES_GRAPH;
	if (pr->role == EVENT_ENTRY)
		decode_graph_args(p, pr, r, e);
	return pr->role;
}

/* The value of a field, which are_plain() has looked at where @plain says so. */
static inline uint64_t get(const struct probe *pr, int slot, const uint8_t *data, bool plain)
{
	return plain ? number_plain(pr->fields[slot], data) : value(pr, slot, data);
}

/* The same of a word. */
static inline uint64_t get_word(const struct probe *pr, int slot, const uint8_t *data, bool plain)
{
	return plain ? number_word(pr->fields[slot], data) : value(pr, slot, data);
}

static inline void decode_common(enum event_role role, struct number pid, const struct record *r,
				 struct event *e)
{
	*e = (struct event){
		.role = role, .pid = number_value(pid, r->data), .ts = r->ts, .cpu = r->cpu
	};
}

static inline void decode_exception(const struct probe *pr, const uint8_t *data, bool plain,
				    struct event *e)
{
	e->address = get_word(pr, EXCEPTION_ADDRESS, data, plain);
	e->flags = get_word(pr, EXCEPTION_CODE, data, plain);
}

static inline void decode_entry(const struct probe *pr, const uint8_t *data, bool plain,
				struct event *e)
{
	e->mm = get_word(pr, ENTRY_MM, data, plain);
	e->start = get_word(pr, ENTRY_START, data, plain);
	e->end = get_word(pr, ENTRY_END, data, plain);
	e->address = get_word(pr, ENTRY_ADDRESS, data, plain);
	e->flags = get(pr, ENTRY_FLAGS, data, plain);
	e->has_address = plain || pr->fields[ENTRY_ADDRESS].is_there;
	e->has_flags = plain || pr->fields[ENTRY_FLAGS].is_there;
}

static inline void decode_exit(const struct probe *pr, const uint8_t *data, bool plain,
			       struct event *e)
{
	e->ret = get(pr, RETURN_VALUE, data, plain);
	e->has_ret = plain || pr->fields[RETURN_VALUE].is_there;
}

void probes_decode_exception(const struct probe *pr, const struct record *r, struct event *e)
{
	decode_common(EVENT_EXCEPTION, usual_pid, r, e);
	decode_exception(pr, r->data, true, e);
}

void probes_decode_entry(const struct probe *pr, const struct record *r, struct event *e)
{
	decode_common(EVENT_ENTRY, usual_pid, r, e);
	decode_entry(pr, r->data, true, e);
}

void probes_decode_exit(const struct probe *pr, const struct record *r, struct event *e)
{
	decode_common(EVENT_EXIT, usual_pid, r, e);
	decode_exit(pr, r->data, true, e);
}

static enum event_role decode_alloc(struct probes *p, const struct probe *pr, const uint8_t *data,
				    struct event *e)
{
	uint64_t gfp = value(pr, ALLOC_GFP, data);

	/* a user page, not a page table: GFP_HIGHUSER_MOVABLE or GFP_TRANSHUGE */
	if (!(gfp & GFP_MOVABLE_BIT) || !(gfp & GFP_HIGHMEM_BIT))
		return EVENT_NONE;
	e->number = value(pr, ALLOC_ORDER, data);
	return EVENT_ALLOC;
}

static enum event_role decode_rss(struct probes *p, const struct probe *pr, const uint8_t *data,
				  struct event *e)
{
	uint64_t member = value(pr, RSS_MEMBER, data);

	if (!value(pr, RSS_CURR, data) || member > 3)
		return EVENT_NONE;
	e->number = 1 << member;
	return EVENT_RSS;
}

static enum event_role decode_fork(struct probes *p, const struct probe *pr, const uint8_t *data,
				   struct event *e)
{
	e->number = value(pr, FORK_CHILD, data);
	e->knows_sharing = pr->fields[FORK_CLONE_FLAGS].is_there;
	e->shares_mm = value(pr, FORK_CLONE_FLAGS, data) & CLONE_VM;
	return EVENT_FORK;
}

noinline enum event_role probes_decode_any(struct probes *p, const struct probe *pr,
					   const struct record *r, struct event *e)
{
	const uint8_t *data = r->data;

	if (!pr->role)
		return EVENT_NONE;
	decode_common(pr->role, pr->pid, r, e);
	if (pr->is_graph)
		return decode_graph(p, pr, r, e);
	switch (pr->role) {
	case EVENT_EXCEPTION:
		decode_exception(pr, data, false, e);
		break;
	case EVENT_ENTRY:
		decode_entry(pr, data, false, e);
		break;
	case EVENT_EXIT:
		decode_exit(pr, data, false, e);
		break;
	case EVENT_ALLOC:
		return decode_alloc(p, pr, data, e);
	case EVENT_RSS:
		return decode_rss(p, pr, data, e);
	case EVENT_WORKER:
		e->number = value(pr, RETURN_PTES, data);
		break;
	case EVENT_FORK_COPY:
		if (!p->fork_ip)
			p->fork_ip = value(pr, FORK_COPY_IP, data);
		e->mm = value(pr, FORK_COPY_MM, data);
		e->oldmm = value(pr, FORK_COPY_OLDMM, data);
		break;
	case EVENT_FORK_COPIED:
		e->ret = value(pr, RETURN_VALUE, data);
		break;
	case EVENT_FORK:
		return decode_fork(p, pr, data, e);
	case EVENT_MM_EXIT:
		e->mm = value(pr, MM_EXIT_MM, data);
		break;
	case EVENT_COLLAPSE:
		if (value(pr, COLLAPSE_STATUS, data) != SCAN_SUCCEED)
			return EVENT_NONE;
		e->mm = value(pr, COLLAPSE_MM, data);
		break;
	default:
		break;
	}
	return pr->role;
}

enum event_role probes_decode(struct probes *p, const struct record *r, struct event *e)
{
	if (r->size < 2) {
		p->short_events++;
		return EVENT_NONE;
	}
	return probes_decode_any(p, probes_find(p, r), r, e);
}

uint64_t probes_early_exits(const struct probes *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->nr; i++) {
		if (p->list[i].role == EVENT_EXIT)
			n += p->list[i].undecided;
	}
	return n;
}
