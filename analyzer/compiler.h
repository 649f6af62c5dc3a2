/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the compiler cannot know: which way the hot path goes, and what to keep out of it. */
#ifndef COMPILER_H
#define COMPILER_H

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define noinline    __attribute__((__noinline__))
#define flatten	    __attribute__((__flatten__)) /* all that it calls is inlined, but for noinline */

#endif
