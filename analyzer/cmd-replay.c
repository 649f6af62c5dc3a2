// SPDX-License-Identifier: GPL-2.0-or-later
/* fault-analyze replay: what another batching rule would have done to a recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "cost_files.h"
#include "gnuplot.h"
#include "replay_out.h"
#include "sweep_out.h"
#include "usage.h"

#define MAX_POLICIES 32

enum {
	OPT_POLICY = INPUT_EXTRA,
	OPT_COSTS,
	OPT_NS_PER_PTE,
	OPT_STALE_TLB,
	OPT_VALIDATE,
	OPT_SWEEP,
	OPT_PLOT,
};

static const struct option options[] = { { "policy", required_argument, NULL, OPT_POLICY },
					 { "costs", required_argument, NULL, OPT_COSTS },
					 { "ns-per-pte", required_argument, NULL, OPT_NS_PER_PTE },
					 { "stale-tlb", required_argument, NULL, OPT_STALE_TLB },
					 { "validate", required_argument, NULL, OPT_VALIDATE },
					 { "sweep", required_argument, NULL, OPT_SWEEP },
					 { "plot", required_argument, NULL, OPT_PLOT },
					 { 0 } };

static const char *const stale_names[] = { "none", "ascending", "all" };

/* Events that the model needs, what they are called in a table, and what would supply them. */
struct need {
	enum event_role role, instead;
	const char *name, *supply;
};

/* What the user wants, and what is made of it. */
struct command {
	struct input in;
	const char *policy;
	const char *costs_paths[COST_MAX_FILES];
	size_t nr_costs_paths;
	const char *ns_per_pte; /* costs as stated; or NULL */
	const char *validate, *plot;
	enum stale_tlb stale_tlb;
	char *sweep;		   /* a copy that is cut into words; owned */
	char *names[MAX_POLICIES]; /* of the policies; owned */
	struct policy policies[MAX_POLICIES];
	size_t nr;
	struct replay replay;
	bool open, refused;	    /* a policy is wrong for this recording's pages */
	const struct need *missing; /* what the recording does not have; NULL: nothing */
	struct recording before, after;
	bool has_after, after_is_timed;
	struct costs costs;
	char *costs_source; /* where they come from, in words; owned; NULL: there are none */
};

static void usage(void)
{
	const struct column *columns;
	const char *name, *meaning;
	size_t nr;

	fputs("Usage: fault-analyze replay --policy POLICY [OPTIONS] BEFORE\n"
	      "       fault-analyze replay --sweep window=1,2,4,…,folio [OPTIONS] BEFORE\n"
	      "\n"
	      "Predict from the recording BEFORE alone what another batching rule would have done:\n"
	      "faults, their time, and the work it would have wasted.\n"
	      "\n"
	      "      --policy POLICY  one of these, or a rule for reuse and one for copies with + :\n",
	      stdout);
	for (unsigned int i = 0; (name = policy_help(i, &meaning)); i++) {
		size_t len = strlen(name);

		printf("                         %s%-*s %s\n", name, 15 - (int)len,
		       name[len - 1] == '=' ? "N" : "", meaning);
	}
	fputs("      --costs FILE     what more PTEs cost a fault: KTAP of the suite's bench cases (make\n"
	      "                       kunit-bench), or a recording of a kernel that batches. Several\n"
	      "                       times: other runs, or other sizes of folios, one kind of file\n"
	      "      --ns-per-pte X[,BASE]\n"
	      "                       the same in ns a PTE, and ns a fault that batches\n"
	      "      --stale-tlb none|ascending|all\n"
	      "                       avoided faults that come back as spurious ones, because the CPU\n"
	      "                       still holds the old translation: none (default), those where a\n"
	      "                       task stores to the next page, or all: an upper bound\n"
	      "      --validate AFTER hold the prediction against a recording: exit 3 when counts\n"
	      "                       differ by more than 0.5 % and more than one fault, or the time of\n"
	      "                       faults that batch lies outside its interval, or when AFTER is\n"
	      "                       of another machine or workload\n"
	      "      --sweep LIST     a row for each window, \"folio\" for the whole\n"
	      "      --plot DIR       of a sweep: write DIR/sweep.tsv and draw it as .png and .svg\n",
	      stdout);
	input_options_help(stdout);
	fputs("\nColumns:\n", stdout);
	columns = replay_columns(&nr);
	columns_help(stdout, columns, nr);
	fputs("\nColumns of a sweep:\n", stdout);
	columns = sweep_columns(&nr);
	columns_help(stdout, columns, nr);
}

