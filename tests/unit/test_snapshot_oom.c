/* SPDX-License-Identifier: MIT */
/*
 * analyze/memory/snapshot_layout.c: what was free when a request failed. By hand; then random worlds
 * that are simulated page by page, asked at an OOM in their middle from what is there at the end.
 */
#include "analyze/memory/snapshot_replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "fail_alloc.h"
#include "plain_text.h"
#include "random_numbers.h"

struct looked_at {
	struct plain *plain;
	struct snapshot snapshot;
	struct arena arena; /* of the next two */
	struct snapshot_replay replay;
	struct snapshot_oom *ooms; /* of the first device */
	size_t count;
};

static void look_at_text(struct looked_at *l, const char *text)
{
	struct tscope_error err = { 0 };

	l->plain = plain_of(text);
	l->arena = (struct arena){ 0 };
	if (tsi_snapshot_init(&l->snapshot, l->plain, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	tsi_snapshot_replay_init(&l->replay, &l->snapshot, 0, &l->arena);
	l->ooms = tsi_snapshot_ooms(&l->snapshot, 0, &l->replay, &l->arena, &l->count);
	assert_false(l->arena.has_failed);
}

static void looked_at_deinit(struct looked_at *l)
{
	tsi_arena_deinit(&l->arena);
	tsi_snapshot_deinit(&l->snapshot);
	tsi_plain_free(l->plain);
}

/* ---- by hand ------------------------------------------------------------------------------ */

enum { TEXT_CHARS = 1024 };

/*
 * largest free all-free whole split pages_low pages_high gaps exact, in bytes, after
 * "index reserved live:".
 */
static void check_ooms(const struct looked_at *l, const char *expected)
{
	char text[TEXT_CHARS] = "";
	size_t length = 0;

	for (size_t i = 0; i < l->count; i++) {
		const struct snapshot_oom *oom = &l->ooms[i];
		length += (size_t)snprintf(
			text + length, sizeof(text) - length,
			"%" PRId64 " %" PRId64 " %" PRId64 ": %" PRId64 " %" PRId64 " %" PRId64
			" %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "%s\n",
			oom->index, oom->reserved_bytes, oom->live_bytes, oom->largest_free_bytes,
			oom->free_bytes, oom->unfragmented_free_bytes, oom->whole_bytes,
			oom->split_bytes, oom->pages_low_bytes, oom->pages_high_bytes,
			oom->gap_count, oom->is_exact ? " exact" : "");
	}
	assert_string_equal(text, expected);
}

#define SNAPSHOT(segments, entries) "{segments: [" segments "], device_traces: [[" entries "]]}"
#define SEGMENT(addr, size, more, blocks)                                                          \
	"{address: " #addr ", total_size: " #size ", stream: 0, " more ", blocks: [" blocks "]},"
#define BLOCK(addr, size) "{address: " #addr ", size: " #size ", state: active_allocated},"
#define LARGE "segment_type: large"
#define SMALL "segment_type: small"
#define OOM(size, free) "{action: oom, size: " #size ", device_free: " #free ", stream: 0},"
#define ENTRY(action, addr, size)                                                                  \
	"{action: " #action ", addr: " #addr ", size: " #size ", stream: 0},"

TEST(by_hand)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		/* No OOM, no row. */
		{ SNAPSHOT(SEGMENT(0, 1024, LARGE, ""), ENTRY(alloc, 0, 1)), "" },
		/*
		 * Large segments of 3000 and 5000 bytes at 0 and 10000 with blocks at 0 to 1000
		 * and 12000 to 13000: gaps of 2000, 2000, 2000. A small one of 100 is free, whole.
		 * With 50 that the driver has left: 6150.
		 */
		{ SNAPSHOT(SEGMENT(0, 3000, LARGE, BLOCK(0, 1000))
				   SEGMENT(10000, 5000, LARGE, BLOCK(12000, 1000))
					   SEGMENT(90000, 100, SMALL, ""),
			   OOM(2097152, 50)),
		  "0 8100 2000: 2000 6100 6150 100 0 50 50 4 exact\n" },
		/* A small request finds small segments only: 100; of its stream and the default pool. */
		{ SNAPSHOT(SEGMENT(0, 3000, LARGE, "") SEGMENT(90000, 100, SMALL, "")
				   SEGMENT(91000, 300, SMALL ", segment_pool_id: (0, 7)",
					   "") "{address: 95000, total_size: 200, stream: 3, "
					       "segment_type: small, "
					       "blocks: []}",
			   OOM(1048576, 0)),
		  "0 3600 0: 100 3300 3300 3300 0 0 0 3 exact\n" },
		/*
		 * 45 MiB, the first 3 in use: a gap of 42 MiB holds two pages of 20 MiB, surely one;
		 * it is what a limit on splits would have kept whole.
		 */
		{ SNAPSHOT(SEGMENT(0, 47185920, LARGE, BLOCK(0, 3145728)), OOM(104857600, 1)),
		  "0 47185920 3145728: 44040192 44040192 44040193 0 44040192 20971521 41943041 1 "
		  "exact\n" },
		/*
		 * Undone: the segment at 0 came later; that at 5000 (2 MiB, so small) was given back
		 * later; in it a block of 700 bytes lived, which took 1024.
		 */
		{ SNAPSHOT(SEGMENT(0, 3000, LARGE, BLOCK(0, 1000)),
			   ENTRY(segment_alloc, 5000, 2097152) ENTRY(alloc, 5000, 700) OOM(100, 0)
				   ENTRY(free_requested, 5000, 700) ENTRY(free_completed, 5000, 700)
					   ENTRY(segment_free, 5000, 2097152) ENTRY(
						   segment_alloc, 0, 3000) ENTRY(alloc, 0, 999)),
		  /* 2097152 − 1024 = 2096128: less than a page of 2 MiB. */
		  "2 2097152 700: 2096128 2096128 2096128 0 0 0 0 1\n" },
		/*
		 * A block of nothing takes 512 of 1000; one at 4000 is in no segment. Both are
		 * gone at the end, so that their sizes are not known.
		 */
		{ SNAPSHOT(SEGMENT(5000, 1000, LARGE, ""),
			   ENTRY(alloc, 5000, 0) ENTRY(alloc, 4000, 9) OOM(2000000, 0)
				   ENTRY(free_completed, 5000, 0) ENTRY(free_completed, 4000, 9)),
		  "2 1000 9: 488 488 488 0 0 0 0 1\n" },
		/* Blocks that lie in each other: 0 to 4000 and 1000 to 2000 of 5000. */
		{ SNAPSHOT(SEGMENT(0, 5000, LARGE, BLOCK(0, 4000) BLOCK(1000, 1000)),
			   OOM(2000000, 0)),
		  "0 5000 5000: 1000 1000 1000 0 0 0 0 1 exact\n" },
		/* The same address taken, given back and taken again, larger: each OOM has its own. */
		{ SNAPSHOT(SEGMENT(0, 3000, LARGE, ""),
			   ENTRY(segment_alloc, 0, 1000) OOM(2000000, 0)
				   ENTRY(segment_free, 0, 1000) OOM(2000000, 7)
					   ENTRY(segment_alloc, 0, 3000) OOM(2000000, 9)),
		  "1 1000 0: 1000 1000 1000 1000 0 0 0 1\n"
		  "3 0 0: 0 0 7 0 0 7 7 0 exact\n"
		  "5 3000 0: 3000 3000 3009 3000 0 9 9 1 exact\n" },
		/*
		 * Expandable: at the end 8 MiB at 0 of which 2 to 4 came later and 8 to 12 was
		 * unmapped later: 0 to 2 and 4 to 12 are gaps, 4 to 8 and 8 to 12 being neighbours.
		 */
		{ SNAPSHOT(SEGMENT(0, 8388608, LARGE ", is_expandable: true", ""),
			   OOM(2000000, 0) ENTRY(segment_map, 2097152, 2097152)
				   ENTRY(segment_unmap, 8388608, 4194304)),
		  "0 10485760 0: 8388608 10485760 10485760 0 0 0 0 2\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct looked_at l;
		look_at_text(&l, cases[i].text);
		check_ooms(&l, cases[i].expected);
		looked_at_deinit(&l);
	}
}

TEST(what_an_entry_says)
{
	struct looked_at l;

	look_at_text(
		&l,
		"{segments: [], device_traces: [["
		"{action: oom, size: 5, device_free: 18446744073709551615, stream: 3, "
		"time_us: 77, pool_id: (1, 2), frames: @s=[{filename: f, line: 1, name: n}]}]]}");
	assert_int_equal(l.count, 1);
	assert_int_equal(l.ooms[0].device_free_bytes, INT64_MAX);
	assert_int_equal(l.ooms[0].unfragmented_free_bytes, INT64_MAX);
	assert_int_equal(l.ooms[0].stream, 3);
	assert_true(l.ooms[0].pool.is_known);
	assert_int_equal(l.ooms[0].pool.high, 1);
	assert_int_equal(l.ooms[0].pool.low, 2);
	assert_int_equal(l.ooms[0].time_us, 77);
	assert_int_equal(tsi_stack_depth(&l.snapshot, l.ooms[0].stack), 1);
	looked_at_deinit(&l);
}

/* 2^60 bytes unmapped, blocks at the end of memory, segments across each other: at once. */
TEST(absurd_layouts)
{
	struct looked_at l;

	look_at_text(&l,
		     SNAPSHOT(SEGMENT(18446744073709551000, 9223372036854775807, LARGE,
				      BLOCK(18446744073709551614, 9223372036854775807))
				      SEGMENT(100, 1000, LARGE, "") SEGMENT(200, 1000, LARGE, "")
					      SEGMENT(100, 1500, LARGE ", is_expandable: true", ""),
			      OOM(9223372036854775807, 0)
				      ENTRY(segment_unmap, 1048576, 1152921504606846976)));
	/*
	 * Unmapped 2^60, not joined with 1500 at 100 in place of the 1000 there, 1000 at 200; and
	 * 614 up to the block.
	 */
	assert_int_equal(l.count, 1);
	assert_int_equal(l.ooms[0].gap_count, 4);
	assert_int_equal(l.ooms[0].largest_free_bytes, INT64_C(1) << 60);
	assert_int_equal(l.ooms[0].free_bytes, (INT64_C(1) << 60) + 1500 + 1000 + 614);
	looked_at_deinit(&l);
}

/* 20,000 lives and 3400 OOMs: the first few of these are not looked at. */
TEST(very_many)
{
	struct looked_at l;
	char *text;
	size_t size, unknown = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fputs("{segments: [" SEGMENT(0, 3000, LARGE, "") "], device_traces: [[", out);
	for (size_t i = 0; i < 20000; i++)
		fprintf(out, "{action: free_completed, addr: %zu, size: 1},", i);
	for (size_t i = 0; i < 3400; i++)
		fputs(OOM(2000000, 0), out);
	fputs("]]}", out);
	assert_int_equal(fclose(out), 0);
	look_at_text(&l, text);
	assert_int_equal(l.count, 3400);
	while (unknown < l.count && l.ooms[unknown].free_bytes == UNKNOWN_BYTES)
		unknown++;
	assert_in_range(unknown, 1, 200);
	assert_false(l.ooms[0].is_exact);
	assert_int_equal(l.ooms[0].unfragmented_free_bytes, UNKNOWN_BYTES);
	assert_int_equal(l.ooms[0].reserved_bytes, 3000);
	for (size_t i = unknown; i < l.count; i++)
		assert_int_equal(l.ooms[i].free_bytes, 3000);
	looked_at_deinit(&l);
	free(text);
}

/* ---- random worlds ------------------------------------------------------------------------ */

/*
 * Expandable memory of 24 pages and four places for segments of 2 to 12 of them; blocks of whole
 * pages. Requests are as large as their blocks, so that nothing is lost when a block goes. A page
 * is not of 2 MiB: it would be taken for a small segment where only its end is known.
 */
enum { PAGES = 24, PLACES = 4, BLOCKS = 12, STEPS = 120 };

enum { PAGE_BYTES = 4 << 20, PLACE_PAGES = 12 };

#define PLACES_AT (UINT64_C(1) << 40)

struct block {
	uint64_t address;
	size_t pages; /* 0: none */
};

struct world {
	bool is_mapped[PAGES];
	size_t segment_pages[PLACES];
	struct block blocks[BLOCKS];
};

static uint64_t address_of_place(size_t place)
{
	/* Further apart than the largest is. */
	return PLACES_AT + place * 2 * PLACE_PAGES * PAGE_BYTES;
}

static bool is_used(const struct world *world, uint64_t page)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		const struct block *block = &world->blocks[i];
		if (page >= block->address && page < block->address + block->pages * PAGE_BYTES)
			return true;
	}
	return false;
}

