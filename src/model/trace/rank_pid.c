/* SPDX-License-Identifier: MIT */
#include "model/trace/rank_pid.h"

#include "base/attributes.h"

/* Bits of a place in one group; who is further is nowhere. */
enum { PLACE_BITS = 20, PLACE_MAX = (1 << PLACE_BITS) - 1 };

/* Takes digits off the beginning; -1: there are none, or too many. */
static int64_t take_number(struct str *text)
{
	size_t count = tsi_count_digits(*text);
	int64_t number;

	if (!tsi_str_to_int64((struct str){ text->data, count }, &number))
		return -1;
	*text = tsi_str_tail(*text, count);
	return number;
}

int64_t tsi_sglang_place(struct str pid)
{
	static const char groups[][3] = { "TP", "PP", "DP", "EP" };
	int64_t places[TSI_COUNT_OF(groups)] = { -1, 0, 0, 0 };
	struct str rest = pid;
	char joint = '[';

	while (rest.length > 2 && *rest.data == joint) {
		struct str group = { rest.data + 1, 2 };
		size_t i = 0;

		rest = tsi_str_tail(rest, 3);
		while (i < TSI_COUNT_OF(groups) && !tsi_str_equal(group, tsi_str_of(groups[i])))
			i++;
		if (i == TSI_COUNT_OF(groups))
			return -1;
		places[i] = take_number(&rest);
		if (places[i] < 0 || places[i] > PLACE_MAX)
			return -1;
		joint = '-';
	}
	/* Experts are shared out among the ranks of the other groups. */
	if (places[0] < 0 || !tsi_str_starts(rest, "] "))
		return -1;
	return places[2] << 2 * PLACE_BITS | places[1] << PLACE_BITS | places[0];
}

int64_t tsi_sglang_tensor_place(int64_t place)
{
	return place & PLACE_MAX;
}

int64_t tsi_sglang_rank(int64_t place, int64_t tensor_size)
{
	return (place >> PLACE_BITS & PLACE_MAX) * tensor_size + tsi_sglang_tensor_place(place);
}

int64_t tsi_rank_at_begin(struct str text)
{
	static const size_t word_length = sizeof("rank") - 1;
	struct str rest;
	int64_t rank;

	if (text.length <= word_length ||
	    !tsi_str_equal_nocase((struct str){ text.data, word_length }, TSI_STR("rank")))
		return -1;
	rest = tsi_str_tail(text, word_length);
	if (memchr(" _-:#", *rest.data, sizeof(" _-:#") - 1))
		rest = tsi_str_tail(rest, 1);
	rank = take_number(&rest);
	return rest.length == 0 || !tsi_is_letter(*rest.data) ? rank : -1;
}

int64_t tsi_rank_before_name(struct str name, struct str *rest)
{
	int64_t rank;

	*rest = name;
	if (!tsi_str_starts(name, "[R"))
		return -1;
	*rest = tsi_str_tail(name, 2);
	rank = take_number(rest);
	if (rank < 0 || !tsi_str_starts(*rest, "] ")) {
		*rest = name;
		return -1;
	}
	*rest = tsi_str_tail(*rest, 2);
	return rank;
}

int64_t tsi_rank_behind_pid(struct str pid)
{
	size_t start = pid.length;
	struct str own, digits;

	while (start > 0 && tsi_is_digit(pid.data[start - 1]))
		start--;
	if (start == 0 || pid.data[start - 1] != '_')
		return -1;
	own = (struct str){ pid.data, start - 1 };
	digits = tsi_str_tail(pid, start);
	if (tsi_count_digits(own) != own.length && !tsi_str_is(own, "Spans") &&
	    !tsi_str_is(own, "Traces"))
		return -1;
	return take_number(&digits);
}
