/* SPDX-License-Identifier: MIT */
#include "rules/late_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scaled_text.h"

const char tsi_place_advice[] =
	"see what this rank does there and the others do not (logging, checkpoints, evaluation, "
	"other data, a slow disk): let all ranks do it or none, or move it out of the step";

const char tsi_stall_advice[] =
	"look for garbage collection, checkpoints, logging or evaluation of this rank in these "
	"steps; then at its storage, and for other jobs on its host";

const char *tsi_short_place(char text[MAX_PLACE_TEXT], const char *place)
{
	const char *line = strstr(place, "): "), *slash = place;

	for (const char *at = place; line && at < line; at++)
		if (*at == '/')
			slash = at + 1;
	snprintf(text, MAX_PLACE_TEXT, "%s", slash);
	return text;
}

void tsi_describe_longest(struct rule_context *ctx, const char *table, size_t row)
{
	int64_t start_ns = tsi_rule_cell(ctx, table, row, "longest_start_ns").integer;

	tsi_rule_detail(ctx, "the longest at ts %" PRId64 ".%03d of rank %" PRId64 "'s trace, %s",
			start_ns / 1000, (int)(start_ns % 1000),
			tsi_rule_cell(ctx, table, row, "rank").integer,
			tsi_time_text(tsi_rule_cell_real(ctx, table, row, "longest_ns")).chars);
}
