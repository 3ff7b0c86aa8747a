/* SPDX-License-Identifier: MIT */
/*
 * Every number that a report shows to people gets its text here. They see four
 * digits of a time and three of a size: more would claim a precision that
 * no profiler has.
 */
#include "report/number.h"

#include "base/attributes.h"
#include "base/real.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

void tsi_number_significant(char text[NUMBER_MAX], double value, int digits)
{
	snprintf(text, NUMBER_MAX, "%.*g", digits, value);
	tsi_real_put_point(text);
}

static void format_fixed(char text[NUMBER_MAX], double value, int decimals)
{
	snprintf(text, NUMBER_MAX, "%.*f", decimals, value);
	tsi_real_put_point(text);
}

/* Half of the last digit shown, by the number of decimals: what rounding may add. */
static const double half_digit[] = { 0.5, 0.05, 0.005, 0.0005, 0.00005 };

/* Decimals with which a value below 1000 shows so many significant digits, after rounding. */
static int decimals_for(double value, int digits)
{
	double limit = 10;
	int decimals = digits - 1;

	while (decimals > 0 && fabs(value) >= limit - half_digit[decimals]) {
		decimals--;
		limit *= 10;
	}
	return decimals;
}

/* Units that are scaled, and the significant digits that their numbers have. */
static const struct scaling {
	const struct scale *scales;
	size_t count;
	int digits;
} scalings[] = {
	[TSCOPE_UNIT_NS] = { time_scales, TSI_COUNT_OF(time_scales), 4 },
	[TSCOPE_UNIT_BYTES] = { byte_scales, TSI_COUNT_OF(byte_scales), 3 },
	[TSCOPE_UNIT_BYTES_PER_SECOND] = { rate_scales, TSI_COUNT_OF(rate_scales), 3 },
	[TSCOPE_UNIT_FLOPS] = { flop_scales, TSI_COUNT_OF(flop_scales), 4 },
	[TSCOPE_UNIT_FLOPS_PER_SECOND] = { flop_rate_scales, TSI_COUNT_OF(flop_rate_scales), 4 },
};

/* A value in the largest scale in which it is at least 1 after rounding, with its unit. */
static void format_scaled(char text[NUMBER_MAX], double value, const struct scaling *scaling)
{
	const struct scale *scales = scaling->scales;
	size_t i = 0;
	size_t length;

	while (i + 1 < scaling->count &&
	       fabs(value) >= scales[i + 1].divisor * (1 - half_digit[scaling->digits]))
		i++;
	value /= scales[i].divisor;
	format_fixed(text, value, i == 0 ? 0 : decimals_for(value, scaling->digits));
	length = strlen(text);
	snprintf(text + length, NUMBER_MAX - length, " %s", scales[i].unit);
}

/* 1234567 as "1,234,567". */
static void format_count(char text[NUMBER_MAX], int64_t count)
{
	char digits[NUMBER_MAX];
	int length = snprintf(digits, sizeof(digits), "%lld", (long long)count);
	char *out = text;

	for (int i = 0; i < length; i++) {
		*out++ = digits[i];
		if ((length - 1 - i) % 3 == 0 && i + 1 < length && digits[i] != '-')
			*out++ = ',';
	}
	*out = '\0';
}

/* A share in percent; what is neither nothing nor all never reads as "0.0 %" or "100.0 %". */
static void format_ratio(char text[NUMBER_MAX], double ratio)
{
	char percent[NUMBER_MAX];
	const char *bound = "";

	if (ratio > 0 && ratio < 0.0005) {
		bound = "<";
		ratio = 0.001;
	} else if (ratio < 1 && ratio >= 0.9995) {
		bound = ">";
		ratio = 0.999;
	}
	format_fixed(percent, ratio * 100, 1);
	snprintf(text, NUMBER_MAX, "%s%.*s %%", bound, NUMBER_MAX - 4, percent);
}

static void format_number(char text[NUMBER_MAX], struct tscope_value value)
{
	if (value.kind == TSCOPE_VALUE_INT)
		format_count(text, value.integer);
	else
		format_fixed(text, value.real, decimals_for(value.real, 3));
}

void tsi_number_people(char text[NUMBER_MAX], struct tscope_value value, enum tscope_unit unit)
{
	double number = value.kind == TSCOPE_VALUE_INT ? (double)value.integer : value.real;

	if (value.kind == TSCOPE_VALUE_FLAG) {
		snprintf(text, NUMBER_MAX, "%s", value.flag ? "yes" : "no");
		return;
	}
	if (value.kind != TSCOPE_VALUE_INT && value.kind != TSCOPE_VALUE_REAL) {
		snprintf(text, NUMBER_MAX, "-");
		return;
	}
	if (unit < TSI_COUNT_OF(scalings) && scalings[unit].scales)
		format_scaled(text, number, &scalings[unit]);
	else if (unit == TSCOPE_UNIT_RATIO)
		format_ratio(text, number);
	else
		format_number(text, value);
}

void tsi_number_signed(char text[NUMBER_MAX], struct tscope_value value, enum tscope_unit unit)
{
	char number[NUMBER_MAX];
	bool is_above_0 = value.kind == TSCOPE_VALUE_INT    ? value.integer > 0
			  : value.kind == TSCOPE_VALUE_REAL ? value.real > 0
							    : false;

	tsi_number_people(number, value, unit);
	snprintf(text, NUMBER_MAX, "%s%.*s", is_above_0 ? "+" : "", NUMBER_MAX - 2, number);
}

void tsi_number_difference(char text[NUMBER_MAX], struct tscope_value value, enum tscope_unit unit)
{
	char number[NUMBER_MAX];

	tsi_number_signed(number, value, unit);
	char *percent = unit == TSCOPE_UNIT_RATIO ? strstr(number, " %") : NULL;
	if (percent)
		*percent = '\0';
	snprintf(text, NUMBER_MAX, "%.*s%s", NUMBER_MAX - 8, number, percent ? " points" : "");
}

void tsi_number_people_int(char text[NUMBER_MAX], int64_t number, enum tscope_unit unit)
{
	struct tscope_value value = { .kind = TSCOPE_VALUE_INT, .integer = number };

	tsi_number_people(text, value, unit);
}

void tsi_number_gate(char text[NUMBER_MAX], const struct tscope_gate_result *gate)
{
	struct tscope_value scaled = { .kind = TSCOPE_VALUE_REAL,
				       .real = gate->value * gate->scale };

	if (!gate->has_value)
		snprintf(text, NUMBER_MAX, "-");
	else if (gate->scale > 0 && gate->unit != TSCOPE_UNIT_COUNT &&
		 gate->unit != TSCOPE_UNIT_FLAG)
		tsi_number_people(text, scaled, gate->unit);
	else
		tsi_number_significant(text, gate->value, 6);
}

size_t tsi_gate_count(const struct tscope_gate_result *gates, size_t count,
		      enum gate_verdict verdict)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += tsi_gate_verdict(&gates[i]) == verdict;
	return found;
}
