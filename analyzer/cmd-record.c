// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fault-analyze record: set the probes that the running kernel offers, run trace-cmd, take the
 * probes away. A child process does the taking away, so that it happens however this process ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <tracefs.h>
#include <unistd.h>

#include "command.h"
#include "record_plan.h"
#include "usage.h"

/* The shell passes single-digit descriptors alone; the traced command does not see this one. */
#define STATUS_FD      9
#define STATUS_SCRIPT  "\"$@\" 9>&-; echo $? >&9"
#define REMOVE_TRIES   100
#define REMOVE_WAIT_NS 100000000

struct options {
	const char *output, *preset, *pid;
	bool print;
	char **command; /* NULL: pid is given */
	int nr_command;
};

static void usage(FILE *out)
{
	fputs("Usage: fault-analyze record [-o FILE] [--preset NAME] [-p PID | [--] COMMAND...]\n"
	      "\n"
	      "Record the page faults of a command, or of a process until it is interrupted, with\n"
	      "trace-cmd(1). Returns the command's exit status. Needs root.\n"
	      "\n"
	      "  -o, --output FILE  the recording (trace.dat)\n"
	      "      --preset NAME  fault (default), fork, reclaim or collapse\n"
	      "  -p, --pid PID      a running process instead of a command\n"
	      "      --print        show what would be set and run, and change nothing\n"
	      "  -h, --help         show this\n",
	      out);
}

static int refuse(const char *why)
{
	fprintf(stderr, "fault-analyze: cannot record: %s\n", why);
	return EXIT_DAMAGED;
}

/* The text of available_filter_functions, a name a line, " [module]" behind some. */
static bool has_function(void *ctx, const char *name)
{
	const char *text = ctx;
	size_t len = strlen(name);

	for (const char *at = text; at && (at = strstr(at, name)); at += len)
		if ((at == text || at[-1] == '\n') && strchr(" \n", at[len]))
			return true;
	return false;
}

/* The list of functions, without which nothing is known of the kernel, in a string to free; NULL
 * when it cannot be read, which is said. */
static char *read_functions(void)
{
	static const char name[] = "available_filter_functions";
	char *text = tracefs_instance_file_read(NULL, name, NULL);
	int err = errno;

	if (!text)
		fprintf(stderr,
			"fault-analyze: cannot record: %s/%s: %s; it takes root, and a kernel that "
			"lets it trace functions\n",
			tracefs_tracing_dir(), name, strerror(err));
	return text;
}

static bool has_event(void *ctx, const char *system, const char *name)
{
	return tracefs_event_file_exists(NULL, system, name, "enable");
}

static int make_plan(struct record_plan *plan, const char *preset, const char *group)
{
	char *functions = read_functions(), *readme;
	struct record_offer offer = { .has_function = has_function,
				      .has_event = has_event,
				      .ctx = functions };
	const char *reason = NULL;
	int err, code = 0;

	if (!functions)
		return EXIT_DAMAGED;
	readme = tracefs_instance_file_read(NULL, "README", NULL);
	if (readme) {
		offer.fprobes = strstr(readme, "f[:[<group>/]");
		offer.kprobes = strstr(readme, "r[maxactive]");
	}
	err = record_plan_make(plan, preset, group, &offer, &reason);
	if (err)
		code = refuse(reason ? reason : strerror(-err));
	free(readme);
	free(functions);
	return code;
}

/* argv of trace-cmd; owned by the caller, its strings are not. */
static char **trace_cmd_argv(const struct record_plan *plan, const struct options *opt)
{
	char **argv = calloc(2 * plan->nr_events + opt->nr_command + 16, sizeof(*argv));
	size_t n = 0;

	if (!argv)
		return NULL;
	argv[n++] = "trace-cmd";
	argv[n++] = "record";
	argv[n++] = "-q";
	argv[n++] = "-o";
	argv[n++] = (char *)opt->output;
	for (size_t i = 0; i < plan->nr_events; i++) {
		argv[n++] = "-e";
		argv[n++] = plan->events[i];
	}
	if (opt->pid) {
		argv[n++] = "-P";
		argv[n++] = (char *)opt->pid;
		argv[n++] = "-c";
		return argv;
	}
	if (!plan->whole_system) {
		argv[n++] = "-F";
		argv[n++] = "-c";
	}
	argv[n++] = "sh";
	argv[n++] = "-c";
	argv[n++] = STATUS_SCRIPT;
	argv[n++] = "sh";
	for (int i = 0; i < opt->nr_command; i++)
		argv[n++] = opt->command[i];
	return argv;
}

