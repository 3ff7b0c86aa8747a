/* SPDX-License-Identifier: MIT */
/* Why traces are not of one run, in words: what is the case here, and what there. */
#include "session/separate.h"

#include <inttypes.h>

#include "run/file_name.h"

const char *tsi_process_words(struct arena *arena, const struct capture *capture, bool with_host)
{
	const struct trace_origin *origin = tsi_origin_of(capture);

	with_host &= *origin->host != '\0';
	return tsi_arena_print(arena, "process %" PRId64 "%s%s", origin->pid,
			       with_host ? " of " : "", with_host ? origin->host : "");
}

/* "process 4242", with its host where that differs from the other's. */
static const char *process_words(struct arena *arena, const struct capture *capture,
				 const struct capture *other)
{
	const struct trace_origin *origin = tsi_origin_of(capture);
	bool has_host = tsi_texts_differ(origin->host, tsi_origin_of(other)->host);
	struct str writer = tsi_writer_of_path(capture->loaded->input.path);

	if (origin->pid < 0)
		return tsi_arena_print(arena, "%.*s", TSI_QUOTE(writer));
	return tsi_process_words(arena, capture, has_host);
}

/* The path of a file, or its name where the other lies in the same folder. */
static const char *path_words(const struct capture *capture, const struct capture *other)
{
	const char *path = capture->loaded->input.path;

	return tsi_str_equal(tsi_folder_of(path), tsi_folder_of(other->loaded->input.path))
		       ? tsi_base_name(path)
		       : path;
}

static const char *rank_words(struct arena *arena, const struct capture *capture)
{
	return capture->rank < 0 ? "" : tsi_arena_print(arena, "rank %" PRId64 ": ", capture->rank);
}

static const char *step_words(struct arena *arena, const struct extent *extent)
{
	if (!tsi_has_numbers(extent))
		return "no numbered steps";
	if (extent->first_step == extent->last_step)
		return tsi_arena_print(arena, "step %" PRId64, extent->first_step);
	return tsi_arena_print(arena, "steps %" PRId64 "-%" PRId64, extent->first_step,
			       extent->last_step);
}

static const char *time_words(struct arena *arena, int64_t gap_ns)
{
	int64_t seconds = gap_ns / 1000000000;

	if (seconds < 120)
		return tsi_arena_print(arena, "%" PRId64 " s", seconds);
	if (seconds < 7200)
		return tsi_arena_print(arena, "%" PRId64 " min", seconds / 60);
	return tsi_arena_print(arena, "%" PRId64 " h", seconds / 3600);
}

/* Describes the difference between both sides. */
static const char *difference(struct arena *arena, enum apart why, const struct extent *here,
			      const struct extent *there)
{
	const struct trace_origin *a = tsi_origin_of(here->first), *b = tsi_origin_of(there->first);

	switch (why) {
	case APART_WORLD:
		return tsi_arena_print(arena,
				       "a world of %" PRId64 " ranks here, of %" PRId64 " there",
				       here->world_size, there->world_size);
	case APART_BACKEND:
		return tsi_arena_print(arena, "backend %s here, %s there", a->backend, b->backend);
	case APART_ATTEMPT:
		return tsi_arena_print(arena, "%.*s here, %.*s there",
				       TSI_QUOTE(here->first->attempt),
				       TSI_QUOTE(there->first->attempt));
	case APART_FAMILY:
		return tsi_arena_print(arena, "%.*s here, %.*s there, with the same ranks",
				       TSI_QUOTE(tsi_str_of(here->first->family)),
				       TSI_QUOTE(tsi_str_of(there->first->family)));
	case APART_DEVICE:
		return tsi_arena_print(arena, "%s here, %s there", a->device, b->device);
	case APART_PROCESS:
		return tsi_arena_print(
			arena, "%s%s with %s here, %s with %s there",
			rank_words(arena, here->first),
			process_words(arena, here->first, there->first), step_words(arena, here),
			process_words(arena, there->first, here->first), step_words(arena, there));
	case APART_STRANGER:
		return tsi_arena_print(arena,
				       "%s here, %s there; they did not run at the same "
				       "time, and no rank links them",
				       process_words(arena, here->first, there->first),
				       process_words(arena, there->first, here->first));
	case APART_AGAIN:
		return tsi_arena_print(arena, "%s%s here, %s there", rank_words(arena, here->first),
				       step_words(arena, here), step_words(arena, there));
	case APART_UNMARKED:
		return a->is_whole ? "no steps are marked here, but there"
				   : "steps are marked here, but not there";
	case APART_TIME:
		return tsi_arena_print(arena, "captured %s %s",
				       time_words(arena, tsi_gap_between(here, there)),
				       here->start_ns > there->start_ns ? "later" : "earlier");
	case APART_AT_ONCE:
		return tsi_arena_print(
			arena, "%swas recorded there at the same time",
			there->first->rank < 0
				? "the process "
				: tsi_arena_print(arena, "rank %" PRId64 " ", there->first->rank));
	case TOGETHER:
		break;
	}
	return "";
}

const char *tsi_separate_reason(struct arena *arena, enum apart why, const struct extent *here,
				const struct extent *there)
{
	return tsi_arena_print(arena, "separate from %s: %s", path_words(there->first, here->first),
			       difference(arena, why, here, there));
}

const char *tsi_restart_words(struct arena *arena, const struct extent *earlier,
			      const struct extent *later)
{
	return tsi_arena_print(
		arena,
		"%s%s goes on with %s after those of %s: taken for one job that was restarted",
		rank_words(arena, later->first), process_words(arena, later->first, earlier->last),
		step_words(arena, later), process_words(arena, earlier->last, later->first));
}

const char *tsi_repeat_words(struct arena *arena, const struct extent *earlier,
			     const struct extent *later)
{
	return tsi_arena_print(arena, "%s%s recorded %s again after %s: all of them count",
			       rank_words(arena, later->first),
			       process_words(arena, later->first, earlier->last),
			       step_words(arena, later), step_words(arena, earlier));
}