static int wrong(const char *option, const char *value, const char *why)
{
	return usage_error("replay", "--%s '%s' %s", option, value, why);
}

static int take_stale(struct command *c, const char *value)
{
	for (unsigned int i = 0; i < 3; i++) {
		if (!strcmp(value, stale_names[i])) {
			c->stale_tlb = i;
			return 0;
		}
	}
	return wrong("stale-tlb", value, "is none of none, ascending, all");
}

static int take(void *ctx, int val, const char *value)
{
	struct command *c = ctx;
	const char *why;

	switch (val) {
	case OPT_POLICY:
		c->policy = value;
		return 0;
	case OPT_COSTS:
		if (c->nr_costs_paths == COST_MAX_FILES)
			return wrong("costs", value, "is one file too many");
		c->costs_paths[c->nr_costs_paths++] = value;
		return 0;
	case OPT_NS_PER_PTE:
		why = costs_parse(&c->costs, value);
		c->ns_per_pte = value;
		return why ? wrong("ns-per-pte", value, why) : 0;
	case OPT_STALE_TLB:
		return take_stale(c, value);
	case OPT_VALIDATE:
		c->validate = value;
		return 0;
	case OPT_SWEEP:
		free(c->sweep);
		c->sweep = strdup(value);
		return c->sweep ? 0 : command_no_memory();
	case OPT_PLOT:
		c->plot = value;
		return 0;
	}
	return EXIT_USAGE;
}

/* A sweep has a table of its own. */
static const struct column *table_columns(void *ctx, size_t *nr)
{
	const struct command *c = ctx;

	return c->sweep ? sweep_columns(nr) : replay_columns(nr);
}

static int add_policy(struct command *c, const char *name, const struct policy_machine *machine)
{
	const char *why;

	if (c->nr == MAX_POLICIES)
		return wrong("sweep", name, "is one policy too many");
	why = policy_parse(&c->policies[c->nr], name, machine);
	if (why)
		return wrong(c->sweep ? "sweep" : "policy", name, why);
	c->names[c->nr] = strdup(name);
	if (!c->names[c->nr])
		return command_no_memory();
	c->nr++;
	return 0;
}

/* "window=1,2,4,folio" is a policy for each word. */
static int add_sweep(struct command *c, const struct policy_machine *machine)
{
	char *save = NULL, *word;
	char name[64];
	int code = 0;

	if (strncmp(c->sweep, "window=", strlen("window=")))
		return wrong("sweep", c->sweep, "does not begin with window=");
	for (word = strtok_r(c->sweep + strlen("window="), ",", &save); word && !code;
	     word = strtok_r(NULL, ",", &save)) {
		if (!strcmp(word, "folio"))
			snprintf(name, sizeof(name), "whole-folio");
		else
			snprintf(name, sizeof(name), "window=%s", word);
		code = add_policy(c, name, machine);
	}
	return code || c->nr ? code : wrong("sweep", c->sweep, "has no window");
}

/* What the model needs and the recording does not have; NULL: nothing. */
static const struct need *missing_event(const struct probes *p)
{
	static const struct need needs[] = {
		{ EVENT_ENTRY, EVENT_NONE, "fault entries",
		  " of mm and address: record the probe pair on handle_mm_fault" },
		{ EVENT_FORK_COPY, EVENT_FORK, "forks",
		  ": record a probe pair on dup_mmap, or -e task:task_newtask" },
		{ EVENT_MM_EXIT, EVENT_NONE, "ends of address spaces",
		  ": record -e mmap:exit_mmap" },
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
		const struct need *n = &needs[i];
		bool has = p->has_role[n->role] || (n->instead && p->has_role[n->instead]);

		/* entries that exceptions or function_graph show have neither */
		if (n->role == EVENT_ENTRY ? p->kind != PROBES_PAIR : !has)
			return n;
	}
	return NULL;
}

static int say_missing(const char *path, const struct need *n, const char *so)
{
	char what[256];

	snprintf(what, sizeof(what), "has no %s%s%s", n->name, n->supply, so);
	return command_complain(path, what);
}

