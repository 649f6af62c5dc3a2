// SPDX-License-Identifier: GPL-2.0-or-later
/* fault-workload: makes page faults of one kind on folios of one size and says what the kernel
 * counted. */
#include "workload.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	void (*run)(const struct options *opts);
	const char *help;
} modes[] = {
	{ "populate", mode_populate, "first store to every page" },
	{ "reuse", mode_reuse, "populate, fork, the child exits, store" },
	{ "cow", mode_cow, "populate, fork, store while the child lives" },
	{ "fork", mode_fork, "populate, then fork --repeat times" },
	{ "unmap", mode_unmap, "populate, munmap" },
	{ "dontneed", mode_dontneed, "populate, MADV_DONTNEED, populate again" },
	{ "usemem", mode_usemem, "populate, then --children processes store to all of it" },
	{ "reclaim", mode_reclaim, "read a mapped file, then reclaim it from its cgroup" },
	{ "collapse", mode_collapse, "populate small folios, collapse them to 2M" },
	{ "redis", mode_redis, "load a redis-server, let it save from a child, set keys again" },
};

static void usage(FILE *to)
{
	fprintf(to, "usage: fault-workload MODE [options]\n\nmodes:\n");
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		fprintf(to, "  %-10s %s\n", modes[i].name, modes[i].help);
	fprintf(to,
		"\noptions (sizes take K, M, G):\n"
		"  --size BYTES       of the region, a multiple of 2M (8M); redis: of all values\n"
		"  --folio BYTES      anonymous folio size, 4K to 2M (4K)\n"
		"  --by-ptes          map 2M folios by PTEs\n"
		"  --store KIND       byte, loop, fence, memset, read or random (loop)\n"
		"  --every K          store to one page in K (1)\n"
		"  --threads N        threads of --store random (1)\n"
		"  --children N       processes of usemem (2)\n"
		"  --repeat N         forks (1)\n"
		"  --by WHO           collapse: madvise or khugepaged (madvise)\n"
		"  --read-only        collapse: a VMA without write permission\n"
		"  --file PATH        reclaim: file to make; its file system decides the folio sizes\n"
		"  --cgroup DIR       reclaim: memory cgroup to make and to move to\n"
		"  --server PATH      redis: the program (/usr/bin/redis-server)\n"
		"  --reclaim BYTES    reclaim: how much (four fifths of --size)\n"
		"\nNeeds root: sets the THP sizes while it runs and reads folio sizes from kpageflags.\n"
		"Prints one JSON object a phase, one a line.\n");
}

static size_t parse_size(const char *text)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	switch (*end) {
	case 'G':
		n <<= 10;
		/* fallthrough */
	case 'M':
		n <<= 10;
		/* fallthrough */
	case 'K':
		n <<= 10;
		end++;
	}
	if (errno || end == text || *end || !n || n > 1ull << 40)
		die("'%s' is no size: give a number with K, M or G", text);
	return n;
}

static unsigned int parse_count(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || *end || !n || n > 100000)
		die("'%s' is no count from 1 to 100000", text);
	return n;
}

static void parse_by(const char *text, struct options *opts)
{
	opts->khugepaged = !strcmp(text, "khugepaged");
	if (!opts->khugepaged && strcmp(text, "madvise"))
		die("--by %s: madvise or khugepaged", text);
}

static void parse_options(int argc, char **argv, struct options *opts)
{
	enum {
		SIZE = 1,
		FOLIO,
		BY_PTES,
		STORE,
		EVERY,
		THREADS,
		CHILDREN,
		REPEAT,
		BY,
		READ_ONLY,
		IN_FILE,
		CGROUP,
		RECLAIM,
		SERVER
	};
	static const struct option longs[] = { { "size", required_argument, NULL, SIZE },
					       { "folio", required_argument, NULL, FOLIO },
					       { "by-ptes", no_argument, NULL, BY_PTES },
					       { "store", required_argument, NULL, STORE },
					       { "every", required_argument, NULL, EVERY },
					       { "threads", required_argument, NULL, THREADS },
					       { "children", required_argument, NULL, CHILDREN },
					       { "repeat", required_argument, NULL, REPEAT },
					       { "by", required_argument, NULL, BY },
					       { "read-only", no_argument, NULL, READ_ONLY },
					       { "file", required_argument, NULL, IN_FILE },
					       { "cgroup", required_argument, NULL, CGROUP },
					       { "reclaim", required_argument, NULL, RECLAIM },
					       { "server", required_argument, NULL, SERVER },
					       { "help", no_argument, NULL, 'h' },
					       {} };
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case SIZE:
			opts->size_bytes = parse_size(optarg);
			break;
		case FOLIO:
			opts->folio_bytes = parse_size(optarg);
			break;
		case BY_PTES:
			opts->by_ptes = true;
			break;
		case STORE:
			opts->store = store_by_name(optarg);
			break;
		case EVERY:
			opts->every = parse_count(optarg);
			break;
		case THREADS:
			opts->nr_threads = parse_count(optarg);
			break;
		case CHILDREN:
			opts->nr_children = parse_count(optarg);
			break;
		case REPEAT:
			opts->repeat = parse_count(optarg);
			break;
		case BY:
			parse_by(optarg, opts);
			break;
		case READ_ONLY:
			opts->read_only = true;
			break;
		case IN_FILE:
			opts->file = optarg;
			break;
		case CGROUP:
			opts->cgroup = optarg;
			break;
		case RECLAIM:
			opts->reclaim_bytes = parse_size(optarg);
			break;
		case SERVER:
			opts->server = optarg;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			exit(1);
		}
	}
	if (optind != argc - 1)
		die("give one MODE; --help lists them");
	opts->mode = argv[optind];
}

static void check_options(struct options *opts)
{
	if (opts->size_bytes % PMD_BYTES)
		die("--size must be a multiple of 2M");
	if (opts->folio_bytes < PAGE_BYTES || opts->folio_bytes > PMD_BYTES ||
	    opts->folio_bytes & (opts->folio_bytes - 1))
		die("--folio must be a power of two from 4K to 2M");
	if (opts->by_ptes && opts->folio_bytes != PMD_BYTES)
		die("--by-ptes is for --folio 2M: smaller folios are always mapped so");
	if (opts->store == NR_STORE_KINDS)
		die("unknown --store; --help lists them");
	if (!opts->reclaim_bytes)
		opts->reclaim_bytes = opts->size_bytes / 5 * 4;
	if (sysconf(_SC_PAGESIZE) != PAGE_BYTES)
		die("the page size is not 4K");
}

int main(int argc, char **argv)
{
	struct options opts = {
		.size_bytes = 8u << 20,
		.folio_bytes = PAGE_BYTES,
		.store = STORE_LOOP,
		.every = 1,
		.nr_threads = 1,
		.nr_children = 2,
		.repeat = 1,
		.server = "/usr/bin/redis-server",
	};

	parse_options(argc, argv, &opts);
	check_options(&opts);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, opts.mode))
			continue;
		modes[i].run(&opts);
		return 0;
	}
	die("no mode '%s'; --help lists them", opts.mode);
}
