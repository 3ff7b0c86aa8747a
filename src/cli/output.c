/* SPDX-License-Identifier: MIT */
/*
 * The end of the data's path: the report on standard output, or in a file that
 * never holds half of it.
 */
#include "output.h"

#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const char *path, const char *reason)
{
	char rest[256];

	snprintf(rest, sizeof(rest), ": %s", reason);
	say("cannot write ", path ? path : "the report to standard output", rest);
	return false;
}

/* Only a regular file (or a new one) can be replaced; a device, pipe or link is written into. */
static bool is_replaceable(const char *path)
{
	struct stat status;

	return lstat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* The mode of the file to be replaced, or that of a new one. */
static mode_t mode_of(const char *path)
{
	struct stat status;
	mode_t mask = umask(0);

	umask(mask);
	return stat(path, &status) == 0 ? status.st_mode & 0777 : 0666 & ~mask;
}

/*
 * "folder/.name.XXXXXX": beside path, so that renaming cannot cross file systems, and hidden,
 * so that what a killed process leaves is not taken for a file of the run. NULL: no memory.
 */
static char *temporary_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder_length = slash ? (int)(slash + 1 - path) : 0;
	size_t size = strlen(path) + sizeof("..XXXXXX");
	char *name = malloc(size);

	if (name)
		snprintf(name, size, "%.*s.%s.XXXXXX", folder_length, path, path + folder_length);
	return name;
}

static FILE *open_temporary(struct output *out)
{
	FILE *stream = NULL;
	int fd;

	out->temporary = temporary_name(out->path);
	if (!out->temporary)
		return NULL;
	fd = mkstemp(out->temporary);
	if (fd >= 0) {
		if (fchmod(fd, mode_of(out->path)) == 0)
			stream = fdopen(fd, "w");
		if (!stream) {
			close(fd);
			unlink(out->temporary);
		}
	}
	if (!stream) {
		free(out->temporary);
		out->temporary = NULL;
	}
	return stream;
}

bool output_open(struct output *out, const char *path)
{
	*out = (struct output){ .stream = stdout, .path = path };
	if (!path)
		return true;
	out->stream = is_replaceable(path) ? open_temporary(out) : fopen(path, "w");
	return out->stream || fail(path, strerror(errno));
}

void output_abandon(struct output *out)
{
	if (!out->path)
		return;
	if (out->stream)
		fclose(out->stream);
	if (out->temporary)
		unlink(out->temporary);
	free(out->temporary);
	*out = (struct output){ 0 };
}

static bool give_up(struct output *out)
{
	fail(out->path, errno != 0 ? strerror(errno) : "the device refused it");
	output_abandon(out);
	return false;
}

bool output_close(struct output *out)
{
	bool is_written;

	/* A write that failed earlier is known to the stream only; its errno may be long gone. */
	errno = 0;
	is_written = fflush(out->stream) == 0 && !ferror(out->stream);
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
	if (out->temporary && rename(out->temporary, out->path) != 0)
		return give_up(out);
	free(out->temporary);
	out->temporary = NULL;
	return true;
}
