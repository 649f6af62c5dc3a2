// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes pages that hold their style and pictures themselves. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "html.h"
#include "json_out.h"
#include "signals.h"

struct html {
	FILE *out;
	char *path, *unfinished; /* owned; NULL where it is written in its place */
	sigset_t before;	 /* signals are held back while there is one unfinished */
};

/*
 * For a phone, a screen and paper: 72 columns of text fit a phone, tables scroll by themselves with
 * their first column in view, and shrink when printed, as do pictures, in as many columns as fit.
 */
static const char style[] =
	"body{font:15px/1.4 system-ui,sans-serif;margin:1em auto;max-width:90em;padding:0 1em;"
	"color:#222;background:#fff}"
	"h1{font-size:1.4em}"
	"h2{font-size:1.15em;margin-top:1.6em;overflow-wrap:anywhere;break-after:avoid}"
	"pre{font-size:min(.85em,2.1vw);overflow-x:auto}"
	".wide{overflow-x:auto}"
	"table{border-collapse:collapse;font-size:.85em;font-variant-numeric:tabular-nums}"
	"th,td{padding:.2em .6em;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}"
	"th{background:#f2f2f2}.word{text-align:left}"
	"td:first-child,th:first-child{position:sticky;left:0}td:first-child{background:#fff;"
	"box-shadow:inset 0 -1px #ddd}"
	".pictures{display:grid;gap:1em;"
	"grid-template-columns:repeat(auto-fit,minmax(min(100%,32em),1fr))}"
	"figure{margin:0;overflow-x:auto}img{width:100%;min-width:36em;height:auto}"
	"@page{size:landscape;margin:1cm}"
	"@media print{body{max-width:none;margin:0;padding:0;font-size:9pt}.wide{overflow:visible}"
	"pre{font-size:8pt}table{font-size:5.5pt}th,td{padding:.1em .2em;white-space:normal}"
	".pictures{grid-template-columns:1fr 1fr}figure,tr{break-inside:avoid}"
	"img{min-width:0}}";

void html_write(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			if ((unsigned char)*text < ' ' && *text != '\n' && *text != '\t')
				fprintf(out, "\\x%02x", (unsigned char)*text);
			else
				putc(*text, out);
		}
	}
}

static void html_free(struct html *page)
{
	if (page->unfinished)
		signals_let(&page->before);
	free(page->path);
	free(page->unfinished);
	free(page);
}

/* A pipe or a device is written to as it is: nothing may take its place. */
static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* Open the page beside its place, where a link leads. Returns 0 or -errno. */
static int open_file(struct html *page, const char *path)
{
	if (is_special(path)) {
		page->out = fopen(path, "we");
		return page->out ? 0 : -errno;
	}
	page->path = realpath(path, NULL);
	if (!page->path)
		page->path = strdup(path);
	if (!page->path || asprintf(&page->unfinished, "%s.%d.tmp", page->path, getpid()) < 0) {
		page->unfinished = NULL;
		return -ENOMEM;
	}
	signals_hold(&page->before);
	page->out = fopen(page->unfinished, "wxe");
	return page->out ? 0 : -errno;
}

struct html *html_open(const char *path, const char *title)
{
	struct html *page = calloc(1, sizeof(*page));
	int err = page ? open_file(page, path) : -ENOMEM;

	if (err) {
		if (page)
			html_free(page);
		errno = -err;
		return NULL;
	}
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
	      page->out);
	html_write(page->out, title);
	fprintf(page->out, "</title>\n<style>%s</style></head><body>\n<h1>", style);
	html_write(page->out, title);
	fputs("</h1>\n", page->out);
	return page;
}

FILE *html_body(struct html *page)
{
	return page->out;
}

/* RFC 4648, section 4. */
static void write_base64(FILE *out, const unsigned char *in, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		uint32_t bits =
			in[i] << 16 | (left > 1 ? in[i + 1] << 8 : 0) | (left > 2 ? in[i + 2] : 0);

		putc(digits[bits >> 18], out);
		putc(digits[bits >> 12 & 63], out);
		putc(left > 1 ? digits[bits >> 6 & 63] : '=', out);
		putc(left > 2 ? digits[bits & 63] : '=', out);
	}
}

int html_add_svg(struct html *page, FILE *in, const char *title)
{
	unsigned char buf[3 * 4096]; /* whole groups of three, so that pieces need no padding */
	size_t size;
	int err;

	/* An image apart, as each of gnuplot's pictures uses the same ids. */
	fputs("<figure><img alt=\"", page->out);
	html_write(page->out, title);
	fputs("\" src=\"data:image/svg+xml;base64,", page->out);
	errno = 0;
	while ((size = fread(buf, 1, sizeof(buf), in)) > 0)
		write_base64(page->out, buf, size);
	err = ferror(in) ? (errno ? -errno : -EIO) : output_error(page->out);
	fputs("\"></figure>\n", page->out);
	return err;
}

int html_close(struct html *page, int err)
{
	if (!err)
		fputs("</body></html>\n", page->out);
	if (!err)
		err = output_flush(page->out);
	if (fclose(page->out) && !err)
		err = -errno;
	if (!err && page->unfinished && rename(page->unfinished, page->path))
		err = -errno;
	if (err && page->unfinished)
		unlink(page->unfinished);
	html_free(page);
	return err;
}
