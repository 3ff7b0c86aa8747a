/* SPDX-License-Identifier: MIT */
/*
 * Source: a file, a pipe or standard input, by read(2) into the blocks of the
 * first window. Not mapped: a file that is cut while we read would kill the
 * process, and one reused block in the cache is as fast.
 *
 * A pipe may keep a reader waiting for ever. It is therefore asked with poll(2)
 * first, and every STOP_CHECK_MS the reader looks whether the input was closed.
 */
#include "input/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum { STOP_CHECK_MS = 50 };

struct file_source {
	struct reader reader;
	int fd;
	bool is_stdin;   /* not ours to close */
	bool is_regular; /* its bytes are there: read never waits for somebody */
	off_t start;     /* where in the file the stream begins: standard input may have moved on */
	struct flow *flow;
};

static enum tscope_status fail_errno(struct tscope_error *err, const char *what)
{
	return tsi_fail(err, TSCOPE_E_IO, "%s: %s", what, strerror(errno));
}

/* False: the input was closed meanwhile. Errors of poll show up in the read that follows. */
static bool wait_for_bytes(const struct file_source *source)
{
	struct pollfd wanted = { .fd = source->fd, .events = POLLIN };
	while (!atomic_load(&source->flow->stop))
		if (source->is_regular || poll(&wanted, 1, STOP_CHECK_MS) != 0)
			return true;
	return false;
}

static enum tscope_status read_file(struct reader *reader, char *into, size_t room, size_t *got,
				    struct tscope_error *err)
{
	struct file_source *source = (struct file_source *)reader;
	*got = 0;
	while (wait_for_bytes(source)) {
		ssize_t count = read(source->fd, into, room);
		if (count > 0) {
			*got = (size_t)count;
			atomic_fetch_add(&source->flow->source_bytes, *got);
			return TSCOPE_OK;
		}
		if (count == 0)
			return TSCOPE_END;
		if (errno != EINTR && errno != EAGAIN)
			return fail_errno(err, "cannot read");
	}
	return TSCOPE_END;
}

static enum tscope_status read_file_at(struct reader *reader, uint64_t offset, char *into,
				       size_t room, size_t *got, struct tscope_error *err)
{
	struct file_source *source = (struct file_source *)reader;
	ssize_t count;
	do
		count = pread(source->fd, into, room, source->start + (off_t)offset);
	while (count < 0 && errno == EINTR);
	*got = count > 0 ? (size_t)count : 0;
	return count < 0 ? fail_errno(err, "cannot read") : TSCOPE_OK;
}

static void seek_file(struct reader *reader, uint64_t offset)
{
	struct file_source *source = (struct file_source *)reader;
	/* Cannot fail: it seeks in a regular file, to a place that was read before. */
	lseek(source->fd, source->start + (off_t)offset, SEEK_SET);
	atomic_store(&source->flow->source_bytes, offset);
}

static void close_file(struct reader *reader)
{
	struct file_source *source = (struct file_source *)reader;
	if (source->fd >= 0 && !source->is_stdin)
		close(source->fd);
	free(source);
}

enum tscope_status tsi_reader_open_file(struct reader **ret, const char *path, struct flow *flow,
					struct tscope_error *err)
{
	struct file_source *source = calloc(1, sizeof(*source));
	if (!source)
		return tsi_fail_nomem(err);
	source->reader = (struct reader){ .read = read_file, .close = close_file };
	source->flow = flow;

	source->is_stdin = strcmp(path, "-") == 0;
	source->fd = source->is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat status;
	if (source->fd < 0 || fstat(source->fd, &status) != 0) {
		fail_errno(err, "cannot open");
		goto fail;
	}
	if (S_ISDIR(status.st_mode)) {
		tsi_fail(err, TSCOPE_E_IO, "is a directory; tscope report reads directories");
		goto fail;
	}
	source->is_regular = S_ISREG(status.st_mode);
	source->start = lseek(source->fd, 0, SEEK_CUR);
	if (source->is_regular && source->start >= 0) {
		source->reader.read_at = read_file_at;
		source->reader.seek = seek_file;
	}
	flow->source_size_bytes = source->is_regular ? (uint64_t)status.st_size : 0;
	*ret = &source->reader;
	return TSCOPE_OK;
fail:
	close_file(&source->reader);
	return TSCOPE_E_IO;
}
