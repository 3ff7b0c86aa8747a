/* SPDX-License-Identifier: MIT */
/*
 * Source: bytes that the caller has in memory. They pass through the same
 * blocks as those of a file, so that tests and fuzzers, which use this one,
 * exercise the same seams.
 */
#include "input/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct memory_source {
	struct reader reader;
	const char *start, *at, *end;
	struct flow *flow;
};

static enum tscope_status read_memory(struct reader *reader, char *into, size_t room, size_t *got,
				      struct tscope_error *err)
{
	struct memory_source *source = (struct memory_source *)reader;
	size_t left = (size_t)(source->end - source->at);
	(void)err;

	*got = left < room ? left : room;
	if (*got == 0 || atomic_load(&source->flow->stop)) {
		*got = 0;
		return TSCOPE_END;
	}
	memcpy(into, source->at, *got);
	source->at += *got;
	atomic_fetch_add(&source->flow->source_bytes, *got);
	return TSCOPE_OK;
}

static enum tscope_status read_memory_at(struct reader *reader, uint64_t offset, char *into,
					 size_t room, size_t *got, struct tscope_error *err)
{
	struct memory_source *source = (struct memory_source *)reader;
	size_t length = (size_t)(source->end - source->start);
	size_t left = offset < length ? length - (size_t)offset : 0;
	(void)err;

	*got = left < room ? left : room;
	if (*got)
		memcpy(into, source->start + offset, *got);
	return TSCOPE_OK;
}

static void seek_memory(struct reader *reader, uint64_t offset)
{
	struct memory_source *source = (struct memory_source *)reader;
	source->at = source->start + offset;
	atomic_store(&source->flow->source_bytes, offset);
}

static void close_memory(struct reader *reader)
{
	free(reader);
}

enum tscope_status tsi_reader_open_memory(struct reader **ret, const void *data, size_t length,
					  struct flow *flow, struct tscope_error *err)
{
	struct memory_source *source = malloc(sizeof(*source));
	if (!source)
		return tsi_fail_nomem(err);
	const char *bytes = length ? data : "";
	*source = (struct memory_source){
		.reader = { read_memory, close_memory, read_memory_at, seek_memory },
		.start = bytes,
		.at = bytes,
		.end = bytes + length,
		.flow = flow,
	};
	flow->source_size_bytes = length;
	*ret = &source->reader;
	return TSCOPE_OK;
}
