/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for decode/events/lanes.h: the same bytes decoded by one thread and by several, in blocks of
 * odd sizes, as a file or a stream; the last byte of the input chooses. Traps where one of them gets
 * other events, counts other flaws or ends elsewhere.
 */
#include "fuzz.h"

#include <stdlib.h>

#include "decoding.h"
#include "event_log.h"

enum { MAX_LENGTH = 64 << 10 };

static struct decoding decoding_of(uint8_t choice)
{
	static const size_t block_sizes[] = { 1000, 30, 64, 300, 700, 2000, 4000, 9000 };

	return (struct decoding){
		.thread_count = choice & 1 ? 3 : 2,
		.is_stream = choice & 2,
		.max_depth = choice & 4 ? 6 : 0,
		.max_event_bytes = choice & 8 ? 200 : 0,
		.block_bytes = block_sizes[choice >> 4 & 7],
	};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	if (length == 0 || length > MAX_LENGTH)
		return 0;
	struct decoding together = decoding_of(data[length - 1]), alone = together;
	struct str text = { (const char *)data, length - 1 };
	struct event_log logs[2];

	alone.thread_count = 1;
	event_log_init(&logs[0]);
	event_log_init(&logs[1]);
	logs[0].sink.arg_of = logs[1].sink.arg_of = decoding_arg_of;
	struct decoded by_one = decode_text(text, &alone, &logs[0].sink);
	struct decoded by_all = decode_text(text, &together, &logs[1].sink);
	if (!event_log_equal(&logs[0], &logs[1]) || !is_decoded_alike(&by_one, &by_all))
		abort();
	event_log_deinit(&logs[0]);
	event_log_deinit(&logs[1]);
	return 0;
}
