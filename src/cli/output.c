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

/* A temporary file beside path, so that renaming it cannot cross file systems. */
static FILE *open_temporary(struct output *out)
{
	static const char suffix[] = ".XXXXXX";
	size_t length = strlen(out->path);
	FILE *stream = NULL;
	int fd;

	out->temporary = malloc(length + sizeof(suffix));
	if (!out->temporary)
		return NULL;
	memcpy(out->temporary, out->path, length);
	memcpy(out->temporary + length, suffix, sizeof(suffix));
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

bool output_commit(struct output *out)
{
	const char *path = out->path;
	bool is_written;

	/* A write that failed earlier is known to the stream only; its errno may be long gone. */
	errno = 0;
	is_written = fflush(out->stream) == 0 && !ferror(out->stream);
	if (is_written && path) {
		is_written = fclose(out->stream) == 0;
		out->stream = NULL;
	}
	if (is_written && out->temporary)
		is_written = rename(out->temporary, path) == 0;
	if (!is_written) {
		fail(path, errno != 0 ? strerror(errno) : "the device refused it");
		output_abandon(out);
		return false;
	}
	free(out->temporary);
	out->temporary = NULL;
	return true;
}
