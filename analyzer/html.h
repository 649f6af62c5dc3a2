/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A page that needs nothing but itself: style and pictures are inside. It is written beside its
 * place and moved there when it is whole, so a page is never half written; signals that would end
 * the program wait for that. A device is written to.
 */
#ifndef HTML_H
#define HTML_H

#include <stdio.h>

struct html;

/* Start the page that is to be at @path. NULL with errno set when it cannot be written there. */
struct html *html_open(const char *path, const char *title);

/* Where the body is to be written. */
FILE *html_body(struct html *page);

/* Put the SVG that @in holds from here on into the page. Returns 0 or -errno. */
int html_add_svg(struct html *page, FILE *in, const char *title);

/*
 * End the page, move it to its place and free it; with a non-zero @err only remove what was
 * written. Returns @err, 0, or -errno.
 */
int html_close(struct html *page, int err);

/* Write @text with all that means something in HTML escaped. */
void html_write(FILE *out, const char *text);

#endif
