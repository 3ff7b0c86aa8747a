/* SPDX-License-Identifier: MIT */
#include "base/size_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/attributes.h"

/* From here on one digit behind the point would read "1024.0". */
#define ROUNDS_TO_NEXT_UNIT 1023.95

struct size_text tsi_size_text(int64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB" };
	double size = (double)bytes / 1024;
	struct size_text text;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(text.chars, sizeof(text.chars), "%" PRId64 " B", bytes);
		return text;
	}
	while (size >= ROUNDS_TO_NEXT_UNIT && unit + 1 < TSI_COUNT_OF(units)) {
		size /= 1024;
		unit++;
	}
	snprintf(text.chars, sizeof(text.chars), "%.1f %s", size, units[unit]);
	return text;
}
