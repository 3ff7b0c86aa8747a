/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_TRACKER_NAMES_H
#define TSCOPE_DECODE_PLAIN_TRACKER_NAMES_H

#include "base/str.h"

/*
 * The words of torch's memory trackers. Up to Python 3.10 its enums print as text, "Sharded
 * Param", and as members since, "_FSDPRefType.SHARDED_PARAM": here both are one.
 */
enum { TRACKER_NAME_BYTES = 128 };

/* A kind of memory, in lower case: "sharded param". out has TRACKER_NAME_BYTES. */
struct str tsi_tracker_kind(struct str text, char *out);

/* A state of a module: "Before Pre-Forward". Unknown names stay as they are. */
struct str tsi_tracker_state(struct str text, char *out);

/* "1024 B", "12.5 MiB": rounded to bytes. False for what is no such number. */
bool tsi_tracker_parse_bytes(struct str text, int64_t *bytes);

/* "Iteration 2 training_step Peak FSDP memory stats: " */
struct tracker_title {
	int64_t iteration;
	struct str function; /* in the line */
	bool is_modulewise;  /* else of the peak */
};
bool tsi_tracker_parse_title(struct str line, struct tracker_title *title);

#endif
