/* SPDX-License-Identifier: MIT */
/* Plain data as a pickle: how it begins. Reading is pickle.h's. */
#include "decode/plain/plain_reader.h"

#include "decode/plain/pickle.h"

/* A name to import: letters, digits, _ and dots, to the end of the line. */
static bool skip_name(struct str *text)
{
	size_t i = 0;

	while (i < text->length && (tsi_is_letter(text->data[i]) || tsi_is_digit(text->data[i]) ||
				    text->data[i] == '_' || text->data[i] == '.'))
		i++;
	if (i == 0 || i == text->length || text->data[i] != '\n')
		return false;
	*text = tsi_str_tail(*text, i + 1);
	return true;
}

/* "ccollections\ndefaultdict\n" */
static bool is_global(struct str head)
{
	struct str names = tsi_str_tail(head, 1);

	return head.data[0] == 'c' && skip_name(&names) && skip_name(&names);
}

/* Protocols 0 and 1 have no magic: a container, and what a writer does with it at once. */
static bool is_old(struct str head)
{
	if (head.length < 2)
		return false;
	switch (head.data[0]) {
	case '(':
		return memchr("dlt", head.data[1], 3) != NULL;
	case '}':
	case ']':
		return memchr("qr(.", head.data[1], 4) != NULL;
	default:
		return is_global(head);
	}
}

/* PROTO, also of a protocol that is not read yet: the reader says so. */
static unsigned taste_pickle(struct str head)
{
	if (head.length >= 2 && head.data[0] == '\x80' && (unsigned char)head.data[1] < 0x10)
		return 16;
	return is_old(head) ? 9 : 0;
}

static enum tscope_status read_pickle(struct plain **ret, struct input *in,
				      const struct plain_limits *limits, struct tscope_error *err)
{
	struct pickle_options options = { 0 };

	if (limits)
		options.plain = *limits;
	return tsi_pickle_read(ret, in, &options, err);
}

const struct plain_reader tsi_plain_reader_pickle = {
	.form = "pickle",
	.not_a_trace =
		"a Python pickle, not a trace: if it is about memory, use `tscope memory FILE`",
	.taste = taste_pickle,
	.read = read_pickle,
};
