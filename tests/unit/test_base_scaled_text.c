/* SPDX-License-Identifier: MIT */
/* base/scaled_text.c: quantities in the unit that fits. */
#include "base/scaled_text.h"

#include "base/attributes.h"
#include "check.h"

TEST(sizes)
{
	static const struct {
		int64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 B" },
		{ 512, "512 B" },
		{ 1023, "1023 B" },
		{ 1024, "1.00 KiB" },
		{ 1536, "1.50 KiB" },
		/* 1048051 / 1024 = 1023.487; 1048 064 is 0.9995 of the next unit. */
		{ 1048051, "1023 KiB" },
		{ 1048064, "1.00 MiB" },
		{ 1048576, "1.00 MiB" },
		{ 536870912, "512 MiB" },
		{ INT64_C(1) << 31, "2.00 GiB" },
		{ INT64_C(1) << 41, "2.00 TiB" },
		/* 2^63 / 2^40 */
		{ INT64_MAX, "8388608 TiB" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		assert_string_equal(tsi_size_text(cases[i].bytes).chars, cases[i].text);
}

TEST(times)
{
	static const struct {
		double ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" },          { 999, "999 ns" },       { 1000, "1.000 µs" },
		{ 63220, "63.22 µs" },  { 99995, "100.0 µs" },   { 999949, "999.9 µs" },
		{ 999950, "1.000 ms" }, { -1.5e6, "-1.500 ms" }, { 3.617e9, "3.617 s" },
		{ 86400e9, "86400 s" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		assert_string_equal(tsi_time_text(cases[i].ns).chars, cases[i].text);
}

TEST(rates)
{
	assert_string_equal(tsi_scaled_text(25.1e9, QUANTITY_RATE).chars, "25.1 GB/s");
	assert_string_equal(tsi_scaled_text(2.5e12, QUANTITY_FLOPS).chars, "2.500 TFLOP");
	assert_string_equal(tsi_scaled_text(2250e12, QUANTITY_FLOP_RATE).chars, "2250 TFLOP/s");
}
