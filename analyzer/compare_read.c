// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads one side of a comparison, splitting the faults of recordings by task or mm on the way. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "compare_read.h"
#include "json_in.h"

/* Address spaces that took faults, sorted, with their group; by task that is the last one's. */
struct mm_group {
	uint64_t mm;
	size_t group;
};

struct splitter {
	enum compare_split split;
	struct compare_input *input;
	struct plot_side *plot; /* or NULL */
	struct mm_group *mms;
	size_t nr_mms;
};

/* Where @mm is or belongs in the list. */
static size_t mm_place(const struct splitter *s, uint64_t mm)
{
	size_t low = 0, high = s->nr_mms;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->mms[middle].mm < mm)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct mm_group *find_mm(const struct splitter *s, uint64_t mm)
{
	size_t place = mm_place(s, mm);

	return place < s->nr_mms && s->mms[place].mm == mm ? &s->mms[place] : NULL;
}

/* The entry of @mm, made when it is new; NULL when out of memory. */
static struct mm_group *take_mm(struct splitter *s, uint64_t mm)
{
	struct mm_group *mms = find_mm(s, mm);
	size_t place = mm_place(s, mm);

	if (mms)
		return mms;
	mms = reallocarray(s->mms, s->nr_mms + 1, sizeof(*mms));
	if (!mms)
		return NULL;
	s->mms = mms;
	memmove(&mms[place + 1], &mms[place], (s->nr_mms - place) * sizeof(*mms));
	mms[place] = (struct mm_group){ .mm = mm, .group = SIZE_MAX };
	s->nr_mms++;
	return &mms[place];
}

static int add_group(struct compare_input *input, const char *label, size_t *group)
{
	struct compare_group *groups;
	char *copy = strdup(label);

	groups = reallocarray(input->groups, input->nr_groups + 1, sizeof(*groups));
	if (!groups || !copy) {
		input->groups = groups ? groups : input->groups;
		free(copy);
		return -ENOMEM;
	}
	input->groups = groups;
	*group = input->nr_groups;
	groups[input->nr_groups++] = (struct compare_group){ .label = copy };
	return 0;
}

/* Find the group called @label; *group is a guess, and most often right. */
static int find_label(struct compare_input *input, const char *label, size_t *group)
{
	if (*group < input->nr_groups && !strcmp(input->groups[*group].label, label))
		return 0;
	for (*group = 0; *group < input->nr_groups; ++*group)
		if (!strcmp(input->groups[*group].label, label))
			return 0;
	return add_group(input, label, group);
}

static int name_mm(struct splitter *s, struct mm_group *mm)
{
	char label[32];

	if (mm->group != SIZE_MAX)
		return 0;
	snprintf(label, sizeof(label), "mm %zu", s->input->nr_groups + 1);
	return add_group(s->input, label, &mm->group);
}

static int find_group(struct splitter *s, uint64_t mm_id, const char *comm, size_t *group)
{
	struct mm_group *mm = take_mm(s, mm_id);
	int err;

	if (!mm)
		return -ENOMEM;
	err = s->split == SPLIT_COMM ? find_label(s->input, comm, &mm->group) : name_mm(s, mm);
	*group = mm->group;
	return err;
}

static int split_fault(struct splitter *s, const struct fault *f, const struct outcome *o,
		       const char *comm)
{
	size_t group;
	int err = find_group(s, f->mm, comm, &group);

	return err ? err : summary_add_fault(&s->input->groups[group].summary, f, o);
}

static int take_fault(void *ctx, const struct fault *f, const struct outcome *o, const char *comm)
{
	struct splitter *s = ctx;
	int err = s->plot ? plot_side_add(s->plot, f, o) : 0;

	return err || s->split == SPLIT_NONE ? err : split_fault(s, f, o, comm);
}

/* An episode belongs to its mm, or to the task that took its first fault. */
static int take_episode(void *ctx, const struct episode *e, const char *comm)
{
	struct splitter *s = ctx;
	size_t group;
	int err = find_group(s, e->mm, comm, &group);

	return err ? err : summary_add_episode(&s->input->groups[group].summary, e);
}

/* Room for @nr inputs more at the end of @side, empty; NULL when out of memory. */
static struct compare_input *add_inputs(struct compare_side *side, size_t nr)
{
	struct compare_input *inputs;

	inputs = reallocarray(side->inputs, side->nr + nr, sizeof(*inputs));
	if (!inputs)
		return NULL;
	side->inputs = inputs;
	memset(&inputs[side->nr], 0, nr * sizeof(*inputs));
	side->nr += nr;
	return &inputs[side->nr - nr];
}

static int read_report(struct input *in, const char *path, enum compare_split split,
		       struct compare_side *side)
{
	struct report_file file = { 0 };
	struct compare_input *inputs;
	struct json_error error;
	int code = 0;

	if (report_json_read(path, &file, &error))
		return command_complain(path, error.text);
	if (split != SPLIT_NONE) {
		code = command_complain(path,
					"a report does not know tasks and mms; give the recording");
	} else if (!input_has_filters(in, &file)) {
		code = command_complain(path, "a report made with other filters than those given");
	} else {
		code = input_check_report(in, path);
	}
	if (!code && file.nr_recs) {
		inputs = add_inputs(side, file.nr_recs);
		if (!inputs)
			code = command_no_memory();
		for (size_t i = 0; inputs && i < file.nr_recs; i++) {
			inputs[i].rec = file.recs[i];
			inputs[i].rec.exact |= in->report.steps.exact;
		}
		file.nr_recs = inputs ? 0 : file.nr_recs; /* handed over */
	}
	report_file_release(&file);
	return code;
}

static int read_recording(struct input *in, const char *path, enum compare_split split,
			  struct compare_side *side, struct plot_side *plot, bool *readable)
{
	struct splitter splitter = { .split = split, .plot = plot };
	int code;

	splitter.input = add_inputs(side, 1);
	if (!splitter.input)
		return command_no_memory();
	if (plot)
		plot->has_first = false;
	if (plot || split != SPLIT_NONE)
		in->report.fault = take_fault;
	if (split != SPLIT_NONE)
		in->report.episode = take_episode;
	in->report.ctx = &splitter;
	code = input_read(in, path, &splitter.input->rec, readable);
	/* damaged so that there is nothing to compare: that was said, and is all there is to say */
	if (code && !splitter.input->rec.events)
		*readable = false;
	free(splitter.mms);
	return code;
}

int compare_read(struct input *in, const char *path, enum compare_split split,
		 struct compare_side *side, struct plot_side *plot, bool *readable)
{
	int is_report = report_json_probe(path);

	*readable = false;
	if (is_report < 0)
		return command_complain(path, strerror(-is_report));
	if (!is_report)
		return read_recording(in, path, split, side, plot, readable);
	return read_report(in, path, split, side);
}
