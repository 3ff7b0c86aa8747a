/* SPDX-License-Identifier: MIT */
/* src/cli/sandbox.c: what is refused once the sandbox is entered, and what still works. */
#define _GNU_SOURCE
#include "../../src/cli/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77 };

static int failures;

static void check(bool holds, const char *what)
{
	if (!holds)
		fprintf(stderr, "not so: %s (%s)\n", what, strerror(errno));
	failures += !holds;
}

static bool can_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void *set_flag(void *flag)
{
	*(bool *)flag = true;
	return NULL;
}

static void check_threads(void)
{
	bool has_run = false;
	pthread_t thread;
	int status = pthread_create(&thread, NULL, set_flag, &has_run);

	if (status == 0)
		pthread_join(thread, NULL);
	check(status == 0 && has_run, "threads can be made");
}

static void check_calls(void)
{
	char *const arguments[] = { (char *)(size_t) "true", NULL };

	check(execv("/bin/true", arguments) != 0, "programs cannot be run");
	check(fork() < 0, "processes cannot be made");
	check(socket(AF_INET, SOCK_STREAM, 0) < 0, "there is no network");
	check(socket(AF_UNIX, SOCK_STREAM, 0) < 0, "nor a local one");
}

static void check_files(void)
{
	check(can_write("out/report") && rename("out/report", "out/other") == 0 &&
		      unlink("out/other") == 0,
	      "beside the output files can be written, renamed and removed");
	check(mkdir("out/rank0", 0777) == 0 && can_write("out/rank0/steps.jsonl"), "and folders");
	check(can_write("/dev/null"), "a device that is an output can be written");
	check(open("input", O_RDONLY) >= 0, "what is there can be read");
	check(!can_write("input") && !can_write("new"), "nothing else can be written");
	check(unlink("input") != 0 && rename("input", "out/input") != 0, "or removed, or moved");
}

static int test_in(const char *folder)
{
	static const char *const outputs[] = { "out/report", NULL, "/dev/null" };

	if (chdir(folder) != 0 || mkdir("out", 0777) != 0 || !can_write("input"))
		return 1;
	sandbox_enter(outputs, sizeof(outputs) / sizeof(outputs[0]));
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2)
		return SKIPPED;
	check_threads();
	check_calls();
	if (can_write("probe"))
		return failures > 0 ? 1 : SKIPPED; /* a kernel without Landlock */
	check_files();
	return failures > 0;
}

int main(void)
{
	char folder[] = "/tmp/test_sandbox.XXXXXX", command[64];
	int status = 1;
	pid_t child;

	if (!mkdtemp(folder))
		return 1;
	child = fork();
	if (child == 0)
		_exit(test_in(folder));
	if (child > 0)
		waitpid(child, &status, 0);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	if (system(command) != 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
