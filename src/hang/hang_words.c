/* SPDX-License-Identifier: MIT */
/* Names of calls, groups and places, and calls in the order of time. */
#include "hang/hang.h"

#include <inttypes.h>
#include <string.h>

#include "base/bisect.h"
#include "base/rank_text.h"
#include "run/file_name.h"

/* ---- words --------------------------------------------------------------------------------- */

static const char *rank_words(const struct hang_group *group, struct arena *arena)
{
	struct rank_text ranks = { .text = "" };

	for (uint32_t i = 0; i < group->member_count; i++)
		tsi_rank_text_add(&ranks, group->members[i].rank);
	tsi_rank_text_end(&ranks);
	return tsi_arena_print(arena, "%s %.60s%s", group->member_count == 1 ? "rank" : "ranks",
			       ranks.text, strlen(ranks.text) > 60 ? "..." : "");
}

const char *tsi_hang_group_name(const struct hang_model *model, struct arena *arena, uint32_t index)
{
	const struct hang_group *group = &model->groups[index];
	const char *description = tsi_hang_text(model, group->description);
	bool is_described = *description && strcmp(description, "undefined") != 0;
	const char *name = tsi_hang_text(model, group->name);
	size_t shown = strlen(name) > 12 ? 8 : 12; /* of a hash its first digits */

	return tsi_arena_print(arena, "%.*s (%.40s%s%s)", (int)shown, name,
			       is_described ? description : "", is_described ? ", " : "",
			       rank_words(group, arena));
}

const char *tsi_hang_call_name(const struct hang_model *model, struct arena *arena,
			       const struct dump *dump, const struct dump_call *call)
{
	const struct hang_group *group = &model->groups[call->group];
	const char *of = tsi_hang_group_name(model, arena, call->group);
	const char *name = tsi_hang_text(model, call->name);
	const char *peers = "";

	if (!call->is_p2p)
		return tsi_arena_print(arena, "%.60s #%" PRId64 " of group %s", name,
				       call->sequence, of);
	for (uint32_t i = 0; i < call->message_count && i < 4; i++) {
		const struct dump_message *message = &dump->messages[call->first_message + i];
		int64_t peer = message->peer >= 0 && (uint32_t)message->peer < group->member_count
				       ? group->members[message->peer].rank
				       : -1;
		peers = tsi_arena_print(arena, "%s%s%s %s%" PRId64, peers, *peers ? " + " : "",
					message->is_send ? "send" : "recv",
					message->is_send ? "to " : "from ", peer);
	}
	if (call->message_count > 4)
		peers = tsi_arena_print(arena, "%s + %" PRIu32 " more", peers,
					call->message_count - 4);
	return tsi_arena_print(arena, "%s in group %s", *peers ? peers : name, of);
}

bool tsi_hang_is_library(struct str file)
{
	static const char *const parts[] = { "/torch/",  "torch/csrc",       "<frozen",
					     "<string>", "contextlib.py",    "/threading.py",
					     "runpy.py", "multiprocessing/", "??" };

	if (file.length == 0 || tsi_str_starts(file, "torch/") ||
	    (file.length > 2 &&
	     !tsi_str_equal((struct str){ file.data + file.length - 3, 3 }, TSI_STR(".py"))))
		return true;
	for (size_t i = 0; i < TSI_COUNT_OF(parts); i++)
		if (tsi_str_find(file, tsi_str_of(parts[i])) >= 0)
			return true;
	return false;
}

const char *tsi_hang_site(const struct hang_model *model, struct arena *arena,
			  const struct dump *dump, const struct dump_call *call)
{
	const struct dump_frame *found = NULL;

	for (uint32_t i = 0; i < call->frame_count && !found; i++) {
		const struct dump_frame *frame = &dump->frames[call->first_frame + i];

		if (!tsi_hang_is_library(tsi_intern_text(&model->texts, frame->file)))
			found = frame;
	}
	if (!found && call->frame_count > 0)
		found = &dump->frames[call->first_frame];
	if (!found)
		return "";
	return tsi_arena_print(arena, "%.60s:%" PRId64 " %.40s",
			       tsi_base_name(tsi_hang_text(model, found->file)), found->line,
			       tsi_hang_text(model, found->function));
}

size_t tsi_hang_dump_of(const struct hang_model *model, int64_t rank)
{
	size_t low = 0, high = model->dump_count;

	TSI_BISECT(low, high, model->dumps[middle].rank < rank);
	return low < model->dump_count && model->dumps[low].rank == rank ? low : SIZE_MAX;
}

static void rank_call(struct ranked_call *rows, size_t *count, size_t room, struct ranked_call row)
{
	size_t at = *count;

	if (at == room && rows[room - 1].key >= row.key)
		return;
	at = at < room ? at : room - 1;
	while (at > 0 && rows[at - 1].key < row.key) {
		rows[at] = rows[at - 1];
		at--;
	}
	rows[at] = row;
	*count += *count < room;
}

/* Recorded, else from start or call to end as they were noticed: no less than it took. */
static int64_t duration_of(const struct dump_call *call)
{
	int64_t from_ns = call->started_ns ? call->started_ns : call->created_ns;

	if (tsi_call_is_pending(call) || call->duration_ns)
		return tsi_call_is_pending(call) ? 0 : call->duration_ns;
	return call->completed_ns > from_ns && from_ns ? call->completed_ns - from_ns : 0;
}

static int64_t creation_of(const struct dump_call *call)
{
	return call->created_ns;
}

static size_t rank_calls(const struct hang_model *model, struct ranked_call *rows, size_t room,
			 int64_t (*key_of)(const struct dump_call *call))
{
	size_t count = 0;

	for (uint32_t i = 0; i < model->dump_count; i++) {
		const struct dump *dump = &model->dumps[i];

		for (size_t k = 0; k < dump->call_count; k++) {
			int64_t key = key_of(&dump->calls[k]);

			if (key > 0)
				rank_call(rows, &count, room,
					  (struct ranked_call){ key, i, &dump->calls[k] });
		}
	}
	return count;
}

size_t tsi_hang_slowest(const struct hang_model *model, struct ranked_call *rows, size_t room)
{
	return rank_calls(model, rows, room, duration_of);
}

size_t tsi_hang_latest(const struct hang_model *model, struct ranked_call *rows, size_t room)
{
	return rank_calls(model, rows, room, creation_of);
}