static bool is_there(const struct world *world, uint64_t page)
{
	if (page < PAGES * (uint64_t)PAGE_BYTES)
		return world->is_mapped[page / PAGE_BYTES];
	for (size_t i = 0; i < PLACES; i++)
		if (page >= address_of_place(i) &&
		    page < address_of_place(i) + world->segment_pages[i] * PAGE_BYTES)
			return true;
	return false;
}

static bool is_free(const struct world *world, uint64_t address, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		if (!is_there(world, address + i * PAGE_BYTES) ||
		    is_used(world, address + i * PAGE_BYTES))
			return false;
	return true;
}

static void write_entry(FILE *out, const char *action, uint64_t address, size_t pages)
{
	fprintf(out, "{action: %s, addr: %" PRIu64 ", size: %zu, stream: 0},", action, address,
		pages * PAGE_BYTES);
}

/* Maps a page or unmaps a free one. */
static void step_page(struct world *world, uint64_t *random, FILE *out)
{
	size_t at = random_below(random, PAGES);
	uint64_t address = at * (uint64_t)PAGE_BYTES;

	if (is_used(world, address))
		return;
	world->is_mapped[at] = !world->is_mapped[at];
	write_entry(out, world->is_mapped[at] ? "segment_map" : "segment_unmap", address, 1);
}

