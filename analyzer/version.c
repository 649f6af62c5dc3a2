// SPDX-License-Identifier: GPL-2.0-or-later
/* The version alone: the one object that the Makefile builds anew when git's HEAD moves. */
#include "version.h"

const char tool_version[] = TOOL_VERSION;
