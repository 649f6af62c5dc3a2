// SPDX-License-Identifier: GPL-2.0-or-later
/* The lines of KTAP in what a kernel says. */
#include <errno.h>
#include <string.h>

#include "ktap_line.h"
#include "ktap_text.h"

/*
 * Read one line into the buffer that is not at hand, without spaces at its end. Lines end as in
 * Python's text files, at \n, \r\n or \r. 1, 0 at the end, or -errno.
 */
static int read_line(struct ktap_text *t)
{
	char *buf = t->buf[!t->which];
	size_t bytes = 0;
	int c;

	if (t->cr && (c = getc(t->in)) != '\n')
		ungetc(c, t->in);
	else
		t->lines++;
	while ((c = getc(t->in)) != EOF && c != '\n' && c != '\r') {
		if (bytes == KTAP_MAX_LINE)
			return -E2BIG;
		buf[bytes++] = c ? c : '?'; /* printk never writes a NUL */
	}
	if (c == EOF && ferror(t->in))
		return errno ? -errno : -EIO;
	if (c == EOF && !bytes) {
		t->lines--;
		return 0;
	}
	t->cr = c == '\r';
	while (bytes && ktap_space(buf[bytes - 1]))
		bytes--;
	buf[bytes] = '\0';
	return 1;
}

/* Whether @line ends in @words and a version; if so the prefix is what stands before them. */
static bool starts_at(struct ktap_text *t, const char *line, const char *words)
{
	const char *first = strstr(line, words), *s;
	uint64_t version;

	for (s = first; s; s = strstr(s + 1, words))
		if (ktap_version_line(s, words, &version))
			break;
	if (!s)
		return false;
	t->prefix_bytes = first - line;
	return true;
}

/* KTAP_END: here the kernel halts. */
static bool ends_at(const char *line)
{
	static const char *const words[] = { "List of all partitions:",
					     "Kernel panic - not syncing: VFS:",
					     "reboot: System halted" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

/* Of the comments above the version line, the first that has an "ARCH=NAME" says what it is of. */
static void note_arch(struct ktap_text *t, const char *line)
{
	const char *name = *line == '#' ? strstr(line, "ARCH=") : NULL;
	size_t bytes;

	if (!name || *t->arch)
		return;
	name += strlen("ARCH=");
	bytes = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
	if (bytes <= KTAP_MAX_ARCH)
		memcpy(t->arch, name, bytes);
}

int ktap_text_next(struct ktap_text *t, const char **line)
{
	const char *read = t->buf[!t->which];
	size_t prefix_bytes = 0;
	int got;

	while ((got = read_line(t)) == 1) {
		if (t->started && ends_at(read))
			return 0;
		if (!t->started)
			t->started = starts_at(t, read, "KTAP version") ||
				     starts_at(t, read, "TAP version");
		if (!t->started)
			note_arch(t, read);
		else
			prefix_bytes = strnlen(read, t->prefix_bytes);
		if (t->started || strstr(read, "kunit executor: "))
			break;
	}
	if (got == 1) {
		*line = read + prefix_bytes;
		t->which = !t->which;
	}
	return got;
}