/* Takes a segment, or gives one back that is free. */
static void step_segment(struct world *world, uint64_t *random, FILE *out)
{
	size_t at = random_below(random, PLACES), pages = world->segment_pages[at];

	if (pages && !is_free(world, address_of_place(at), pages))
		return;
	world->segment_pages[at] = pages ? 0 : 2 + random_below(random, PLACE_PAGES - 1);
	write_entry(out, pages ? "segment_free" : "segment_alloc", address_of_place(at),
		    pages ? pages : world->segment_pages[at]);
}

static void step_block(struct world *world, uint64_t *random, FILE *out)
{
	struct block *block = &world->blocks[random_below(random, BLOCKS)];
	uint64_t at = random_below(random, PAGES), pages = 1 + random_below(random, 4);

	if (block->pages) {
		write_entry(out, "free_requested", block->address, block->pages);
		write_entry(out, "free_completed", block->address, block->pages);
		*block = (struct block){ 0 };
		return;
	}
	uint64_t address = at * PAGE_BYTES;
	if (random_below(random, 2))
		address = address_of_place(at % PLACES) + at / PLACES * PAGE_BYTES;
	if (!is_free(world, address, pages))
		return;
	*block = (struct block){ address, pages };
	write_entry(out, "alloc", address, pages);
}

