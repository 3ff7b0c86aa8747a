/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_SCALED_TEXT_H
#define TSCOPE_BASE_SCALED_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Quantities for people, in the unit that fits and rounded to the digits that
 * mean something: "12.34 ms", "1.20 GiB", "25.1 GB/s". Titles of findings and
 * tables use the same texts, so that one page has one style. The decimal point
 * is a point in any locale.
 */
struct scaled_text {
	char chars[32];
};

enum quantity {
	QUANTITY_TIME,      /* ns, 4 digits: "63.22 µs" */
	QUANTITY_SIZE,      /* bytes, 3 digits: "568 MiB" */
	QUANTITY_RATE,      /* bytes per second, 3 digits: "25.1 GB/s" */
	QUANTITY_FLOPS,     /* 4 digits: "2.500 TFLOP" */
	QUANTITY_FLOP_RATE, /* per second, 4 digits: "312.0 TFLOP/s" */
};

struct scaled_text tsi_scaled_text(double value, enum quantity quantity);

/* "%.*f", but with a point in any locale. */
void tsi_fixed_text(char *text, size_t room, double value, int decimals);

/* Decimals with which a value below 1000 shows so many significant digits, after rounding. */
int tsi_decimals_for(double value, int digits);

static inline struct scaled_text tsi_time_text(double ns)
{
	return tsi_scaled_text(ns, QUANTITY_TIME);
}

static inline struct scaled_text tsi_size_text(int64_t bytes)
{
	return tsi_scaled_text((double)bytes, QUANTITY_SIZE);
}

#endif
