/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_SAVED_FACTS_H
#define TSCOPE_ANALYZE_SAVED_FACTS_H

#include "base/attributes.h"
#include "decode/plain/plain.h"

#include <tscope/analysis.h>

/*
 * "facts" of a saved report, as the JSON reporter writes them, back into an analysis. They are
 * found by the analyzers' definitions, so a new fact is read without another line.
 */
struct saved_facts_reader {
	const struct plain *plain;
	struct plain_value texts; /* of a baseline: what its tables name by numbers; or absent */
	size_t value_count;       /* read so far, of all analyses */
};

/*
 * A few bytes of a hostile file can name a table of many columns, or a rank of many facts: more
 * values than this are refused.
 */
enum { SAVED_MAX_VALUES = 1 << 27 };

/* `facts` is a dict. TSCOPE_E_LIMIT: too many values; _NOMEM. */
TSI_MUST_CHECK
enum tscope_status tsi_saved_facts_read(struct tscope_analysis **ret,
					struct saved_facts_reader *reader, struct plain_value facts,
					struct tscope_error *err);

#endif
