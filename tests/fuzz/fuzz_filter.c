/* SPDX-License-Identifier: MIT */
/*
 * Fuzz: any bytes as a compressed file. They are read to the end in peeks of
 * odd sizes; their number chooses the block size and whether there is a thread,
 * so that any file is an input as it is.
 */
#include "fuzz.h"

#include <stdlib.h>

#include "base/attributes.h"
#include "input/input.h"

enum {
	MAX_INPUT_BYTES = 256 * 1024,
	MAX_OUTPUT_BYTES = 10 * 1024 * 1024,
	MAX_OUTPUT_BYTES_TINY = 64 * 1024, /* byte by byte all takes long */
};

static void read_to_end(struct input *in)
{
	static const size_t mins[] = { 1, 7, 300, 1, 70000, 3 };
	enum tscope_status status;
	size_t turn = 0;
	uint64_t total = 0;
	do {
		const char *data;
		size_t available;
		status = tsi_input_peek(in, mins[turn++ % TSI_COUNT_OF(mins)], &data, &available,
					NULL);
		size_t count = turn % 3 && status == TSCOPE_OK ? (available + 1) / 2 : available;
		tsi_input_consume(in, count);
		total += count;
	} while (status == TSCOPE_OK);

	if (status == TSCOPE_E_INTERNAL || total > MAX_OUTPUT_BYTES + MAX_INPUT_BYTES)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static const size_t block_sizes[] = { 0, 1, 3, 64 };
	if (length > MAX_INPUT_BYTES)
		return 0;

	size_t block_bytes = block_sizes[length % TSI_COUNT_OF(block_sizes)];
	struct input_options options = {
		.block_bytes = block_bytes,
		.single_thread = length / TSI_COUNT_OF(block_sizes) % 2,
		.max_output_bytes = block_bytes ? MAX_OUTPUT_BYTES_TINY : MAX_OUTPUT_BYTES,
	};
	struct input *in;
	if (tsi_input_open_memory(&in, data, length, &options, NULL) == TSCOPE_OK) {
		read_to_end(in);
		tsi_input_close(in);
	}
	return 0;
}