static void step(struct world *world, uint64_t *random, FILE *out)
{
	static void (*const steps[])(struct world *, uint64_t *, FILE *) = {
		step_page, step_page, step_segment, step_block, step_block,
	};
	steps[random_below(random, TSI_COUNT_OF(steps))](world, random, out);
}

static void write_blocks(FILE *out, const struct world *world, uint64_t address, size_t pages)
{
	fputs("blocks: [", out);
	for (size_t i = 0; i < BLOCKS; i++) {
		const struct block *block = &world->blocks[i];
		if (block->pages && block->address >= address &&
		    block->address < address + pages * PAGE_BYTES)
			fprintf(out, "{address: %" PRIu64 ", size: %zu, state: active_allocated},",
				block->address, block->pages * PAGE_BYTES);
	}
	fputs("]},", out);
}

static void write_segment(FILE *out, const struct world *world, uint64_t address, size_t pages,
			  const char *is_expandable)
{
	fprintf(out,
		"{address: %" PRIu64 ", total_size: %zu, stream: 0, segment_type: large, "
		"is_expandable: %s, ",
		address, pages * PAGE_BYTES, is_expandable);
	write_blocks(out, world, address, pages);
}

/* Mapped pages that are neighbours are one segment. */
static void write_end(FILE *out, const struct world *world)
{
	for (size_t i = 0; i < PLACES; i++)
		if (world->segment_pages[i])
			write_segment(out, world, address_of_place(i), world->segment_pages[i],
				      "false");
	for (size_t i = 0, count; i < PAGES; i += count ? count : 1) {
		for (count = 0; i + count < PAGES && world->is_mapped[i + count];)
			count++;
		if (count)
			write_segment(out, world, i * (uint64_t)PAGE_BYTES, count, "true");
	}
}

