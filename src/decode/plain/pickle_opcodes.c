/* SPDX-License-Identifier: MIT */
/*
 * What each opcode of a pickle does to stack, memo and graph, and which are refused: all that
 * would import, call or set the state of something, or ask the program for an object.
 */
#include "decode/plain/pickle_machine.h"

#include "base/array.h"
#include "base/ckd.h"
#include "base/error.h"
#include "decode/plain/pickle_class.h"
#include "decode/plain/pickle_scalars.h"

enum { MAX_PROTOCOL = 5 };

/* ---- the stack -------------------------------------------------------------------------- */

/* Sees that there are `count` values above the last mark. */
static enum tscope_status need(struct pickle_machine *m, size_t count)
{
	if (tsi_likely(m->depth - m->fence >= count))
		return TSCOPE_OK;
	return tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "needs %zu value%s, but there %s %zu", count,
			       count == 1 ? "" : "s", m->depth - m->fence == 1 ? "is" : "are",
			       m->depth - m->fence);
}

/* Takes the last mark away; *start is where the values above it begin. */
static enum tscope_status pop_mark(struct pickle_machine *m, size_t *start)
{
	if (tsi_unlikely(m->mark_count == 0))
		return tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "no MARK comes before it");
	*start = m->marks[--m->mark_count];
	m->fence = m->mark_count ? m->marks[m->mark_count - 1] : 0;
	return TSCOPE_OK;
}

static enum tscope_status run_mark(struct pickle_machine *m, const struct pickle_operand *operand)
{
	(void)operand;
	if (m->mark_count >= m->mark_limit.count)
		return tsi_pool_fail(&m->mark_limit, m->err);
	if (tsi_array_reserve(&m->marks, &m->mark_capacity, m->mark_count + 1, sizeof(*m->marks),
			      m->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	m->marks[m->mark_count++] = m->fence = m->depth;
	return TSCOPE_OK;
}

static enum tscope_status run_pop(struct pickle_machine *m, const struct pickle_operand *operand)
{
	size_t start = 0;

	(void)operand;
	if (m->mark_count && m->depth == m->fence)
		return pop_mark(m, &start);
	enum tscope_status status = need(m, 1);
	if (status == TSCOPE_OK)
		m->depth--;
	return status;
}

static enum tscope_status run_pop_mark(struct pickle_machine *m,
				       const struct pickle_operand *operand)
{
	(void)operand;
	return pop_mark(m, &m->depth);
}

static enum tscope_status run_dup(struct pickle_machine *m, const struct pickle_operand *operand)
{
	(void)operand;
	enum tscope_status status = need(m, 1);
	return status == TSCOPE_OK ? tsi_pickle_push(m, m->stack[m->depth - 1]) : status;
}

/* ---- the stream itself ------------------------------------------------------------------ */

static enum tscope_status run_proto(struct pickle_machine *m, const struct pickle_operand *operand)
{
	if (operand->number > MAX_PROTOCOL)
		return tsi_pickle_fail(m, TSCOPE_E_UNSUPPORTED, "protocol %u; 0 to %d are read",
				       (unsigned)operand->number, MAX_PROTOCOL);
	m->out->protocol = (unsigned)operand->number;
	return TSCOPE_OK;
}

/* Frames tell how to read; all that concerns us is that they are there to their end. */
static enum tscope_status run_frame(struct pickle_machine *m, const struct pickle_operand *operand)
{
	enum { OPCODE_BYTES = 9 };
	uint64_t end;

	if (tsi_ckd_add(&end, m->op_offset + OPCODE_BYTES, operand->number))
		end = UINT64_MAX;
	if (end > m->frame_end) {
		m->frame_end = end;
		m->frame_offset = m->op_offset;
	}
	return TSCOPE_OK;
}

static enum tscope_status run_stop(struct pickle_machine *m, const struct pickle_operand *operand)
{
	(void)operand;
	enum tscope_status status = need(m, 1);
	if (status != TSCOPE_OK)
		return status;
	m->out->root = m->stack[m->depth - 1];
	m->is_done = true;
	return TSCOPE_OK;
}

static enum tscope_status run_refuse(struct pickle_machine *m, const struct pickle_operand *operand)
{
	(void)operand;
	return tsi_pickle_fail(m, TSCOPE_E_UNSUPPORTED, "would %s; only plain data is read",
			       m->op->refusal);
}

/* ---- values -------------------------------------------------------------------------------- */

/* None, True, False: the argument is the word. */
static enum tscope_status run_constant(struct pickle_machine *m,
				       const struct pickle_operand *operand)
{
	(void)operand;
	return tsi_pickle_push(m, m->op->argument);
}

/* ---- containers ------------------------------------------------------------------------- */

/* A container of the values from `start` on takes their place. */
static enum tscope_status make(struct pickle_machine *m, enum word_tag tag, size_t start)
{
	size_t count = m->depth - start;
	const uint32_t *items = count ? m->stack + start : NULL; /* there may be no stack yet */
	uint32_t word;
	enum tscope_status status = tsi_graph_add_object(m->out, tag, &word, m->err);

	if (status == TSCOPE_OK)
		status = tag == WORD_DICT ? tsi_graph_set(m->out, word, items, count / 2, m->err)
					  : tsi_graph_append(m->out, word, items, count, m->err);
	if (status != TSCOPE_OK)
		return status;
	m->depth = start;
	return tsi_pickle_push(m, word);
}

/* An empty one; the argument is the tag. */
static enum tscope_status run_empty(struct pickle_machine *m, const struct pickle_operand *operand)
{
	(void)operand;
	return make(m, (enum word_tag)m->op->argument, m->depth);
}

static enum tscope_status check_pairs(struct pickle_machine *m, size_t start)
{
	size_t count = m->depth - start;

	if (tsi_likely(count % 2 == 0))
		return TSCOPE_OK;
	return tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "the last of %zu keys has no value",
			       count / 2 + 1);
}

/* Of all values above the mark; the argument is the tag. */
static enum tscope_status run_make(struct pickle_machine *m, const struct pickle_operand *operand)
{
	enum word_tag tag = (enum word_tag)m->op->argument;
	size_t start = 0;

