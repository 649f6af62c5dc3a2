// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `make bench` compares with: libtracecmd's iterator with a callback that reads one field and
 * pairs the entries and exits of faults, the least that a fault analyzer on top of it has to do.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <trace-cmd/trace-cmd.h>

#define MAX_PIDS (1 << 22)

struct pairing {
	struct tep_handle *tep;
	int entry_id, exit_id;
	uint64_t events, pairs, latency;
};

static uint64_t entered[MAX_PIDS];

static int on_event(struct tracecmd_input *handle, struct tep_record *record, int cpu, void *data)
{
	struct pairing *p = data;
	int id = tep_data_type(p->tep, record);
	int pid;

	p->events++;
	if (id != p->entry_id && id != p->exit_id)
		return 0;
	pid = tep_data_pid(p->tep, record);
	if (pid < 0 || pid >= MAX_PIDS)
		return 0;
	if (id == p->entry_id) {
		entered[pid] = record->ts;
	} else if (entered[pid]) {
		p->latency += record->ts - entered[pid];
		p->pairs++;
		entered[pid] = 0;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct tracecmd_input *handle = argc == 2 ? tracecmd_open(argv[1], 0) : NULL;
	struct pairing p = { 0 };
	struct tep_event *e;

	if (!handle) {
		fputs("usage: bench_libtracecmd RECORDING\n", stderr);
		return 1;
	}
	p.tep = tracecmd_get_tep(handle);
	e = tep_find_event_by_name(p.tep, "faults", "fault_entry");
	p.entry_id = e ? e->id : -1;
	e = tep_find_event_by_name(p.tep, "faults", "fault_exit");
	p.exit_id = e ? e->id : -1;
	tracecmd_iterate_events(handle, NULL, 0, on_event, &p);
	printf("%llu events, %llu pairs, %llu ns\n", (unsigned long long)p.events,
	       (unsigned long long)p.pairs, (unsigned long long)p.latency);
	tracecmd_close(handle);
	return 0;
}