struct truth {
	int64_t free_pages, largest_pages, gaps, reserved_pages, live_pages;
};

static void add_stretch(struct truth *truth, const struct world *world, uint64_t start,
			size_t pages)
{
	int64_t run = 0;

	for (size_t i = 0; i <= pages; i++) {
		uint64_t page = start + i * PAGE_BYTES;
		if (i < pages && is_free(world, page, 1)) {
			run++;
			continue;
		}
		truth->gaps += run > 0;
		truth->free_pages += run;
		if (run > truth->largest_pages)
			truth->largest_pages = run;
		run = 0;
	}
}

static struct truth truth_of(const struct world *world)
{
	struct truth truth = { 0 };

	add_stretch(&truth, world, 0, PAGES);
	for (size_t i = 0; i < PAGES; i++)
		truth.reserved_pages += world->is_mapped[i];
	for (size_t i = 0; i < PLACES; i++) {
		add_stretch(&truth, world, address_of_place(i), world->segment_pages[i]);
		truth.reserved_pages += (int64_t)world->segment_pages[i];
	}
	for (size_t i = 0; i < BLOCKS; i++)
		truth.live_pages += (int64_t)world->blocks[i].pages;
	return truth;
}

static void check_oom(const struct snapshot_oom *oom, const struct truth *truth)
{
	assert_int_equal(oom->gap_count, truth->gaps);
	assert_int_equal(oom->free_bytes, truth->free_pages * PAGE_BYTES);
	assert_int_equal(oom->largest_free_bytes, truth->largest_pages * PAGE_BYTES);
	assert_int_equal(oom->unfragmented_free_bytes, truth->free_pages * PAGE_BYTES + 5);
	assert_int_equal(oom->reserved_bytes, truth->reserved_pages * PAGE_BYTES);
	assert_int_equal(oom->live_bytes, truth->live_pages * PAGE_BYTES);
}

/* Steps, an OOM after each fourth. The caller frees. */
static char *make_world(struct world *world, struct truth *truths, uint64_t seed)
{
	uint64_t random = seed;
	char *entries, *text;
	size_t size;
	FILE *out = open_memstream(&entries, &size);

	assert_non_null(out);
	*world = (struct world){ 0 };
	for (size_t i = 0; i < STEPS; i++) {
		step(world, &random, out);
		if (i % 4)
			continue;
		fputs(OOM(2097152, 5), out);
		truths[i / 4] = truth_of(world);
	}
	assert_int_equal(fclose(out), 0);
	out = open_memstream(&text, &size);
	assert_non_null(out);
	fputs("{segments: [", out);
	write_end(out, world);
	fprintf(out, "], device_traces: [[%s]]}", entries);
	assert_int_equal(fclose(out), 0);
	free(entries);
	return text;
}

TEST(any_world_at_any_time)
{
	int64_t gaps = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct truth truths[STEPS / 4];
		struct world world;
		struct looked_at l;
		char *text = make_world(&world, truths, seed);
		look_at_text(&l, text);
		assert_int_equal(l.count, STEPS / 4);
		for (size_t i = 0; i < l.count; i++) {
			check_oom(&l.ooms[i], &truths[i]);
			gaps += truths[i].gaps;
		}
		looked_at_deinit(&l);
		free(text);
	}
	assert_true(gaps > 10000);
}

TEST(no_memory)
{
	struct truth truths[STEPS / 4];
	struct world world;
	struct looked_at l;
	char *text = make_world(&world, truths, 3);

	look_at_text(&l, text);
	struct alloc_sweep sweep = { .at_least = 20 };
	while (alloc_sweep_next(&sweep)) {
		struct arena arena = { 0 };
		size_t count;
		alloc_sweep_start(&sweep);
		tsi_snapshot_ooms(&l.snapshot, 0, &l.replay, &arena, &count);
		alloc_sweep_check(&sweep, tsi_arena_status(&arena, &sweep.err));
		tsi_arena_deinit(&arena);
	}
	looked_at_deinit(&l);
	free(text);
}
