/* SPDX-License-Identifier: MIT */
/*
 * Every number that a report shows to people gets its text here.
 */
#include "report/number.h"

#include "base/attributes.h"
#include "base/real.h"
#include "base/scaled_text.h"

#include <stdio.h>
#include <string.h>

/* Units that are scaled. */
static bool is_scaled(enum tscope_unit unit, enum quantity *quantity)
{
	static const struct {
		enum tscope_unit unit;
		enum quantity quantity;
	} scaled[] = {
		{ TSCOPE_UNIT_NS, QUANTITY_TIME },
		{ TSCOPE_UNIT_BYTES, QUANTITY_SIZE },
		{ TSCOPE_UNIT_BYTES_PER_SECOND, QUANTITY_RATE },
		{ TSCOPE_UNIT_FLOPS, QUANTITY_FLOPS },
		{ TSCOPE_UNIT_FLOPS_PER_SECOND, QUANTITY_FLOP_RATE },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(scaled); i++) {
		if (scaled[i].unit == unit) {
			*quantity = scaled[i].quantity;
			return true;
		}
	}
	return false;
}

void tsi_number_significant(char text[NUMBER_MAX], double value, int digits)
{
	snprintf(text, NUMBER_MAX, "%.*g", digits, value);
	tsi_real_put_point(text);
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
	tsi_fixed_text(percent, sizeof(percent), ratio * 100, 1);
	snprintf(text, NUMBER_MAX, "%s%.*s %%", bound, NUMBER_MAX - 4, percent);
}

static void format_number(char text[NUMBER_MAX], struct tscope_value value)
{
	if (value.kind == TSCOPE_VALUE_INT)
		format_count(text, value.integer);
	else
		tsi_fixed_text(text, NUMBER_MAX, value.real, tsi_decimals_for(value.real, 3));
}

void tsi_number_people(char text[NUMBER_MAX], struct tscope_value value, enum tscope_unit unit)
{
	double number = value.kind == TSCOPE_VALUE_INT ? (double)value.integer : value.real;
	enum quantity quantity;

	if (value.kind == TSCOPE_VALUE_FLAG) {
		snprintf(text, NUMBER_MAX, "%s", value.flag ? "yes" : "no");
		return;
	}
	if (value.kind != TSCOPE_VALUE_INT && value.kind != TSCOPE_VALUE_REAL) {
		snprintf(text, NUMBER_MAX, "-");
		return;
	}
	if (is_scaled(unit, &quantity))
		snprintf(text, NUMBER_MAX, "%s", tsi_scaled_text(number, quantity).chars);
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
