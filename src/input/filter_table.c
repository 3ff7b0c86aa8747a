/* SPDX-License-Identifier: MIT */
/* The filters of this build, and the one that some first bytes call for. */
#include "input/filter.h"

#include <string.h>

#define FILTER(name) extern const struct filter tsi_filter_##name;
#include "input/filter_list.h"
#undef FILTER

static const struct filter *const filters[] = {
#define FILTER(name) &tsi_filter_##name,
#include "input/filter_list.h"
#undef FILTER
};

const struct filter *tsi_filter_find(const char *data, size_t length)
{
	for (size_t i = 0; i < TSI_COUNT_OF(filters); i++) {
		const struct filter *filter = filters[i];
		if (length >= filter->magic_bytes &&
		    memcmp(data, filter->magic, filter->magic_bytes) == 0)
			return filter;
	}
	return NULL;
}
