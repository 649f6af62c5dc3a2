// SPDX-License-Identifier: GPL-2.0-or-later
/* fault-analyze replay: what another batching rule would have done to a recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "input.h"
#include "ktap.h"
#include "replay_out.h"

#define MAX_POLICIES 32
#define MAGIC	     "\x17\x08\x44"

enum {
	OPT_POLICY = INPUT_EXTRA,
	OPT_COSTS,
	OPT_NS_PER_PTE,
	OPT_STALE_TLB,
	OPT_VALIDATE,
	OPT_SWEEP,
};

static const struct option options[] = { { "policy", required_argument, NULL, OPT_POLICY },
					 { "costs", required_argument, NULL, OPT_COSTS },
					 { "ns-per-pte", required_argument, NULL, OPT_NS_PER_PTE },
					 { "stale-tlb", required_argument, NULL, OPT_STALE_TLB },
					 { "validate", required_argument, NULL, OPT_VALIDATE },
					 { "sweep", required_argument, NULL, OPT_SWEEP },
					 { 0 } };

static const char *const stale_names[] = { "none", "ascending", "all" };

/* What the user wants, and what is made of it. */
struct command {
	struct input in;
	const char *policy;
	const char *costs_path, *costs_text; /* one of them, or neither */
	const char *validate;
	enum stale_tlb stale_tlb;
	char *sweep;		   /* a copy that is cut into words; owned */
	char *names[MAX_POLICIES]; /* of the policies; owned */
	struct policy policies[MAX_POLICIES];
	size_t nr;
	struct replay replay;
	bool open;
	const char *missing; /* an event that the model needs and the recording does not have */
	struct recording before, after;
	struct costs costs;
};

static void usage(size_t nr, const struct column *columns)
{
	const char *name, *meaning;

	fputs("Usage: fault-analyze replay --policy POLICY [OPTIONS] BEFORE\n"
	      "       fault-analyze replay --sweep window=1,2,4,…,folio [OPTIONS] BEFORE\n"
	      "\n"
	      "Predict from the recording BEFORE alone what another batching rule would have done:\n"
	      "faults, their time, and the work it would have wasted.\n"
	      "\n"
	      "      --policy POLICY  one of these, or a rule for reuse and one for copies with + :\n",
	      stdout);
	for (unsigned int i = 0; (name = policy_help(i, &meaning)); i++)
		printf("                         %-15s %s\n", name, meaning);
	fputs("      --costs FILE     what more PTEs cost a fault: the KTAP of the suite's bench cases\n"
	      "                       (make kunit CONFIG=latency), or a recording with the batching\n"
	      "      --ns-per-pte X[,BASE]\n"
	      "                       the same in ns a PTE, and ns a fault that batches\n"
	      "      --stale-tlb none|ascending|all\n"
	      "                       avoided faults that come back as spurious ones, because the CPU\n"
	      "                       still holds the old translation: none (default), those where a\n"
	      "                       task stores to the next page, or all: an upper bound\n"
	      "      --validate AFTER hold the prediction against a recording: exit 3 when counts\n"
	      "                       differ by more than 0.5 % and more than one fault, or a time\n"
	      "                       lies outside its interval\n"
	      "      --sweep LIST     a row for each window, \"folio\" for the whole\n",
	      stdout);
	input_options_help(stdout);
	fputs("\nColumns:\n", stdout);
	columns_help(stdout, columns, nr);
}

static int wrong(const char *option, const char *value, const char *why)
{
	fprintf(stderr, "fault-analyze: --%s '%s' %s; see 'fault-analyze replay --help'\n", option,
		value, why);
	return EXIT_USAGE;
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
		c->costs_path = value;
		return 0;
	case OPT_NS_PER_PTE:
		why = costs_parse(&c->costs, value);
		c->costs_text = value;
		return why ? wrong("ns-per-pte", value, why) : 0;
	case OPT_STALE_TLB:
		return take_stale(c, value);
	case OPT_VALIDATE:
		c->validate = value;
		return 0;
	case OPT_SWEEP:
		free(c->sweep);
		c->sweep = strdup(value);
		return c->sweep ? 0 : wrong("sweep", value, strerror(ENOMEM));
	}
	return EXIT_USAGE;
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
		return wrong("sweep", name, strerror(ENOMEM));
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

