// SPDX-License-Identifier: GPL-2.0-or-later
/* Batching rules: a row for each. */
#include <stdlib.h>
#include <string.h>

#include "policy.h"

static struct pte_range reuse_one(const struct policy *p, const struct mapping *map, uint32_t pte)
{
	return (struct pte_range){ pte, 1 };
}

static struct pte_range reuse_folio(const struct policy *p, const struct mapping *map, uint32_t pte)
{
	return (struct pte_range){ 0, mapping_nr_ptes(map) };
}

/* Aligned by page number, as the folio is: PTE numbers count from its start. */
static struct pte_range reuse_window(const struct policy *p, const struct mapping *map,
				     uint32_t pte)
{
	return (struct pte_range){ pte - pte % p->window, p->window };
}

/*
 * The block that arm64 maps with the contiguous bit: CONT_PTES, 64K of 4K pages, 2M of 16K and of
 * 64K (arch/arm64/include/asm/pgtable-hwdef.h).
 */
uint32_t policy_contpte(uint32_t page_size)
{
	switch (page_size) {
	case 16384:
		return 128;
	case 65536:
		return 32;
	default:
		return 16;
	}
}

static const struct row {
	const char *name, *meaning;
	struct pte_range (*reuse)(const struct policy *p, const struct mapping *map, uint32_t pte);
	bool copies_whole, contpte;
} rows[] = {
	{ "none", "one PTE a fault, as the recorded kernel", reuse_one, false, false },
	{ "whole-folio", "a reuse fault resolves all PTEs of the folio", reuse_folio, false,
	  false },
	{ "window=", "a reuse fault resolves the N aligned PTEs around it", reuse_window, false,
	  false },
	{ "contpte", "the same with arm64's contiguous block as N", reuse_window, false, true },
	{ "cow-whole-folio", "a copy takes the whole folio", NULL, true, false },
};

#define NR_ROWS (sizeof(rows) / sizeof(*rows))

static const struct row *find_row(const char *word, size_t len)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		size_t n = strlen(rows[i].name);
		bool takes_number = rows[i].name[n - 1] == '=';

		if (takes_number ? len > n && !strncmp(word, rows[i].name, n)
				 : len == n && !strncmp(word, rows[i].name, n))
			return &rows[i];
	}
	return NULL;
}

static const char *take_window(struct policy *p, const char *number, size_t len,
			       const struct policy_machine *machine)
{
	char *end;
	unsigned long n = strtoul(number, &end, 10);

	if (end != number + len || !n || n & (n - 1))
		return "has a window that is no power of two";
	if (n > machine->page_size / 8)
		return "has a window larger than a page table";
	p->window = n;
	return NULL;
}

static const char *take_word(struct policy *p, const char *word, size_t len,
			     const struct policy_machine *machine)
{
	const struct row *row = find_row(word, len);
	size_t name_len = row ? strlen(row->name) : 0;

	if (!row)
		return "is no policy";
	if (row->reuse && p->reuse)
		return "has two rules for reuse";
	if (row->copies_whole && p->copies_whole)
		return "has two rules for copies";
	if (row->reuse)
		p->reuse = row->reuse;
	p->copies_whole |= row->copies_whole;
	if (row->contpte)
		p->window = policy_contpte(machine->page_size);
	else if (row->reuse == reuse_window)
		return take_window(p, word + name_len, len - name_len, machine);
	return NULL;
}

const char *policy_parse(struct policy *p, const char *text, const struct policy_machine *machine)
{
	*p = (struct policy){ 0 };
	for (;;) {
		size_t len = strcspn(text, "+");
		const char *why = take_word(p, text, len, machine);

		if (why)
			return why;
		if (!text[len])
			break;
		text += len + 1;
	}
	if (!p->reuse)
		p->reuse = reuse_one;
	return NULL;
}

const char *policy_help(unsigned int i, const char **meaning)
{
	if (i >= NR_ROWS)
		return NULL;
	*meaning = rows[i].meaning;
	return rows[i].name;
}
