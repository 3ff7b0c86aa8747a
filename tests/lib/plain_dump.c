/* SPDX-License-Identifier: MIT */
#include "plain_dump.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

static void put(struct plain_dump *dump, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(struct plain_dump *dump, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length =
		vsnprintf(dump->text + dump->length, PLAIN_DUMP_BYTES - dump->length, format, args);
	va_end(args);
	assert_in_range(length, 0, PLAIN_DUMP_BYTES - dump->length - 1);
	dump->length += (size_t)length;
}

static void put_text(struct plain_dump *dump, struct str text)
{
	put(dump, "'");
	for (size_t i = 0; i < text.length; i++) {
		unsigned char byte = (unsigned char)text.data[i];
		if (byte < 0x20 || byte >= 0x7f)
			put(dump, "\\x%02x", byte);
		else
			put(dump, "%c", byte);
	}
	put(dump, "'");
	assert_int_equal(text.data[text.length], '\0');
}

static void put_container(struct plain_dump *dump, const struct plain *p, struct plain_value value,
			  const char *brackets, unsigned depth)
{
	bool is_dict = tsi_plain_kind(value) == PLAIN_DICT;

	put(dump, "%c", brackets[0]);
	for (size_t i = 0; depth && i < tsi_plain_length(p, value); i++) {
		put(dump, "%s", i ? ", " : "");
		if (!is_dict) {
			plain_dump_value(dump, p, tsi_plain_item(p, value, i), depth - 1);
			continue;
		}
		struct plain_value key = tsi_plain_key(p, value, i);
		struct plain_value held = tsi_plain_value(p, value, i);
		plain_dump_value(dump, p, key, depth - 1);
		put(dump, ": ");
		plain_dump_value(dump, p, held, depth - 1);
		assert_int_equal(tsi_plain_get(p, value, key).word, held.word);
	}
	put(dump, "%s%c", depth ? "" : "...", brackets[1]);
}

static void put_number(struct plain_dump *dump, const struct plain *p, struct plain_value value)
{
	int64_t integer;
	uint64_t natural;
	double real;

	if (tsi_plain_to_int64(p, value, &integer))
		put(dump, "%lld", (long long)integer);
	else if (tsi_plain_to_uint64(p, value, &natural))
		put(dump, "%lluu", (unsigned long long)natural);
	else if (tsi_plain_to_real(p, value, &real))
		put(dump, "%#.17g", real);
}

void plain_dump_value(struct plain_dump *dump, const struct plain *p, struct plain_value value,
		      unsigned depth)
{
	bool truth = false;
	struct str text;

	switch (tsi_plain_kind(value)) {
	case PLAIN_ABSENT:
		put(dump, "absent");
		break;
	case PLAIN_NONE:
		put(dump, "None");
		break;
	case PLAIN_BOOL:
		assert_true(tsi_plain_to_bool(value, &truth));
		put(dump, truth ? "True" : "False");
		break;
	case PLAIN_INT:
	case PLAIN_UINT:
	case PLAIN_REAL:
		put_number(dump, p, value);
		break;
	case PLAIN_BYTES:
		put(dump, "b");
		put_text(dump, tsi_plain_text(p, value));
		break;
	case PLAIN_TEXT:
		put_text(dump, tsi_plain_text(p, value));
		break;
	case PLAIN_CLASS:
		text = tsi_plain_text(p, value);
		assert_int_equal(strlen(text.data), text.length);
		put(dump, "<%s>", text.data);
		break;
	case PLAIN_LIST:
		put_container(dump, p, value, "[]", depth);
		break;
	case PLAIN_TUPLE:
		put_container(dump, p, value, "()", depth);
		break;
	case PLAIN_DICT:
		put_container(dump, p, value, "{}", depth);
		break;
	}
}
