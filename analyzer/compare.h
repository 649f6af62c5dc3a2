/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Before against after: the figures of each row of a report, taken run by run, with the change, its
 * 95 % interval and, for a small fixed family of them, a verdict. Computes; prints nothing.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include "recording.h"
#include "table.h"

/* Faults of one recording that belong together by the name of their task, or by their mm. */
struct compare_group {
	char *label; /* owned; NULL: all faults of the recording */
	struct summary summary;
};

/* One recording of a side. All zero is empty. */
struct compare_input {
	struct recording rec;
	struct compare_group *groups; /* owned; none: all of rec.summary is one group */
	size_t nr_groups;
};

struct compare_side {
	struct compare_input *inputs; /* owned */
	size_t nr;
};

void compare_side_release(struct compare_side *side);

enum side {
	BEFORE,
	AFTER,
	NR_SIDES
};

/* What tells rows apart, beside the group. */
#define BY_CLASS (1u << 0)
#define BY_ORDER (1u << 1)

#define CLASS_ANY NR_CLASSES /* the class of rows that are not told apart by class */

struct compare_options {
	const struct column **metrics; /* report columns whose figures are compared */
	size_t nr_metrics;
	double threshold; /* the least change that is marked, as a part: 0.01 is 1 % */
	unsigned int by;  /* BY_* */
};

enum verdict {
	VERDICT_NONE, /* of a figure outside the family, which carries no mark */
	VERDICT_IMPROVEMENT,
	VERDICT_REGRESSION,
	VERDICT_SAME,
	VERDICT_INCONCLUSIVE,
	VERDICT_INSUFFICIENT,
	NR_VERDICTS
};

extern const char *const verdict_names[NR_VERDICTS]; /* NULL for none */

/* One figure of one row, before and after. */
struct compare_row {
	size_t block;
	const char *label; /* of the group; NULL: all */
	struct fault_key key;
	const struct column *metric;
	double value[NR_SIDES]; /* median of the runs; NAN unknown */
	size_t runs[NR_SIDES];	/* in which it is known */
	/* The change as a part of before: 0.5 is half as much more; NAN where a side is zero. */
	double change;
	double low, high; /* 95 % interval of the change, for exact ones its range; NAN unknown */
	double p;	  /* Mann-Whitney, corrected after Holm; NAN for none */
	enum verdict verdict;
};

/* What is compared with each other: all recordings of one architecture. */
struct compare_block {
	const char *arch;					  /* NULL unknown */
	size_t runs[NR_SIDES], boots[NR_SIDES], builds[NR_SIDES]; /* boots, builds: 0 unknown */
	const struct recording *example[NR_SIDES];		  /* for kernel, clock, page size */
	bool exact;	 /* times are counts of instructions: one run a side is enough */
	bool ns;	 /* times are ns */
	bool mixed_time; /* forced: of different units, so that no time is compared */
	size_t nr_tests; /* of the family */
	size_t runs_needed;
};

/* All zero is empty. Labels and recordings belong to the sides, which have to outlive it. */
struct comparison {
	struct compare_block *blocks; /* owned; by arch */
	size_t nr_blocks;
	struct compare_row *rows; /* owned; by block, label, key, then in the order of metrics */
	size_t nr_rows;
	size_t nr_metrics; /* rows of each name */
	double threshold;
};

/*
 * Compare two sides. Recordings of one boot are one run; each without a known boot is its own.
 * Returns 0 or -ENOMEM.
 */
int compare_sides(struct comparison *c, const struct compare_side sides[NR_SIDES],
		  const struct compare_options *options);

void comparison_release(struct comparison *c);

/* Reasons why two sides should not be compared: lines of text. All zero is empty. */
struct compare_reasons {
	char **list; /* owned */
	size_t nr;
};

/*
 * Find out what is unlike: architectures, probes, clocks, page sizes, workloads where manifests
 * name them; losses above 0.1 %, damage. Returns 0 or -ENOMEM.
 */
int compare_unlike(struct compare_reasons *reasons, const struct compare_side sides[NR_SIDES]);

void compare_reasons_release(struct compare_reasons *reasons);

/* Two inputs that are the same recording, on one side or on both; false when there are none. */
bool compare_same_recording(const struct compare_side sides[NR_SIDES], const struct recording **a,
			    const struct recording **b);

#endif
