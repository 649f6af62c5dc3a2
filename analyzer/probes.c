// SPDX-License-Identifier: GPL-2.0-or-later
/* Which events of a recording say what about faults, and decoding them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "probes.h"

#define MAX_IDS	     65536 /* common_type has 16 bits */
#define CLONE_VM     0x100
#define SCAN_SUCCEED 1 /* the second of enum scan_result since it exists */

/* include/linux/gfp_types.h: these bits have not moved since 2.6. */
#define GFP_HIGHMEM_BIT 0x2u
#define GFP_MOVABLE_BIT 0x8u

/* An entry probe and a kprobe on the same function may differ by the landing pad and the nops. */
#define MAX_ENTRY_DISTANCE 15 /* functions are aligned to 16 */

/* Slots in struct probe.fields, by role. */
enum {
	ENTRY_IP,
	ENTRY_START,
	ENTRY_END,
	ENTRY_MM,
	ENTRY_ADDRESS,
	ENTRY_FLAGS
};
enum {
	RETURN_FUNC,
	RETURN_VALUE,
	RETURN_PTES
};
enum {
	EXCEPTION_ADDRESS,
	EXCEPTION_CODE
};
enum {
	ALLOC_ORDER,
	ALLOC_GFP,
	ALLOC_MIGRATETYPE
};
enum {
	RSS_CURR,
	RSS_MEMBER
};
enum {
	FORK_COPY_IP,
	FORK_COPY_MM,
	FORK_COPY_OLDMM
};
enum {
	FORK_CHILD,
	FORK_CLONE_FLAGS
};
enum {
	MM_EXIT_MM
};
enum {
	COLLAPSE_MM,
	COLLAPSE_STATUS
};
enum {
	GRAPH_FUNC,
	GRAPH_ARGS
};

static const struct field *number(const struct event_format *e, const char *const *names)
{
	for (; *names; names++) {
		const struct field *f = format_field(e, *names);

		if (f && f->kind == FIELD_NUMBER)
			return f;
	}
	return NULL;
}

#define NUMBER(e, ...) number(e, (const char *const[]){ __VA_ARGS__, NULL })

/* Events of fixed names; the fields that are asked for, in the order of their slots. */
static const struct fixed_event {
	const char *system, *name;
	enum event_role role;
	const char *fields[3];
} fixed_events[] = {
	{ "exceptions", "page_fault_user", EVENT_EXCEPTION, { "address", "error_code" } },
	{ "exceptions", "page_fault_kernel", EVENT_EXCEPTION, { "address", "error_code" } },
	{ "kmem", "mm_page_alloc", EVENT_ALLOC, { "order", "gfp_flags", "migratetype" } },
	{ "kmem", "rss_stat", EVENT_RSS, { "curr", "member" } },
	{ "mmap", "exit_mmap", EVENT_MM_EXIT, { "mm" } },
	{ "sched", "sched_process_exec", EVENT_EXEC, { NULL } },
	{ "sched", "sched_process_exit", EVENT_TASK_EXIT, { NULL } },
	{ "sched", "sched_process_fork", EVENT_FORK, { "child_pid" } },
	{ "task", "task_newtask", EVENT_FORK, { "pid", "clone_flags" } },
	{ "huge_memory", "mm_collapse_huge_page", EVENT_COLLAPSE, { "mm", "status" } },
};

static bool bind_fixed(struct probe *pr, const struct event_format *e)
{
	for (size_t i = 0; i < sizeof(fixed_events) / sizeof(*fixed_events); i++) {
		const struct fixed_event *x = &fixed_events[i];

		if (strcmp(e->name, x->name) || strcmp(e->system, x->system))
			continue;
		*pr = (struct probe){ .format = e, .role = x->role };
		for (int j = 0; j < 3 && x->fields[j]; j++) {
			pr->fields[j] = NUMBER(e, x->fields[j]);
			if (!pr->fields[j])
				return false;
		}
		return true;
	}
	return false;
}

/* handle_mm_fault(vma, address, flags, regs) with names of our presets, of BTF or of habit. */
static bool bind_entry(struct probe *pr, const struct event_format *e)
{
	*pr = (struct probe){ .format = e, .role = EVENT_ENTRY };
	pr->fields[ENTRY_IP] = NUMBER(e, "__probe_ip");
	pr->fields[ENTRY_START] = NUMBER(e, "start", "vm_start", "vma_start");
	pr->fields[ENTRY_END] = NUMBER(e, "end", "vm_end", "vma_end");
	pr->fields[ENTRY_MM] = NUMBER(e, "mm", "vm_mm", "vma_mm");
	pr->fields[ENTRY_ADDRESS] = NUMBER(e, "address", "addr");
	pr->fields[ENTRY_FLAGS] = NUMBER(e, "flags");
	return pr->fields[ENTRY_IP] && pr->fields[ENTRY_ADDRESS] && pr->fields[ENTRY_FLAGS];
}

