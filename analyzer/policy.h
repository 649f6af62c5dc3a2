/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Batching rules: which PTEs does one write fault resolve? A policy is a function over what the
 * model knows of the folio; the model keeps it within the folio, the VMA and the page table, and
 * off PTEs that are writable or not present.
 */
#ifndef POLICY_H
#define POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"

/* PTEs of a mapping, by number. */
struct pte_range {
	uint32_t first, nr;
};

struct policy {
	/* What a reuse fault on @pte of @map resolves, the fault's own PTE included. */
	struct pte_range (*reuse)(const struct policy *p, const struct mapping *map, uint32_t pte);
	bool copies_whole; /* a copy takes the whole folio where the rules allow */
	uint32_t window;   /* PTEs, a power of two; of those that use it */
};

/* PTEs of the block that arm64 maps with the contiguous bit. */
uint32_t policy_contpte(uint32_t page_size);

/* What a parser of policies has to know of the recording. */
struct policy_machine {
	uint32_t page_size; /* bytes */
};

/*
 * Parse "none", "whole-folio", "window=N", "contpte", "cow-whole-folio", or two of them joined by
 * '+'. NULL, or why @text is no policy.
 */
const char *policy_parse(struct policy *p, const char *text, const struct policy_machine *machine);

/* Names and meanings, for --help; returns NULL behind the last. */
const char *policy_help(unsigned int i, const char **meaning);

#endif