static void print_quoted(const char *word)
{
	putchar('\'');
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\'", stdout);
		putchar(*word);
	}
	putchar('\'');
}

static void print_plan(const struct record_plan *plan, char **argv, const char *dir)
{
	for (size_t i = 0; i < plan->nr_probes; i++) {
		fputs("echo ", stdout);
		print_quoted(plan->probes[i]);
		printf(" >>%s/dynamic_events\n", dir);
	}
	for (; *argv; argv++) {
		print_quoted(*argv);
		putchar(argv[1] ? ' ' : '\n');
	}
}

/* Take away what of the plan is set; waits for a trace-cmd that still uses it. Returns 0 or -errno.
 */
static int remove_probes(const struct record_plan *plan, const char *group)
{
	const struct timespec pause = { .tv_nsec = REMOVE_WAIT_NS };
	char line[128];
	int err = 0;

	for (size_t i = 0; i < plan->nr_events; i++) {
		size_t len = strlen(group);

		if (strncmp(plan->events[i], group, len) || plan->events[i][len] != ':')
			continue;
		snprintf(line, sizeof(line), "-:%s/%s", group, plan->events[i] + len + 1);
		for (int try = 0; try < REMOVE_TRIES; try++) {
			if (tracefs_instance_file_append(NULL, "dynamic_events", line) >= 0 ||
			    errno == ENOENT)
				break;
			if (errno != EBUSY || try == REMOVE_TRIES - 1) {
				err = -errno;
				break;
			}
			if (try > REMOVE_TRIES / 2)
				tracefs_event_disable(NULL, group, NULL);
			nanosleep(&pause, NULL);
		}
	}
	return err;
}

/*
 * A process that removes the probes when the returned descriptor is closed, by whatever end of this
 * one. Returns its pid, or -errno.
 */
static pid_t start_remover(const struct record_plan *plan, const char *group, int *fd)
{
	int fds[2];
	char byte;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		close(fds[1]);
		setsid();
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		while (read(fds[0], &byte, 1) < 0 && errno == EINTR)
			;
		_exit(remove_probes(plan, group) ? 1 : 0);
	}
	close(fds[0]);
	*fd = fds[1];
	return pid;
}

static int set_probes(const struct record_plan *plan)
{
	for (size_t i = 0; i < plan->nr_probes; i++) {
		if (tracefs_instance_file_append(NULL, "dynamic_events", plan->probes[i]) >= 0)
			continue;
		fprintf(stderr, "fault-analyze: cannot record: the kernel refuses '%s': %s\n",
			plan->probes[i], strerror(errno));
		return EXIT_DAMAGED;
	}
	return 0;
}

/* Returns trace-cmd's wait status; signals meant for this process end trace-cmd in its own way. */
static int wait_for_trace_cmd(pid_t pid, const sigset_t *signals)
{
	siginfo_t info;
	int status;

	for (;;) {
		if (sigwaitinfo(signals, &info) < 0)
			continue;
		if (info.si_signo == SIGCHLD) {
			if (waitpid(pid, &status, WNOHANG) == pid)
				return status;
		} else if (info.si_code != SI_KERNEL) { /* a terminal's has reached it already */
			kill(pid, SIGINT);
		}
	}
}

/* Returns the exit status of the command, or -1 when the shell around it did not say. */
static int read_status(int fd)
{
	char text[16];
	ssize_t n = read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return -1;
	text[n] = '\0';
	return atoi(text);
}

