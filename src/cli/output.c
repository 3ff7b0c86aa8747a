/* SPDX-License-Identifier: MIT */
/*
 * The end of the data's path: the report on standard output, or in a file that
 * never holds half of it. A file is written under another name beside its own,
 * brought to the disk and renamed; signals that end the program take it away,
 * and the folders that were made for it.
 */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "output.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what goes when a signal ends the program ---- */

/* "folder/.name.XXXXXX", while it exists under that name; or a folder that was made. */
struct temporary {
	struct temporary *next;
	bool is_folder;
	char path[];
};

/* The newest first. For the signal handler; changed only while its signals are blocked. */
static struct temporary *temporaries;

static const int ending_signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

enum { ENDING_SIGNAL_COUNT = sizeof(ending_signals) / sizeof(ending_signals[0]) };

/* A folder stays that something is in. */
static void remove_temporary(const struct temporary *temporary)
{
	if (temporary->is_folder)
		rmdir(temporary->path);
	else
		unlink(temporary->path);
}

static void remove_temporaries(int number)
{
	for (const struct temporary *i = temporaries; i; i = i->next)
		remove_temporary(i);
	/* SA_RESETHAND: this time the signal ends the program. */
	raise(number);
}

static void block_ending_signals(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ENDING_SIGNAL_COUNT; i++)
		sigaddset(&set, ending_signals[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

/* Ignored signals, as by nohup, stay ignored. */
static void handle_ending_signals(void)
{
	struct sigaction action = { .sa_flags = SA_RESETHAND };

	action.sa_handler = remove_temporaries;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < ENDING_SIGNAL_COUNT; i++) {
		struct sigaction now;

		if (sigaction(ending_signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			sigaction(ending_signals[i], &action, NULL);
	}
}

static struct temporary *new_temporary(size_t path_size)
{
	struct temporary *temporary = malloc(sizeof(*temporary) + path_size);

	if (temporary)
		*temporary = (struct temporary){ 0 };
	return temporary;
}

/* Its signals are blocked. */
static void link_temporary(struct temporary *temporary)
{
	handle_ending_signals();
	temporary->next = temporaries;
	temporaries = temporary;
}

static void unlink_temporary(struct temporary *temporary)
{
	struct temporary **link = &temporaries;

	while (*link != temporary)
		link = &(*link)->next;
	*link = temporary->next;
	free(temporary);
}

/* Beside path, so that renaming cannot cross file systems, and hidden, so that it is no input. */
static struct temporary *name_temporary(const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder_length = slash ? (int)(slash + 1 - path) : 0;
	size_t size = strlen(path) + sizeof("..XXXXXX");
	struct temporary *temporary = new_temporary(size);

	if (temporary)
		snprintf(temporary->path, size, "%.*s.%s.XXXXXX", folder_length, path,
			 path + folder_length);
	return temporary;
}

/* -1: errno says why; nothing stays then. */
static int create_temporary(struct temporary **ret, const char *path)
{
	struct temporary *temporary = name_temporary(path);
	sigset_t before;
	int fd;

	if (!temporary)
		return -1;
	block_ending_signals(&before);
	fd = mkstemp(temporary->path);
	if (fd >= 0) {
		link_temporary(temporary);
		*ret = temporary;
	} else {
		free(temporary);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd;
}

/* becomes: its name from now on; NULL: it goes. */
static bool end_temporary(struct temporary *temporary, const char *becomes)
{
	bool is_done;
	sigset_t before;

	block_ending_signals(&before);
	is_done = (becomes ? rename(temporary->path, becomes) : unlink(temporary->path)) == 0;
	if (is_done || !becomes)
		unlink_temporary(temporary);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return is_done;
}

struct temporary *output_guard(const char *path)
{
	struct temporary *guard = new_temporary(strlen(path) + 1);
	sigset_t before;

	if (!guard)
		return NULL;
	memcpy(guard->path, path, strlen(path) + 1);
	block_ending_signals(&before);
	link_temporary(guard);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return guard;
}

void output_release(struct temporary *guard, bool is_whole)
{
	sigset_t before;

	block_ending_signals(&before);
	if (!is_whole)
		unlink(guard->path);
	unlink_temporary(guard);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- where a report goes ---- */

static bool fail(const char *path, const char *reason)
{
	char rest[256];

	snprintf(rest, sizeof(rest), ": %s", reason);
	say("cannot write ", path ? path : "the report to standard output", rest);
	return false;
}

static bool is_same_file(const struct stat *status, int fd)
{
	struct stat other;

	return fstat(fd, &other) == 0 && other.st_dev == status->st_dev &&
	       other.st_ino == status->st_ino;
}

/* Why a file that is there may not be replaced, or NULL. */
static const char *refuse(const char *path, const struct stat *status, const struct inputs *inputs)
{
	if (!S_ISREG(status->st_mode))
		return NULL;
	if (inputs->is_exhausted)
		return "out of memory";
	if (inputs_have(inputs, path, status))
		return "it is an input, or an output already written";
	if (path && !inputs->may_force && (!(status->st_mode & 0222) || access(path, W_OK) != 0))
		return "it is read-only; --force replaces it";
	return NULL;
}

const char *output_refusal(const char *path, const struct inputs *inputs)
{
	struct stat status;

	return stat(path, &status) == 0 ? refuse(path, &status, inputs) : NULL;
}

/* The mode of the file to be replaced, or that of a new one. */
static mode_t mode_of(const char *path)
{
	struct stat status;
	mode_t mask = umask(0);

	umask(mask);
	return stat(path, &status) == 0 ? status.st_mode & 0777 : 0666 & ~mask;
}

static FILE *open_temporary(struct output *out)
{
	int fd = create_temporary(&out->temporary, out->target);
	FILE *stream = NULL;

	if (fd >= 0 && fchmod(fd, mode_of(out->target)) == 0)
		stream = fdopen(fd, "w");
	if (fd >= 0 && !stream)
		close(fd);
	return stream;
}

/* A device or pipe; it is there already. */
static FILE *open_device(const char *path)
{
	int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (fd >= 0 && !stream)
		close(fd);
	return stream;
}

static bool open_path(struct output *out, const struct inputs *inputs)
{
	struct stat status;
	bool exists = stat(out->path, &status) == 0;
	const char *reason = exists ? refuse(out->path, &status, inputs) : NULL;

	if (reason)
		return fail(out->path, reason);
	if (!exists && lstat(out->path, &status) == 0)
		return fail(out->path, "it is a link that leads nowhere");
	/* --output /dev/stdout >>log: what the log holds is not ours to replace. */
	if (exists && is_same_file(&status, STDOUT_FILENO)) {
		out->path = NULL;
		out->stream = stdout;
		return true;
	}
	if (!exists || S_ISREG(status.st_mode)) {
		out->target = exists ? realpath(out->path, NULL) : strdup(out->path);
		out->stream = out->target ? open_temporary(out) : NULL;
	} else {
		out->stream = open_device(out->path);
	}
	return out->stream || fail(out->path, strerror(errno));
}

bool output_open(struct output *out, const char *path, const struct inputs *inputs)
{
	struct stat status;
	const char *reason = NULL;

	*out = (struct output){ .path = path };
	if (path && open_path(out, inputs))
		return true;
	if (path) {
		output_abandon(out);
		return false;
	}
	out->stream = stdout;
	if (fstat(STDOUT_FILENO, &status) == 0)
		reason = refuse(NULL, &status, inputs);
	return !reason || fail(NULL, reason);
}

void output_abandon(struct output *out)
{
	if (out->path && out->stream)
		fclose(out->stream);
	if (out->temporary)
		end_temporary(out->temporary, NULL);
	free(out->target);
	*out = (struct output){ 0 };
}

/* A write that failed earlier is known to the stream only: a further one says why. */
static int reason_of(FILE *stream)
{
	errno = 0;
	return write(fileno(stream), "\n", 1) < 0 ? errno : 0;
}

static bool give_up(struct output *out)
{
	if (errno == 0 && out->stream && ferror(out->stream))
		errno = reason_of(out->stream);
	fail(out->path, errno != 0 ? strerror(errno) : "the device refused it");
	output_abandon(out);
	return false;
}

/* A crash after the renaming must leave no empty file. Not every file system can sync. */
static bool reaches_disk(const struct output *out)
{
	return !out->temporary || fsync(fileno(out->stream)) == 0 || errno == EINVAL ||
	       errno == ENOSYS;
}

bool output_close(struct output *out)
{
	bool is_written;

	errno = 0;
	is_written = fflush(out->stream) == 0 && !ferror(out->stream) && reaches_disk(out);
	if (is_written && out->path) {
		is_written = fclose(out->stream) == 0;
		out->stream = NULL;
	}
	return is_written || give_up(out);
}

bool output_commit(struct output *out)
{
	if (out->stream && !output_close(out))
		return false;
	if (out->temporary && !end_temporary(out->temporary, out->target))
		return give_up(out);
	free(out->target);
	out->target = NULL;
	out->temporary = NULL;
	return true;
}

enum exit_code output_finish(struct output *out, enum tscope_status status)
{
	/* A failed write stays with the stream, and commit says why. */
	if (status == TSCOPE_OK || status == TSCOPE_E_WRITE)
		return output_commit(out) ? EXIT_CODE_OK : EXIT_CODE_OUTPUT;
	output_abandon(out);
	return exit_code_of(status);
}

bool output_make_folder(const char *path)
{
	size_t size = strlen(path) + 1;
	struct temporary *folder = new_temporary(size);
	bool is_made;
	sigset_t before;
	int error = ENOMEM;

	block_ending_signals(&before);
	is_made = folder && mkdir(path, 0777) == 0;
	if (is_made) {
		folder->is_folder = true;
		memcpy(folder->path, path, size);
		link_temporary(folder);
	} else if (folder) {
		error = errno;
		free(folder);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!is_made && error != EEXIST)
		say_about(path, strerror(error), "; the folder was not created");
	return is_made || error == EEXIST;
}

bool output_make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		bool is_there;

		*slash = '\0';
		is_there = output_make_folder(path);
		*slash = '/';
		if (!is_there)
			return false;
	}
	return true;
}

void output_end(void)
{
	sigset_t before;

	block_ending_signals(&before);
	while (temporaries) {
		remove_temporary(temporaries);
		unlink_temporary(temporaries);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}
