/* SPDX-License-Identifier: MIT */
/*
 * People see four digits of a time and three of a size: more would claim a
 * precision that no profiler has.
 */
#include "base/scaled_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "base/print_text.h"
#include "base/real.h"

struct scale {
	double divisor;
	const char *unit;
};

static const struct scale time_scales[] = {
	{ 1, "ns" }, { 1e3, "µs" }, { 1e6, "ms" }, { 1e9, "s" }
};
static const struct scale byte_scales[] = {
	{ 1, "B" }, { 0x1p10, "KiB" }, { 0x1p20, "MiB" }, { 0x1p30, "GiB" }, { 0x1p40, "TiB" },
};
static const struct scale rate_scales[] = {
	{ 1, "B/s" }, { 1e3, "kB/s" }, { 1e6, "MB/s" }, { 1e9, "GB/s" }, { 1e12, "TB/s" },
};

static const struct scale flop_scales[] = {
	{ 1, "FLOP" },     { 1e3, "kFLOP" },  { 1e6, "MFLOP" },  { 1e9, "GFLOP" },
	{ 1e12, "TFLOP" }, { 1e15, "PFLOP" }, { 1e18, "EFLOP" },
};

/* No PFLOP/s: data sheets have 2,250 TFLOP/s. */
static const struct scale flop_rate_scales[] = {
	{ 1, "FLOP/s" },    { 1e3, "kFLOP/s" },  { 1e6, "MFLOP/s" },
	{ 1e9, "GFLOP/s" }, { 1e12, "TFLOP/s" },
};

static const struct scaling {
	const struct scale *scales;
	size_t count;
	int digits;
} scalings[] = {
	[QUANTITY_TIME] = { time_scales, TSI_COUNT_OF(time_scales), 4 },
	[QUANTITY_SIZE] = { byte_scales, TSI_COUNT_OF(byte_scales), 3 },
	[QUANTITY_RATE] = { rate_scales, TSI_COUNT_OF(rate_scales), 3 },
	[QUANTITY_FLOPS] = { flop_scales, TSI_COUNT_OF(flop_scales), 4 },
	[QUANTITY_FLOP_RATE] = { flop_rate_scales, TSI_COUNT_OF(flop_rate_scales), 4 },
};

/* Half of the last digit shown, by the number of decimals: what rounding may add. */
static const double half_digit[] = { 0.5, 0.05, 0.005, 0.0005, 0.00005 };

void tsi_fixed_text(char *text, size_t room, double value, int decimals)
{
	snprintf(text, room, "%.*f", decimals, value);
	tsi_real_put_point(text);
}

int tsi_decimals_for(double value, int digits)
{
	double limit = 10;
	int decimals = digits - 1;

	while (decimals > 0 && fabs(value) >= limit - half_digit[decimals]) {
		decimals--;
		limit *= 10;
	}
	return decimals;
}

/* The largest unit in which the value is at least 1 after rounding. */
struct scaled_text tsi_scaled_text(double value, enum quantity quantity)
{
	const struct scaling *scaling = &scalings[quantity];
	const struct scale *scales = scaling->scales;
	struct scaled_text text;
	size_t i = 0;

	while (i + 1 < scaling->count &&
	       fabs(value) >= scales[i + 1].divisor * (1 - half_digit[scaling->digits]))
		i++;
	value /= scales[i].divisor;
	tsi_fixed_text(text.chars, sizeof(text.chars), value,
		       i == 0 ? 0 : tsi_decimals_for(value, scaling->digits));
	tsi_append_text(text.chars, sizeof(text.chars), " %s", scales[i].unit);
	return text;
}
