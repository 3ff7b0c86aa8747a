/* SPDX-License-Identifier: MIT */
/* Which form plain data comes in: the readers of plain_reader_list.h taste it, the surest reads. */
#include "decode/plain/plain_reader.h"

#include "decode/foreign.h"

#define PLAIN_READER(name) extern const struct plain_reader tsi_plain_reader_##name;
#include "decode/plain/plain_reader_list.h"
#undef PLAIN_READER

static const struct plain_reader *const readers[] = {
#define PLAIN_READER(name) &tsi_plain_reader_##name,
#include "decode/plain/plain_reader_list.h"
#undef PLAIN_READER
};

const struct plain_reader *tsi_plain_reader_find(struct str head)
{
	const struct plain_reader *best = NULL;
	unsigned best_bits = 0;

	for (size_t i = 0; i < TSI_COUNT_OF(readers); i++) {
		unsigned bits = readers[i]->taste(head);
		if (bits > best_bits) {
			best = readers[i];
			best_bits = bits;
		}
	}
	return best;
}

enum tscope_status tsi_plain_read(struct plain **ret, const char **form, struct input *in,
				  const struct plain_limits *limits, struct tscope_error *err)
{
	struct str head;
	enum tscope_status status =
		tsi_input_peek(in, TASTED_PLAIN_BYTES, &head.data, &head.length, err);

	if (head.length == 0 && status != TSCOPE_OK && status != TSCOPE_END)
		return status;
	/* However long the blocks are, a file is judged by the same bytes. */
	if (head.length > TASTED_PLAIN_BYTES)
		head.length = TASTED_PLAIN_BYTES;
	const struct plain_reader *reader = tsi_plain_reader_find(head);
	if (!reader)
		return tsi_foreign_refuse_memory(head, err);
	*form = reader->form;
	return reader->read(ret, in, limits, err);
}
