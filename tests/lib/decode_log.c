/* SPDX-License-Identifier: MIT */
#include "decode_log.h"

#include "base/attributes.h"
#include "check.h"

enum tscope_status decode_blocks(struct str text, size_t block_bytes,
				 const struct decode_options *options, struct event_log *log,
				 struct tscope_error *err)
{
	static const struct decode_options none = { 0 };
	struct input_options input_options = { .block_bytes = block_bytes, .single_thread = true };
	struct input *in;
	enum tscope_status status =
		tsi_input_open_memory(&in, text.data, text.length, &input_options, err);

	if (status != TSCOPE_OK)
		return status;
	status = tsi_decode(in, options ? options : &none, &log->sink, err);
	tsi_input_close(in);
	return status;
}

enum tscope_status decode_log(struct str text, struct event_log *log, struct tscope_error *err)
{
	static const size_t sizes[] = { 1, 2, 3, 7, 64 };

	event_log_init(log);
	enum tscope_status status = decode_blocks(text, 4096, NULL, log, err);
	for (size_t i = 0; i < TSI_COUNT_OF(sizes); i++) {
		struct event_log other;
		struct tscope_error other_err = { 0 };

		event_log_init(&other);
		assert_int_equal(decode_blocks(text, sizes[i], NULL, &other, &other_err), status);
		if (!event_log_equal(log, &other))
			fail_msg("blocks of %zu: %s instead of %s", sizes[i], other.text,
				 log->text);
		if (status != TSCOPE_OK)
			assert_string_equal(other_err.message, err->message);
		event_log_deinit(&other);
	}
	return status;
}