static int run_trace_cmd(char **argv, const struct options *opt)
{
	sigset_t signals, before;
	int fds[2], status, code;
	pid_t pid;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	if (pipe2(fds, O_CLOEXEC))
		return refuse(strerror(errno));
	sigprocmask(SIG_BLOCK, &signals, &before);
	pid = fork();
	if (pid < 0)
		return refuse(strerror(errno));
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		prctl(PR_SET_PDEATHSIG, SIGINT);
		if (dup2(fds[1], STATUS_FD) == STATUS_FD)
			execvp(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	status = wait_for_trace_cmd(pid, &signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	code = opt->pid ? 0 : read_status(fds[0]);
	close(fds[0]);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return refuse("no trace-cmd: install it");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return refuse("trace-cmd failed");
	return code >= 0 ? code : refuse("the command left no exit status");
}

static int record(const struct record_plan *plan, char **argv, const struct options *opt,
		  const char *group)
{
	int fd = -1, status, code;
	pid_t remover;

	if (access(tracefs_tracing_dir(), W_OK) || !tracefs_file_exists(NULL, "dynamic_events"))
		return refuse(
			"tracefs is not writable here: be root, on a kernel with dynamic events");
	remover = start_remover(plan, group, &fd);
	if (remover < 0)
		return refuse(strerror(-remover));
	code = set_probes(plan);
	if (!code)
		code = run_trace_cmd(argv, opt);
	close(fd);
	if (waitpid(remover, &status, 0) != remover || !WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "fault-analyze: the probes of group %s could not be removed\n",
			group);
		code = EXIT_DAMAGED;
	}
	return code;
}

static int parse(int argc, char **argv, struct options *opt)
{
	enum {
		PRESET = 256,
		PRINT
	};
	static const struct option options[] = { { "output", required_argument, NULL, 'o' },
						 { "preset", required_argument, NULL, PRESET },
						 { "pid", required_argument, NULL, 'p' },
						 { "print", no_argument, NULL, PRINT },
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:o:p:h", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			opt->output = optarg;
			break;
		case 'p':
			opt->pid = optarg;
			break;
		case PRESET:
			opt->preset = optarg;
			break;
		case PRINT:
			opt->print = true;
			break;
		case 'h':
			usage(stdout);
			return -1;
		default:
			return usage_wrong_option(argv[0], c, argv);
		}
	}
	if (optind < argc) {
		opt->command = argv + optind;
		opt->nr_command = argc - optind;
	}
	if (!opt->command == !opt->pid)
		return usage_error(argv[0], "record takes a command, or --pid");
	if (!record_plan_has(opt->preset))
		return usage_error(argv[0],
				   "--preset '%s' is none of fault, fork, reclaim, collapse",
				   opt->preset);
	if (opt->pid && (!*opt->pid || opt->pid[strspn(opt->pid, "0123456789")]))
		return usage_error(argv[0], "--pid '%s' is not a number", opt->pid);
	return 0;
}

int cmd_record(int argc, char **argv)
{
	struct options opt = { .output = "trace.dat", .preset = "fault" };
	struct record_plan plan = { 0 };
	char group[32], **trace_cmd;
	int code = parse(argc, argv, &opt);

	if (code)
		return code < 0 ? EXIT_GOOD : code;
	if (!tracefs_tracing_dir())
		return refuse("no tracefs here: be root, on a kernel with tracing");
	snprintf(group, sizeof(group), "fault_analyze_%d", (int)getpid());
	code = make_plan(&plan, opt.preset, group);
	if (code)
		return code;
	trace_cmd = trace_cmd_argv(&plan, &opt);
	if (!trace_cmd)
		code = refuse(strerror(ENOMEM));
	else if (opt.print)
		print_plan(&plan, trace_cmd, tracefs_tracing_dir());
	else
		code = record(&plan, trace_cmd, &opt, group);
	free(trace_cmd);
	record_plan_release(&plan);
	return code;
}
