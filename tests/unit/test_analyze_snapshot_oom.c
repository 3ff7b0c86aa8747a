/* SPDX-License-Identifier: MIT */
/* analyze/memory/snapshot_oom.c: what was lacking when a request failed, and what would have helped. */
#include "analysis_check.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

/*
 * A large segment of 100 MiB at 0 with a block of 512 bytes at 45 MiB, so with gaps of 45 and
 * almost 55 MiB: in whole pages surely 20 + 20, at most 40 + 40 MiB, and 99.9995 in all.
 */
#define HOLED(settings, size, device_free)                                                         \
	"{segments: [{address: 0, total_size: 104857600, stream: 0, segment_type: large, blocks: " \
	"[{address: 47185920, size: 512, state: active_allocated}]}], allocator_settings: "        \
	"{" settings "}, device_traces: [[{action: oom, size: " #size                              \
	", device_free: " #device_free ", stream: 0}]]}"

TEST(verdicts)
{
	static const struct {
		const char *text, *expandable, *split;
	} cases[] = {
		/* 40 MiB and one byte more; then with as much left by the driver. */
		{ HOLED("", 41943040, 0), "likely", "perhaps" },
		{ HOLED("", 41943041, 0), "perhaps", "perhaps" },
		{ HOLED("", 41943041, 1), "likely", "perhaps" },
		/* 80 MiB. */
		{ HOLED("", 83886080, 0), "perhaps", "perhaps" },
		{ HOLED("", 83886081, 0), "hardly", "perhaps" },
		/* All: 104857600 − 512. */
		{ HOLED("", 104857088, 0), "hardly", "perhaps" },
		{ HOLED("", 104857089, 0), "no", "no" },
		{ HOLED("expandable_segments: true", 41943040, 0), "in_use", "perhaps" },
		{ HOLED("expandable_segments: false, max_split_size: -1", 41943040, 0), "likely",
		  "perhaps" },
		{ HOLED("max_split_size: 67108864", 104857089, 0), "no", "in_use" },
		/* Segments tell it where settings do not. */
		{ "{segments: [{address: 0, total_size: 8, is_expandable: true, blocks: []}], "
		  "device_traces: [[{action: oom, size: 9, device_free: 0}]]}",
		  "in_use", "no" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_memory(cases[i].text, NULL);
		char expected[200];
		snprintf(expected, sizeof(expected),
			 "expandable_segments %s\ngarbage_collection_threshold no\n"
			 "max_split_size_mb %s\nsmaller_peak yes\n",
			 cases[i].expandable, cases[i].split);
		check_table(a, "snapshot.oom_remedies: remedy verdict", expected);
		check_facts(a, "snapshot: oom_expandable_segments", cases[i].expandable);
	}
}

#define LARGEST " - 55.0 MiB, the largest piece); 100 MiB free in all would have done in one piece"

TEST(the_arithmetic)
{
	static const struct {
		const char *text, *expandable, *split, *peak;
	} cases[] = {
		/* The largest piece is 55 MiB − 512 bytes, all of them 100 MiB − 512. */
		{ HOLED("", 41943040, 0),
		  "40.0 MiB asked ≤ 40.0 MiB left by the driver and in whole pages of the free "
		  "pieces",
		  "40.0 MiB asked ≤ 0 B",
		  "by how much is not known: 55.0 MiB seem to lie free in one piece" },
		/* 60 MiB − the largest: 5 MiB + 512. */
		{ HOLED("", 62914560, 0),
		  "60.0 MiB asked ≤ 80.0 MiB left by the driver and in whole pages of the free "
		  "pieces, where these begin with a page; else 40.0 MiB",
		  "60.0 MiB asked ≤ 0 B", "by up to 5.00 MiB (60.0 MiB asked" LARGEST },
		{ HOLED("", 94371840, 0),
		  "90.0 MiB asked ≤ 100 MiB free in all, but > 80.0 MiB left by the driver and "
		  "in "
		  "whole pages of the free pieces",
		  "90.0 MiB asked ≤ 0 B", "by up to 35.0 MiB (90.0 MiB asked" LARGEST },
		{ HOLED("expandable_segments: true", 94371840, 1536),
		  "90.0 MiB asked ≤ 1.50 KiB left by the driver + 100 MiB free in 2 pieces, "
		  "largest "
		  "55.0 MiB",
		  "90.0 MiB asked ≤ 1.50 KiB", "by up to 35.0 MiB (90.0 MiB asked" LARGEST },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_memory(cases[i].text, NULL);
		char expected[1000];
		snprintf(expected, sizeof(expected),
			 "%s\n"
			 "not at that moment: a request fails only after every whole free segment "
			 "was given back, which is all that it frees earlier, and only where a "
			 "memory fraction is set: 0 B of these were left\n"
			 "%s left by the driver + 100 MiB free beside other blocks in segments "
			 "above 20 MiB, which a limit keeps whole\n"
			 "%s\n",
			 cases[i].expandable, cases[i].split, cases[i].peak);
		check_table(a, "snapshot.oom_remedies: arithmetic", expected);
	}
}

#define LIMIT                                                                                      \
	"a limit of the process, such as set_per_process_memory_fraction, refused it, unless the " \
	"driver had less just before"

/* A full segment of 1 GiB, or one of 100 MiB with holes: who is to blame? */
#define FULL(settings, size, device_free)                                                          \
	"{segments: [{address: 0, total_size: 1073741824, stream: 0, segment_type: large, "        \
	"blocks: [{address: 0, size: 1073741824, state: active_allocated}]}], "                    \
	"allocator_settings: {" settings "}, device_traces: [[{action: oom, size: " #size          \
	", device_free: " #device_free ", stream: 0}]]}"

/* "cause driver_bytes", then the verdicts for expandable segments and max_split_size_mb. */
TEST(what_was_lacking)
{
	static const struct {
		const char *text, *facts, *expandable, *split, *peak;
	} cases[] = {
		/* 2 of 60 GiB. */
		{ FULL("", 2147483648, 64424509440), "limit 2147483648",
		  "no 2.00 GiB asked ≤ 60.0 GiB left by the driver: " LIMIT,
		  "no 2.00 GiB asked ≤ 60.0 GiB left by the driver: " LIMIT,
		  "yes by at most 2.00 GiB, below that limit, which is not recorded" },
		/* For 4 MiB the driver is asked for 20: it has them, or just not. */
		{ FULL("", 4194304, 20971520), "limit 20971520",
		  "no 4.00 MiB asked, for which torch asks the driver for 20.0 MiB, ≤ 20.0 MiB "
		  "left by the driver: " LIMIT,
		  "no 4.00 MiB asked, for which torch asks the driver for 20.0 MiB, ≤ 20.0 MiB "
		  "left by the driver: " LIMIT,
		  "yes by at most 20.0 MiB, below that limit, which is not recorded" },
		{ FULL("", 4194304, 16777216), "rounding 20971520",
		  "no 4.00 MiB asked, for which torch asks the driver for 20.0 MiB, > 16.0 MiB "
		  "left by the driver + 0 B free in pieces",
		  "no 4.00 MiB asked, for which torch asks the driver for 20.0 MiB, > 16.0 MiB "
		  "left by the driver + 0 B free in pieces",
		  /* 20 − 16; a piece for it would need all 4, too: the driver's is told. */
		  "yes by up to 4.00 MiB (20.0 MiB that torch asks the driver for - 16.0 MiB left "
		  "by it)" },
		/* In use: it grows by pages of 20 MiB, so 60 for 41. */
		{ FULL("expandable_segments: true", 42991616, 62914560), "limit 62914560",
		  "in_use 41.0 MiB asked, for which torch asks the driver for 60.0 MiB, ≤ 60.0 "
		  "MiB left by the driver: " LIMIT,
		  "no 41.0 MiB asked, for which torch asks the driver for 60.0 MiB, ≤ 60.0 MiB "
		  "left by the driver: " LIMIT,
		  "yes by at most 60.0 MiB, below that limit, which is not recorded" },
		/* 4 MiB for another stream: two pages of 20 MiB lie free, the driver has 5 MiB. */
		{ "{segments: [{address: 0, total_size: 104857600, stream: 7, segment_type: large, "
		  "blocks: [{address: 47185920, size: 512, state: active_allocated}]}], "
		  "device_traces: [[{action: oom, size: 4194304, device_free: 5242880, stream: "
		  "0}]]}",
		  "fragmentation 20971520",
		  "likely 4.00 MiB asked (a page: 20.0 MiB) ≤ 45.0 MiB left by the driver and in "
		  "whole pages of the free pieces",
		  "perhaps 4.00 MiB asked ≤ 5.00 MiB left by the driver + 100 MiB free beside "
		  "other "
		  "blocks in segments above 20 MiB, which a limit keeps whole",
		  "yes by up to 4.00 MiB (4.00 MiB asked - 0 B, the largest piece); 105 MiB free "
		  "in "
		  "all would have done in one piece" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_memory(cases[i].text, NULL);
		char expected[2000];
		snprintf(expected, sizeof(expected),
			 "%s\nno not at that moment: a request fails only after every whole free "
			 "segment was given back, which is all that it frees earlier, and only "
			 "where a memory fraction is set: 0 B of these were left\n%s\n%s\n",
			 cases[i].expandable, cases[i].split, cases[i].peak);
		check_facts(a, "snapshot: oom_cause oom_driver_bytes", cases[i].facts);
		check_table(a, "snapshot.oom_remedies: verdict arithmetic", expected);
	}
}

/* Up to 1 MiB: 2; below 10 MiB: 20; above: whole 2 MiB, and no more than there are numbers. */
TEST(what_the_driver_is_asked_for)
{
	static const struct {
		const char *text, *driver_bytes;
	} cases[] = {
		{ FULL("", 512, 0), "2097152" },
		{ FULL("", 1048576, 0), "2097152" },
		{ FULL("", 1049088, 0), "20971520" },
		{ FULL("", 10485248, 0), "20971520" },
		{ FULL("", 10485760, 0), "10485760" },
		{ FULL("", 10486272, 0), "12582912" },
		{ FULL("", 9223372036854775807, 0), "9223372036854775807" },
		{ FULL("expandable_segments: true", 512, 0), "2097152" },
		{ FULL("expandable_segments: true", 10485760, 0), "20971520" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_memory(cases[i].text, NULL);
		check_facts(a, "snapshot: oom_driver_bytes", cases[i].driver_bytes);
	}
}

TEST(collection_is_in_use)
{
	struct analyzed *a =
		analyze_memory(FULL("garbage_collection_threshold: 0.8", 2147483648, 0), NULL);

	check_table(a, "snapshot.oom_remedies: verdict", "no\nin_use\nno\nyes\n");
}

#define MISSING                                                                                    \
	"entries are missing within the window: more was freed than was there, or a block that "   \
	"was live was allocated again"

#define INEXACT                                                                                    \
	"the layout is not known to the byte: a block that was live then, or a segment, is gone "  \
	"at the end"

/* As HOLED, 40 MiB asked: "likely" where all is known. */
#define HOLED_LATER(before, after)                                                                 \
	"{segments: [{address: 0, total_size: 104857600, stream: 0, segment_type: large, blocks: " \
	"[{address: 47185920, size: 512, state: active_allocated}]}], device_traces: [[" before    \
	"{action: oom, size: 41943040, device_free: 0, stream: 0}" after "]]}"

static void check_doubts(const char *text, const char *layout, const char *live)
{
	static const char *const facts[] = {
		"snapshot.oom_free_bytes",          "snapshot.oom_largest_free_bytes",
		"snapshot.oom_shortfall_bytes",     "snapshot.oom_fits_unfragmented",
		"snapshot.oom_expandable_segments", "snapshot.oom_cause",
	};
	struct analyzed *a = analyze_memory(text, NULL);

	for (size_t i = 0; i < TSI_COUNT_OF(facts); i++)
		check_doubt(a, facts[i], layout);
	check_doubt(a, "snapshot.oom_live_bytes", live);
	check_doubt(a, "snapshot.oom_size_bytes", NULL);
	check_facts(a, "snapshot: oom_cause oom_expandable_segments",
		    layout ? "fragmentation perhaps" : "fragmentation likely");
}

TEST(an_oom_in_doubt)
{
	check_doubts(HOLED_LATER("", ""), NULL, NULL);
	/* A segment elsewhere that was given back later. */
	check_doubts(HOLED_LATER("", ", {action: segment_free, addr: 1073741824, size: 2097152, "
				     "stream: 0}"),
		     INEXACT, NULL);
	/* Allocated where a block was live. */
	check_doubts(HOLED_LATER("{action: alloc, addr: 47185920, size: 512, stream: 0},"
				 "{action: alloc, addr: 47185920, size: 512, stream: 0},",
				 ""),
		     MISSING, MISSING);
}

#define PRIVATE "; the request was for a private pool, whose own pieces are not counted"

TEST(for_a_private_pool)
{
	static const char *const pools[] = { "(1, 0)", "(0, 1)", "(0, 0)" };

	for (size_t i = 0; i < TSI_COUNT_OF(pools); i++) {
		bool is_private = i < 2;
		char text[1000];
		snprintf(text, sizeof(text), HOLED_LATER("", ", {action: snapshot, size: 0}"));
		char *at = strstr(text, ", stream: 0}, {action: snapshot");
		assert_non_null(at);
		snprintf(at, sizeof(text) - (size_t)(at - text), ", stream: 0, pool_id: %s}]]}",
			 pools[i]);
		struct analyzed *a = analyze_memory(text, NULL);
		check_facts(a, "snapshot: oom_expandable_segments oom_largest_free_bytes",
			    is_private ? "perhaps 57671168" : "likely 57671168");
		check_doubt(a, "snapshot.oom_largest_free_bytes",
			    is_private ? "the request was for a private pool, whose own pieces are "
					 "not counted"
				       : NULL);
		check_doubt(a, "snapshot.oom_free_bytes", NULL);
		if (is_private)
			check_table(
				a, "snapshot.oom_remedies: verdict arithmetic",
				"perhaps 40.0 MiB asked ≤ 40.0 MiB left by the driver and in whole "
				"pages of the free pieces" PRIVATE
				"\nno not at that moment: a request fails only after every whole "
				"free segment was given back, which is all that it frees earlier, "
				"and only where a memory fraction is set: 0 B of these were "
				"left\nperhaps 40.0 MiB asked ≤ 0 B left by the driver + 100 MiB "
				"free beside other blocks in segments above 20 MiB, which a limit "
				"keeps whole" PRIVATE "\n"
				"yes by up to 40.0 MiB (40.0 MiB that torch asks the driver for - "
				"0 B left by it); 100 MiB free in all would have done in one "
				"piece\n");
	}
}

/* Ten OOMs: the last eight have remedies. */
TEST(the_last_of_many)
{
	char text[2000] = "{segments: [], device_traces: [[";
	struct analyzed *a;

	for (int i = 0; i < 10; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "{action: oom, size: %d, device_free: 0, time_us: 7},", 10 + i);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "]]}");
	a = analyze_memory(text, NULL);
	check_facts(a, "snapshot: oom_count oom_size_bytes", "10 19");
	check_table(a, "snapshot.oom_remedies: oom",
		    "2\n2\n2\n2\n3\n3\n3\n3\n4\n4\n4\n4\n5\n5\n5\n5\n"
		    "6\n6\n6\n6\n7\n7\n7\n7\n8\n8\n8\n8\n9\n9\n9\n9\n");
}
