/* SPDX-License-Identifier: MIT */
/* Snapshots of two sides: allocation sites, segments, and figures that no honest file has. */
#include "diff_check.h"

#include "base/attributes.h"
#include "check.h"
#include "memory_sweep.h"

#define SITE(device, site, peak, end, count)                                                       \
	"snapshot.sites device=" device " site='" site "' bytes=" peak " end_bytes=" end           \
	" end_count=" count "\n"
#define SEGMENT(device, address, size)                                                             \
	"snapshot.segments device=" device " address=" address " reserved_bytes=" size             \
	" pool=large kind=plain allocated_bytes=64\n"
#define LARGEST "9223372036854775807"
#define LOWEST "-9223372036854775808"

static const char all_facts[] =
	"allocation_changes: a_bytes b_bytes change_bytes a_peak_bytes b_peak_bytes "
	"peak_change_bytes a_count b_count site_count";
static const char all_columns[] =
	"allocation_changes.sites: device site change a_bytes b_bytes change_bytes a_count b_count "
	"a_peak_bytes b_peak_bytes peak_change_bytes";
static const char few_columns[] = "allocation_changes.sites: device site change change_bytes";
static const char segment_facts[] =
	"allocation_changes: common_segment_count only_a_segment_count only_b_segment_count";
static const char segment_columns[] =
	"allocation_changes.segments: side device address pool kind reserved_bytes allocated_bytes";

TEST(test_sites)
{
	struct compared *c =
		compare("snapshot.peak_allocated_bytes 700\n"          /* */
			SITE("0", "t.py:1 forward", "300", "100", "2") /* +60 */
			SITE("0", "gone.py:1 g", "50", "50", "1")      /* -50 */
			SITE("0", "less.py:2 h", "10", "10", "1")      /* -6 */
			SITE("0", "m.py:3 moved", "40", "40", "4")     /* 0 */
			SITE("0", "same.py:4 s", "5", "5", "1")        /* 0 */
			SITE("0", "peak.py:5 p", "200", "0", "0"),     /* 0, 50 */
			"snapshot.peak_allocated_bytes 820\n" SITE("0", "new.py:1 n", "90", "70",
								   "1") /* +70 */
			SITE("0", "t.py:1 forward", "300", "160", "3")
				SITE("0", "less.py:2 h", "12", "4", "1")
					SITE("0", "m.py:3 moved", "40", "40", "2")
						SITE("0", "same.py:4 s", "5", "5", "1")
							SITE("0", "peak.py:5 p", "250", "0", "0"));

	/*
	 * Live: 100 + 50 + 10 + 40 + 5 = 205 in 9 blocks, 70 + 160 + 4 + 40 + 5 = 279 in 8.
	 * All sites but one changed in some way.
	 */
	check_facts(&c->result, all_facts, "205 279 74 700 820 120 9 8 6");
	check_table(&c->result, all_columns,
		    "0 new.py:1 n new 0 70 70 0 1 0 90 90\n"
		    "0 t.py:1 forward grew 100 160 60 2 3 300 300 0\n"
		    "0 gone.py:1 g gone 50 0 -50 1 0 50 0 -50\n"
		    "0 less.py:2 h shrank 10 4 -6 1 1 10 12 2\n"
		    "0 peak.py:5 p grew 0 0 0 0 0 200 250 50\n"
		    "0 m.py:3 moved moved 40 40 0 4 2 40 40 0\n"
		    "0 same.py:4 s same 5 5 0 1 1 5 5 0\n");
}

