// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs gnuplot, and puts what it complains of into one line. */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gnuplot.h"

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

static int run(char *script, const char *dir, FILE *complaints)
{
	char *argv[] = { (char *)"gnuplot", (char *)"-c", script, (char *)dir, NULL };
	posix_spawn_file_actions_t actions;
	int err, status;
	pid_t pid;

	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return -err;
	err = posix_spawn_file_actions_adddup2(&actions, fileno(complaints), STDERR_FILENO);
	if (!err)
		err = posix_spawnp(&pid, "gnuplot", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		return -err;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
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

int gnuplot_draw(const char *name, const char *dir, char *reason, size_t size)
{
	char *script = find_script(name);
	FILE *complaints = tmpfile();
	int err = script && complaints ? 0 : -ENOENT;

	if (!script)
		snprintf(reason, size,
			 "plots/%s.gp is not found; FAULT_ANALYZE_PLOTS names its folder", name);
	else if (!complaints)
		snprintf(reason, size, "no temporary file: %s", strerror(errno));
	if (!err) {
		err = run(script, dir, complaints);
		if (err == -ENOENT)
			snprintf(reason, size, "gnuplot is not installed");
		else if (err)
			take_complaint(complaints, reason, size);
		if (err)
			remove_pictures(name, dir);
	}
	if (complaints)
		fclose(complaints);
	free(script);
	return err;
}