/* The policies depend on the page size. -ECANCELED says that what is wrong was said. */
static int begin(void *ctx, const struct recording *rec)
{
	struct command *c = ctx;
	const struct policy_machine machine = { .page_size = rec->page_size };
	int code = c->sweep ? add_sweep(c, &machine) : add_policy(c, c->policy, &machine);

	return code ? -ECANCELED : 0;
}

static const char *missing_event(const struct probes *p)
{
	if (!p->has_role[EVENT_ENTRY])
		return "fault entries with mm and address; record the probe pair on handle_mm_fault";
	if (!p->has_role[EVENT_MM_EXIT])
		return "mmap:exit_mmap; record it with -e mmap:exit_mmap";
	if (!p->has_role[EVENT_FORK_COPY] && !p->has_role[EVENT_FORK])
		return "forks; record a probe pair on dup_mmap, or -e sched:sched_process_fork";
	return NULL;
}

static int step(void *ctx, const struct steps *steps, const struct step *s)
{
	struct command *c = ctx;
	int err = 0;

	if (!c->open) {
		const struct model_options model = steps_model_options(steps);

		c->missing = missing_event(&steps->probes);
		err = replay_open(&c->replay, &model, c->policies, c->nr, c->stale_tlb,
				  steps->options->filter);
		c->open = true;
	}
	if (err)
		return err;
	steps_tell_model(steps, &c->replay.recorded);
	return replay_step(&c->replay, s);
}

static bool is_recording(const char *path)
{
	char magic[3] = "";
	struct stat st;
	FILE *f = !stat(path, &st) && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
	bool is = f && fread(magic, 1, sizeof(magic), f) == sizeof(magic) &&
		  !memcmp(magic, MAGIC, sizeof(magic));

	if (f)
		fclose(f);
	return is;
}

static int say(const char *path, const char *what)
{
	fprintf(stderr, "fault-analyze: %s: %s\n", path, what);
	return EXIT_DAMAGED;
}

/* Whether any of the policies batches reuse, or copies. */
static void needs_of(const struct command *c, bool *reuse, bool *copy)
{
	*reuse = *copy = false;
	for (size_t i = 0; i < c->nr; i++) {
		const struct replay_rows *rows = c->replay.predictions[i].rows;

		for (unsigned int order = 0; order < NR_ORDERS; order++) {
			*reuse |= rows->row[CLASS_REUSE][order][LEVEL_PTE].batches > 0;
			*copy |= rows->row[CLASS_COW][order][LEVEL_PTE].batches > 0;
		}
	}
}

/* Costs from a recording whose kernel batches: it is read as the one before it was. */
static int fit_costs(struct command *c, bool reuse, bool copy)
{
	struct recording other = { 0 };
	const char *why;
	bool readable;
	int code;

	c->in.report.begin = NULL;
	c->in.report.step = NULL;
	code = input_read(&c->in, c->costs_path, &other, &readable);
	if (readable) {
		why = costs_fit(&c->costs, &c->before.summary, &other.summary, reuse, copy);
		if (why)
			code = say(c->costs_path, why);
	}
	recording_release(&other);
	return code;
}

static int read_ktap_costs(struct command *c, bool reuse, bool copy)
{
	struct ktap_result ktap = { 0 };
	const char *why = NULL;
	FILE *f = fopen(c->costs_path, "r");
	int code = 0;

	if (!f)
		return say(c->costs_path, strerror(errno));
	if (ktap_read(f, &ktap) < 0)
		why = ktap.error.text;
	else
		why = costs_from_ktap(&c->costs, &ktap, reuse, copy);
	if (why)
		code = say(c->costs_path, why);
	ktap_release(&ktap);
	fclose(f);
	return code;
}

static int find_costs(struct command *c)
{
	bool reuse, copy;

	if (!c->costs_path)
		return 0;
	needs_of(c, &reuse, &copy);
	return is_recording(c->costs_path) ? fit_costs(c, reuse, copy)
					   : read_ktap_costs(c, reuse, copy);
}