	(void)operand;
	enum tscope_status status = pop_mark(m, &start);
	if (status == TSCOPE_OK && tag == WORD_DICT)
		status = check_pairs(m, start);
	return status == TSCOPE_OK ? make(m, tag, start) : status;
}

/* TUPLE1 to TUPLE3: the argument is the number of items. */
static enum tscope_status run_short_tuple(struct pickle_machine *m,
					  const struct pickle_operand *operand)
{
	(void)operand;
	enum tscope_status status = need(m, m->op->argument);
	return status == TSCOPE_OK ? make(m, WORD_TUPLE, m->depth - m->op->argument) : status;
}

/* The values from `start` on go into the container below them, which must be of this kind. */
static enum tscope_status add_to(struct pickle_machine *m, enum word_tag tag, size_t start)
{
	if (start <= m->fence)
		return tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "no value to add to");
	uint32_t container = m->stack[start - 1];
	size_t count = m->depth - start;
	if (tsi_word_tag(container) != tag) {
		struct plain_value wrong = { container };
		return tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "would add to %s",
				       tsi_plain_kind_name(tsi_plain_kind(wrong)));
	}
	const uint32_t *items = m->stack + start;
	m->depth = start;
	if (tag == WORD_DICT)
		return tsi_graph_set(m->out, container, items, count / 2, m->err);
	return tsi_graph_append(m->out, container, items, count, m->err);
}

static enum tscope_status run_append(struct pickle_machine *m, const struct pickle_operand *operand)
{
	(void)operand;
	enum tscope_status status = need(m, 2);
	return status == TSCOPE_OK ? add_to(m, WORD_LIST, m->depth - 1) : status;
}

static enum tscope_status run_setitem(struct pickle_machine *m,
				      const struct pickle_operand *operand)
{
	(void)operand;
	enum tscope_status status = need(m, 3);
	return status == TSCOPE_OK ? add_to(m, WORD_DICT, m->depth - 2) : status;
}

/* APPENDS, SETITEMS, ADDITEMS: all above the mark; the argument is the tag of what is below. */
static enum tscope_status run_add_all(struct pickle_machine *m,
				      const struct pickle_operand *operand)
{
	enum word_tag tag = (enum word_tag)m->op->argument;
	size_t start = 0;

	(void)operand;
	enum tscope_status status = pop_mark(m, &start);
	if (status == TSCOPE_OK && tag == WORD_DICT)
		status = check_pairs(m, start);
	return status == TSCOPE_OK ? add_to(m, tag, start) : status;
}

/* ---- the memo --------------------------------------------------------------------------- */

static enum tscope_status run_get(struct pickle_machine *m, const struct pickle_operand *operand)
{
	uint64_t index = operand->number;
	uint32_t word = index < m->memo_limit.count ? tsi_word_pool_get(&m->memo, index) : 0;

	if (word == 0)
		return tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "the memo has no entry %llu",
				       (unsigned long long)index);
	return tsi_pickle_push(m, word);
}

static enum tscope_status memoize(struct pickle_machine *m, uint64_t index)
{
	enum tscope_status status = need(m, 1);

	if (status != TSCOPE_OK)
		return status;
	if (tsi_unlikely(index >= m->memo_limit.count))
		return tsi_pool_fail(&m->memo_limit, m->err);
	if (tsi_likely(tsi_word_pool_get(&m->memo, index) == 0))
		m->memo_count++;
	else
		tsi_forget_lists(&m->known_lists);
	return tsi_word_pool_set(&m->memo, index, m->stack[m->depth - 1], m->err);
}

