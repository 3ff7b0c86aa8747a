/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_ERROR_H
#define TSCOPE_BASE_ERROR_H

#include "base/attributes.h"

#include <tscope/error.h>

/*
 * The only places that fill a struct tscope_error. All return the status that
 * they were given, so that failing is one line:
 *
 *	return tsi_fail_at(err, TSCOPE_E_DAMAGED, offset, "zstd frame: truncated");
 *
 * A message is lower case without a full stop: what was found, what was
 * expected, what to do. Text out of an input goes in through TSI_QUOTE (str.h).
 */

TSI_PRINTF(3, 4)
enum tscope_status tsi_fail(struct tscope_error *err, enum tscope_status status, const char *format,
			    ...);

TSI_PRINTF(4, 5)
enum tscope_status tsi_fail_at(struct tscope_error *err, enum tscope_status status, uint64_t offset,
			       const char *format, ...);

/* Out of memory: needs no memory itself. */
TSI_COLD enum tscope_status tsi_fail_nomem(struct tscope_error *err);

/*
 * Puts "place: " in front of the message of an error that climbs, and returns
 * the error's own status (or TSCOPE_E_INTERNAL where err is NULL or was not filled).
 */
TSI_PRINTF(2, 3)
enum tscope_status tsi_fail_within(struct tscope_error *err, const char *format, ...);

#endif
