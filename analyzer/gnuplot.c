// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs gnuplot, which ends with the program, and puts what it complains of into one line. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gnuplot.h"
#include "signals.h"

extern char **environ;

/* The folder of the running program, "." when it cannot be known. */
static void program_folder(char folder[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (length < 0)
		length = 0;
	folder[length] = '\0';
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	else
		strcpy(folder, ".");
}

/* Find the script of a plot: a path to free(), NULL when there is none. */
static char *find_script(const char *name)
{
	/* After the environment: installed beside the program, built in build/ or build/FLAVOUR. */
	static const char *const beside[] = { "../share/fault-analyze/plots", "../plots",
					      "../../plots", "../../../plots" };
	const char *own = getenv("FAULT_ANALYZE_PLOTS");
	char folder[PATH_MAX], *path;

	if (own)
		return asprintf(&path, "%s/%s.gp", own, name) < 0 ? NULL : path;
	program_folder(folder);
	for (size_t i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
		if (asprintf(&path, "%s/%s/%s.gp", folder, beside[i], name) < 0)
			return NULL;
		if (!access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}

/* The line that says what went wrong: gnuplot puts a caret and a blank line around it. */
static void take_complaint(FILE *complaints, char *reason, size_t size)
{
	char line[200];

	snprintf(reason, size, "gnuplot failed");
	rewind(complaints);
	while (fgets(line, sizeof(line), complaints)) {
		line[strcspn(line, "\n")] = '\0';
		if (strstr(line, "line ") || strstr(line, "rror"))
			snprintf(reason, size, "gnuplot: %s", line + strspn(line, " \t"));
	}
}

#define SHOW_EVERY_MS 500

/*
 * Wait until gnuplot ends, and say from time to time what it draws; end it when a signal has come.
 * Returns 0, -EINTR, -EIO, -errno.
 */
static int wait_for(pid_t pid, const char *name, struct progress *progress)
{
	struct pollfd fds[] = { { .fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN },
				{ .fd = signals_open(), .events = POLLIN } };
	bool interrupted;
	char what[64];
	int status;

	snprintf(what, sizeof(what), "drawing %s", name);
	progress_show(progress, what, -1);
	while (fds[0].fd >= 0 && !poll(fds, 2, SHOW_EVERY_MS))
		progress_show(progress, what, -1);
	interrupted = fds[1].revents;
	if (interrupted)
		kill(pid, SIGKILL);
	for (size_t i = 0; i < 2; i++)
		if (fds[i].fd >= 0)
			close(fds[i].fd);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (interrupted)
		return -EINTR;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

/* Start gnuplot, which any signal may end; its complaints go to a file. Returns 0 or -errno. */
static int start(pid_t *pid, char *script, const char *dir, FILE *complaints)
{
	char *argv[] = { (char *)"gnuplot", (char *)"-c", script, (char *)dir, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	int err;

	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return -err;
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	err = posix_spawn_file_actions_adddup2(&actions, fileno(complaints), STDERR_FILENO);
	if (!err)
		err = posix_spawnp(pid, "gnuplot", &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

/* Whether a picture ends as those of its kind do: gnuplot does not say when the disk is full. */
static bool is_whole(const char *name, const char *dir, const char *kind, const char *end,
		     size_t size)
{
	char tail[16] = "", *path;
	bool whole = false;
	FILE *in;

	if (asprintf(&path, "%s/%s.%s", dir, name, kind) < 0)
		return false;
	in = fopen(path, "re");
	if (in && !fseek(in, -(long)sizeof(tail), SEEK_END))
		whole = fread(tail, 1, sizeof(tail), in) == sizeof(tail) &&
			memmem(tail, sizeof(tail), end, size);
	if (in)
		fclose(in);
	free(path);
	return whole;
}

static void remove_pictures(const char *name, const char *dir)
{
	static const char *const kinds[] = { "png", "svg" };

	for (size_t i = 0; i < 2; i++) {
		char *path;

		if (asprintf(&path, "%s/%s.%s", dir, name, kinds[i]) < 0)
			return;
		unlink(path);
		free(path);
	}
}

int gnuplot_draw(const char *name, const char *dir, struct progress *progress, char *reason,
		 size_t size)
{
	char *script = find_script(name);
	FILE *complaints = tmpfile();
	int err = script && complaints ? 0 : -ENOENT;
	sigset_t before;
	pid_t pid;

	if (!script)
		snprintf(reason, size,
			 "plots/%s.gp is not found; FAULT_ANALYZE_PLOTS names its folder", name);
	else if (!complaints)
		snprintf(reason, size, "no temporary file: %s", strerror(errno));
	signals_hold(&before);
	if (!err) {
		err = start(&pid, script, dir, complaints);
		if (!err)
			err = wait_for(pid, name, progress);
		if (err == -ENOENT)
			snprintf(reason, size, "gnuplot is not installed");
		else if (err)
			take_complaint(complaints, reason, size);
		if (!err && (!is_whole(name, dir, "png", "IEND", 4) ||
			     !is_whole(name, dir, "svg", "</svg>", 6))) {
			snprintf(reason, size, "gnuplot did not draw all of %s/%s", dir, name);
			err = -EIO;
		}
		if (err)
			remove_pictures(name, dir);
	}
	signals_let(&before);
	if (complaints)
		fclose(complaints);
	free(script);
	return err;
}
