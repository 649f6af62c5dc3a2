// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects what the plots are drawn from, in bounded memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json_in.h"
#include "plot_data.h"

static void widen_bins(struct plot_side *side)
{
	for (size_t i = 0; i < PLOT_BINS; i++) {
		for (size_t c = 0; c < NR_CLASSES; c++) {
			uint64_t sum = 0;

			if (2 * i + 1 < PLOT_BINS)
				sum = side->bins[2 * i][c] + side->bins[2 * i + 1][c];
			side->bins[i][c] = sum;
		}
	}
	side->bin_width *= 2;
}

static void count_in_time(struct plot_side *side, uint64_t time, uint8_t class)
{
	if (!side->bin_width)
		side->bin_width = 1000;
	while (time / side->bin_width >= PLOT_BINS && side->bin_width < UINT64_MAX / 2)
		widen_bins(side);
	if (time / side->bin_width < PLOT_BINS)
		side->bins[time / side->bin_width][class]++;
}

/* Keep every second point of those that there are. */
static void thin_points(struct plot_side *side)
{
	for (size_t i = 0; 2 * i < side->nr_points; i++)
		side->points[i] = side->points[2 * i];
	side->nr_points = (side->nr_points + 1) / 2;
	side->every *= 2;
}

static int keep_point(struct plot_side *side, const struct plot_point *point)
{
	if (!side->points) {
		side->points = calloc(PLOT_POINTS, sizeof(*side->points));
		if (!side->points)
			return -ENOMEM;
		side->every = 1;
	}
	if (side->nr_faults++ % side->every)
		return 0;
	if (side->nr_points == PLOT_POINTS)
		thin_points(side);
	side->points[side->nr_points++] = *point;
	return 0;
}

int plot_side_add(struct plot_side *side, const struct fault *f, const struct outcome *o)
{
	struct plot_point point = { .address = f->address, .class = o->key.class };

	if (!side->has_first) {
		side->first = f->entry;
		side->has_first = true;
	}
	point.time = f->entry > side->first ? f->entry - side->first : 0;
	count_in_time(side, point.time, point.class);
	return f->has_address ? keep_point(side, &point) : 0;
}

static int take_fault(void *ctx, const struct fault *f, const struct outcome *o, const char *comm)
{
	return plot_side_add(ctx, f, o);
}

void plot_side_watch(struct plot_side *side, struct report_options *options)
{
	side->has_first = false;
	options->fault = take_fault;
	options->ctx = side;
}

/* Room for @nr recordings more, empty; NULL when out of memory. */
static struct recording *add_recordings(struct plot_side *side, size_t nr)
{
	struct recording *recs = reallocarray(side->recs, side->nr_recs + nr + 1, sizeof(*recs));

	if (!recs)
		return NULL;
	side->recs = recs;
	memset(&recs[side->nr_recs], 0, nr * sizeof(*recs));
	side->nr_recs += nr;
	return &recs[side->nr_recs - nr];
}

static int read_report(struct input *in, const char *path, struct plot_side *side)
{
	struct report_file file = { 0 };
	struct recording *recs;
	struct json_error error;
	int code;

	if (report_json_read(path, &file, &error))
		return command_complain(path, error.text);
	code = input_check_report(in, path);
	if (!code && in->filter.nr_texts && !input_has_filters(in, &file))
		code = command_complain(path, "a report made with other filters than those given");
	if (code) {
		report_file_release(&file);
		return code;
	}
	recs = add_recordings(side, file.nr_recs);
	for (size_t i = 0; recs && i < file.nr_recs; i++)
		recs[i] = file.recs[i];
	file.nr_recs = recs ? 0 : file.nr_recs; /* handed over */
	report_file_release(&file);
	return recs ? EXIT_GOOD : command_no_memory();
}

int plot_read(struct input *in, const char *path, struct plot_side *side, bool *readable)
{
	int is_report = report_json_probe(path), code;
	struct recording *rec;

	*readable = false;
	if (is_report < 0)
		return command_complain(path, strerror(-is_report));
	if (is_report) {
		code = read_report(in, path, side);
		*readable = code == EXIT_GOOD;
		return code;
	}
	rec = add_recordings(side, 1);
	if (!rec)
		return command_no_memory();
	plot_side_watch(side, &in->report);
	return input_read(in, path, rec, readable);
}

int plot_side_finish(struct plot_side *side)
{
	return recordings_total(&side->total, side->recs, side->nr_recs);
}

void plot_side_release(struct plot_side *side)
{
	for (size_t i = 0; i < side->nr_recs; i++)
		recording_release(&side->recs[i]);
	free(side->recs);
	recording_release(&side->total);
	free(side->points);
	*side = (struct plot_side){ 0 };
}
