/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_DECODING_H
#define TSCOPE_TESTS_DECODING_H

#include "base/str.h"
#include "decode/events/format.h"

/* A way to decode bytes, which must not change what comes of it. */
struct decoding {
	unsigned thread_count;
	size_t block_bytes;
	bool is_stream; /* in order only, as of a decompressor */
	unsigned max_depth;
	uint64_t max_event_bytes;
};

/* What came of it, but for what the sink got. */
struct decoded {
	enum tscope_status status;
	struct tscope_error err;
	uint64_t offset;
	uint64_t source_offset; /* 0 where the input may be read ahead: of streams and filters */
};

struct decoded decode_text(struct str text, const struct decoding *how, struct event_sink *sink);
bool is_decoded_alike(const struct decoded *a, const struct decoded *b);

/* Any: without it a sink gets no kinds. */
unsigned decoding_arg_of(struct str key);

#endif
