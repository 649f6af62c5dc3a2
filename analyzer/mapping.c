// SPDX-License-Identifier: GPL-2.0-or-later
/* The states of a folio's PTEs in one address space: all of them at once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapping.h"

#define ORDER_PER_WORD 4 /* that many PTEs fit in the mapping itself */
#define EVERY_NIBBLE   UINT64_C(0x1111111111111111)

static uint32_t nr_words(const struct mapping *map)
{
	return map->wide ? mapping_nr_ptes(map) / NIBBLES_PER_WORD : 1;
}

static uint64_t *words(struct mapping *map)
{
	return map->wide ? map->nibble_v : &map->nibbles;
}

uint64_t mapping_size(const struct mapping *map)
{
	return sizeof(*map) + (map->wide ? nr_words(map) * sizeof(uint64_t) : 0);
}

int mapping_init(struct mapping *map, enum pte_state state)
{
	map->wide = !map->pmd && map->order > ORDER_PER_WORD;
	map->pte_mask = map->pmd ? 0 : UINT16_MAX;
	if (map->wide) {
		map->nibble_v = malloc(nr_words(map) * sizeof(uint64_t));
		if (!map->nibble_v)
			return -ENOMEM;
	}
	mapping_set_all(map, state);
	map->nr_start = map->nr_mapped;
	return 0;
}

void mapping_release(struct mapping *map)
{
	if (map->wide)
		free(map->nibble_v);
	map->wide = false;
}

void mapping_set_all(struct mapping *map, enum pte_state state)
{
	uint64_t *w = words(map);
	uint32_t nr = nr_words(map);

	for (uint32_t i = 0; i < nr; i++)
		w[i] = EVERY_NIBBLE * state;
	if (map->pmd)
		w[0] &= NIBBLE_STATE;
	else if (map->order < ORDER_PER_WORD)
		w[0] &= (UINT64_C(1) << (4u << map->order)) - 1;
	map->nr_mapped = state == PTE_NONE ? 0 : mapping_nr_ptes(map);
}

void mapping_write_protect(struct mapping *map)
{
	uint64_t *w = words(map);
	uint32_t nr = nr_words(map);

	for (uint32_t i = 0; i < nr; i++)
		w[i] = (w[i] | w[i] >> 1) & EVERY_NIBBLE; /* PTE_SHARED where not PTE_NONE */
	map->nr_start = map->nr_mapped;
}

void mapping_copy(struct mapping *to, struct mapping *from)
{
	uint32_t nr = nr_words(to);

	mapping_write_protect(from);
	to->nr_mapped = to->nr_start = from->nr_mapped;
	for (uint32_t i = 0; i < nr; i++)
		words(to)[i] = words(from)[i] * (1 | NIBBLE_OLD); /* of those that are mapped */
}

int mapping_split_pmd(struct mapping *map)
{
	enum pte_state state = mapping_state(map, 0);
	struct mapping split = *map;
	int err;

	if (!map->pmd)
		return 0;
	split.pmd = false;
	err = mapping_init(&split, state);
	split.nr_start = map->nr_start;
	if (!err)
		*map = split;
	return err;
}
