/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What git describes this build as, or "unknown": it stands in every JSON and in --version. */
#ifndef VERSION_H
#define VERSION_H

extern const char tool_version[];

#endif