static bool bind_fork_copy(struct probe *pr, const struct event_format *e)
{
	*pr = (struct probe){ .format = e, .role = EVENT_FORK_COPY };
	pr->fields[FORK_COPY_IP] = NUMBER(e, "__probe_ip");
	pr->fields[FORK_COPY_MM] = NUMBER(e, "mm");
	pr->fields[FORK_COPY_OLDMM] = NUMBER(e, "oldmm");
	return pr->fields[FORK_COPY_IP] && pr->fields[FORK_COPY_MM] && pr->fields[FORK_COPY_OLDMM];
}

static bool bind_return(struct probe *pr, const struct event_format *e)
{
	*pr = (struct probe){ .format = e, .is_return = true };
	pr->fields[RETURN_FUNC] = NUMBER(e, "__probe_func");
	pr->fields[RETURN_PTES] = NUMBER(e, "ptes", "nr_ptes");
	pr->fields[RETURN_VALUE] = NUMBER(e, "ret", "retval", "arg1");
	if (pr->fields[RETURN_PTES])
		pr->role = EVENT_WORKER;
	return pr->fields[RETURN_FUNC] && format_field(e, "__probe_ret_ip");
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

static bool is_named(const struct event_format *e, const char *name)
{
	size_t n = strlen(e->system);

	return !strncmp(name, e->system, n) && name[n] == ':' && !strcmp(name + n + 1, e->name);
}

static void add_probe(struct probes *p, const struct probe *pr)
{
	p->by_id[pr->format->id] = p->nr;
	p->list[p->nr] = *pr;
	p->list[p->nr++].pid = NUMBER(pr->format, "common_pid");
	p->has_role[pr->role] = true;
}

static bool is_free(const struct probes *p, const struct event_format *e)
{
	return e->id < MAX_IDS && p->by_id[e->id] <= 1;
}

/* Of several probes on the entry, the one that says most is taken. */
static int entry_worth(const struct probe *pr)
{
	return (pr->fields[ENTRY_MM] ? 2 : 0) +
	       (pr->fields[ENTRY_START] && pr->fields[ENTRY_END] ? 1 : 0);
}

/* Choose the entry: what the user names, else the best that looks like it. */
static int bind_pair_entry(struct probes *p, const struct formats *f,
			   const struct probe_names *names, const char **reason)
{
	struct probe best = { 0 }, pr;

	for (size_t i = 0; i < f->nr; i++) {
		const struct event_format *e = &f->list[i];

		if (!is_free(p, e))
			continue;
		if (names->entry) {
			if (!is_named(e, names->entry))
				continue;
			bind_entry(&pr, e);
			best = pr;
			break;
		}
		if (bind_entry(&pr, e) && (!best.format || entry_worth(&pr) > entry_worth(&best)))
			best = pr;
	}
	if (names->entry && !best.format) {
		*reason = "has no event of the name that --entry gives";
		return -EINVAL;
	}
	if (best.format)
		add_probe(p, &best);
	return 0;
}

/* Returns: named by the user, or all of them, whose function shows which is which. */
static int bind_returns(struct probes *p, const struct formats *f, const struct probe_names *names,
			const char **reason)
{
	bool found = false;
	struct probe pr;

	for (size_t i = 0; i < f->nr; i++) {
		const struct event_format *e = &f->list[i];

		if (!is_free(p, e))
			continue;
		if (names->exit && is_named(e, names->exit)) {
			bind_return(&pr, e);
			pr.role = EVENT_EXIT;
			pr.is_return = false;
			found = true;
			add_probe(p, &pr);
		} else if (bind_return(&pr, e)) {
			if (names->exit && pr.role != EVENT_WORKER)
				pr.role = EVENT_NONE;
			add_probe(p, &pr);
		}
	}
	if (names->exit && !found) {
		*reason = "has no event of the name that --exit gives";
		return -EINVAL;
	}
	return 0;
}

/* Every recording has these formats; whether they say something shows when records come. */
static void bind_graph(struct probes *p, const struct formats *f)
{
	const struct event_format *enter = formats_find(f, "ftrace", "funcgraph_entry");
	const struct event_format *leave = formats_find(f, "ftrace", "funcgraph_exit");
	struct probe pr = { .role = EVENT_ENTRY, .is_graph = true, .format = enter };

	if (!enter || !leave || !is_free(p, enter) || !is_free(p, leave))
		return;
	pr.fields[GRAPH_FUNC] = NUMBER(enter, "func");
	pr.fields[GRAPH_ARGS] = format_field(enter, "args");
	if (!pr.fields[GRAPH_FUNC] || !NUMBER(leave, "func"))
		return;
	add_probe(p, &pr);
	pr = (struct probe){ .role = EVENT_EXIT, .is_graph = true, .format = leave };
	pr.fields[GRAPH_FUNC] = NUMBER(leave, "func");
	add_probe(p, &pr);
}

/* Entries 0 and 1 of the list stand for unknown ids and for events of no use here. */
static int make_tables(struct probes *p, const struct formats *f)
{
	p->list = calloc(f->nr + 2, sizeof(*p->list));
	p->by_id = calloc(MAX_IDS, sizeof(*p->by_id));
	if (!p->list || !p->by_id)
		return -ENOMEM;
	p->nr = 2;
	for (size_t i = 0; i < f->nr; i++) {
		if (f->list[i].id < MAX_IDS)
			p->by_id[f->list[i].id] = 1;
	}
	return 0;
}

int probes_bind(struct probes *p, const struct formats *f, const struct probe_names *names,
		bool big_endian, struct tracefile *tf, const char **reason)
{
	struct probe pr;
	int err;

	*p = (struct probes){ .big_endian = big_endian, .tf = tf };
	err = make_tables(p, f);
	if (!err)
		err = bind_pair_entry(p, f, names, reason);
	if (err)
		return err;
	for (size_t i = 0; i < f->nr; i++) {
		if (is_free(p, &f->list[i]) &&
		    (bind_fixed(&pr, &f->list[i]) || bind_fork_copy(&pr, &f->list[i])))
			add_probe(p, &pr);
	}
	err = bind_returns(p, f, names, reason);
	if (err)
		return err;
	if (p->has_role[EVENT_EXCEPTION])
		p->kind = PROBES_EXCEPTIONS;
	if (p->has_role[EVENT_ENTRY])
		p->kind = PROBES_PAIR;
	else
		bind_graph(p, f);
	return 0;
}

static uint64_t value(const struct probes *p, const struct probe *pr, int slot, const uint8_t *data)
{
	return pr->fields[slot] ? field_value(pr->fields[slot], data, p->big_endian) : 0;
}

static bool same_function(uint64_t a, uint64_t b)
{
	return a && b && (a > b ? a - b : b - a) <= MAX_ENTRY_DISTANCE;
}

static void decode_entry(struct probes *p, const struct probe *pr, const uint8_t *data,
			 struct event *e)
{
	if (!p->fault_ip)
		p->fault_ip = value(p, pr, ENTRY_IP, data);
	e->mm = value(p, pr, ENTRY_MM, data);
	e->start = value(p, pr, ENTRY_START, data);
	e->end = value(p, pr, ENTRY_END, data);
	e->address = value(p, pr, ENTRY_ADDRESS, data);
	e->flags = value(p, pr, ENTRY_FLAGS, data);
	e->has_address = pr->fields[ENTRY_ADDRESS];
	e->has_flags = pr->fields[ENTRY_FLAGS];
}

/* A return probe of a function that is not known yet: the entry probes show who it is. */
static void decide_return(struct probes *p, struct probe *pr, const uint8_t *data)
{
	uint64_t func = value(p, pr, RETURN_FUNC, data);

	if (same_function(func, p->fault_ip) && p->has_role[EVENT_EXIT]) {
		pr->is_return = false; /* --exit names another, or the function is probed twice */
	} else if (same_function(func, p->fault_ip)) {
		pr->role = EVENT_EXIT;
		p->has_role[EVENT_EXIT] = true;
	} else if (same_function(func, p->fork_ip)) {
		pr->role = EVENT_FORK_COPIED;
	} else if (!p->fault_ip || (p->has_role[EVENT_FORK_COPY] && !p->fork_ip)) {
		pr->undecided++;
	} else {
		pr->is_return = false; /* of no use here */
	}
}

/*
 * funcgraph_entry carries the arguments where the recording has them:
 * (vma, address, flags, regs), a long each, behind the fixed part.
 */
static void decode_graph_args(struct probes *p, const struct probe *pr, const struct record *r,
			      struct event *e)
{
	const struct field *args = pr->fields[GRAPH_ARGS];
	uint32_t word = pr->fields[GRAPH_FUNC]->size;
	const uint8_t *at;

	if (!args || word < 4 || r->size < args->offset + 3 * word)
		return;
	at = r->data + args->offset + word;
	e->address = word == 8 ? read_u64(at, p->big_endian) : read_u32(at, p->big_endian);
	e->flags =
		word == 8 ? read_u64(at + word, p->big_endian) : read_u32(at + word, p->big_endian);
	e->has_address = e->has_flags = true;
}

static enum event_role decode_graph(struct probes *p, const struct probe *pr,
				    const struct record *r, struct event *e)
{
	if (!p->graph_asked)
		p->graph_start = find_handle_mm_fault(p->tf);
	p->graph_asked = true;
	if (!same_function(value(p, pr, GRAPH_FUNC, r->data), p->graph_start))
		return EVENT_NONE;
	p->kind = PROBES_GRAPH;
	if (pr->role == EVENT_ENTRY)
		decode_graph_args(p, pr, r, e);
	return pr->role;
}

static enum event_role decode_alloc(struct probes *p, const struct probe *pr, const uint8_t *data,
				    struct event *e)
{
	uint64_t gfp = value(p, pr, ALLOC_GFP, data);

	/* a user page, not a page table: GFP_HIGHUSER_MOVABLE or GFP_TRANSHUGE */
	if (!(gfp & GFP_MOVABLE_BIT) || !(gfp & GFP_HIGHMEM_BIT))
		return EVENT_NONE;
	e->number = value(p, pr, ALLOC_ORDER, data);
	return EVENT_ALLOC;
}

static enum event_role decode_rss(struct probes *p, const struct probe *pr, const uint8_t *data,
				  struct event *e)
{
	uint64_t member = value(p, pr, RSS_MEMBER, data);

	if (!value(p, pr, RSS_CURR, data) || member > 3)
		return EVENT_NONE;
	e->number = 1 << member;
	return EVENT_RSS;
}

static enum event_role decode_fork(struct probes *p, const struct probe *pr, const uint8_t *data,
				   struct event *e)
{
	e->number = value(p, pr, FORK_CHILD, data);
	e->knows_sharing = pr->fields[FORK_CLONE_FLAGS];
	e->shares_mm = value(p, pr, FORK_CLONE_FLAGS, data) & CLONE_VM;
	return EVENT_FORK;
}

enum event_role probes_decode(struct probes *p, const struct record *r, struct event *e)
{
	const uint8_t *data = r->data;
	struct probe *pr;
	uint16_t index;

	if (r->size < 2) {
		p->short_events++;
		return EVENT_NONE;
	}
	index = p->by_id[read_u16(data, p->big_endian)];
	pr = &p->list[index];
	if (index <= 1) {
		p->unknown_events += !index;
		return EVENT_NONE;
	}
	if (r->size < pr->format->size) {
		p->short_events++;
		return EVENT_NONE;
	}
	pr->records++;
	if (pr->is_return && !pr->role)
		decide_return(p, pr, data);
	if (!pr->role)
		return EVENT_NONE;
	p->seen[pr->role] = true;
	*e = (struct event){ .role = pr->role, .ts = r->ts, .cpu = r->cpu };
	e->pid = pr->pid ? field_value(pr->pid, data, p->big_endian) : 0;
	switch (pr->role) {
	case EVENT_ENTRY:
		if (pr->is_graph)
			return decode_graph(p, pr, r, e);
		decode_entry(p, pr, data, e);
		break;
	case EVENT_EXIT:
		if (pr->is_graph)
			return decode_graph(p, pr, r, e);
		e->ret = value(p, pr, RETURN_VALUE, data);
		e->has_ret = pr->fields[RETURN_VALUE];
		break;
	case EVENT_EXCEPTION:
		e->address = value(p, pr, EXCEPTION_ADDRESS, data);
		e->flags = value(p, pr, EXCEPTION_CODE, data);
		e->has_address = true;
		break;
	case EVENT_ALLOC:
		return decode_alloc(p, pr, data, e);
	case EVENT_RSS:
		return decode_rss(p, pr, data, e);
	case EVENT_WORKER:
		e->number = value(p, pr, RETURN_PTES, data);
		break;
	case EVENT_FORK_COPY:
		if (!p->fork_ip)
			p->fork_ip = value(p, pr, FORK_COPY_IP, data);
		e->mm = value(p, pr, FORK_COPY_MM, data);
		e->oldmm = value(p, pr, FORK_COPY_OLDMM, data);
		break;
	case EVENT_FORK_COPIED:
		e->ret = value(p, pr, RETURN_VALUE, data);
		break;
	case EVENT_FORK:
		return decode_fork(p, pr, data, e);
	case EVENT_MM_EXIT:
		e->mm = value(p, pr, MM_EXIT_MM, data);
		break;
	case EVENT_COLLAPSE:
		if (value(p, pr, COLLAPSE_STATUS, data) != SCAN_SUCCEED)
			return EVENT_NONE;
		e->mm = value(p, pr, COLLAPSE_MM, data);
		break;
	default:
		break;
	}
	return e->role;
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

void probes_release(struct probes *p)
{
	free(p->list);
	free(p->by_id);
	*p = (struct probes){ 0 };
}
