// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's settings of anonymous folio sizes: chosen for the run, put back when it ends. */
#include "workload.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THP_DIR "/sys/kernel/mm/transparent_hugepage"

struct setting {
	char path[128];
	char value[64];
};

/* What to put back, by the process that changed it. */
static struct setting saved[32];
static size_t nr_saved;
static pid_t owner;

static void restore(void)
{
	if (getpid() != owner)
		return;
	while (nr_saved > 0) {
		nr_saved--;
		if (write_file(saved[nr_saved].path, saved[nr_saved].value))
			fprintf(stderr, "fault-workload: cannot put %s back to %s\n",
				saved[nr_saved].path, saved[nr_saved].value);
	}
}

/* A list of choices has the present one in brackets; other files hold the value alone. */
static void present_value(const char *path, char *value, size_t size)
{
	char text[256];
	char *open_bracket, *from;

	read_file(path, text, sizeof(text));
	open_bracket = strchr(text, '[');
	from = open_bracket ? open_bracket + 1 : text;
	from[strcspn(from, "]\n")] = '\0';
	snprintf(value, size, "%.*s", (int)size - 1, from);
}

static void set(const char *path, const char *value)
{
	int err;

	if (!owner) {
		owner = getpid();
		atexit(restore);
	}
	if (nr_saved == sizeof(saved) / sizeof(saved[0]))
		die("too many THP settings");
	snprintf(saved[nr_saved].path, sizeof(saved[0].path), "%s", path);
	present_value(path, saved[nr_saved].value, sizeof(saved[0].value));
	nr_saved++;
	err = write_file(path, value);
	if (err)
		die("cannot write %s to %s: %s", value, path, strerror(-err));
}

void thp_allow_only(size_t folio_bytes, const char *where)
{
	size_t kb;
	char path[512];
	struct dirent *entry;
	bool found = folio_bytes == PAGE_BYTES;
	DIR *dir = opendir(THP_DIR);

	if (!dir)
		die("no %s: the kernel has no THP", THP_DIR);
	while ((entry = readdir(dir))) {
		if (sscanf(entry->d_name, "hugepages-%zukB", &kb) != 1)
			continue;
		snprintf(path, sizeof(path), THP_DIR "/%.64s/enabled", entry->d_name);
		if (access(path, F_OK))
			continue; /* a size for shared memory alone */
		set(path, kb << 10 == folio_bytes ? where : "never");
		found |= kb << 10 == folio_bytes;
	}
	closedir(dir);
	if (!found)
		die("this kernel has no anonymous folios of %zu KiB", folio_bytes >> 10);
}

void thp_khugepaged_fast(void)
{
	set(THP_DIR "/khugepaged/pages_to_scan", "65536");
	set(THP_DIR "/khugepaged/alloc_sleep_millisecs", "0");
	set(THP_DIR "/khugepaged/scan_sleep_millisecs", "10");
}
