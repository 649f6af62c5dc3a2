// SPDX-License-Identifier: GPL-2.0-or-later
/* Which events of a recording say what about faults. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probes.h"
#include "probes_int.h"

#define MAX_IDS	    65536 /* common_type has 16 bits */
#define NOT_SETTLED UINT32_MAX
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

void probes_release(struct probes *p)
{
	free(p->list);
	free(p->by_id);
	*p = (struct probes){ 0 };
}