/*
 * Writers count entries up, from 0 or 1, and each entry is a value of at least a byte: an
 * index beyond that is there to make the memo large.
 */
static enum tscope_status run_put(struct pickle_machine *m, const struct pickle_operand *operand)
{
	if (operand->number > m->op_offset)
		return tsi_pickle_fail(
			m, TSCOPE_E_DAMAGED, "entry %llu of the memo after %llu bytes",
			(unsigned long long)operand->number, (unsigned long long)m->op_offset);
	return memoize(m, operand->number);
}

static enum tscope_status run_memoize(struct pickle_machine *m,
				      const struct pickle_operand *operand)
{
	(void)operand;
	return memoize(m, m->memo_count);
}

/* ---- classes ---------------------------------------------------------------------------- */

static enum tscope_status push_class(struct pickle_machine *m, struct str module, struct str name)
{
	uint32_t word;
	enum tscope_status status = tsi_pickle_find_class(m, module, name, &word);
	return status == TSCOPE_OK ? tsi_pickle_push(m, word) : status;
}

/* "module\nname" */
static void split_lines(struct str lines, struct str *module, struct str *name)
{
	const char *end = memchr(lines.data, '\n', lines.length);

	*module = (struct str){ lines.data, (size_t)(end - lines.data) };
	*name = (struct str){ end + 1, lines.length - module->length - 1 };
}

static enum tscope_status run_global(struct pickle_machine *m, const struct pickle_operand *operand)
{
	struct str module, name;

	split_lines(operand->text, &module, &name);
	return push_class(m, module, name);
}

static enum tscope_status run_inst(struct pickle_machine *m, const struct pickle_operand *operand)
{
	struct str module, name;

	split_lines(operand->text, &module, &name);
	return tsi_pickle_refuse_import(m, module, name);
}

static enum tscope_status run_stack_global(struct pickle_machine *m,
					   const struct pickle_operand *operand)
{
	(void)operand;
	enum tscope_status status = need(m, 2);
	if (status != TSCOPE_OK)
		return status;
	m->depth -= 2;
	struct plain_value module = { m->stack[m->depth] }, name = { m->stack[m->depth + 1] };
	if (tsi_plain_kind(module) != PLAIN_TEXT || tsi_plain_kind(name) != PLAIN_TEXT)
		return tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "module and name are no texts");
	return push_class(m, tsi_plain_text(m->out, module), tsi_plain_text(m->out, name));
}

static enum tscope_status run_reduce(struct pickle_machine *m, const struct pickle_operand *operand)
{
	uint32_t made;

	(void)operand;
	enum tscope_status status = need(m, 2);
	if (status != TSCOPE_OK)
		return status;
	m->depth -= 2;
	status = tsi_pickle_call(m, m->stack[m->depth], m->stack[m->depth + 1], &made);
	return status == TSCOPE_OK ? tsi_pickle_push(m, made) : status;
}

/* ---- the table -------------------------------------------------------------------------- */

#define WORD(tag, payload) ((payload) << WORD_TAG_BITS | (tag))
#define OP(name, form, run, argument)                                                              \
	{                                                                                          \
		name, OPERAND_##form, run, argument, NULL                                          \
	}
#define REFUSED(name, refusal)                                                                     \
	{                                                                                          \
		name, OPERAND_NONE, run_refuse, 0, refusal                                         \
	}

