/* SPDX-License-Identifier: MIT */
/* Which format a stream has: the formats of format_list.h taste it, the surest one decodes. */
#include "base/error.h"
#include "decode/events/format.h"
#include "decode/foreign.h"

#define FORMAT(name) extern const struct format tsi_format_##name;
#include "decode/events/format_list.h"
#undef FORMAT

static const struct format *const formats[] = {
#define FORMAT(name) &tsi_format_##name,
#include "decode/events/format_list.h"
#undef FORMAT
};

enum { TASTED_BYTES = 4096 };

enum tscope_status tsi_decode(struct input *in, const struct decode_options *options,
			      struct event_sink *sink, struct tscope_error *err)
{
	const char *data;
	size_t length;
	enum tscope_status status = tsi_input_peek(in, TASTED_BYTES, &data, &length, err);
	if (status != TSCOPE_OK && status != TSCOPE_END && length == 0)
		return status;
	if (length == 0)
		return tsi_fail(err, TSCOPE_E_EMPTY, "the file is empty");
	/* However long the blocks are, a file is judged by the same bytes. */
	if (length > TASTED_BYTES)
		length = TASTED_BYTES;

	const struct format *best = NULL;
	unsigned best_bits = 0;
	for (size_t i = 0; i < TSI_COUNT_OF(formats); i++) {
		unsigned bits = formats[i]->taste(data, length);
		if (bits > best_bits) {
			best = formats[i];
			best_bits = bits;
		}
	}
	if (!best)
		return tsi_foreign_refuse((struct str){ data, length }, err);
	return best->decode(in, options, sink, err);
}
