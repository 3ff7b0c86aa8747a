/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_ROLE_WORDS_H
#define TSCOPE_ANALYZE_MEMORY_ROLE_WORDS_H

#include <stdbool.h>

#include "analyze/lookup.h"

/* Roles of memory as findings and reports name them. */

/* "is allocated in forward"; NULL of other roles, which only their sites describe. */
const char *tsi_role_sentence(const char *role);

/* Nothing was recorded that says what the memory is for. */
bool tsi_is_role_unknown(const char *role);

/* A role of a whole, such as the peak. The texts belong to the analysis. */
struct role_part {
	const char *role, *site, *file; /* the site and the file that hold most of it */
	int64_t bytes, site_bytes, file_bytes;
	int64_t whole_bytes;
};

/* A row of snapshot.by_role or snapshot.oom_by_role. */
struct role_part tsi_role_part(const struct table_view *roles, size_t row, int64_t whole_bytes);

static inline double tsi_ratio_of_whole(const struct role_part *part, int64_t bytes)
{
	return (double)bytes / (double)part->whole_bytes;
}

/*
 * "83 % of it is allocated in backward, 2.00 GiB by DivBackward0"; "" where nothing to
 * say is a tenth of the whole.
 */
struct role_words {
	char chars[256];
};

struct role_words tsi_describe_role(const struct role_part *part);

#endif
