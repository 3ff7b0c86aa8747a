/* SPDX-License-Identifier: MIT */
/*
 * analyze/memory/snapshot_replay.c: entries played back from the end. Known cases by hand; then random
 * histories that are simulated block by block, cut at every place, against what was true.
 */
#include "analyze/memory/snapshot_replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "plain_text.h"
#include "random_numbers.h"

/* ---- cases by hand ------------------------------------------------------------------------ */

struct replayed {
	struct plain *plain;
	struct snapshot snapshot;
	struct arena arena;
	struct snapshot_replay replay; /* of the first device */
};

static void replay_text(struct replayed *r, const char *text)
{
	struct tscope_error err = { 0 };

	r->plain = plain_of(text);
	r->arena = (struct arena){ 0 };
	if (tsi_snapshot_init(&r->snapshot, r->plain, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	tsi_snapshot_replay_init(&r->replay, &r->snapshot, 0, &r->arena);
	assert_false(r->arena.has_failed);
}

static void replayed_deinit(struct replayed *r)
{
	tsi_arena_deinit(&r->arena);
	tsi_snapshot_deinit(&r->snapshot);
	tsi_plain_free(r->plain);
}

enum { TEXT_CHARS = 1024 };

TSI_PRINTF(2, 3) static void add(char text[TEXT_CHARS], const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, TEXT_CHARS - length, format, arguments);
	va_end(arguments);
}

static void add_index(char text[TEXT_CHARS], int64_t index)
{
	if (index == AFTER_WINDOW)
		add(text, " never");
	else
		add(text, " %" PRId64, index);
}

/* A line for each life: address, bytes, block, born, asked, died, µs, pending. */
static void check_lives(const struct snapshot_replay *replay, const char *expected)
{
	char text[TEXT_CHARS] = "";

	for (size_t i = 0; i < replay->life_count; i++) {
		const struct snapshot_life *life = &replay->lives[i];
		add(text, "%" PRIu64 " %" PRId64 " %" PRId64, life->address, life->requested_bytes,
		    life->block_bytes);
		add_index(text, life->born);
		add_index(text, life->asked);
		add_index(text, life->died);
		if (life->lived_us != NO_TIME_US)
			add(text, " %" PRId64 "us", life->lived_us);
		add(text, "%s\n", life->is_pending ? " pending" : "");
	}
	assert_string_equal(text, expected);
}

/* A line for each curve: start, end, peak @ its entry, lowest. */
static void check_curves(const struct snapshot_replay *replay, const char *expected)
{
	char text[TEXT_CHARS] = "";

	for (size_t i = 0; i < CURVE_COUNT; i++) {
		const struct snapshot_curve *curve = &replay->curves[i];
		add(text, "%" PRId64 " %" PRId64 " %" PRId64 "@%" PRId64 " %" PRId64 "\n",
		    curve->start_bytes, curve->end_bytes, curve->peak_bytes, curve->peak_index,
		    curve->lowest_bytes);
	}
	assert_string_equal(text, expected);
}

/* Block at address 4096 (rounded to 512) of what was 500 bytes, and a free one behind it. */
#define SEGMENT                                                                                    \
	"segments: [{address: 4096, total_size: 2048, blocks: ["                                   \
	"{address: 4096, size: 512, requested_size: 500, state: active_allocated},"                \
	"{address: 4608, size: 1536, state: inactive}]}]"
#define NO_SEGMENTS "segments: []"
#define SNAPSHOT(segments, entries) "{" segments ", device_traces: [[" entries "]]}"
#define ENTRY(action, addr, size) "{action: " #action ", addr: " #addr ", size: " #size "},"
#define AT(action, addr, size, time)                                                               \
	"{action: " #action ", addr: " #addr ", size: " #size ", time_us: " #time "},"

TEST(lives_and_curves)
{
	static const struct {
		const char *text, *lives, *curves;
	} cases[] = {
		/* Flat. */
		{ SNAPSHOT(SEGMENT, ""), "4096 500 512 -1 never never\n",
		  "500 500 500@-1 500\n500 500 500@-1 500\n2048 2048 2048@-1 2048\n" },
		/* In front of the window was what the end has; 500 + 100 − 100. */
		{ SNAPSHOT(SEGMENT, AT(alloc, 4608, 100, 10) AT(free_requested, 4608, 100, 17)
					    AT(free_completed, 4608, 100, 20)),
		  "4608 100 -1 0 1 2 7us\n4096 500 512 -1 never never\n",
		  "500 500 600@0 500\n500 500 600@0 500\n2048 2048 2048@-1 2048\n" },
		/* The window holds the alloc of what the end has; the peak is the first of two. */
		{ SNAPSHOT(SEGMENT,
			   ENTRY(segment_alloc, 4096, 2048) ENTRY(alloc, 4096, 500)
				   ENTRY(free_requested, 4096, 500) ENTRY(free_completed, 4096, 500)
					   ENTRY(alloc, 4096, 500)),
		  "4096 500 -1 1 2 3\n4096 500 512 4 never never\n",
		  "0 500 500@1 0\n0 500 500@1 0\n0 2048 2048@0 0\n" },
		/*
		 * Freed in the window, allocated before it: 500 + 70 at first. Its request to be
		 * freed was before the window, too: allocated knows nothing of it.
		 */
		{ SNAPSHOT(SEGMENT, ENTRY(free_completed, 4608, 70)),
		  "4608 70 -1 -1 0 0\n4096 500 512 -1 never never\n",
		  "570 500 570@-1 500\n500 500 500@-1 500\n2048 2048 2048@-1 2048\n" },
		/* Freed, but still in use by another stream; its request is not known. */
		{ "{segments: [{address: 4096, total_size: 512, blocks: ["
		  "{size: 512, state: active_pending_free}]}], device_traces: [[" ENTRY(
			  free_requested, 4096, 512) "]]}",
		  "4096 512 512 -1 0 never pending\n",
		  "512 512 512@-1 512\n512 0 512@-1 0\n512 512 512@-1 512\n" },
		/* Mapped and unmapped: 0 + 30 − 10 + 0, and 10 given back before: 10 + 30 − 10 − 30. */
		{ SNAPSHOT(NO_SEGMENTS, ENTRY(segment_map, 4096, 30) ENTRY(segment_unmap, 4096, 10)
						ENTRY(segment_free, 4096, 30)),
		  "", "0 0 0@-1 0\n0 0 0@-1 0\n10 0 40@0 0\n" },
		/* Blocks of nothing have lives, too. */
		{ SNAPSHOT(NO_SEGMENTS, ENTRY(alloc, 0, 0) ENTRY(free_completed, 0, 0)),
		  "0 0 -1 0 1 1\n", "0 0 0@-1 0\n0 0 0@-1 0\n0 0 0@-1 0\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct replayed r;
		replay_text(&r, cases[i].text);
		check_lives(&r.replay, cases[i].lives);
		check_curves(&r.replay, cases[i].curves);
		assert_int_equal(r.replay.overlap_count, 0);
		replayed_deinit(&r);
	}
}

TEST(missing_entries_are_noticed)
{
	struct replayed r;

	/* 4096 was allocated twice, so it was freed in between: at entry 1 at latest. */
	replay_text(&r, SNAPSHOT(SEGMENT, AT(alloc, 4096, 100, 3) AT(alloc, 4096, 500, 5)));
	check_lives(&r.replay, "4096 100 -1 0 1 1 2us\n4096 500 512 1 never never\n");
	check_curves(&r.replay, "-100 500 500@1 -100\n-100 500 500@1 -100\n"
				"2048 2048 2048@-1 2048\n");
	assert_int_equal(r.replay.overlap_count, 1);
	replayed_deinit(&r);

	/* Asked to be freed twice: the first counts. Live at the end though the end knows nothing. */
	replay_text(&r, SNAPSHOT(NO_SEGMENTS, AT(alloc, 7, 1, 1) AT(free_requested, 7, 1, 4)
						      AT(free_requested, 7, 1, 9)));
	check_lives(&r.replay, "7 1 -1 0 1 never 3us\n");
	replayed_deinit(&r);
}

/* 2^63 − 1 as a size, 2^64 − 1 as an address; an entry that is none. */
TEST(absurd_numbers)
{
	struct replayed r;

	replay_text(&r, SNAPSHOT(NO_SEGMENTS,
				 AT(alloc, 18446744073709551615, 9223372036854775807,
				    -9223372036854775807) AT(alloc, 5, 9223372036854775807,
							     9223372036854775807)
					 ENTRY(segment_free, 5, 9223372036854775807) "7," AT(
						 free_requested, 18446744073709551615, 1,
						 9223372036854775807)));
	check_lives(&r.replay, "18446744073709551615 9223372036854775807 -1 0 4 never\n"
			       "5 9223372036854775807 -1 1 never never\n");
	/* Allocated: 2·(2^63 − 1) after entry 1, one less at the end: both stop at 2^63 − 1. */
	check_curves(&r.replay, "0 9223372036854775807 9223372036854775807@1 0\n"
				"1 9223372036854775807 9223372036854775807@1 1\n"
				"9223372036854775807 0 9223372036854775807@-1 0\n");
	assert_int_equal(r.replay.action_bytes[ACTION_ALLOC], INT64_MAX);
	assert_int_equal(r.replay.action_count[ACTION_OTHER], 0);
	assert_int_equal(r.replay.tick_count, 5);
	assert_false(r.replay.has_times); /* of segment_free */
	replayed_deinit(&r);
}

TEST(times)
{
	struct replayed r;

	/* What is no entry has no time, and does not take it from the others. */
	replay_text(&r, SNAPSHOT(NO_SEGMENTS, "7," AT(alloc, 7, 1, 100) AT(alloc, 8, 2, 104)
						      AT(free_completed, 7, 1, 150)));
	assert_true(r.replay.has_times);
	assert_int_equal(r.replay.first_time_us, 100);
	assert_int_equal(r.replay.last_time_us, 150);
	assert_int_equal(r.replay.curves[CURVE_ACTIVE].peak_time_us, 104);
	assert_int_equal(r.replay.curves[CURVE_RESERVED].peak_time_us, NO_TIME_US);
	check_lives(&r.replay, "7 1 -1 1 3 3 50us\n8 2 -1 2 never never\n");
	replayed_deinit(&r);

	replay_text(&r, SNAPSHOT(SEGMENT, ""));
	assert_false(r.replay.has_times);
	replayed_deinit(&r);
}

#define STACK "@s=[{filename: 'a.py', line: 1, name: f}]"
#define WITH(action, stack) "{action: " #action ", addr: 1, size: 2, frames: " stack "},"

TEST(retries)
{
	static const struct {
		const char *entries;
		uint64_t count, flush_count;
		bool has_stacks;
	} cases[] = {
		/* Flushed and tried again by the same call; two flushes, one retry. */
		{ WITH(segment_free, STACK) WITH(segment_free, "@s") WITH(segment_alloc, "@s"), 1,
		  1, true },
		{ WITH(segment_unmap, STACK) WITH(segment_map, "@s") WITH(segment_map, "@s"), 1, 1,
		  true },
		/* By another call: an empty_cache(). Equal frames are not the same list. */
		{ WITH(segment_free, STACK)
			  WITH(segment_alloc, "[{filename: 'b.py', line: 1, name: f}]"),
		  0, 1, true },
		/* Without stacks nobody knows. */
		{ ENTRY(segment_free, 1, 2) ENTRY(segment_alloc, 1, 2), 1, 1, false },
		{ ENTRY(segment_free, 1, 2) WITH(segment_alloc, "[]"), 1, 1, false },
		{ WITH(segment_free, STACK) ENTRY(segment_alloc, 1, 2), 0, 1, true },
		/* Something was in between. */
		{ WITH(segment_free, STACK) WITH(alloc, "@s") WITH(segment_alloc, "@s"), 0, 1,
		  true },
		{ WITH(segment_alloc, STACK) WITH(segment_free, "@s"), 0, 0, true },
		/* Taken twice after each of two flushes. */
		{ WITH(segment_free, STACK) WITH(alloc, "@s") WITH(segment_alloc, "@s")
			  WITH(segment_alloc, "@s") WITH(segment_free, "@s") WITH(alloc, "@s")
				  WITH(segment_alloc, "@s"),
		  0, 2, true },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char text[TEXT_CHARS] = "";
		struct replayed r;
		add(text, "{segments: [], device_traces: [[%s]]}", cases[i].entries);
		replay_text(&r, text);
		assert_int_equal(r.replay.retry_count, cases[i].count);
		assert_int_equal(r.replay.flush_count, cases[i].flush_count);
		assert_int_equal(r.replay.has_stacks, cases[i].has_stacks);
		replayed_deinit(&r);
	}
}

TEST(stacks_come_from_the_alloc_or_the_block)
{
	struct replayed r;

	/* That of a free is never the block's; that of the alloc is, and else the block has its own. */
	replay_text(&r,
		    "{segments: [{address: 1, total_size: 9, blocks: ["
		    "{address: 1, size: 2, state: active_allocated, frames: "
		    "@b=[{filename: 'b.py', line: 1, name: f}]},"
		    "{address: 3, size: 2, state: active_allocated, frames: @b},"
		    "{address: 5, size: 2, state: active_allocated, frames: @b}]}],"
		    "device_traces: [[{action: free_completed, addr: 1, size: 2, frames:" STACK "},"
		    "{action: alloc, addr: 1, size: 2, frames: @s},"
		    "{action: alloc, addr: 3, size: 2, frames: []}]]}");
	const struct snapshot_life *lives = r.replay.lives;
	assert_int_equal(r.replay.life_count, 4);
	assert_int_equal(tsi_stack_depth(&r.snapshot, lives[0].stack), 0);
	assert_string_equal(tsi_stack_frame(&r.snapshot, lives[1].stack, 0).filename.data, "a.py");
	assert_string_equal(tsi_stack_frame(&r.snapshot, lives[2].stack, 0).filename.data, "b.py");
	assert_int_equal(lives[3].stack.word, lives[2].stack.word);
	replayed_deinit(&r);
}

/* ---- random histories --------------------------------------------------------------------- */

/*
 * A world of a few places; what is in each is known at any time. Requests are freed when
 * asked to be, or later; places are used again.
 */
enum { PLACES = 6, SEGMENTS = 3, HISTORY = 90, ROUNDING = 512 };

struct place {
	int64_t bytes; /* 0: free */
	bool is_pending;
};

struct world {
	struct place places[PLACES];
	int64_t segments[SEGMENTS];
};

struct event {
	enum snapshot_action action;
	uint64_t address;
	int64_t bytes;
};

struct history {
	struct event events[HISTORY];
	struct world worlds[HISTORY + 1]; /* before each event, and at last */
};

static uint64_t address_of(size_t place)
{
	return UINT64_C(0x7f0000000000) + place * 0x100000;
}

static struct event step_place(struct world *world, uint64_t *random)
{
	size_t at = random_below(random, PLACES);
	struct place *place = &world->places[at];
	struct event event = { .address = address_of(at) };

	if (place->bytes == 0) {
		place->bytes = 1 + (int64_t)random_below(random, 3000);
		event.action = ACTION_ALLOC;
	} else if (!place->is_pending) {
		place->is_pending = true;
		event.action = ACTION_FREE_REQUESTED;
	} else {
		event.action = ACTION_FREE_COMPLETED;
	}
	event.bytes = place->bytes;
	if (event.action == ACTION_FREE_COMPLETED)
		*place = (struct place){ 0 };
	return event;
}

static struct event step_segment(struct world *world, uint64_t *random)
{
	size_t at = random_below(random, SEGMENTS);
	bool is_expandable = random_below(random, 2);
	struct event event = { .address = address_of(PLACES + at) };

	if (world->segments[at]) {
		event.action = is_expandable ? ACTION_SEGMENT_UNMAP : ACTION_SEGMENT_FREE;
		event.bytes = world->segments[at];
		world->segments[at] = 0;
		return event;
	}
	event.action = is_expandable ? ACTION_SEGMENT_MAP : ACTION_SEGMENT_ALLOC;
	event.bytes = 1 + (int64_t)random_below(random, 9) * ROUNDING;
	world->segments[at] = event.bytes;
	return event;
}

static void make_history(struct history *history, uint64_t seed)
{
	uint64_t random = seed;

	*history = (struct history){ 0 };
	for (size_t i = 0; i < HISTORY; i++) {
		struct world world = history->worlds[i];
		history->events[i] = random_below(&random, 5) ? step_place(&world, &random)
							      : step_segment(&world, &random);
		history->worlds[i + 1] = world;
	}
}

static const char *const action_names[ACTION_COUNT] = {
	[ACTION_ALLOC] = "alloc",
	[ACTION_FREE_REQUESTED] = "free_requested",
	[ACTION_FREE_COMPLETED] = "free_completed",
	[ACTION_SEGMENT_ALLOC] = "segment_alloc",
	[ACTION_SEGMENT_FREE] = "segment_free",
	[ACTION_SEGMENT_MAP] = "segment_map",
	[ACTION_SEGMENT_UNMAP] = "segment_unmap",
};

/* The end, and the entries from `first` on: what a ring buffer that lost the others holds. */
static char *write_history(const struct history *history, size_t first)
{
	const struct world *end = &history->worlds[HISTORY];
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fputs("{segments: [{address: 1, total_size: 0, blocks: [", out);
	for (size_t i = 0; i < PLACES; i++) {
		const struct place *place = &end->places[i];
		if (place->bytes)
			fprintf(out,
				"{address: %" PRIu64 ", size: %" PRId64 ", requested_size: %" PRId64
				", state: %s},",
				address_of(i), (place->bytes + ROUNDING - 1) / ROUNDING * ROUNDING,
				place->bytes,
				place->is_pending ? "active_pending_free" : "active_allocated");
	}
	fputs("]}", out);
	for (size_t i = 0; i < SEGMENTS; i++)
		fprintf(out, ",{address: %" PRIu64 ", total_size: %" PRId64 ", blocks: []}",
			address_of(PLACES + i), end->segments[i]);
	fputs("], device_traces: [[", out);
	for (size_t i = first; i < HISTORY; i++)
		fprintf(out, "{action: %s, addr: %" PRIu64 ", size: %" PRId64 "},",
			action_names[history->events[i].action], history->events[i].address,
			history->events[i].bytes);
	fputs("]]}", out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static int64_t true_bytes(const struct world *world, enum snapshot_curve_kind curve)
{
	int64_t bytes = 0;

	for (size_t i = 0; curve == CURVE_RESERVED && i < SEGMENTS; i++)
		bytes += world->segments[i];
	for (size_t i = 0; curve != CURVE_RESERVED && i < PLACES; i++)
		if (curve == CURVE_ACTIVE || !world->places[i].is_pending)
			bytes += world->places[i].bytes;
	return bytes;
}

/* worlds: before the window's first entry, then after each. */
static void check_curve(const struct snapshot_replay *replay, enum snapshot_curve_kind kind,
			const struct world *worlds, size_t entry_count)
{
	const struct snapshot_curve *curve = &replay->curves[kind];
	int64_t peak = INT64_MIN, lowest = INT64_MAX, peak_index = 0;

	for (size_t i = 0; i <= entry_count; i++) {
		int64_t bytes = true_bytes(&worlds[i], kind);
		if (bytes > peak) {
			peak = bytes;
			peak_index = (int64_t)i - 1;
		}
		if (bytes < lowest)
			lowest = bytes;
		if (i > 0)
			assert_int_equal(replay->ticks[i - 1].bytes[kind], bytes);
	}
	assert_int_equal(curve->start_bytes, true_bytes(&worlds[0], kind));
	assert_int_equal(curve->end_bytes, true_bytes(&worlds[entry_count], kind));
	assert_int_equal(curve->peak_bytes, peak);
	assert_int_equal(curve->peak_index, peak_index);
	assert_int_equal(curve->lowest_bytes, lowest);
}

/* After entry `index` exactly these are live. */
static void check_live(const struct snapshot_replay *replay, const struct world *world,
		       int64_t index)
{
	int64_t bytes[PLACES] = { 0 };

	for (size_t i = 0; i < replay->life_count; i++) {
		const struct snapshot_life *life = &replay->lives[i];
		size_t place = (size_t)((life->address - address_of(0)) / 0x100000);
		if (!tsi_is_live(life, index))
			continue;
		assert_true(place < PLACES);
		assert_int_equal(bytes[place], 0);
		bytes[place] = life->requested_bytes;
		/* That one from before the window is pending may not be known. */
		if (life->asked <= index || life->born != BEFORE_WINDOW)
			assert_int_equal(life->asked <= index, world->places[place].is_pending);
	}
	for (size_t i = 0; i < PLACES; i++)
		assert_int_equal(bytes[i], world->places[i].bytes);
}

TEST(any_history_cut_anywhere)
{
	static struct history history;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		make_history(&history, seed);
		for (size_t first = 0; first <= HISTORY; first++) {
			char *text = write_history(&history, first);
			const struct world *worlds = &history.worlds[first];
			struct replayed r;
			replay_text(&r, text);
			assert_int_equal(r.replay.tick_count, HISTORY - first);
			for (enum snapshot_curve_kind i = 0; i < CURVE_COUNT; i++)
				check_curve(&r.replay, i, worlds, HISTORY - first);
			for (size_t i = 0; i <= HISTORY - first; i++)
				check_live(&r.replay, &worlds[i], (int64_t)i - 1);
			replayed_deinit(&r);
			free(text);
		}
	}
}

/* ---- many entries ------------------------------------------------------------------------- */

/* n allocations of one byte; every tenth is of 1000 and freed at once. */
static char *write_many(size_t count)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fputs("{segments: [], device_traces: [[", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "{action: %s, addr: %zu, size: %d},",
			i % 10 == 9 ? "free_completed" : "alloc", i % 10 == 9 ? i - 1 : i,
			i % 10 >= 8 ? 1000 : 1);
	fputs("]]}", out);
	assert_int_equal(fclose(out), 0);
	return text;
}

TEST(stretches_are_equal_and_keep_their_peaks)
{
	enum { COUNT = 1000 };
	char *text = write_many(COUNT);
	struct replayed r;

	replay_text(&r, text);
	assert_int_equal(r.replay.tick_count, SNAPSHOT_MAX_TICKS);
	for (size_t i = 0; i < SNAPSHOT_MAX_TICKS; i++) {
		size_t first = i * COUNT / SNAPSHOT_MAX_TICKS;
		size_t end = (i + 1) * COUNT / SNAPSHOT_MAX_TICKS;
		int64_t peak = 0;
		for (size_t j = first; j < end; j++) {
			/* Entries 0 … 7 of each ten add one byte; 8 adds 1000, 9 takes them. */
			int64_t small = (int64_t)(j / 10 * 8 + (j % 10 < 8 ? j % 10 + 1 : 8));
			int64_t bytes = small + (j % 10 == 8 ? 1000 : 0);
			peak = bytes > peak ? bytes : peak;
		}
		assert_int_equal(r.replay.ticks[i].index, end - 1);
		assert_int_equal(r.replay.ticks[i].bytes[CURVE_ACTIVE], peak);
	}
	/* 100 tens of 8 bytes at the end; the last 1000 came on top of all of them. */
	assert_int_equal(r.replay.curves[CURVE_ACTIVE].end_bytes, 800);
	assert_int_equal(r.replay.curves[CURVE_ACTIVE].peak_bytes, 1800);
	replayed_deinit(&r);
	free(text);
}

TEST(no_memory)
{
	char *text = write_many(200);
	struct replayed r;

	replay_text(&r, text);
	struct alloc_sweep sweep = { .at_least = 4 };
	while (alloc_sweep_next(&sweep)) {
		struct arena arena = { 0 };
		alloc_sweep_start(&sweep);
		tsi_snapshot_replay_init(&r.replay, &r.snapshot, 0, &arena);
		alloc_sweep_check(&sweep, tsi_arena_status(&arena, &sweep.err));
		tsi_arena_deinit(&arena);
	}
	replayed_deinit(&r);
	free(text);
}
