/* SPDX-License-Identifier: MIT */
/* Counters: their figures over time, and what Composer calls wrongly. */
#include "analysis_check.h"
#include "composer_text.h"

#include "check.h"

#define FACTS "counters: series_count value_count dropped_count bad_count"
#define FIGURES "counters.by_name: counter series count min mean max last max_step"
#define UNITS "counters.by_name: counter series unit factor last"

#define STEPS                                                                                      \
	"event/train_batch 0 500 batch=4\nevent/train_batch 1000 1500 batch=5\n"                   \
	"event/train_batch 2000 2500 batch=6\n"

static void check(const char *lines, const char *facts, const char *names, const char *rows)
{
	struct analyzed *a = analyze(composer_text(lines));

	check_facts(a, FACTS, facts);
	check_table(a, names, rows);
}

/* 10 for 300, then 50 for 100: (3000 + 5000) ÷ 400. The last value holds for no time. */
TEST(mean_over_time)
{
	check(STEPS "counter cpu 800 {\"x\": 10}\ncounter cpu 1100 {\"x\": 50}\n"
		    "counter cpu 1200 {\"x\": 20}\n",
	      "1 3 0 0", FIGURES, "cpu x 3 10 20 50 20 5\n");
}

/* The same times in our day, which doubles hold to some hundreds of nanoseconds only. */
TEST(mean_over_unix_time)
{
	check("X work 1700000000000000000 1700000000000000500\n"
	      "counter cpu 1700000000000000000 {\"x\": 10}\n"
	      "counter cpu 1700000000000000300 {\"x\": 50}\n"
	      "counter cpu 1700000000000000400 {\"x\": 20}\n",
	      "1 3 0 0", FIGURES, "cpu x 3 10 20 50 20 0\n");
}

/* The largest is reached first in step 4; outside of the steps it is in none. */
TEST(where_the_largest_is)
{
	check(STEPS "counter a 100 {\"x\": 7}\ncounter a 1500 {\"x\": 7}\n"
		    "counter b -50 {\"x\": 7}\ncounter b 1500 {\"x\": 3}\n",
	      "2 4 0 0", FIGURES, "a x 2 7 7 7 7 4\nb x 2 3 7 7 3 -\n");
}

/* One value, or several of one moment: the last holds. */
TEST(no_time_between)
{
	check(STEPS
	      "counter a 100 {\"x\": -5}\ncounter b 100 {\"x\": 1}\ncounter b 100 {\"x\": 3}\n",
	      "2 3 0 0", FIGURES, "a x 1 -5 -5 -5 -5 4\nb x 2 1 3 3 3 4\n");
}

TEST(composer_s_names)
{
	check(STEPS "counter cpu 1 {\"cpu_percent\": 12.5}\n"
		    "counter memory/swap 1 {\"used_gb\": 4, \"free_gb\": 2}\n"
		    "counter memory/virtual 1 {\"available_gb\": 8}\n"
		    "counter memory/cuda/allocated_mem 1 {\"allocated_mem\": 3}\n"
		    "counter disk/sda/read_bytes 1 {\"field_name\": 100}\n"
		    "counter disk/sda/read_time 1 {\"field_name\": 70}\n"
		    "counter disk/sda/read_count 1 {\"field_name\": 60}\n"
		    "counter network/eth0/kb_recv 1 {\"kb_recv\": 5}\n",
	      "9 9 0 0", UNITS,
	      "cpu cpu_percent percent - 12.5\n"
	      "memory/swap used_gb bytes 512 2048\n"
	      "memory/swap free_gb bytes 512 1024\n"
	      "memory/virtual available_gb bytes 512 4096\n"
	      "memory/cuda/allocated_mem allocated_mem number - 3\n"
	      "disk/sda/read_bytes read_bytes bytes - 100\n"
	      "disk/sda/read_time read_time ms - 70\n"
	      "disk/sda/read_count read_count number - 60\n"
	      "network/eth0/kb_recv kb_recv bytes 8 40\n");
}

/* Another program may mean what it says. */
TEST(names_of_others)
{
	check("X work 0 100\ncounter memory/swap 1 {\"used_gb\": 4}\n"
	      "counter disk/sda/read_bytes 1 {\"field_name\": 100}\ncounter heap 1 {\"bytes\": "
	      "7}\n",
	      "3 3 0 0", UNITS,
	      "memory/swap used_gb number - 4\ndisk/sda/read_bytes field_name number - 100\n"
	      "heap bytes bytes - 7\n");
}

TEST(named_with_their_id)
{
	struct test_trace *t = composer_text("X work 0 100\n");

	test_event(t, &(struct raw_event){ .phase = 'C',
					   .has_ts = true,
					   .name = TSI_STR("heap"),
					   .pid = TSI_STR("12"),
					   .id = TSI_STR("0x7"),
					   .args = TSI_STR("{\"used\": 3}") });
	struct analyzed *a = analyze(t);
	check_table(a, "counters.by_name: counter process series last", "heap[0x7] 12 used 3\n");
}

/* Sums of the largest numbers end in no number, which is absent. */
TEST(absurd_values)
{
	check("X work 0 100\ncounter a 1 {\"x\": 1e308}\ncounter a 2 {\"x\": -1e308}\n"
	      "counter a 3 {\"x\": 1e308}\n",
	      "1 3 0 0", FIGURES, "a x 3 -1e+308 0 1e+308 1e+308 0\n");
	check("rank 0\nX work 0 100\ncounter memory/swap 1 {\"used_gb\": 1e308}\n", "1 1 0 0",
	      FIGURES, "memory/swap used_gb 1 - - - - 0\n");
}

TEST(without_counters)
{
	check(STEPS, "- - - -", FIGURES, "");
	check("X work 0 100\ncounter a 1 {\"x\": \"?\"}\n", "0 0 0 1", FIGURES, "");
}
