/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What binding and decoding share: where the fields of each role's events stand. */
#ifndef PROBES_INT_H
#define PROBES_INT_H

/* Slots in struct probe.fields, by role. */
enum {
	ENTRY_IP,
	ENTRY_START,
	ENTRY_END,
	ENTRY_MM,
	ENTRY_ADDRESS,
	ENTRY_FLAGS
};
enum {
	RETURN_FUNC,
	RETURN_VALUE,
	RETURN_PTES
};
enum {
	EXCEPTION_ADDRESS,
	EXCEPTION_CODE
};
enum {
	ALLOC_ORDER,
	ALLOC_GFP,
	ALLOC_MIGRATETYPE
};
enum {
	RSS_CURR,
	RSS_MEMBER
};
enum {
	FORK_COPY_IP,
	FORK_COPY_MM,
	FORK_COPY_OLDMM
};
enum {
	FORK_CHILD,
	FORK_CLONE_FLAGS
};
enum {
	MM_EXIT_MM
};
enum {
	COLLAPSE_MM,
	COLLAPSE_STATUS
};
enum {
	GRAPH_FUNC
};

#endif
