/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_DECODE_LOG_H
#define TSCOPE_TESTS_DECODE_LOG_H

#include "decode/events/format.h"
#include "event_log.h"

/* Decodes into a log that the caller has made. options may be NULL. */
enum tscope_status decode_blocks(struct str text, size_t block_bytes,
				 const struct decode_options *options, struct event_log *log,
				 struct tscope_error *err);

/* The same into one that is made here, and to be freed; smaller blocks have to say the same. */
enum tscope_status decode_log(struct str text, struct event_log *log, struct tscope_error *err);

#endif
