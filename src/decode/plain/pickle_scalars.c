/* SPDX-License-Identifier: MIT */
/* The opcodes that push a number or a text. */
#include "decode/plain/pickle_scalars.h"

#include "base/array.h"
#include "decode/plain/pickle_text.h"

/* ---- numbers ---------------------------------------------------------------------------- */

void tsi_pickle_run_binint(struct pickle_machine *m)
{
	tsi_pickle_push(m, tsi_graph_add_int64(m->out, (int64_t)m->operand.number));
}

static void fail_too_large(struct pickle_machine *m)
{
	tsi_pickle_fail(m, TSCOPE_E_UNSUPPORTED, "an integer of more than 64 bits");
}

static void push_decimal(struct pickle_machine *m, struct str text)
{
	bool is_negative = false;
	uint64_t magnitude = 0;

	switch (tsi_pickle_parse_integer(text, &is_negative, &magnitude)) {
	case PICKLE_NO_INTEGER:
		tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "no integer but \"%.*s\"", TSI_QUOTE(text));
		return;
	case PICKLE_LARGE_INTEGER:
		fail_too_large(m);
		return;
	case PICKLE_INTEGER:
		break;
	}
	if (!is_negative)
		tsi_pickle_push(m, tsi_graph_add_uint64(m->out, magnitude));
	else if (magnitude > (uint64_t)INT64_MAX + 1)
		fail_too_large(m);
	else
		tsi_pickle_push(m, tsi_graph_add_int64(m->out, (int64_t)(0 - magnitude)));
}

void tsi_pickle_run_int(struct pickle_machine *m)
{
	bool is_true = tsi_str_is(m->operand.text, "01");

	if (is_true || tsi_str_is(m->operand.text, "00")) /* protocols before True and False */
		tsi_pickle_push(m, tsi_word(WORD_BOOL, is_true));
	else
		push_decimal(m, m->operand.text);
}

void tsi_pickle_run_long(struct pickle_machine *m)
{
	struct str text = m->operand.text;

	if (text.length && text.data[text.length - 1] == 'L')
		text.length--;
	push_decimal(m, text);
}

/* Two's complement, the lowest byte first: five bytes of 0xff are -1. */
void tsi_pickle_run_long_bytes(struct pickle_machine *m)
{
	enum { WORD_BYTES_MAX = 8 };
	struct str text = m->operand.text;

	if (tsi_str_is(text, "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")) {
		tsi_pickle_fail(m, TSCOPE_E_UNSUPPORTED,
				"a checkpoint of torch.save, not plain data");
		return;
	}
	bool is_negative = text.length && (text.data[text.length - 1] & 0x80);
	unsigned bytes = text.length < WORD_BYTES_MAX ? (unsigned)text.length : WORD_BYTES_MAX;
	uint64_t number = bytes ? tsi_pickle_number(m, text.data, bytes) : 0;
	if (is_negative && bytes < WORD_BYTES_MAX)
		number |= UINT64_MAX << (8 * bytes);
	/* A ninth byte must hold the sign and no more. */
	unsigned char ninth = text.length > WORD_BYTES_MAX ? (unsigned char)text.data[bytes] : 0xff;
	if (text.length > WORD_BYTES_MAX + 1 ||
	    (text.length > WORD_BYTES_MAX && ninth != 0 && (ninth != 0xff || number <= INT64_MAX)))
		fail_too_large(m);
	else if (ninth == 0)
		tsi_pickle_push(m, tsi_graph_add_uint64(m->out, number));
	else
		tsi_pickle_push(m, tsi_graph_add_int64(m->out, (int64_t)number));
}

void tsi_pickle_run_float(struct pickle_machine *m)
{
	double number;

	if (tsi_pickle_parse_real(m->operand.text, &number))
		tsi_pickle_push(m, tsi_graph_add_real(m->out, number));
	else
		tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "no real number but \"%.*s\"",
				TSI_QUOTE(m->operand.text));
}

/* The one operand with its highest byte first. */
void tsi_pickle_run_binfloat(struct pickle_machine *m)
{
	uint64_t bits = __builtin_bswap64(m->operand.number);
	double number;

	memcpy(&number, &bits, sizeof(number));
	tsi_pickle_push(m, tsi_graph_add_real(m->out, number));
}

/* ---- texts ------------------------------------------------------------------------------ */

static void push_text(struct pickle_machine *m, struct str text)
{
	enum word_tag tag = (enum word_tag)m->op->argument;

	tsi_pickle_push(m, tsi_graph_add_text(m->out, tag, text));
}

void tsi_pickle_run_text(struct pickle_machine *m)
{
	push_text(m, m->operand.text);
}

static void push_unescaped(struct pickle_machine *m, struct str text,
			   bool (*unescape)(struct str, char *, size_t *))
{
	size_t length;

	if (tsi_array_reserve(&m->scratch, &m->scratch_capacity, 2 * text.length, 1, &m->err) !=
	    TSCOPE_OK)
		return;
	if (unescape(text, m->scratch, &length))
		push_text(m, (struct str){ m->scratch, length });
	else
		tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "a text with a wrong escape or quote");
}

void tsi_pickle_run_unicode(struct pickle_machine *m)
{
	push_unescaped(m, m->operand.text, tsi_pickle_unescape_unicode);
}

void tsi_pickle_run_string(struct pickle_machine *m)
{
	push_unescaped(m, m->operand.text, tsi_pickle_unescape_string);
}
