// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes pairing and model: each 8 bytes are one event, its fields drawn from small sets, so that
 * the same tasks, address spaces and pages meet again and again.
 */
#include "faults.h"
#include "fuzz.h"
#include "model.h"

#define EVENT_SIZE 8

static uint64_t pick_mm(uint8_t byte)
{
	return byte & 7 ? 0xffff888000000000 + ((byte & 7) << 10) : 0;
}

/* Some VMAs overlap, some lie, one is huge. */
static void pick_vma(uint8_t byte, struct event *e)
{
	static const struct {
		uint64_t start, end;
	} vmas[8] = { { 0 },
		      { 0x7f0000000000, 0x7f0000400000 },
		      { 0x7f0000000000, 0x7f0000200000 },
		      { 0x7f0000001000, 0x7f0000003000 },
		      { 0x7f00001f0000, 0x7f0000210000 },
		      { 0, UINT64_MAX },
		      { 0xfffffffffffff000, 0x1000 },
		      { 0x400000, 0x500000 } };

	e->start = vmas[byte & 7].start;
	e->end = vmas[byte & 7].end;
}

static uint64_t pick_address(uint8_t low, uint8_t high)
{
	static const uint64_t bases[4] = { 0x7f0000000000, 0x7f00001ff000, 0xffffffffff000000,
					   0x400000 };

	return bases[high & 3] + ((uint64_t)(high >> 2 & 3) << 20) + ((uint64_t)low << 12) + 8;
}

static struct event take_event(const uint8_t *b, uint64_t *ts)
{
	static const uint32_t returns[8] = { 0,
					     VM_FAULT_MAJOR,
					     VM_FAULT_RETRY,
					     VM_FAULT_LOCKED,
					     VM_FAULT_NOPAGE,
					     VM_FAULT_OOM,
					     VM_FAULT_RETRY | VM_FAULT_MAJOR,
					     0 };
	struct event e = { .role = b[0] % NR_EVENT_ROLES,
			   .pid = b[1] & 7,
			   .cpu = b[1] >> 6,
			   .has_flags = true,
			   .has_ret = true,
			   .has_address = true };

	*ts += b[7] & 0x80 ? -(uint64_t)(b[7] & 0x7f) : b[7];
	e.ts = *ts;
	e.mm = pick_mm(b[2]);
	e.oldmm = pick_mm(b[2] >> 4);
	pick_vma(b[3], &e);
	e.address = pick_address(b[4], b[5]);
	e.flags = (b[6] & 1 ? FAULT_FLAG_WRITE : 0) | (b[6] & 2 ? FAULT_FLAG_USER : 0) |
		  (b[6] & 4 ? FAULT_FLAG_REMOTE : 0) | (b[6] & 8 ? FAULT_FLAG_UNSHARE : 0);
	if (e.role == EVENT_EXCEPTION)
		e.flags = b[6] & 7;
	e.ret = returns[b[3] >> 3 & 7];
	e.number = e.role == EVENT_RSS ? 1 << (b[4] & 3) : b[4] & 0x40 ? -(int)b[4] : b[4] & 0xf;
	e.knows_sharing = b[6] & 16;
	e.shares_mm = b[6] & 32;
	return e;
}

static int take_episode(void *ctx, const struct episode *e)
{
	fuzz_require(e->faults && e->key.class < NR_CLASSES && e->ptes &&
		     e->ptes_touched <= e->faults);
	return 0;
}

static void take_step(struct model *m, struct step *s)
{
	struct outcome o = { 0 };

	if (s->kind == STEP_FAULT)
		s->fault->counted = true;
	fuzz_require(!model_step(m, s, &o) && o.key.class < NR_CLASSES && o.key.order < NR_ORDERS);
	if (o.whole)
		take_episode(NULL, o.whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FUZZ_BOUNDS(size);
	struct faults_options how = { 0 };
	struct model_options options = { .assumed_order = ORDER_UNKNOWN, .episode = take_episode };
	struct faults faults;
	struct model model;
	struct step step;
	uint64_t ts = 1000;

	if (!size)
		return 0;
	how.has_pair = *data & 1;
	how.has_copy = *data & 2;
	how.has_mm_exit = *data & 4;
	options.page_shift = *data & 8 ? 16 : 12;
	options.faults_on_old = *data & 16;
	options.reuses_large = *data & 32;
	options.sees_forks = how.has_copy;
	if (*data & 64)
		options.assumed_order = 4;
	fuzz_require(!faults_open(&faults, &how) && !model_open(&model, &options));
	model.sees_alloc = *data & 128;
	for (size_t i = 1; i + EVENT_SIZE <= size; i += EVENT_SIZE) {
		struct event e = take_event(data + i, &ts);
		int ret = data[i] & 0x80 ? faults_lost(&faults, e.cpu) : 0;

		fuzz_require(!ret);
		ret = faults_push(&faults, &e, &step);
		fuzz_require(ret >= 0);
		/* as model_expect() does for a large model */
		if (e.role == EVENT_ENTRY)
			memory_prefetch(&model.memory, e.cpu, memory_find_mm(&model.memory, e.mm),
					e.address >> options.page_shift);
		if (ret)
			take_step(&model, &step);
	}
	while (faults_finish(&faults, &step))
		take_step(&model, &step);
	fuzz_require(!model_finish(&model) && !model.memory.pages.nr);
	fuzz_require(faults.counts.unpaired_exits <= faults.counts.exits);
	model_close(&model);
	faults_close(&faults);
	return 0;
}