const struct pickle_opcode tsi_pickle_opcodes[256] = {
	[0x80] = OP("PROTO", U1, run_proto, 0),
	[0x95] = OP("FRAME", U8, run_frame, 0),
	['.'] = OP("STOP", NONE, run_stop, 0),
	['('] = OP("MARK", NONE, run_mark, 0),
	['0'] = OP("POP", NONE, run_pop, 0),
	['1'] = OP("POP_MARK", NONE, run_pop_mark, 0),
	['2'] = OP("DUP", NONE, run_dup, 0),

	['N'] = OP("NONE", NONE, run_constant, WORD(WORD_NONE, 0)),
	[0x88] = OP("NEWTRUE", NONE, run_constant, WORD(WORD_BOOL, 1)),
	[0x89] = OP("NEWFALSE", NONE, run_constant, WORD(WORD_BOOL, 0)),
	['I'] = OP("INT", LINE, tsi_pickle_run_int, 0),
	['J'] = OP("BININT", I4, tsi_pickle_run_binint, 0),
	['K'] = OP("BININT1", U1, tsi_pickle_run_binint, 0),
	['M'] = OP("BININT2", U2, tsi_pickle_run_binint, 0),
	['L'] = OP("LONG", LINE, tsi_pickle_run_long, 0),
	[0x8a] = OP("LONG1", LONG_U1, tsi_pickle_run_long_bytes, 0),
	[0x8b] = OP("LONG4", LONG_I4, tsi_pickle_run_long_bytes, 0),
	['F'] = OP("FLOAT", LINE, tsi_pickle_run_float, 0),
	['G'] = OP("BINFLOAT", U8, tsi_pickle_run_binfloat, 0),

	['S'] = OP("STRING", LINE, tsi_pickle_run_string, WORD_TEXT),
	['T'] = OP("BINSTRING", TEXT_I4, tsi_pickle_run_text, WORD_TEXT),
	['U'] = OP("SHORT_BINSTRING", TEXT_U1, tsi_pickle_run_text, WORD_TEXT),
	['V'] = OP("UNICODE", LINE, tsi_pickle_run_unicode, WORD_TEXT),
	['X'] = OP("BINUNICODE", TEXT_U4, tsi_pickle_run_text, WORD_TEXT),
	[0x8c] = OP("SHORT_BINUNICODE", TEXT_U1, tsi_pickle_run_text, WORD_TEXT),
	[0x8d] = OP("BINUNICODE8", TEXT_U8, tsi_pickle_run_text, WORD_TEXT),
	['B'] = OP("BINBYTES", TEXT_U4, tsi_pickle_run_text, WORD_BYTES),
	['C'] = OP("SHORT_BINBYTES", TEXT_U1, tsi_pickle_run_text, WORD_BYTES),
	[0x8e] = OP("BINBYTES8", TEXT_U8, tsi_pickle_run_text, WORD_BYTES),
	[0x96] = OP("BYTEARRAY8", TEXT_U8, tsi_pickle_run_text, WORD_BYTES),

	[']'] = OP("EMPTY_LIST", NONE, run_empty, WORD_LIST),
	['a'] = OP("APPEND", NONE, run_append, 0),
	['e'] = OP("APPENDS", NONE, run_add_all, WORD_LIST),
	['l'] = OP("LIST", NONE, run_make, WORD_LIST),
	[')'] = OP("EMPTY_TUPLE", NONE, run_empty, WORD_TUPLE),
	['t'] = OP("TUPLE", NONE, run_make, WORD_TUPLE),
	[0x85] = OP("TUPLE1", NONE, run_short_tuple, 1),
	[0x86] = OP("TUPLE2", NONE, run_short_tuple, 2),
	[0x87] = OP("TUPLE3", NONE, run_short_tuple, 3),
	['}'] = OP("EMPTY_DICT", NONE, run_empty, WORD_DICT),
	['d'] = OP("DICT", NONE, run_make, WORD_DICT),
	['s'] = OP("SETITEM", NONE, run_setitem, 0),
	['u'] = OP("SETITEMS", NONE, run_add_all, WORD_DICT),
	/* Sets are lists here: nobody asks them whether they have something. */
	[0x8f] = OP("EMPTY_SET", NONE, run_empty, WORD_LIST),
	[0x90] = OP("ADDITEMS", NONE, run_add_all, WORD_LIST),
	[0x91] = OP("FROZENSET", NONE, run_make, WORD_LIST),

	['g'] = OP("GET", DECIMAL, run_get, 0),
	['h'] = OP("BINGET", U1, run_get, 0),
	['j'] = OP("LONG_BINGET", U4, run_get, 0),
	['p'] = OP("PUT", DECIMAL, run_put, 0),
	['q'] = OP("BINPUT", U1, run_put, 0),
	['r'] = OP("LONG_BINPUT", U4, run_put, 0),
	[0x94] = OP("MEMOIZE", NONE, run_memoize, 0),

	['c'] = OP("GLOBAL", 2_LINES, run_global, 0),
	[0x93] = OP("STACK_GLOBAL", NONE, run_stack_global, 0),
	['R'] = OP("REDUCE", NONE, run_reduce, 0),
	['i'] = OP("INST", 2_LINES, run_inst, 0),
	['b'] = REFUSED("BUILD", "set the state of an object"),
	['o'] = REFUSED("OBJ", "make an object of a class"),
	[0x81] = REFUSED("NEWOBJ", "make an object of a class"),
	[0x92] = REFUSED("NEWOBJ_EX", "make an object of a class"),
	[0x82] = REFUSED("EXT1", "use a registered extension"),
	[0x83] = REFUSED("EXT2", "use a registered extension"),
	[0x84] = REFUSED("EXT4", "use a registered extension"),
	['P'] = REFUSED("PERSID", "load a persistent object"),
	['Q'] = REFUSED("BINPERSID", "load a persistent object"),
	[0x97] = REFUSED("NEXT_BUFFER", "take a buffer from outside the pickle"),
	[0x98] = REFUSED("READONLY_BUFFER", "take a buffer from outside the pickle"),
};
