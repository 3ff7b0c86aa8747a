/* SPDX-License-Identifier: MIT */
/*
 * The pager's process is made before the sandbox and waits at a pipe: it becomes the pager when the
 * first byte comes, and ends when there is none.
 */
#include "pager.h"

#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Interrupts are for the pager; its early end is no error. */
static const int ignored[] = { SIGPIPE, SIGINT, SIGQUIT };

enum { IGNORED_COUNT = sizeof(ignored) / sizeof(ignored[0]) };

static struct {
	pid_t process; /* 0: there is none */
	int pipe;
	struct sigaction before[IGNORED_COUNT]; /* while it is open */
} pager;

/* NULL: less, without a shell that would say that it is missing. */
static const char *command_of_user(void)
{
	const char *command = getenv("TSCOPE_PAGER");

	return command ? command : getenv("PAGER");
}

static bool is_wanted(const struct options *options)
{
	const char *command = command_of_user(), *terminal = getenv("TERM");

	return !options->no_pager && !options->output && isatty(STDOUT_FILENO) &&
	       !(command && (*command == '\0' || strcmp(command, "cat") == 0)) &&
	       !(terminal && strcmp(terminal, "dumb") == 0);
}

_Noreturn static void become_pager(int from)
{
	struct pollfd first = { .fd = from, .events = POLLIN };
	const char *command = command_of_user();

	while (poll(&first, 1, -1) < 0 && errno == EINTR)
		;
	if (!(first.revents & POLLIN) || dup2(from, STDIN_FILENO) < 0)
		_exit(0);
	close(from);
	setenv("LESS", "FRX", 0);
	if (command)
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	else
		execlp("less", "less", (char *)NULL);
	_exit(127);
}

void pager_prepare(const struct options *options)
{
	int ends[2];
	pid_t process;

	if (!is_wanted(options) || pipe(ends) != 0)
		return;
	process = fork();
	if (process == 0) {
		close(ends[1]);
		become_pager(ends[0]);
	}
	close(ends[0]);
	if (process < 0) {
		close(ends[1]);
		return;
	}
	pager.process = process;
	pager.pipe = ends[1];
}

bool pager_is_ready(void)
{
	return pager.process > 0;
}

/* Rows that a line takes: without escapes, which begin with ESC [ and end with a letter. */
static size_t rows_of(const char *line, size_t length, size_t width)
{
	size_t columns = 0;

	for (size_t i = 0; i < length; i++) {
		if (line[i] == '\033')
			while (i + 1 < length && line[i] != 'm')
				i++;
		else
			columns += ((unsigned char)line[i] & 0xc0) != 0x80;
	}
	return columns > width ? (columns + width - 1) / width : 1;
}

static bool is_tall(const char *report, size_t length)
{
	struct terminal_size size = terminal_size();
	const char *end = report + length;
	size_t rows = 0;

	while (report < end && rows <= size.rows) {
		const char *newline = memchr(report, '\n', (size_t)(end - report));
		const char *line_end = newline ? newline : end;

		if (newline) /* behind the last there are escapes at most */
			rows += rows_of(report, (size_t)(line_end - report), size.columns);
		report = newline ? newline + 1 : end;
	}
	return rows > size.rows;
}

/* False: it could not be run. */
static bool end(void)
{
	pid_t process = pager.process;
	int status = 0;

	pager.process = 0;
	while (waitpid(process, &status, 0) < 0 && errno == EINTR)
		;
	return !WIFEXITED(status) || (WEXITSTATUS(status) != 126 && WEXITSTATUS(status) != 127);
}

FILE *pager_open(const char *report, size_t length)
{
	struct sigaction ignore = { .sa_flags = 0 };
	FILE *stream = is_tall(report, length) ? fdopen(pager.pipe, "w") : NULL;

	if (!stream) {
		close(pager.pipe);
		(void)end();
		return NULL;
	}
	ignore.sa_handler = SIG_IGN;
	sigemptyset(&ignore.sa_mask);
	for (size_t i = 0; i < IGNORED_COUNT; i++)
		sigaction(ignored[i], &ignore, &pager.before[i]);
	return stream;
}

bool pager_close(FILE *stream)
{
	bool is_shown;

	fclose(stream);
	is_shown = end();
	for (size_t i = 0; i < IGNORED_COUNT; i++)
		sigaction(ignored[i], &pager.before[i], NULL);
	return is_shown;
}