/* The policies depend on the page size. -ECANCELED says that what is wrong was said. */
static int begin(void *ctx, const struct steps *steps)
{
	struct command *c = ctx;
	const struct policy_machine machine = { .page_size = steps->rec->page_size };
	const struct model_options model = steps_model_options(steps);

	c->refused = c->sweep ? add_sweep(c, &machine) : add_policy(c, c->policy, &machine);
	if (c->refused)
		return -ECANCELED;
	c->missing = missing_event(&steps->probes);
	c->open = true;
	return replay_open(&c->replay, &model, c->policies, c->nr, c->stale_tlb,
			   steps->options->filter);
}

static int step(void *ctx, const struct steps *steps, const struct step *s, const struct outcome *o)
{
	struct command *c = ctx;

	for (size_t i = 0; i < c->nr; i++)
		steps_tell_model(steps, &c->replay.predictions[i].model);
	return replay_step(&c->replay, s, o);
}

static int episode(void *ctx, const struct episode *e, const char *comm)
{
	struct command *c = ctx;

	replay_episode(&c->replay, e);
	return 0;
}

/* Whether any of the policies batches reuse, or copies. */
static struct cost_needs needs_of(const struct command *c)
{
	struct cost_needs needs = { 0 };

	for (size_t i = 0; i < c->nr * NR_ORDERS * NR_LEVELS; i++) {
		const struct replay_rows *rows =
			c->replay.predictions[i / (NR_ORDERS * NR_LEVELS)].rows;
		unsigned int order = i / NR_LEVELS % NR_ORDERS, level = i % NR_LEVELS;

		needs.reuse |= rows->row[CLASS_REUSE][order][level].batches.count > 0;
		needs.copy |= rows->row[CLASS_COW][order][level].batches.count > 0;
	}
	return needs;
}

static int find_costs(struct command *c)
{
	if (c->ns_per_pte && !c->before.time_is_ns) {
		c->costs = (struct costs){ 0 };
		return command_complain(c->before.file,
					"counts ticks: --ns-per-pte does not apply to it");
	}
	if (!c->nr_costs_paths)
		return EXIT_GOOD;
	return cost_files_read(&c->costs, &c->in, c->costs_paths, c->nr_costs_paths, &c->before,
			       needs_of(c));
}

static int read_after(struct command *c)
{
	char why[512];
	bool readable;
	int code = input_read(&c->in, c->validate, &c->after, &readable);

	if (readable && replay_unlike(&c->before, &c->after, why, sizeof(why))) {
		command_complain(c->validate, why);
		return code ? code : EXIT_REFUSED; /* damage may be what makes it unlike */
	}
	c->has_after = readable;
	c->after_is_timed = readable && replay_same_probes(&c->before, &c->after);
	if (readable && !c->after_is_timed)
		fprintf(stderr,
			"fault-analyze: %s: has other probes in its faults than the one before: "
			"times are not compared\n",
			c->validate);
	return code;
}

static int validate(const struct replay_report *report)
{
	struct replay_misses misses = replay_count_misses(report);

	if (!misses.counts && !misses.times)
		return EXIT_GOOD;
	fprintf(stderr,
		"fault-analyze: prediction missed: counts of %llu rows, times of %llu rows\n",
		(unsigned long long)misses.counts, (unsigned long long)misses.times);
	return EXIT_REFUSED;
}

/* The files that the costs come from, or the costs as stated. Returns an exit code. */
static int name_costs(struct command *c)
{
	size_t size;
	FILE *out;

	if (!c->costs.reuse.nr && !c->costs.copy.nr)
		return EXIT_GOOD;
	out = open_memstream(&c->costs_source, &size);
	if (!out)
		return command_no_memory();
	if (c->ns_per_pte)
		fputs(c->ns_per_pte, out);
	for (size_t i = 0; i < c->nr_costs_paths; i++)
		fprintf(out, "%s%s", i ? ", " : "", c->costs_paths[i]);
	return fclose(out) ? command_no_memory() : EXIT_GOOD;
}

static struct replay_basis basis(const struct command *c)
{
	return (struct replay_basis){ .before = &c->before,
				      .stale_tlb = stale_names[c->stale_tlb],
				      .costs = c->costs_source,
				      .missing = c->missing ? c->missing->name : NULL };
}

