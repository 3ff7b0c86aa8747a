/* SPDX-License-Identifier: MIT */
/*
 * Reads a pickle: takes opcodes and their operands out of the input and lets the table's
 * functions work on stack, memo and graph. Streams: nothing of the input is kept.
 *
 * In a large snapshot nine of ten opcodes push a frame from the memo for a list of frames;
 * those are taken in a loop of their own, or all at once where the list is a known one.
 */
#include "decode/plain/pickle_machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "decode/plain/pickle_text.h"

/* Limits for hostile files, unless the options say otherwise. */
enum {
	DEFAULT_MAX_STACK = 1 << 26, /* torch's C++ writer keeps a whole list on the stack */
	DEFAULT_MAX_MARKS = 4096,
	DEFAULT_MAX_MEMO = 1 << 28,
};

/* The longest integer that is looked at: the magic number of torch.save has 10 bytes. */
enum { MAX_LONG_BYTES = 10 };

/* How an operand is written, see enum operand_form. */
struct form {
	unsigned char bytes; /* of the number */
	bool has_sign, is_length;
	unsigned char lines;
	unsigned char max_length; /* 0: as the options say */
};

static const struct form forms[OPERAND_FORM_COUNT] = {
	[OPERAND_U1] = { .bytes = 1 },
	[OPERAND_U2] = { .bytes = 2 },
	[OPERAND_U4] = { .bytes = 4 },
	[OPERAND_U8] = { .bytes = 8 },
	[OPERAND_I4] = { .bytes = 4, .has_sign = true },
	[OPERAND_TEXT_U1] = { .bytes = 1, .is_length = true },
	[OPERAND_TEXT_U4] = { .bytes = 4, .is_length = true },
	[OPERAND_TEXT_U8] = { .bytes = 8, .is_length = true },
	[OPERAND_TEXT_I4] = { .bytes = 4, .is_length = true, .has_sign = true },
	[OPERAND_LONG_U1] = { .bytes = 1, .is_length = true, .max_length = MAX_LONG_BYTES },
	[OPERAND_LONG_I4] = { .bytes = 4,
			      .is_length = true,
			      .has_sign = true,
			      .max_length = MAX_LONG_BYTES },
	[OPERAND_LINE] = { .lines = 1 },
	[OPERAND_2_LINES] = { .lines = 2 },
	[OPERAND_DECIMAL] = { .lines = 1 },
};

/* ---- errors and growth ------------------------------------------------------------------ */

void tsi_pickle_fail(struct pickle_machine *m, enum tscope_status status, const char *format, ...)
{
	char text[sizeof(m->err.message)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	tsi_fail_at(&m->err, status, m->op_offset, "%s: %s", m->op->name, text);
}

bool tsi_pickle_grow_stack(struct pickle_machine *m)
{
	if (m->depth >= m->stack_limit.count) {
		tsi_pool_fail(&m->stack_limit, &m->err);
		return false;
	}
	if (tsi_array_reserve(&m->stack, &m->stack_capacity, m->depth + 1, sizeof(*m->stack),
			      &m->err) != TSCOPE_OK)
		return false;
	m->stack_room =
		m->stack_capacity < m->stack_limit.count ? m->stack_capacity : m->stack_limit.count;
	return true;
}

/* ---- taking bytes ----------------------------------------------------------------------- */

static uint64_t offset_of(const struct pickle_machine *m, const char *at)
{
	return m->start_offset + (uint64_t)(at - m->start);
}

/* Sees that `count` bytes from m->at on are shown; false: there are fewer, or m->err says why. */
static bool show_more(struct pickle_machine *m, size_t count)
{
	size_t available;

	m->start_offset += (uint64_t)(m->at - m->start);
	tsi_input_consume(m->in, (size_t)(m->at - m->start));
	enum tscope_status status = tsi_input_peek(m->in, count, &m->start, &available, &m->err);
	m->at = m->start;
	m->end = m->start + available;
	return status == TSCOPE_OK;
}

static inline bool show(struct pickle_machine *m, size_t count)
{
	return tsi_likely((size_t)(m->end - m->at) >= count) || show_more(m, count);
}

/* For the operand of the opcode that is being taken. */
static bool show_operand(struct pickle_machine *m, size_t count)
{
	if (tsi_likely(show(m, count)))
		return true;
	if (m->err.status == TSCOPE_OK)
		tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "truncated after %zu of %zu bytes",
				(size_t)(m->end - m->at), count);
	return false;
}

