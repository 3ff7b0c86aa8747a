/* SPDX-License-Identifier: MIT */
/* Source: a member of an archive, where it stands in the archive or as it was kept in memory. */
#include "input/members.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct member_source {
	struct reader reader;
	const struct member *member;
	uint64_t at;
	struct flow *flow;
};

static enum tscope_status read_member_at(struct reader *reader, uint64_t offset, char *into,
					 size_t room, size_t *got, struct tscope_error *err)
{
	const struct member *member = ((struct member_source *)reader)->member;
	uint64_t left = offset < member->length ? member->length - offset : 0;

	*got = left < room ? (size_t)left : room;
	if (*got > 0 && member->archive)
		return tsi_input_read_at(member->archive, member->offset + offset, into, *got, got,
					 err);
	if (*got > 0)
		memcpy(into, member->bytes + offset, *got);
	if (*got > 0 || !member->end)
		return TSCOPE_OK;
	if (err)
		*err = *member->end;
	return member->end->status;
}

static enum tscope_status read_member(struct reader *reader, char *into, size_t room, size_t *got,
				      struct tscope_error *err)
{
	struct member_source *source = (struct member_source *)reader;

	*got = 0;
	if (atomic_load(&source->flow->stop))
		return TSCOPE_END;
	enum tscope_status status = read_member_at(reader, source->at, into, room, got, err);
	source->at += *got;
	atomic_fetch_add(&source->flow->source_bytes, *got);
	return status == TSCOPE_OK && *got == 0 ? TSCOPE_END : status;
}

static void seek_member(struct reader *reader, uint64_t offset)
{
	struct member_source *source = (struct member_source *)reader;

	source->at = offset;
	atomic_store(&source->flow->source_bytes, offset);
}

static void close_member(struct reader *reader)
{
	free(reader);
}

enum tscope_status tsi_member_open(struct reader **ret, const struct member *member,
				   struct flow *flow, struct tscope_error *err)
{
	struct member_source *source;

	if (member->problem || !S_ISREG(member->stat.st_mode))
		return tsi_fail(err, TSCOPE_E_IO, "%s",
				member->problem
					? member->problem
					: "is a directory; tscope report reads directories");
	source = calloc(1, sizeof(*source));
	if (!source)
		return tsi_fail_nomem(err);
	source->reader = (struct reader){ read_member, close_member, read_member_at, seek_member };
	source->member = member;
	source->flow = flow;
	flow->source_size_bytes = (uint64_t)member->stat.st_size;
	*ret = &source->reader;
	return TSCOPE_OK;
}