static int draw(const char *dir, const struct sweep *sweep)
{
	struct progress progress;
	char reason[256];
	int err;

	if (mkdir(dir, 0777) && errno != EEXIST)
		return command_complain(dir, strerror(errno));
	err = sweep_write_plot(dir, sweep);
	if (err)
		return command_complain(dir, strerror(-err));
	progress_begin(&progress);
	err = gnuplot_draw(SWEEP_PLOT, dir, &progress, reason, sizeof(reason));
	progress_end(&progress);
	return err ? command_complain(dir, reason) : EXIT_GOOD;
}

static int print_sweep(struct command *c)
{
	struct sweep_row rows[MAX_POLICIES];
	struct sweep sweep = { .basis = basis(c), .rows = rows, .nr = c->nr };
	int err;

	for (size_t i = 0; i < c->nr; i++) {
		rows[i] = sweep_sum(c->names[i], c->replay.predictions[i].rows, &c->costs);
		rows[i].doubt = sweep.basis.missing;
	}
	err = sweep_write(stdout, c->in.format, &sweep, c->in.columns);
	if (err)
		return input_write_failed(err);
	return c->plot ? draw(c->plot, &sweep) : EXIT_GOOD;
}

static int print(struct command *c)
{
	struct replay_report report = { .basis = basis(c),
					.after = c->has_after ? &c->after : NULL,
					.after_is_timed = c->after_is_timed,
					.unvalidated = c->has_after ? NULL : c->validate,
					.policy = c->names[0],
					.rows = c->replay.predictions[0].rows,
					.cost = &c->costs };
	int err = replay_write(stdout, c->in.format, &report, c->in.columns);

	if (err)
		return input_write_failed(err);
	return report.after ? validate(&report) : EXIT_GOOD;
}

static int worse(int a, int b)
{
	return a > b ? a : b;
}

/* What cannot be had (costs, what happened) leaves the rest to be predicted. */
static int replay(struct command *c, const char *path)
{
	bool readable;
	int code;

	c->in.report.begin = begin;
	c->in.report.step = step;
	c->in.report.episode = episode;
	c->in.report.ctx = c;
	code = input_read(&c->in, path, &c->before, &readable);
	if (!readable)
		return c->refused ? EXIT_USAGE : code;
	if (c->in.nothing_passed) /* which was said */
		return EXIT_DAMAGED;
	if (!c->before.summary.counts.total)
		return c->missing && c->missing->role == EVENT_ENTRY
			       ? say_missing(path, c->missing, "")
			       : command_complain(path, "has no faults to replay");
	if (replay_finish(&c->replay))
		return command_no_memory();
	if (c->missing)
		code = say_missing(path, c->missing, "; rows that depend on them are marked");
	/* the others are read as any report is */
	c->in.report.begin = NULL;
	c->in.report.step = NULL;
	c->in.report.episode = NULL;
	code = worse(code, find_costs(c));
	code = worse(code, name_costs(c));
	if (c->validate)
		code = worse(code, read_after(c));
	return worse(code, c->sweep ? print_sweep(c) : print(c));
}

static void release(struct command *c)
{
	if (c->open)
		replay_close(&c->replay);
	for (size_t i = 0; i < c->nr; i++)
		free(c->names[i]);
	free(c->sweep);
	free(c->costs_source);
	recording_release(&c->before);
	recording_release(&c->after);
	input_release(&c->in);
}

int cmd_replay(int argc, char **argv)
{
	struct command c = { 0 };
	const struct input_extra extra = {
		.options = options, .take = take, .ctx = &c, .columns = table_columns
	};
	size_t nr_columns;
	const struct column *columns = replay_columns(&nr_columns);
	int code = input_parse_extra(&c.in, argc, argv, columns, nr_columns, &extra);

	if (!code && c.in.help)
		usage();
	else if (!code && !c.policy == !c.sweep)
		code = usage_error("replay", "one of --policy and --sweep has to be given");
	else if (!code && c.sweep && c.validate)
		code = usage_error("replay", "--validate is for one policy, not for --sweep");
	else if (!code && !c.sweep && c.plot)
		code = usage_error("replay", "--plot is for --sweep");
	else if (!code && c.nr_costs_paths && c.ns_per_pte)
		code = usage_error("replay", "--costs or --ns-per-pte, not both");
	else if (!code && argc > optind + 1)
		code = usage_error("replay", "'%s' is one recording too many", argv[optind + 1]);
	else if (!code)
		code = replay(&c, argc > optind ? argv[optind] : DEFAULT_FILE);
	release(&c);
	return code;
}
