// SPDX-License-Identifier: GPL-2.0-or-later
/* Which events of a recording say what about faults, and decoding them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "probes.h"

#define MAX_IDS	     65536 /* common_type has 16 bits */
#define NOT_SETTLED  UINT32_MAX
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
	GRAPH_FUNC
};

#define NUMBER(p, e, ...) \
	format_number(e, (const char *const[]){ __VA_ARGS__, NULL }, (p)->big_endian)

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

static bool bind_fixed(const struct probes *p, struct probe *pr, const struct event_format *e)
{
	for (size_t i = 0; i < sizeof(fixed_events) / sizeof(*fixed_events); i++) {
		const struct fixed_event *x = &fixed_events[i];

		if (strcmp(e->name, x->name) || strcmp(e->system, x->system))
			continue;
		*pr = (struct probe){ .format = e, .role = x->role };
		for (int j = 0; j < 3 && x->fields[j]; j++) {
			pr->fields[j] = NUMBER(p, e, x->fields[j]);
			if (!pr->fields[j].is_there)
				return false;
		}
		return true;
	}
	return false;
}

/* handle_mm_fault(vma, address, flags, regs) with names of our presets, of BTF or of habit. */
static bool bind_entry(const struct probes *p, struct probe *pr, const struct event_format *e)
{
	*pr = (struct probe){ .format = e, .role = EVENT_ENTRY };
	pr->fields[ENTRY_IP] = NUMBER(p, e, "__probe_ip");
	pr->fields[ENTRY_START] = NUMBER(p, e, "start", "vm_start", "vma_start");
	pr->fields[ENTRY_END] = NUMBER(p, e, "end", "vm_end", "vma_end");
	pr->fields[ENTRY_MM] = NUMBER(p, e, "mm", "vm_mm", "vma_mm");
	pr->fields[ENTRY_ADDRESS] = NUMBER(p, e, "address", "addr");
	pr->fields[ENTRY_FLAGS] = NUMBER(p, e, "flags");
	return pr->fields[ENTRY_IP].is_there && pr->fields[ENTRY_ADDRESS].is_there &&
	       pr->fields[ENTRY_FLAGS].is_there;
}

static bool bind_fork_copy(const struct probes *p, struct probe *pr, const struct event_format *e)
{
	*pr = (struct probe){ .format = e, .role = EVENT_FORK_COPY };
	pr->fields[FORK_COPY_IP] = NUMBER(p, e, "__probe_ip");
	pr->fields[FORK_COPY_MM] = NUMBER(p, e, "mm");
	pr->fields[FORK_COPY_OLDMM] = NUMBER(p, e, "oldmm");
	return pr->fields[FORK_COPY_IP].is_there && pr->fields[FORK_COPY_MM].is_there &&
	       pr->fields[FORK_COPY_OLDMM].is_there;
}

static bool bind_return(const struct probes *p, struct probe *pr, const struct event_format *e)
{
	*pr = (struct probe){ .format = e, .is_return = true };
	pr->fields[RETURN_FUNC] = NUMBER(p, e, "__probe_func");
	pr->fields[RETURN_PTES] = NUMBER(p, e, "ptes", "nr_ptes");
	pr->fields[RETURN_VALUE] = NUMBER(p, e, "ret", "retval", "arg1");
	if (pr->fields[RETURN_PTES].is_there)
		pr->role = EVENT_WORKER;
	return pr->fields[RETURN_FUNC].is_there && format_field(e, "__probe_ret_ip");
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

/* An id as it stands in the recording, read as if that were of this machine's byte order. */
static uint16_t raw_id(const struct probes *p, uint32_t id)
{
	uint16_t raw = id;

	return read_u16(&raw, p->big_endian);
}

static void add_probe(struct probes *p, const struct probe *pr)
{
	struct probe *added = &p->list[p->nr];

	p->by_id[raw_id(p, pr->format->id)] = p->nr++;
	*added = *pr;
	added->size = NOT_SETTLED;
	added->pid = NUMBER(p, pr->format, "common_pid");
	p->has_role[pr->role] = true;
}

static bool is_free(const struct probes *p, const struct event_format *e)
{
	return e->id < MAX_IDS && p->by_id[raw_id(p, e->id)] <= 1;
}

/* Of several probes on the entry, the one that says most is taken. */
static int entry_worth(const struct probe *pr)
{
	return (pr->fields[ENTRY_MM].is_there ? 2 : 0) +
	       (pr->fields[ENTRY_START].is_there && pr->fields[ENTRY_END].is_there ? 1 : 0);
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
			bind_entry(p, &pr, e);
			best = pr;
			break;
		}
		if (format_field(e, "__probe_ip") && bind_entry(p, &pr, e) &&
		    (!best.format || entry_worth(&pr) > entry_worth(&best)))
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
			bind_return(p, &pr, e);
			pr.role = EVENT_EXIT;
			pr.is_return = false;
			found = true;
			add_probe(p, &pr);
		} else if (format_field(e, "__probe_func") && bind_return(p, &pr, e)) {
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
	const struct field *args;

	if (!enter || !leave || !is_free(p, enter) || !is_free(p, leave))
		return;
	args = format_field(enter, "args");
	pr.args_offset = args ? args->offset : 0;
	pr.fields[GRAPH_FUNC] = NUMBER(p, enter, "func");
	if (!pr.fields[GRAPH_FUNC].is_there || !NUMBER(p, leave, "func").is_there)
		return;
	add_probe(p, &pr);
	pr = (struct probe){ .role = EVENT_EXIT, .is_graph = true, .format = leave };
	pr.fields[GRAPH_FUNC] = NUMBER(p, leave, "func");
	add_probe(p, &pr);
}

/*
 * Entries 0 and 1 of the list stand for unknown ids, which are counted, and for events of no use
 * here: they have no role.
 */
static int make_tables(struct probes *p, const struct formats *f)
{
	p->list = calloc(f->nr + 2, sizeof(*p->list));
	p->by_id = calloc(MAX_IDS, sizeof(*p->by_id));
	if (!p->list || !p->by_id)
		return -ENOMEM;
	p->nr = 2;
	p->list[0].size = NOT_SETTLED;
	for (size_t i = 0; i < f->nr; i++) {
		if (f->list[i].id < MAX_IDS)
			p->by_id[raw_id(p, f->list[i].id)] = 1;
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
		    (bind_fixed(p, &pr, &f->list[i]) || (format_field(&f->list[i], "__probe_ip") &&
							 bind_fork_copy(p, &pr, &f->list[i]))))
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

void probes_release(struct probes *p)
{
	free(p->list);
	free(p->by_id);
	*p = (struct probes){ 0 };
}
