/* SPDX-License-Identifier: MIT */
/*
 * Effects of each opcode of a pickle on stack, memo and graph. Refused are all that would import,
 * call or set the state of something, or ask the program for an object.
 */
#include "decode/plain/pickle_machine.h"

#include "base/array.h"
#include "base/ckd.h"
#include "decode/plain/pickle_class.h"
#include "decode/plain/pickle_scalars.h"

enum { MAX_PROTOCOL = 5 };

/* ---- the stack -------------------------------------------------------------------------- */

/* Sees that there are `count` values above the last mark; false: failed. */
static bool need(struct pickle_machine *m, size_t count)
{
	if (tsi_likely(m->depth - m->fence >= count))
		return true;
	tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "needs %zu value%s, but there %s %zu", count,
			count == 1 ? "" : "s", m->depth - m->fence == 1 ? "is" : "are",
			m->depth - m->fence);
	return false;
}

/* Takes the last mark away; *start is where the values above it begin. False: failed. */
static bool pop_mark(struct pickle_machine *m, size_t *start)
{
	if (tsi_unlikely(m->mark_count == 0)) {
		tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "no MARK comes before it");
		return false;
	}
	*start = m->marks[--m->mark_count];
	m->fence = m->mark_count ? m->marks[m->mark_count - 1] : 0;
	return true;
}

static void run_mark(struct pickle_machine *m)
{
	if (m->mark_count >= m->mark_limit.count)
		tsi_pool_fail(&m->mark_limit, &m->err);
	else if (tsi_array_reserve(&m->marks, &m->mark_capacity, m->mark_count + 1,
				   sizeof(*m->marks), &m->err) == TSCOPE_OK)
		m->marks[m->mark_count++] = m->fence = m->depth;
}

static void run_pop(struct pickle_machine *m)
{
	size_t start;

	if (m->mark_count && m->depth == m->fence)
		(void)pop_mark(m, &start);
	else if (need(m, 1))
		m->depth--;
}

static void run_pop_mark(struct pickle_machine *m)
{
	(void)pop_mark(m, &m->depth);
}

static void run_dup(struct pickle_machine *m)
{
	if (need(m, 1))
		tsi_pickle_push(m, m->stack[m->depth - 1]);
}

/* ---- the stream itself ------------------------------------------------------------------ */

static void run_proto(struct pickle_machine *m)
{
	if (m->operand.number > MAX_PROTOCOL)
		tsi_pickle_fail(m, TSCOPE_E_UNSUPPORTED, "protocol %u; 0 to %d are read",
				(unsigned)m->operand.number, MAX_PROTOCOL);
	m->out->protocol = (unsigned)m->operand.number;
}

/* A frame only has to be there to its end. */
static void run_frame(struct pickle_machine *m)
{
	enum { OPCODE_BYTES = 9 };
	uint64_t end;

	if (tsi_ckd_add(&end, m->op_offset + OPCODE_BYTES, m->operand.number))
		end = UINT64_MAX;
	if (end > m->frame_end) {
		m->frame_end = end;
		m->frame_offset = m->op_offset;
	}
}

static void run_stop(struct pickle_machine *m)
{
	if (!need(m, 1))
		return;
	m->out->root = m->stack[m->depth - 1];
	m->is_done = true;
}

static void run_refuse(struct pickle_machine *m)
{
	tsi_pickle_fail(m, TSCOPE_E_UNSUPPORTED, "would %s; only plain data is read",
			m->op->refusal);
}

/* ---- values -------------------------------------------------------------------------------- */

/* None, True, False: the argument is the word. */
static void run_constant(struct pickle_machine *m)
{
	tsi_pickle_push(m, m->op->argument);
}

/* ---- containers ------------------------------------------------------------------------- */

/* A container of the values from `start` on takes their place. */
static void make(struct pickle_machine *m, enum word_tag tag, size_t start)
{
	size_t count = m->depth - start;
	const uint32_t *items = count ? m->stack + start : NULL; /* there may be no stack yet */
	uint32_t word = tsi_graph_add_object(m->out, tag);

	tsi_graph_fill(m->out, word, items, count);
	m->depth = start;
	tsi_pickle_push(m, word);
}

/* An empty one; the argument is the tag. */
static void run_empty(struct pickle_machine *m)
{
	make(m, (enum word_tag)m->op->argument, m->depth);
}

/* Takes the last mark away: the values above it fill a container. False: failed. */
static bool pop_items(struct pickle_machine *m, enum word_tag tag, size_t *start)
{
	if (!pop_mark(m, start))
		return false;
	size_t count = m->depth - *start;
	if (tsi_likely(tag != WORD_DICT || count % 2 == 0))
		return true;
	tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "the last of %zu keys has no value", count / 2 + 1);
	return false;
}