static bool check_length(struct pickle_machine *m, const struct form *form, uint64_t length)
{
	if (form->has_sign && (int64_t)length < 0)
		tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "a negative length");
	else if (form->max_length && length > form->max_length)
		tsi_pickle_fail(m, TSCOPE_E_UNSUPPORTED,
				"an integer of %llu bytes; up to 9 are read",
				(unsigned long long)length);
	else if (length > m->max_text_bytes)
		tsi_pickle_fail(m, TSCOPE_E_LIMIT,
				"a text of more than %zu bytes (limit: text bytes)",
				m->max_text_bytes);
	else
		return true;
	return false;
}

static void take_number(struct pickle_machine *m, const struct form *form)
{
	struct pickle_operand *operand = &m->operand;

	if (!show_operand(m, form->bytes))
		return;
	operand->number = tsi_pickle_number(m, m->at, form->bytes);
	if (form->has_sign)
		operand->number = (uint64_t)(int64_t)(int32_t)(uint32_t)operand->number;
	m->at += form->bytes;
	if (!form->is_length || !check_length(m, form, operand->number) ||
	    !show_operand(m, (size_t)operand->number))
		return;
	operand->text = (struct str){ m->at, (size_t)operand->number };
	m->at += operand->text.length;
}

/* The length of the text before the last of `lines` line ends; SIZE_MAX: it is not shown. */
static size_t find_line_end(const struct pickle_machine *m, size_t looked_at, unsigned *lines)
{
	for (;;) {
		const char *start = m->at + looked_at;
		const char *end = memchr(start, '\n', (size_t)(m->end - start));
		if (!end)
			return SIZE_MAX;
		looked_at = (size_t)(end + 1 - m->at);
		if (--*lines == 0)
			return looked_at - 1;
	}
}

/* Text with `lines` line ends, the last of which is left out. */
static void take_lines(struct pickle_machine *m, unsigned lines, struct str *text)
{
	size_t looked_at = 0, length;

	while ((length = find_line_end(m, looked_at, &lines)) == SIZE_MAX) {
		looked_at = (size_t)(m->end - m->at);
		if (!check_length(m, &forms[OPERAND_LINE], looked_at))
			return;
		if (!show(m, looked_at + 1)) {
			if (m->err.status == TSCOPE_OK)
				tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "truncated: no end of line");
			return;
		}
	}
	*text = (struct str){ m->at, length };
	m->at += length + 1;
	(void)check_length(m, &forms[OPERAND_LINE], length);
}

static void take_operand(struct pickle_machine *m)
{
	const struct form *form = &forms[m->op->operand];
	struct pickle_operand *operand = &m->operand;
	bool is_negative;

	if (form->bytes) {
		take_number(m, form);
		return;
	}
	if (form->lines == 0)
		return;
	take_lines(m, form->lines, &operand->text);
	if (m->op->operand != OPERAND_DECIMAL || m->err.status != TSCOPE_OK)
		return;
	if (tsi_pickle_parse_integer(operand->text, &is_negative, &operand->number) !=
		    PICKLE_INTEGER ||
	    is_negative)
		tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "no number but \"%.*s\"",
				TSI_QUOTE(operand->text));
}

/* ---- the machine ------------------------------------------------------------------------- */

static void refuse_byte(struct pickle_machine *m, bool is_first)
{
	unsigned byte = (unsigned char)*m->at;

	if (is_first)
		tsi_fail_at(&m->err, TSCOPE_E_FORMAT, m->op_offset,
			    "not a pickle: begins with byte 0x%02x", byte);
	else
		tsi_fail_at(&m->err, TSCOPE_E_DAMAGED, m->op_offset,
			    "pickle: byte 0x%02x is no opcode", byte);
}

/* The input ends, or broke, where an opcode should be. */
static void fail_at_end(struct pickle_machine *m, bool is_first)
{
	uint64_t end = offset_of(m, m->at);

	if (m->err.status != TSCOPE_OK)
		return;
	if (is_first)
		tsi_fail_at(&m->err, TSCOPE_E_EMPTY, end, "no pickle: no byte");
	else
		tsi_fail_at(&m->err, TSCOPE_E_DAMAGED, end, "pickle: truncated: ends without STOP");
}

