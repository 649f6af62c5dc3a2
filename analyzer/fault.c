// SPDX-License-Identifier: GPL-2.0-or-later
/* The names of classes, levels and evidence, as users see and type them. */
#include "fault.h"

const char *const fault_class_names[NR_CLASSES] = {
	[CLASS_MAP] = "map",	       [CLASS_REUSE] = "reuse",	    [CLASS_COW] = "cow",
	[CLASS_SPURIOUS] = "spurious", [CLASS_ACCESS] = "access",   [CLASS_FILE] = "file",
	[CLASS_SHARED] = "shared",     [CLASS_UNSHARE] = "unshare", [CLASS_SWAP] = "swap",
	[CLASS_NUMA] = "numa",	       [CLASS_UFFD] = "uffd",	    [CLASS_ZERO] = "zero",
	[CLASS_RACED] = "raced",       [CLASS_ERROR] = "error",	    [CLASS_UNKNOWN] = "unknown",
};

const char *const fault_level_names[NR_LEVELS] = { "pte", "pmd" };

const char *const evidence_names[NR_EVIDENCE] = { "seen", "inferred" };

const char *const cow_from_names[NR_FROM] = {
	[FROM_ANON] = "anon", [FROM_ZERO] = "zero", [FROM_FILE] = "file"
};

const char *const folio_source_names[NR_SOURCES] = { "unknown", "alloc", "probe", "assumed" };
