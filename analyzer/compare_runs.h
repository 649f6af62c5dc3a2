/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs of one side of a comparison, and the figures of their rows. */
#ifndef COMPARE_RUNS_H
#define COMPARE_RUNS_H

#include "compare.h"

/* Recordings of one boot, added up, with rows told apart only as asked for. */
struct run {
	const struct recording *rec; /* the first of them */
	struct compare_group *groups;
	size_t nr_groups;
	size_t hit; /* the group that was looked at last */
};

struct run_list {
	struct run *runs;
	size_t nr;
};

/* A row that some run has. */
struct row_name {
	const char *label;
	struct fault_key key;
};

struct row_names {
	struct row_name *list;
	size_t nr;
};

/* Whether two labels, architectures, … are the same text, or both NULL. */
bool same_label(const char *a, const char *b);

/*
 * Add the recordings of @arch to @list, which was empty: those of one boot are one run. @by: BY_*.
 * Returns 0 or -ENOMEM; labels and recordings stay the side's.
 */
int run_list_collect(struct run_list *list, const struct compare_side *side, const char *arch,
		     unsigned int by);

void run_list_release(struct run_list *list);

/* The rows of all runs of both sides, each once, in order; list is to free(). 0 or -ENOMEM. */
int row_names_collect(struct row_names *names, const struct run_list lists[NR_SIDES]);

/* The order of labels and keys in which rows come: "mm 2" before "mm 10". */
int row_name_compare(const struct row_name *a, const struct row_name *b);

/* What is known of @metric in the runs, into @values, which has room for each. Returns how many. */
size_t run_list_values(const struct run_list *list, const struct row_name *name,
		       const struct column *metric, double *values);

#endif