static void run_next(struct pickle_machine *m)
{
	bool is_first = m->op == NULL;

	if (tsi_unlikely(!show(m, 1))) {
		fail_at_end(m, is_first);
		return;
	}
	m->op_offset = offset_of(m, m->at);
	m->op = &tsi_pickle_opcodes[(unsigned char)*m->at];
	if (tsi_unlikely(!m->op->name)) {
		refuse_byte(m, is_first);
		return;
	}
	m->at++;
	m->operand = (struct pickle_operand){ 0 };
	take_operand(m);
	if (tsi_unlikely(m->err.status != TSCOPE_OK))
		return;
	m->op->run(m);
	if (tsi_unlikely(m->err.status == TSCOPE_E_LIMIT) && !m->err.has_offset) {
		m->err.has_offset = true;
		m->err.offset = m->op_offset;
		tsi_fail_within(&m->err, "%s", m->op->name);
	}
}

/* MEMOIZE, where it sets an entry that has room and was not set. */
static inline bool memoize(struct pickle_machine *m, size_t depth)
{
	uint32_t *entry = tsi_word_pool_find(&m->memo, m->memo_count);

	if (!entry || *entry || depth == m->fence || m->memo_count >= m->memo_limit.count)
		return false;
	*entry = m->stack[depth - 1];
	m->memo_count++;
	return true;
}

/*
 * Fast path for opcodes that push a value of the memo or a small integer, and MEMOIZE, in a row:
 * nine of ten opcodes in a file. As long as operands are shown, the stack has room and the memo an
 * entry; whatever is not as usual is left to the table. A branch for each opcode: the processor
 * guesses it and goes on with the next, while a computed length would be waited for.
 */
static void take_usual(struct pickle_machine *m)
{
	const char *at = m->at, *next = at;
	size_t depth = m->depth;
	uint32_t word;

	for (; m->end - at >= LONGEST_USUAL && depth < m->stack_room; at = next) {
		if (*at == LONG_BINGET) {
			word = tsi_word_pool_get(&m->memo, tsi_pickle_u4(at + 1));
			next = at + 5;
		} else if (*at == BINGET) {
			word = tsi_word_pool_get(&m->memo, (unsigned char)at[1]);
			next = at + 2;
		} else if (*at == MEMOIZE && memoize(m, depth)) {
			next = at + 1;
			continue;
		} else if (*at == BININT1) {
			word = tsi_word_of_small((unsigned char)at[1]);
			next = at + 2;
		} else {
			break;
		}
		if (word == 0)
			break;
		m->stack[depth++] = word;
	}
	m->at = at;
	m->depth = depth;
}

/* Bytes after STOP are counted, not read. */
static void finish(struct pickle_machine *m)
{
	do {
		m->out->trailing_bytes += (uint64_t)(m->end - m->at);
		m->at = m->end;
	} while (show_more(m, 1));
	if (m->err.status == TSCOPE_OK && m->frame_end > offset_of(m, m->end))
		tsi_fail_at(&m->err, TSCOPE_E_DAMAGED, m->frame_offset,
			    "FRAME: ends at byte %llu, behind the end of the input",
			    (unsigned long long)m->frame_end);
}

static void run(struct pickle_machine *m)
{
	while (!m->is_done && m->err.status == TSCOPE_OK) {
		take_usual(m);
		run_next(m);
		if (m->depth == m->fence && m->err.status == TSCOPE_OK)
			tsi_pickle_repeat_list(m);
	}
	if (m->err.status == TSCOPE_OK)
		finish(m);
}

static size_t or_default(size_t option, size_t value)
{
	return option ? option : value;
}

enum tscope_status tsi_pickle_read(struct plain **ret, struct input *in,
				   const struct pickle_options *options, struct tscope_error *err)
{
	static const struct pickle_options defaults = { 0 };
	const struct pickle_options *o = options ? options : &defaults;
	struct pickle_machine m = {
		.in = in,
		.start = "",
		.start_offset = tsi_input_offset(in),
		.out = calloc(1, sizeof(*m.out)),
		.stack_limit = { or_default(o->max_stack, DEFAULT_MAX_STACK), "stack values" },
		.mark_limit = { or_default(o->max_marks, DEFAULT_MAX_MARKS), "marks" },
		.memo_limit = { or_default(o->max_memo, DEFAULT_MAX_MEMO), "memo entries" },
		.max_text_bytes = or_default(o->plain.max_text_bytes, PLAIN_MAX_TEXT_BYTES),
	};

	if (!m.out)
		return tsi_fail_nomem(err);
	m.at = m.end = m.start;
	tsi_graph_init(m.out, &o->plain, &m.err);
	run(&m);
	free(m.stack);
	free(m.marks);
	free(m.scratch);
	tsi_word_pool_deinit(&m.memo);
	tsi_known_lists_deinit(&m.known_lists);
	return tsi_graph_end(m.out, &m.err, ret, err);
}

unsigned tsi_pickle_protocol(const struct plain *plain)
{
	return plain->protocol;
}
