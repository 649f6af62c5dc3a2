// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the rows of the plots: what both sides' summaries have of a class, order and level. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plot_rows.h"

static void label_row(struct plot_row *row, uint64_t page_size)
{
	const struct fault_key *key = &row->key;
	uint64_t kib = page_size << key->order >> 10;
	char size[24] = "";

	if (key->order != ORDER_UNKNOWN && page_size)
		snprintf(size, sizeof(size), " %" PRIu64 "%s",
			 kib % 1024 || !kib ? kib : kib / 1024, kib % 1024 || !kib ? "K" : "M");
	snprintf(row->label, sizeof(row->label), "%s%s%s%s%s", fault_class_names[key->class],
		 key->from ? ":" : "", key->from ? cow_from_names[key->from] : "", size,
		 key->level == LEVEL_PMD ? " pmd" : "");
}

static struct plot_row *find_row(struct plot_rows *rows, const struct fault_key *key)
{
	struct plot_row *list;

	for (size_t i = 0; i < rows->nr; i++)
		if (!fault_key_compare(&rows->list[i].key, key))
			return &rows->list[i];
	list = reallocarray(rows->list, rows->nr + 1, sizeof(*list));
	if (!list)
		return NULL;
	rows->list = list;
	list[rows->nr] = (struct plot_row){ .key = *key };
	return &list[rows->nr++];
}

static int compare_rows(const void *a, const void *b)
{
	const struct plot_row *ra = a, *rb = b;
	uint64_t na = ra->sum[0].faults + ra->sum[1].faults;
	uint64_t nb = rb->sum[0].faults + rb->sum[1].faults;

	return na != nb ? (na < nb) - (na > nb) : fault_key_compare(&ra->key, &rb->key);
}

int plot_rows_collect(struct plot_rows *rows, const struct plot_side *sides, size_t nr_sides)
{
	for (size_t s = 0; s < nr_sides; s++) {
		const struct summary *sum = &sides[s].total.summary;

		for (size_t i = 0; i < sum->nr_rows; i++) {
			struct fault_key key = sum->rows[i]->key;
			struct plot_row *row;
			int err;

			key.source = 0;
			key.evidence = EVIDENCE_INFERRED; /* the weaker of both */
			row = find_row(rows, &key);
			if (!row)
				return -ENOMEM;
			row->sum[s].key = key;
			err = row_merge(&row->sum[s], sum->rows[i]);
			if (err)
				return err;
			label_row(row, sides[s].total.page_size);
		}
	}
	if (rows->nr)
		qsort(rows->list, rows->nr, sizeof(*rows->list), compare_rows);
	return 0;
}

void plot_rows_release(struct plot_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		for (size_t s = 0; s < PLOT_SIDES; s++)
			row_release(&rows->list[i].sum[s]);
	free(rows->list);
}
