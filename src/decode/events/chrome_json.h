/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_EVENTS_CHROME_JSON_H
#define TSCOPE_DECODE_EVENTS_CHROME_JSON_H

#include "decode/events/format.h"

/*
 * Decodes the document of the Chrome format that begins at the position of `in`, for formats that
 * hold one; as a format's decode does. Text after it is read to its end, and is no garbage.
 */
TSI_MUST_CHECK
enum tscope_status tsi_chrome_json_decode_within(struct input *in,
						 const struct decode_options *options,
						 struct event_sink *sink, struct tscope_error *err);

#endif
