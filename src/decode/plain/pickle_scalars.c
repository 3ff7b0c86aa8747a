/* SPDX-License-Identifier: MIT */
/* The opcodes that push a number or a text. */
#include "decode/plain/pickle_scalars.h"

#include "base/array.h"
#include "decode/plain/pickle_text.h"

/* ---- numbers ---------------------------------------------------------------------------- */

static enum tscope_status push_int64(struct pickle_machine *m, int64_t number)
{
	uint32_t word;
	enum tscope_status status = tsi_graph_add_int64(m->out, number, &word, m->err);
	return status == TSCOPE_OK ? tsi_pickle_push(m, word) : status;
}

static enum tscope_status push_uint64(struct pickle_machine *m, uint64_t number)
{
	uint32_t word;
	enum tscope_status status = tsi_graph_add_uint64(m->out, number, &word, m->err);
	return status == TSCOPE_OK ? tsi_pickle_push(m, word) : status;
}

static enum tscope_status push_real(struct pickle_machine *m, double number)
{
	uint32_t word;
	enum tscope_status status = tsi_graph_add_real(m->out, number, &word, m->err);
	return status == TSCOPE_OK ? tsi_pickle_push(m, word) : status;
}

enum tscope_status tsi_pickle_run_binint(struct pickle_machine *m,
					 const struct pickle_operand *operand)
{
	return push_int64(m, (int64_t)operand->number);
}

static enum tscope_status fail_too_large(struct pickle_machine *m)
{
	return tsi_pickle_fail(m, TSCOPE_E_UNSUPPORTED, "an integer of more than 64 bits");
}

static enum tscope_status push_decimal(struct pickle_machine *m, struct str text)
{
	bool is_negative = false;
	uint64_t magnitude = 0;

	switch (tsi_pickle_parse_integer(text, &is_negative, &magnitude)) {
	case PICKLE_NO_INTEGER:
		return tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "no integer but \"%.*s\"",
				       TSI_QUOTE(text));
	case PICKLE_LARGE_INTEGER:
		return fail_too_large(m);
	case PICKLE_INTEGER:
		break;
	}
	if (!is_negative)
		return push_uint64(m, magnitude);
	if (magnitude > (uint64_t)INT64_MAX + 1)
		return fail_too_large(m);
	return push_int64(m, (int64_t)(0 - magnitude));
}

enum tscope_status tsi_pickle_run_int(struct pickle_machine *m,
				      const struct pickle_operand *operand)
{
	bool is_true = tsi_str_is(operand->text, "01");

	if (is_true || tsi_str_is(operand->text, "00")) /* protocols before True and False */
		return tsi_pickle_push(m, tsi_word(WORD_BOOL, is_true));
	return push_decimal(m, operand->text);
}

enum tscope_status tsi_pickle_run_long(struct pickle_machine *m,
				       const struct pickle_operand *operand)
{
	struct str text = operand->text;

	if (text.length && text.data[text.length - 1] == 'L')
		text.length--;
	return push_decimal(m, text);
}

/* Two's complement, the lowest byte first: five bytes of 0xff are -1. */
enum tscope_status tsi_pickle_run_long_bytes(struct pickle_machine *m,
					     const struct pickle_operand *operand)
{
	enum { WORD_BYTES_MAX = 8 };
	struct str text = operand->text;

	if (text.length > WORD_BYTES_MAX + 1) {
		bool is_magic = tsi_str_is(text, "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19");
		return is_magic ? tsi_pickle_fail(m, TSCOPE_E_UNSUPPORTED,
						  "a checkpoint of torch.save, not plain data")
				: fail_too_large(m);
	}
	bool is_negative = text.length && (text.data[text.length - 1] & 0x80);
	unsigned bytes = text.length < WORD_BYTES_MAX ? (unsigned)text.length : WORD_BYTES_MAX;
	uint64_t number = bytes ? tsi_pickle_number(m, text.data, bytes) : 0;
	if (is_negative && bytes < WORD_BYTES_MAX)
		number |= UINT64_MAX << (8 * bytes);
	if (text.length > WORD_BYTES_MAX) { /* the ninth byte must hold the sign and no more */
		unsigned char ninth = (unsigned char)text.data[WORD_BYTES_MAX];
		if (ninth == 0)
			return push_uint64(m, number);
		if (ninth != 0xff || number <= INT64_MAX)
			return fail_too_large(m);
	}
	return push_int64(m, (int64_t)number);
}

enum tscope_status tsi_pickle_run_float(struct pickle_machine *m,
					const struct pickle_operand *operand)
{
	double number;

	if (!tsi_pickle_parse_real(operand->text, &number))
		return tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "no real number but \"%.*s\"",
				       TSI_QUOTE(operand->text));
	return push_real(m, number);
}

/* The one operand with its highest byte first. */
enum tscope_status tsi_pickle_run_binfloat(struct pickle_machine *m,
					   const struct pickle_operand *operand)
{
	uint64_t bits = __builtin_bswap64(operand->number);
	double number;

	memcpy(&number, &bits, sizeof(number));
	return push_real(m, number);
}

/* ---- texts ------------------------------------------------------------------------------ */

/* The argument is the tag. */
enum tscope_status tsi_pickle_run_text(struct pickle_machine *m,
				       const struct pickle_operand *operand)
{
	uint32_t word;
	enum tscope_status status = tsi_graph_add_text(m->out, (enum word_tag)m->op->argument,
						       operand->text, &word, m->err);
	return status == TSCOPE_OK ? tsi_pickle_push(m, word) : status;
}

static enum tscope_status push_unescaped(struct pickle_machine *m, struct str text,
					 bool (*unescape)(struct str, char *, size_t *))
{
	struct pickle_operand plain = { 0 };
	size_t length;

	if (tsi_array_reserve(&m->scratch, &m->scratch_capacity, 2 * text.length, 1, m->err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (!unescape(text, m->scratch, &length))
		return tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "a text with a wrong escape or quote");
	plain.text = (struct str){ m->scratch, length };
	return tsi_pickle_run_text(m, &plain);
}

enum tscope_status tsi_pickle_run_unicode(struct pickle_machine *m,
					  const struct pickle_operand *operand)
{
	return push_unescaped(m, operand->text, tsi_pickle_unescape_unicode);
}

enum tscope_status tsi_pickle_run_string(struct pickle_machine *m,
					 const struct pickle_operand *operand)
{
	return push_unescaped(m, operand->text, tsi_pickle_unescape_string);
}
