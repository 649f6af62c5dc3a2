// SPDX-License-Identifier: GPL-2.0-or-later
/* Mode redis: a real service. Loads a redis-server with keys, lets it save them from a forked
 * child, and sets keys again when the child has gone. */
#include "workload.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SOCKET		"/tmp/fault-workload.sock"
#define DIRECTORY	"/tmp"
#define DUMP		"fault-workload.rdb"
#define VALUE_BYTES	512
#define BATCH		64 /* commands that wait for their answers together */
#define CONNECT_SECONDS 20
#define SAVE_SECONDS	60
#define SETTLE_MS	1

/* A connection to the server, and answers that were read and not looked at yet. */
struct client {
	int fd;
	size_t len;
	char buf[BATCH * 2 * VALUE_BYTES];
};

static void pause_ms(unsigned int ms)
{
	const struct timespec pause = { .tv_nsec = ms * 1000000l };

	nanosleep(&pause, NULL);
}

/* An empty server: one loads the dump that another left. */
static pid_t start_server(const struct options *opts)
{
	pid_t pid;

	if (unlink(DIRECTORY "/" DUMP) && errno != ENOENT)
		die("%s: %s", DIRECTORY "/" DUMP, strerror(errno));
	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(opts->server, opts->server, "--port", "0", "--unixsocket", SOCKET, "--dir",
		      DIRECTORY, "--dbfilename", DUMP, "--save", "", "--disable-thp", "no",
		      "--logfile", "/tmp/fault-workload.log", NULL);
		die("%s: %s", opts->server, strerror(errno));
	}
	return pid;
}

static void client_connect(struct client *c)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = SOCKET };

	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		die("socket: %s", strerror(errno));
	for (unsigned int i = 0; connect(c->fd, (struct sockaddr *)&addr, sizeof(addr)); i++) {
		if (i == CONNECT_SECONDS * 100)
			die("no server answers at %s: %s", SOCKET, strerror(errno));
		pause_ms(10);
	}
}

static void client_send(struct client *c, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(c->fd, text, len);

		if (n <= 0)
			die("the server does not take commands: %s", strerror(errno));
		text += n;
		len -= n;
	}
}

/* Reads until the buffer holds len bytes more than are taken away. */
static void client_fill(struct client *c, size_t len)
{
	while (c->len < len) {
		ssize_t n = read(c->fd, c->buf + c->len, sizeof(c->buf) - 1 - c->len);

		if (n <= 0)
			die("the server does not answer: %s", n ? strerror(errno) : "it hung up");
		c->len += n;
		c->buf[c->len] = '\0';
	}
}

static void client_take(struct client *c, size_t len)
{
	c->len -= len;
	memmove(c->buf, c->buf + len, c->len + 1);
}

/* The next line of an answer is this one. */
static void client_expect(struct client *c, const char *line)
{
	size_t len = strlen(line);

	client_fill(c, len);
	if (memcmp(c->buf, line, len))
		die("the server answers '%.*s', not '%.*s'", (int)strcspn(c->buf, "\r"), c->buf,
		    (int)strcspn(line, "\r"), line);
	client_take(c, len);
}

/* What a key holds after the load (round 0) and after it was set again (round 1). */
static void fill_value(char *value, size_t key, unsigned int round)
{
	memset(value, (round ? 'A' : 'a') + key % 26, VALUE_BYTES);
	snprintf(value, VALUE_BYTES, "%zu:%u", key, round);
}

static size_t print_set(char *text, size_t size, size_t key, unsigned int round)
{
	char value[VALUE_BYTES];
	int len = snprintf(text, size, "*3\r\n$3\r\nSET\r\n$12\r\nkey:%08zu\r\n$%u\r\n", key,
			   VALUE_BYTES);

	fill_value(value, key, round);
	memcpy(text + len, value, VALUE_BYTES);
	memcpy(text + len + VALUE_BYTES, "\r\n", 2);
	return len + VALUE_BYTES + 2;
}

static void set_keys(struct client *c, const uint32_t *keys, size_t nr_keys, unsigned int round)
{
	static char text[BATCH * (VALUE_BYTES + 64)];

	for (size_t done = 0; done < nr_keys;) {
		size_t len = 0, n = 0;

		for (; n < BATCH && done + n < nr_keys; n++)
			len += print_set(text + len, sizeof(text) - len, keys[done + n], round);
		client_send(c, text, len);
		for (done += n; n > 0; n--)
			client_expect(c, "+OK\r\n");
	}
}