static int read_after(struct command *c)
{
	bool readable;
	int code;

	c->in.report.begin = NULL;
	c->in.report.step = NULL;
	code = input_read(&c->in, c->validate, &c->after, &readable);
	if (code)
		return code;
	if (c->before.arch && c->after.arch && strcmp(c->before.arch, c->after.arch))
		return say(c->validate, "is of another architecture than the recording before it");
	if (c->before.time_is_ns != c->after.time_is_ns)
		return say(c->validate, "has another clock than the recording before it");
	return 0;
}

static int validate(const struct replay_report *report)
{
	struct replay_miss miss = replay_compare(report);

	if (!miss.counts && !miss.times)
		return 0;
	fprintf(stderr,
		"fault-analyze: prediction missed: counts of %llu rows, times of %llu rows\n",
		(unsigned long long)miss.counts, (unsigned long long)miss.times);
	return EXIT_REFUSED;
}

static int write_sweep(struct command *c)
{
	struct sweep_row rows[MAX_POLICIES];

	for (size_t i = 0; i < c->nr; i++)
		rows[i] = (struct sweep_row){ .policy = c->names[i],
					      .rows = c->replay.predictions[i].rows,
					      .cost = &c->costs,
					      .ns = c->before.time_is_ns };
	return sweep_write(stdout, c->in.format, rows, c->nr, &c->before, c->in.columns);
}

static int print(struct command *c)
{
	struct replay_report report = { .before = &c->before,
					.after = c->validate ? &c->after : NULL,
					.policy = c->names[0],
					.stale_tlb = stale_names[c->stale_tlb],
					.costs = c->costs_path ? c->costs_path : c->costs_text,
					.rows = c->replay.predictions[0].rows,
					.cost = &c->costs };
	int err = c->sweep ? write_sweep(c)
			   : replay_write(stdout, c->in.format, &report, c->in.columns);

	if (err)
		return input_write_failed(err);
	return c->validate && !c->sweep ? validate(&report) : 0;
}

static int replay(struct command *c, const char *path)
{
	bool readable;
	int code, more;

	c->in.report.begin = begin;
	c->in.report.step = step;
	c->in.report.ctx = c;
	code = input_read(&c->in, path, &c->before, &readable);
	if (!readable)
		/* a policy that is wrong for this recording's pages is bad usage */
		return c->nr ? code : EXIT_USAGE;
	if (!c->open)
		return say(path, "has no faults to replay");
	if (replay_finish(&c->replay))
		return say(path, strerror(ENOMEM));
	if (c->missing) {
		fprintf(stderr, "fault-analyze: %s: has no %s; what depends on it is unknown\n",
			path, c->missing);
		code = EXIT_DAMAGED;
	}
	more = find_costs(c);
	if (!more && c->validate)
		more = read_after(c);
	if (!more)
		more = print(c);
	return more > code ? more : code;
}

static void release(struct command *c)
{
	if (c->open)
		replay_close(&c->replay);
	for (size_t i = 0; i < c->nr; i++)
		free(c->names[i]);
	free(c->sweep);
	recording_release(&c->before);
	recording_release(&c->after);
	input_release(&c->in);
}

int cmd_replay(int argc, char **argv)
{
	struct command c = { 0 };
	const struct input_extra extra = { .options = options, .take = take, .ctx = &c };
	size_t nr_columns;
	const struct column *columns = replay_columns(&nr_columns);
	int code = input_parse_extra(&c.in, argc, argv, columns, nr_columns, &extra);

	if (!code && c.in.help)
		usage(nr_columns, columns);
	else if (!code && !c.policy == !c.sweep)
		code = wrong("policy", c.policy ? c.policy : "",
			     "or --sweep has to be given, one of them");
	else if (!code && argc > optind + 1)
		code = wrong("policy", argv[optind + 1], "is one recording too many");
	else if (!code)
		code = replay(&c, argc > optind ? argv[optind] : DEFAULT_FILE);
	release(&c);
	return code;
}
