/* SPDX-License-Identifier: MIT */
/* Pictures of numbers, made of characters. */
#include "report/text_writer.h"

#include <math.h>

void tsi_text_bar(struct text_writer *w, double ratio, unsigned cells, enum text_style style)
{
	unsigned lit = 0;

	if (ratio > 0)
		lit = ratio < 1 ? (unsigned)(ratio * cells + 0.5) : cells;
	tsi_text_style(w, style);
	tsi_text_repeat(w, "█", lit);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_style(w, TEXT_DIM);
	tsi_text_repeat(w, "░", cells - lit);
	tsi_text_style(w, TEXT_PLAIN);
}

void tsi_text_tick(struct text_writer *w, double part)
{
	static const char *const ticks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	double last = TSI_COUNT_OF(ticks) - 1, tick = part * TSI_COUNT_OF(ticks);

	if (!isfinite(part))
		tsi_text_put(w, "×");
	else if (tick < 0)
		tsi_text_put(w, ticks[0]);
	else
		tsi_text_put(w, ticks[(size_t)(tick < last ? tick : last)]);
}

void tsi_text_sparkline(struct text_writer *w, const double *values, size_t count)
{
	double lowest = INFINITY, highest = -INFINITY;

	for (size_t i = 0; i < count; i++) {
		if (!isfinite(values[i]))
			continue;
		lowest = fmin(lowest, values[i]);
		highest = fmax(highest, values[i]);
	}
	for (size_t i = 0; i < count; i++) {
		/* halves: the range of two doubles may be no double */
		double range = highest / 2 - lowest / 2;

		if (isfinite(values[i]) && !(range > 0))
			tsi_text_tick(w, 0);
		else
			tsi_text_tick(w, (values[i] / 2 - lowest / 2) / range);
	}
}