/* Reads a string of any bytes to the front of the buffer; returns its length. */
static size_t client_read_string(struct client *c)
{
	size_t head = 1, len;
	char *end;

	client_fill(c, head);
	while (!(end = strstr(c->buf, "\r\n")))
		client_fill(c, ++head);
	if (sscanf(c->buf, "$%zu\r\n", &len) != 1 || len + 2 > sizeof(c->buf) - 1)
		die("the server answers '%.*s', not a string", (int)(end - c->buf), c->buf);
	client_take(c, end + 2 - c->buf);
	client_fill(c, len + 2);
	return len;
}

/* Each key holds what was set last; again[key]: it was set a second time. */
static void check_keys(struct client *c, const uint8_t *again, size_t nr_keys)
{
	char text[64], value[VALUE_BYTES];
	size_t len;

	for (size_t key = 0; key < nr_keys; key++) {
		len = snprintf(text, sizeof(text), "*2\r\n$3\r\nGET\r\n$12\r\nkey:%08zu\r\n", key);
		client_send(c, text, len);
		len = client_read_string(c);
		fill_value(value, key, again[key]);
		if (len != VALUE_BYTES || memcmp(c->buf, value, VALUE_BYTES))
			die("key %zu does not hold what was set last", key);
		client_take(c, len + 2);
	}
}

/* Lets the server fork a child that saves, and waits until the server has seen the child go. */
static void save(struct client *c)
{
	const char *saving = "rdb_bgsave_in_progress:1", *good = "rdb_last_bgsave_status:ok";
	size_t len;

	client_send(c, "BGSAVE\r\n", 8);
	client_expect(c, "+Background saving started\r\n");
	for (unsigned int i = 0; i < SAVE_SECONDS * 10; i++) {
		pause_ms(100);
		client_send(c, "INFO persistence\r\n", 18);
		len = client_read_string(c);
		if (!strstr(c->buf, saving)) {
			if (!strstr(c->buf, good))
				die("the server could not save");
			client_take(c, len + 2);
			return;
		}
		client_take(c, len + 2);
	}
	die("the server still saves after %u s", SAVE_SECONDS);
}

/* Until the server has done all that it was told, and waits. */
static void settle(struct client *c)
{
	client_send(c, "PING\r\n", 6);
	client_expect(c, "+PONG\r\n");
	pause_ms(SETTLE_MS);
}

/*
 * A phase of the server's main thread, which waits as it begins and as it ends: its counters over a
 * time of CLOCK_MONOTONIC, which a recording with the clock "mono" has, too.
 */
static struct phase *server_phase(const struct options *opts, struct client *c, pid_t server)
{
	struct phase *p = phase_new(opts, NULL, false);

	p->task = server;
	p->exact_faults = true;
	phase_warm(p);
	settle(c);
	phase_begin(p);
	return p;
}

static void server_phase_end(struct phase *p, struct client *c, const char *name, size_t nr_sets)
{
	settle(c);
	phase_end(p);
	snprintf(p->more, sizeof(p->more), ", \"task\": %d, \"sets\": %zu", (int)p->task, nr_sets);
	phase_print(p, name);
}

void mode_redis(const struct options *opts)
{
	size_t nr_keys = opts->size_bytes / VALUE_BYTES, i;
	uint32_t *keys = shared_alloc(nr_keys * sizeof(*keys));
	uint8_t *again = shared_alloc(nr_keys);
	struct client *c = shared_alloc(sizeof(*c));
	uint64_t random = RANDOM_SEED;
	struct phase *p;
	pid_t server;

	thp_allow_only(opts->folio_bytes, "always");
	server = start_server(opts);
	client_connect(c);

	for (i = 0; i < nr_keys; i++)
		keys[i] = i;
	p = server_phase(opts, c, server);
	set_keys(c, keys, nr_keys, 0);
	server_phase_end(p, c, "load", nr_keys);

	p = server_phase(opts, c, server);
	save(c);
	server_phase_end(p, c, "save", 0);

	for (i = 0; i < nr_keys; i++) {
		keys[i] = random_next(&random) % nr_keys;
		again[keys[i]] = 1;
	}
	p = server_phase(opts, c, server);
	set_keys(c, keys, nr_keys, 1);
	server_phase_end(p, c, "set", nr_keys);

	check_keys(c, again, nr_keys);
	client_send(c, "SHUTDOWN NOSAVE\r\n", 17);
	wait_for(server);
	unlink(DIRECTORY "/" DUMP);
}