TEST(test_places)
{
	static const struct {
		const char *a, *b, *sites;
	} cases[] = {
		/* One device each: the same, whatever its number. */
		{ SITE("0", "f", "9", "8", "1") SITE("0", "g", "9", "8", "1"),
		  SITE("3", "f", "9", "9", "1") SITE("3", "g", "9", "8", "1"),
		  "3 f grew 1\n3 g same 0\n" },
		/* Two on one side: it is not known which is which. */
		{ SITE("0", "f", "9", "8", "1") SITE("1", "f", "9", "5", "1"),
		  SITE("3", "f", "9", "9", "1"), "3 f new 9\n0 f gone -8\n1 f gone -5\n" },
		{ SITE("0", "f", "9", "8", "1") SITE("1", "f", "9", "5", "1"),
		  SITE("1", "f", "9", "9", "1"), "0 f gone -8\n1 f grew 4\n" },
		/* A segment shows that there is another device. */
		{ SITE("0", "f", "9", "8", "1") SEGMENT("1", "0x10", "5"),
		  SITE("3", "f", "9", "9", "1"), "3 f new 9\n0 f gone -8\n" },
		/* A site that stands twice: 2 + 3 against 1 + 9. */
		{ SITE("0", "f", "9", "2", "1") SITE("0", "f", "9", "3", "1"),
		  SITE("0", "f", "9", "1", "1") SITE("0", "f", "9", "9", "1"), "0 f grew 5\n" },
		/* The sign does not rank, and of equal ones the text does. */
		{ SITE("0", "a", "4", "4", "1") SITE("0", "b", "4", "4", "1")
			  SITE("0", "c", "4", "4", "1"),
		  SITE("0", "c", "4", "8", "1") SITE("0", "b", "4", "0", "0")
			  SITE("0", "a", "4", "8", "1"),
		  "0 a grew 4\n0 b shrank -4\n0 c grew 4\n" },
		/* No stack was taken; and nothing is said at all. */
		{ SITE("0", "", "4", "4", "1") "snapshot.sites device=0\n",
		  SITE("0", "", "4", "5", "1"), "0  grew 1\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct compared *c = compare(cases[i].a, cases[i].b);
		check_table(&c->result, few_columns, cases[i].sites);
	}
}

/* Sums and differences stay at the last number that there is. */
TEST(test_hostile_figures)
{
	struct compared *c = compare(
		"snapshot.peak_allocated_bytes " LARGEST
		"\n" SITE("0", "f", LARGEST, LARGEST, LARGEST) SITE("0", "g", "1", "1", "1")
			SITE("0", "h", LOWEST, LOWEST, "0"),
		"snapshot.peak_allocated_bytes " LOWEST "\n" SITE("0", "f", LOWEST, LOWEST, LOWEST)
			SITE("0", "h", LARGEST, LARGEST, "-1") SITE("0", "i", "0", LOWEST, "0"));

	/* f: -2^63 - (2^63 - 1); h: 2^63 - 1 + 2^63; i: -2^63 */
	check_table(&c->result, few_columns,
		    "0 f shrank " LOWEST "\n"
		    "0 i new " LOWEST "\n"
		    "0 h grew " LARGEST "\n"
		    "0 g gone -1\n");
	/* A: 2^63 - 1, + 1 stays, - 2^63 makes -1; B: -2^63 + 2^63 - 1 - 2^63. */
	check_facts(&c->result,
		    "allocation_changes: a_bytes b_bytes change_bytes peak_change_bytes site_count",
		    "-1 " LOWEST " -9223372036854775807 " LOWEST " 4");
}

TEST(test_one_side)
{
	static const char snapshot[] =
		"snapshot.peak_allocated_bytes 7\n" SITE("0", "f", "7", "5", "1")
			SEGMENT("0", "0x10", "5");
	struct compared *c = compare(snapshot, "step_time.count 3\n");

	check_facts(&c->result, all_facts, "5 - - 7 - - 1 - -");
	check_facts(&c->result, segment_facts, "- - -");
	check_table(&c->result, few_columns, "");

	c = compare("", snapshot);
	check_facts(&c->result, all_facts, "- 5 - - 7 - - 1 -");

	c = compare("", "");
	check_facts(&c->result, all_facts, "- - - - - - - - -");
}

/* Snapshots without anything live, and one that does not know its peak. */
TEST(test_empty_and_doubts)
{
	struct compared *c = compare("snapshot.device_count 1\n"
				     "! snapshot.peak_allocated_bytes entries are lost\n",
				     "snapshot.peak_allocated_bytes 0\n");

	check_facts(&c->result, all_facts, "0 0 0 - 0 - 0 0 0");
	check_facts(&c->result, segment_facts, "0 0 0");
	check_doubt(&c->result, "allocation_changes.a_peak_bytes", "entries are lost");
	check_doubt(&c->result, "allocation_changes.b_peak_bytes", NULL);
	check_doubt(&c->result, "allocation_changes.peak_change_bytes", "entries are lost");
}

TEST(test_segments)
{
	static const struct {
		const char *a, *b, *counts, *segments;
	} cases[] = {
		{ SEGMENT("0", "0x10", "5") SEGMENT("0", "0x20", "6") SEGMENT("0", "0x30", "7"),
		  SEGMENT("0", "0x30", "7") SEGMENT("0", "0x20", "9") SEGMENT("0", "0x40", "8"),
		  "1 2 2",
		  "a 0 0x10 large plain 5 64\n"
		  "a 0 0x20 large plain 6 64\n"
		  "b 0 0x20 large plain 9 64\n"
		  "b 0 0x40 large plain 8 64\n" },
		/* Of two processes: none is common, and a list would say nothing. */
		{ SEGMENT("0", "0x10", "5"), SEGMENT("0", "0x11", "5"), "0 1 1", "" },
		{ SEGMENT("0", "0x10", "5"), SEGMENT("0", "0x10", "5"), "1 0 0", "" },
		/* Each device as it is called on its side, though they are taken for one. */
		{ SEGMENT("0", "0x10", "5") SEGMENT("0", "0x20", "5"), SEGMENT("3", "0x10", "5"),
		  "1 1 0", "a 0 0x20 large plain 5 64\n" },
		{ SEGMENT("0", "0x10", "5") SEGMENT("1", "0x10", "5"), SEGMENT("1", "0x10", "5"),
		  "1 1 0", "a 0 0x10 large plain 5 64\n" },
		/* One that stands three times has two partners. */
		{ SEGMENT("0", "0x10", "5") SEGMENT("0", "0x10", "5") SEGMENT("0", "0x10", "5"),
		  SEGMENT("0", "0x10", "5") SEGMENT("0", "0x10", "5"), "2 1 0",
		  "a 0 0x10 large plain 5 64\n" },
		{ SEGMENT("0", "0x10", "5"),
		  SEGMENT("0", "0x10", "5") SEGMENT("0", "0x10", "5") SEGMENT("0", "0x10", "5"),
		  "1 0 2", "b 0 0x10 large plain 5 64\nb 0 0x10 large plain 5 64\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct compared *c = compare(cases[i].a, cases[i].b);
		check_facts(&c->result, segment_facts, cases[i].counts);
		check_table(&c->result, segment_columns, cases[i].segments);
	}
}

TEST(test_allocations)
{
	struct compared *c = compare(SITE("0", "f", "9", "2", "1") SEGMENT("0", "0x10", "5"),
				     SITE("0", "g", "9", "2", "1") SEGMENT("0", "0x10", "5")
					     SEGMENT("0", "0x20", "5"));
	struct analysis_scope scope = { .comparison = &c->comparison };

	sweep_analyzer("allocation_changes", &scope, 4); /* sites and segments, and both tables */
}