/* A container of all values above the mark; the argument is the tag. */
static void run_make(struct pickle_machine *m)
{
	enum word_tag tag = (enum word_tag)m->op->argument;
	size_t start;

	if (pop_items(m, tag, &start))
		make(m, tag, start);
}

/* TUPLE1 to TUPLE3: the argument is the number of items. */
static void run_short_tuple(struct pickle_machine *m)
{
	if (need(m, m->op->argument))
		make(m, WORD_TUPLE, m->depth - m->op->argument);
}

/* The values from `start` on go into the container below them, which must be of this kind. */
static void add_to(struct pickle_machine *m, enum word_tag tag, size_t start)
{
	if (start <= m->fence) {
		tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "no value to add to");
		return;
	}
	struct plain_value container = { m->stack[start - 1] };
	size_t count = m->depth - start;
	if (tsi_word_tag(container.word) != tag) {
		tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "would add to %s",
				tsi_plain_kind_name(tsi_plain_kind(container)));
		return;
	}
	m->depth = start;
	tsi_graph_fill(m->out, container.word, m->stack + start, count);
}

static void run_append(struct pickle_machine *m)
{
	if (need(m, 2))
		add_to(m, WORD_LIST, m->depth - 1);
}

static void run_setitem(struct pickle_machine *m)
{
	if (need(m, 3))
		add_to(m, WORD_DICT, m->depth - 2);
}

/* APPENDS, SETITEMS, ADDITEMS: all above the mark; the argument is the tag of what is below. */
static void run_add_all(struct pickle_machine *m)
{
	enum word_tag tag = (enum word_tag)m->op->argument;
	size_t start;

	if (pop_items(m, tag, &start))
		add_to(m, tag, start);
}

/* ---- the memo --------------------------------------------------------------------------- */

static void run_get(struct pickle_machine *m)
{
	uint64_t index = m->operand.number;
	uint32_t word = index < m->memo_limit.count ? tsi_word_pool_get(&m->memo, index) : 0;

	if (word)
		tsi_pickle_push(m, word);
	else
		tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "the memo has no entry %llu",
				(unsigned long long)index);
}

static void memoize(struct pickle_machine *m, uint64_t index)
{
	if (!need(m, 1))
		return;
	if (tsi_unlikely(index >= m->memo_limit.count)) {
		tsi_pool_fail(&m->memo_limit, &m->err);
		return;
	}
	if (tsi_likely(tsi_word_pool_get(&m->memo, index) == 0))
		m->memo_count++;
	else
		tsi_forget_lists(&m->known_lists);
	tsi_word_pool_set(&m->memo, index, m->stack[m->depth - 1], &m->err);
}

/*
 * Writers count entries up, from 0 or 1, and each entry is a value of at least a byte: an
 * index beyond that is there to make the memo large.
 */
static void run_put(struct pickle_machine *m)
{
	if (m->operand.number > m->op_offset)
		tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "entry %llu of the memo after %llu bytes",
				(unsigned long long)m->operand.number,
				(unsigned long long)m->op_offset);
	else
		memoize(m, m->operand.number);
}

static void run_memoize(struct pickle_machine *m)
{
	memoize(m, m->memo_count);
}

/* ---- classes ---------------------------------------------------------------------------- */

/* "module\nname" */
static void split_lines(struct str lines, struct str *module, struct str *name)
{
	const char *end = memchr(lines.data, '\n', lines.length);

	*module = (struct str){ lines.data, (size_t)(end - lines.data) };
	*name = (struct str){ end + 1, lines.length - module->length - 1 };
}

static void run_global(struct pickle_machine *m)
{
	struct str module, name;

	split_lines(m->operand.text, &module, &name);
	tsi_pickle_push(m, tsi_pickle_find_class(m, module, name));
}

static void run_inst(struct pickle_machine *m)
{
	struct str module, name;

	split_lines(m->operand.text, &module, &name);
	tsi_pickle_refuse_import(m, module, name);
}

static void run_stack_global(struct pickle_machine *m)
{
	if (!need(m, 2))
		return;
	m->depth -= 2;
	struct plain_value module = { m->stack[m->depth] }, name = { m->stack[m->depth + 1] };
	if (tsi_plain_kind(module) != PLAIN_TEXT || tsi_plain_kind(name) != PLAIN_TEXT) {
		tsi_pickle_fail(m, TSCOPE_E_DAMAGED, "module and name are no texts");
		return;
	}
	tsi_pickle_push(m, tsi_pickle_find_class(m, tsi_plain_text(m->out, module),
						 tsi_plain_text(m->out, name)));
}

static void run_reduce(struct pickle_machine *m)
{
	if (!need(m, 2))
		return;
	m->depth -= 2;
	tsi_pickle_push(m, tsi_pickle_call(m, m->stack[m->depth], m->stack[m->depth + 1]));
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
