/* SPDX-License-Identifier: MIT */
/*
 * Programs repeat themselves, step by step: what a rank called after the same calls before is what
 * it should call now.
 */
#include "hang/verdict.h"

enum { CONTEXT_CALLS = 16 };

bool tsi_hang_is_alike(const struct dump *dump, const struct dump_call *a,
		       const struct dump_call *b)
{
	if (a->group != b->group || a->name != b->name || a->is_p2p != b->is_p2p ||
	    a->input_count != b->input_count || a->output_count != b->output_count ||
	    a->types != b->types || a->message_count != b->message_count)
		return false;
	for (uint32_t i = 0; i < a->message_count && i < HANG_MAX_MESSAGES; i++) {
		const struct dump_message *left = &dump->messages[a->first_message + i];
		const struct dump_message *right = &dump->messages[b->first_message + i];

		if (left->peer != right->peer || left->is_send != right->is_send)
			return false;
	}
	return true;
}

/* How many calls up to and with these two are alike. */
static size_t context_of(const struct dump *dump, size_t a, size_t b)
{
	size_t length = 0;

	while (length < CONTEXT_CALLS && length <= a && length <= b &&
	       tsi_hang_is_alike(dump, &dump->calls[a - length], &dump->calls[b - length]))
		length++;
	return length;
}

size_t tsi_hang_expect(const struct dump *dump, size_t behind,
		       const struct dump_call *expected[HANG_MAX_EXPECTED])
{
	size_t best = 1, count = 0;

	if (behind == 0 || behind > dump->call_count)
		return 0;
	for (size_t i = behind - 1; i-- > 0;) {
		size_t length = context_of(dump, i, behind - 1);

		if (length < best || (length == best && count == HANG_MAX_EXPECTED))
			continue;
		count = length > best ? 0 : count;
		best = length;
		expected[count++] = &dump->calls[i + 1];
	}
	return count;
}
