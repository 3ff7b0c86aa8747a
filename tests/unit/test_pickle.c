/* SPDX-License-Identifier: MIT */
/*
 * decode/plain/pickle.h over pickles written as bytes, opcode by opcode. What comes out is compared as
 * text much like Python's repr(); what is refused, by status, message and byte. Every case is
 * read in blocks of 1, 2, 3 and many bytes.
 */
#include "decode/plain/pickle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "config.h"
#include "decode/plain/pickle_machine.h"
#include "fail_alloc.h"
#include "packed.h"
#include "plain_dump.h"

/* ---- reading ------------------------------------------------------------------------------ */

static enum tscope_status read_with(struct plain **p, const void *data, size_t length,
				    const struct pickle_options *options, size_t block_bytes,
				    struct tscope_error *err)
{
	struct input_options input_options = { .block_bytes = block_bytes };
	struct input *in = NULL;

	*p = NULL;
	enum tscope_status status = tsi_input_open_memory(&in, data, length, &input_options, err);
	if (status == TSCOPE_OK)
		status = tsi_pickle_read(p, in, options, err);
	assert_true((status == TSCOPE_OK) == (*p != NULL));
	tsi_input_close(in);
	return status;
}

static struct plain *read_whole(const void *data, size_t length)
{
	struct tscope_error err = { 0 };
	struct plain *p;

	if (read_with(&p, data, length, NULL, 0, &err) != TSCOPE_OK)
		fail_msg("%s (byte %llu)", err.message, (unsigned long long)err.offset);
	return p;
}

#define READ(literal) read_whole(literal, sizeof(literal) - 1)

static const size_t block_sizes[] = { 1, 2, 3, 0 };

static void check_dump(const char *name, const char *data, size_t length, const char *expected)
{
	for (size_t i = 0; i < TSI_COUNT_OF(block_sizes); i++) {
		struct tscope_error err = { 0 };
		struct plain_dump dump = { .length = 0 };
		struct plain *p;

		if (read_with(&p, data, length, NULL, block_sizes[i], &err) != TSCOPE_OK)
			fail_msg("%s: %s (byte %llu)", name, err.message,
				 (unsigned long long)err.offset);
		plain_dump_value(&dump, p, tsi_plain_root(p), PLAIN_DUMP_DEPTH);
		if (strcmp(dump.text, expected) != 0)
			fail_msg("%s: expected %s, found %s", name, expected, dump.text);
		assert_int_equal(tsi_plain_trailing_bytes(p), 0);
		tsi_plain_free(p);
	}
}

static void check_failure(const char *data, size_t length, const struct pickle_options *options,
			  enum tscope_status status, const char *message, uint64_t offset)
{
	for (size_t i = 0; i < TSI_COUNT_OF(block_sizes); i++) {
		struct tscope_error err = { 0 };
		struct plain *p;
		enum tscope_status found =
			read_with(&p, data, length, options, block_sizes[i], &err);

		tsi_plain_free(p);
		assert_string_equal(err.message, message);
		assert_int_equal(found, status);
		assert_int_equal(err.status, status);
		assert_true(err.has_offset);
		assert_int_equal(err.offset, offset);
	}
}

/* ---- every opcode --------------------------------------------------------------------------- */

struct pickle_case {
	const char *opcode; /* the one that the case is about */
	const char *data;
	size_t length;
	const char *expected; /* dump, or message */
	enum tscope_status status;
	uint64_t offset;
};

#define GOOD(opcode, data, expected)                                                               \
	{                                                                                          \
		opcode, data, sizeof(data) - 1, expected, TSCOPE_OK, 0                             \
	}
#define BAD(opcode, data, status, offset, message)                                                 \
	{                                                                                          \
		opcode, data, sizeof(data) - 1, message, TSCOPE_E_##status, offset                 \
	}

static const struct pickle_case good_cases[] = {
	/* the stream */
	GOOD("PROTO", "\x80\x05N.", "None"),
	GOOD("PROTO", "\x80\x02\x80\x03N.", "None"),
	GOOD("FRAME", "\x80\x04\x95\2\0\0\0\0\0\0\0N.", "None"),
	GOOD("FRAME", "\x80\x04\x95\1\0\0\0\0\0\0\0N\x95\1\0\0\0\0\0\0\0.", "None"),
	GOOD("STOP", "K\1K\2.", "2"), /* what is left on the stack is nobody's */

	/* the stack */
	GOOD("MARK", "(t.", "()"),
	GOOD("MARK", "((K\1t(K\2tt.", "((1), (2))"),
	GOOD("POP", "K\1K\0020.", "1"),
	GOOD("POP", "K\1(0.", "1"), /* the mark itself */
	GOOD("POP_MARK", "K\1(K\2K\0031.", "1"),
	GOOD("DUP", "]2\x86.", "([], [])"),

	/* constants and numbers */
	GOOD("NONE", "N.", "None"),
	GOOD("NEWTRUE", "\x88.", "True"),
	GOOD("NEWFALSE", "\x89.", "False"),
	GOOD("INT", "I-5\n.", "-5"),
	GOOD("INT", "I0\n.", "0"),
	GOOD("INT", "I00\n.", "False"),
	GOOD("INT", "I01\n.", "True"),
	GOOD("INT", "I9223372036854775807\n.", "9223372036854775807"),
	GOOD("INT", "I-9223372036854775808\n.", "-9223372036854775808"),
	GOOD("BININT", "J\xff\xff\xff\xff.", "-1"),
	GOOD("BININT", "J\0\0\0\x80.", "-2147483648"),
	GOOD("BININT", "J\xff\xff\xff\7.", "134217727"), /* 2^27 - 1, the last inline */
	GOOD("BININT", "J\0\0\0\x8.", "134217728"),      /* 2^27 */
	GOOD("BININT", "J\0\0\0\xf8.", "-134217728"),    /* -2^27, the last inline */
	GOOD("BININT", "J\xff\xff\xff\xf7.", "-134217729"),
	GOOD("BININT1", "K\xff.", "255"),
	GOOD("BININT2", "M\xff\xff.", "65535"),
	GOOD("BININT2", "M\1\2.", "513"), /* 2 * 256 + 1 */
	GOOD("LONG", "L18446744073709551615L\n.", "18446744073709551615u"),
	GOOD("LONG", "L-7L\n.", "-7"),
	GOOD("LONG", "L7\n.", "7"),
	GOOD("LONG1", "\x8a\0.", "0"),
	GOOD("LONG1", "\x8a\1\xff.", "-1"),
	GOOD("LONG1", "\x8a\2\xff\0.", "255"),
	GOOD("LONG1", "\x8a\6\0\0\0\0\0\x7f.", "139637976727552"), /* 0x7f << 40 */
	GOOD("LONG1", "\x8a\x8\xff\xff\xff\xff\xff\xff\xff\x7f.", "9223372036854775807"),
	GOOD("LONG1", "\x8a\x8\0\0\0\0\0\0\0\x80.", "-9223372036854775808"),
	GOOD("LONG1", "\x8a\x9\0\0\0\0\0\0\0\x80\0.", "9223372036854775808u"),
	GOOD("LONG1", "\x8a\x9\xff\xff\xff\xff\xff\xff\xff\xff\0.", "18446744073709551615u"),
	GOOD("LONG1", "\x8a\x9\0\0\0\0\0\0\0\x80\xff.", "-9223372036854775808"),
	GOOD("LONG1", "\x8a\x9\5\0\0\0\0\0\0\0\0.", "5"), /* longer than it need be */
	GOOD("LONG4", "\x8b\2\0\0\0\xff\x7f.", "32767"),
	GOOD("LONG4", "\x8b\0\0\0\0.", "0"),
	GOOD("FLOAT", "F2.5\n.", "2.5000000000000000"),
	GOOD("FLOAT", "F-1e-05\n.", "-1.0000000000000001e-05"),
	GOOD("FLOAT", "Finf\n.", "inf"),
	GOOD("FLOAT", "F-inf\n.", "-inf"),
	GOOD("BINFLOAT", "G\x40\x04\0\0\0\0\0\0.", "2.5000000000000000"),
	GOOD("BINFLOAT", "G\x7f\xf0\0\0\0\0\0\0.", "inf"),

	/* texts and bytes */
	GOOD("STRING", "S'it''s'\n.", "'it''s'"),
	GOOD("STRING", "S\"a\\n\\x41\\101\\0z\\\\\"\n.", "'a\\x0aAA\\x00z\\'"),
	GOOD("BINSTRING", "T\2\0\0\0ab.", "'ab'"),
	GOOD("SHORT_BINSTRING", "U\2\377b.", "'\\xffb'"),
	GOOD("UNICODE", "V\\u0039b\n.", "'9b'"),
	GOOD("UNICODE", "V\n.", "''"),
	GOOD("UNICODE", "V\\u20ac\\U0001f600\n.", "'\\xe2\\x82\\xac\\xf0\\x9f\\x98\\x80'"),
	GOOD("UNICODE", "V\\u007f\\u0080\\u07ff\\u0800\n.",
	     "'\\x7f\\xc2\\x80\\xdf\\xbf\\xe0\\xa0\\x80'"),
	GOOD("UNICODE", "V\\uffff\\U00010000\\U0010ffff\n.",
	     "'\\xef\\xbf\\xbf\\xf0\\x90\\x80\\x80\\xf4\\x8f\\xbf\\xbf'"),
	GOOD("UNICODE", "V\xe9\\u005c\\x\n.", "'\\xc3\\xa9\\\\x'"), /* Latin-1 */
	GOOD("UNICODE", "V\\\\u0041\n.", "'\\\\u0041'"), /* neither backslash begins an escape */
	GOOD("BINUNICODE", "X\3\0\0\0\xe2\x82\xac.", "'\\xe2\\x82\\xac'"),
	GOOD("SHORT_BINUNICODE", "\x8c\0.", "''"),
	GOOD("SHORT_BINUNICODE", "\x8c\3a\0b.", "'a\\x00b'"),
	GOOD("BINUNICODE8", "\x8d\2\0\0\0\0\0\0\0ab.", "'ab'"),
	GOOD("BINBYTES", "B\2\0\0\0ab.", "b'ab'"),
	GOOD("SHORT_BINBYTES", "C\2ab.", "b'ab'"),
	GOOD("BINBYTES8", "\x8e\2\0\0\0\0\0\0\0ab.", "b'ab'"),
	GOOD("BYTEARRAY8", "\x96\2\0\0\0\0\0\0\0ab.", "b'ab'"),

	/* lists, tuples, sets */
	GOOD("EMPTY_LIST", "].", "[]"),
	GOOD("APPEND", "]K\1aK\2aK\3a.", "[1, 2, 3]"),
	GOOD("APPEND", "(]K\1aK\2t.", "([1], 2)"),
	GOOD("APPENDS", "](K\1K\2e(K\3e.", "[1, 2, 3]"),
	GOOD("APPENDS", "](e.", "[]"),
	GOOD("LIST", "(K\1Nl.", "[1, None]"),
	GOOD("EMPTY_TUPLE", ").", "()"),
	GOOD("TUPLE", "(K\1K\2K\3K\4t.", "(1, 2, 3, 4)"),
	GOOD("TUPLE1", "K\1\x85.", "(1)"),
	GOOD("TUPLE2", "K\1K\2\x86.", "(1, 2)"),
	GOOD("TUPLE3", "K\1K\2K\3\x87.", "(1, 2, 3)"),
	GOOD("EMPTY_SET", "\x8f.", "[]"),
	GOOD("ADDITEMS", "\x8f(K\1K\2\x90.", "[1, 2]"),
	GOOD("FROZENSET", "(K\1K\2\x91.", "[1, 2]"),

	/* dicts */
	GOOD("EMPTY_DICT", "}.", "{}"),
	GOOD("DICT", "(K\1NK\2\210d.", "{1: None, 2: True}"),
	GOOD("SETITEM", "}K\1NsK\2\x88s.", "{1: None, 2: True}"),
	GOOD("SETITEM", "}K\1NsK\2NsK\1K\7s.", "{1: 7, 2: None}"), /* the last one wins */
	GOOD("SETITEMS", "}(K\1NK\2\x88u.", "{1: None, 2: True}"),
	GOOD("SETITEMS", "}(K\1NK\2NK\1K\7u.", "{1: 7, 2: None}"),
	GOOD("SETITEMS", "}(K\1NK\2Nu(K\2K\4K\3K\5u.", "{1: None, 2: 4, 3: 5}"),
	GOOD("SETITEMS", "}(u.", "{}"),

	/* the memo */
	GOOD("GET", "](K\1eq\0(g0\ng0\nt.", "([1], [1])"),
	GOOD("BINGET", "K\5q\0h\0\x86.", "(5, 5)"),
	GOOD("LONG_BINGET", "K\5q\0j\0\0\0\0\x86.", "(5, 5)"),
	GOOD("PUT", "K\5p1\n0g1\n.", "5"),
	GOOD("BINPUT", "K\5q\0010h\1.", "5"),
	GOOD("LONG_BINPUT", "K\5r\1\0\0\0000h\1.", "5"),
	GOOD("MEMOIZE", "K\5\x94K\6\x94h\1h\0\x87.", "(6, 6, 5)"),
	GOOD("MEMOIZE", "K\5q\0K\6\x94h\1.", "6"),    /* an entry put counts */
	GOOD("MEMOIZE", "K\5q\0q\0K\6\x94h\1.", "6"), /* once */

	/* harmless classes */
	GOOD("GLOBAL", "c__builtin__\ndict\n.", "<__builtin__.dict>"),
	GOOD("STACK_GLOBAL", "\x8c\010builtins\x8c\4dict\x93.", "<builtins.dict>"),
	GOOD("REDUCE", "ccollections\nOrderedDict\n)R.", "{}"),
	GOOD("REDUCE", "ccollections\ndefaultdict\n)R.", "{}"),
	GOOD("REDUCE", "ccollections\ndefaultdict\ncbuiltins\ndict\n\x85R(K\1Nu.", "{1: None}"),
	GOOD("REDUCE", "ctorch\nSize\nK\2K\3\x86\x85R.", "(2, 3)"),
};

static const struct pickle_case bad_cases[] = {
	/* no pickle, or not all of one */
	BAD("", "", EMPTY, 0, "no pickle: no byte"),
	BAD("", "{\"segments\": []}", FORMAT, 0, "not a pickle: begins with byte 0x7b"),
	BAD("", "\x80\4Nz.", DAMAGED, 3, "pickle: byte 0x7a is no opcode"),
	BAD("", "\x80\4N", DAMAGED, 3, "pickle: truncated: ends without STOP"),
	BAD("PROTO", "\x80", DAMAGED, 0, "PROTO: truncated after 0 of 1 bytes"),
	BAD("PROTO", "\x80\6N.", UNSUPPORTED, 0, "PROTO: protocol 6; 0 to 5 are read"),
	BAD("FRAME", "\x80\4\x95\3\0\0\0\0\0\0\0N.", DAMAGED, 2,
	    "FRAME: ends at byte 14, behind the end of the input"), /* 2 + 9 + 3; it has 13 */
	BAD("FRAME", "\x95\xff\xff\xff\xff\xff\xff\xff\xffN.", DAMAGED, 0,
	    "FRAME: ends at byte 18446744073709551615, behind the end of the input"),
	BAD("FRAME", "\x95\1\0\0", DAMAGED, 0, "FRAME: truncated after 3 of 8 bytes"),
	BAD("BININT", "NJ\1\2", DAMAGED, 1, "BININT: truncated after 2 of 4 bytes"),
	BAD("BINUNICODE", "X\5\0\0\0ab", DAMAGED, 0, "BINUNICODE: truncated after 2 of 5 bytes"),
	BAD("BINUNICODE8", "\x8d\0\0\0\3\0\0\0\0ab", DAMAGED, 0,
	    "BINUNICODE8: truncated after 2 of 50331648 bytes"),
	BAD("INT", "I12", DAMAGED, 0, "INT: truncated: no end of line"),
	BAD("GLOBAL", "cos\nsystem", DAMAGED, 0, "GLOBAL: truncated: no end of line"),

	/* lengths that nobody means */
	BAD("BINUNICODE8", "\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", LIMIT, 0,
	    "BINUNICODE8: a text of more than 67108864 bytes (limit: text bytes)"),
	BAD("BINBYTES", "B\xff\xff\xff\xff.", LIMIT, 0,
	    "BINBYTES: a text of more than 67108864 bytes (limit: text bytes)"),
	BAD("BINSTRING", "T\xff\xff\xff\xff.", DAMAGED, 0, "BINSTRING: a negative length"),
	BAD("LONG4", "\x8b\xff\xff\xff\xff.", DAMAGED, 0, "LONG4: a negative length"),
	BAD("LONG4", "\x8b\xff\xff\xff\x7f.", UNSUPPORTED, 0,
	    "LONG4: an integer of 2147483647 bytes; up to 9 are read"),
	BAD("LONG1", "\x8a\xff.", UNSUPPORTED, 0,
	    "LONG1: an integer of 255 bytes; up to 9 are read"),

	/* numbers and texts that are none */
	BAD("LONG1", "\x8a\x9\0\0\0\0\0\0\0\0\1.", UNSUPPORTED, 0,
	    "LONG1: an integer of more than 64 bits"), /* 2^64 */
	BAD("LONG1", "\x8a\x9\xff\xff\xff\xff\xff\xff\xff\x7f\xff.", UNSUPPORTED, 0,
	    "LONG1: an integer of more than 64 bits"), /* -2^63 - 1 */
	BAD("LONG1", "\x8a\xa\0\0\0\0\0\0\0\0\0\1.", UNSUPPORTED, 0,
	    "LONG1: an integer of more than 64 bits"),
	BAD("LONG1", "\x80\2\x8a\xa\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", UNSUPPORTED, 2,
	    "LONG1: a checkpoint of torch.save, not plain data"),
	BAD("LONG", "L18446744073709551616L\n.", UNSUPPORTED, 0,
	    "LONG: an integer of more than 64 bits"),
	BAD("LONG", "L-9223372036854775809L\n.", UNSUPPORTED, 0,
	    "LONG: an integer of more than 64 bits"),
	BAD("INT", "I1x\n.", DAMAGED, 0, "INT: no integer but \"1x\""),
	BAD("INT", "I\n.", DAMAGED, 0, "INT: no integer but \"\""),
	BAD("INT", "I-\n.", DAMAGED, 0, "INT: no integer but \"-\""),
	BAD("FLOAT", "F1.5.5\n.", DAMAGED, 0, "FLOAT: no real number but \"1.5.5\""),
	BAD("FLOAT", "F\"1\"\n.", DAMAGED, 0, "FLOAT: no real number but \"\"1\"\""),
	BAD("FLOAT", "F\n.", DAMAGED, 0, "FLOAT: no real number but \"\""),
	BAD("STRING", "S'a\n.", DAMAGED, 0, "STRING: a text with a wrong escape or quote"),
	BAD("STRING", "S'\n.", DAMAGED, 0, "STRING: a text with a wrong escape or quote"),
	BAD("STRING", "Sab\n.", DAMAGED, 0, "STRING: a text with a wrong escape or quote"),
	BAD("STRING", "S'\\q'\n.", DAMAGED, 0, "STRING: a text with a wrong escape or quote"),
	BAD("STRING", "S'\\x4'\n.", DAMAGED, 0, "STRING: a text with a wrong escape or quote"),
	BAD("STRING", "S'\\'\n.", DAMAGED, 0, "STRING: a text with a wrong escape or quote"),
	BAD("UNICODE", "V\\u12g4\n.", DAMAGED, 0, "UNICODE: a text with a wrong escape or quote"),
	BAD("UNICODE", "V\\u123\n.", DAMAGED, 0, "UNICODE: a text with a wrong escape or quote"),
	BAD("UNICODE", "V\\U00110000\n.", DAMAGED, 0,
	    "UNICODE: a text with a wrong escape or quote"),

	/* a stack that does not hold what the opcode needs */
	BAD("STOP", ".", DAMAGED, 0, "STOP: needs 1 value, but there are 0"),
	BAD("STOP", "N(.", DAMAGED, 2, "STOP: needs 1 value, but there are 0"),
	BAD("POP", "0", DAMAGED, 0, "POP: needs 1 value, but there are 0"),
	BAD("POP_MARK", "N1", DAMAGED, 1, "POP_MARK: no MARK comes before it"),
	BAD("DUP", "2", DAMAGED, 0, "DUP: needs 1 value, but there are 0"),
	BAD("TUPLE1", "\x85", DAMAGED, 0, "TUPLE1: needs 1 value, but there are 0"),
	BAD("TUPLE3", "N(N\x87", DAMAGED, 3, "TUPLE3: needs 3 values, but there is 1"),
	BAD("TUPLE", "Nt", DAMAGED, 1, "TUPLE: no MARK comes before it"),
	BAD("APPEND", "Na", DAMAGED, 1, "APPEND: needs 2 values, but there is 1"),
	BAD("APPEND", "](Na", DAMAGED, 3, "APPEND: needs 2 values, but there is 1"),
	BAD("APPEND", "}Na", DAMAGED, 2, "APPEND: would add to a dict"),
	BAD("APPENDS", "](N(e", DAMAGED, 4, "APPENDS: would add to None"),
	BAD("APPENDS", "(Ne", DAMAGED, 2, "APPENDS: no value to add to"),
	BAD("APPENDS", "]((e", DAMAGED, 3, "APPENDS: no value to add to"),
	BAD("APPENDS", ")(e", DAMAGED, 2, "APPENDS: would add to a tuple"),
	BAD("ADDITEMS", "}(\x90", DAMAGED, 2, "ADDITEMS: would add to a dict"),
	BAD("SETITEM", "}Ns", DAMAGED, 2, "SETITEM: needs 3 values, but there are 2"),
	BAD("SETITEM", "]NNs", DAMAGED, 3, "SETITEM: would add to a list"),
	BAD("SETITEMS", "}(NNNu", DAMAGED, 5, "SETITEMS: the last of 2 keys has no value"),
	BAD("SETITEMS", "C\1x(NNu", DAMAGED, 6, "SETITEMS: would add to bytes"),
	BAD("DICT", "(Nd", DAMAGED, 2, "DICT: the last of 1 keys has no value"),

	/* the memo */
	BAD("BINGET", "Nq\0h\7", DAMAGED, 3, "BINGET: the memo has no entry 7"),
	BAD("LONG_BINGET", "Nq\0j\xff\xff\xff\xff", DAMAGED, 3,
	    "LONG_BINGET: the memo has no entry 4294967295"),
	BAD("GET", "g18446744073709551615\n", DAMAGED, 0,
	    "GET: the memo has no entry 18446744073709551615"),
	BAD("GET", "g-1\n", DAMAGED, 0, "GET: no number but \"-1\""),
	BAD("GET", "g1x\n", DAMAGED, 0, "GET: no number but \"1x\""),
	BAD("PUT", "p0\n", DAMAGED, 0, "PUT: needs 1 value, but there are 0"),
	BAD("PUT", "Np2\n", DAMAGED, 1, "PUT: entry 2 of the memo after 1 bytes"),
	BAD("BINPUT", "Nq\2", DAMAGED, 1, "BINPUT: entry 2 of the memo after 1 bytes"),
	BAD("LONG_BINPUT", "Nr\xff\xff\xff\xff", DAMAGED, 1,
	    "LONG_BINPUT: entry 4294967295 of the memo after 1 bytes"),
	BAD("MEMOIZE", "\x94", DAMAGED, 0, "MEMOIZE: needs 1 value, but there are 0"),

	/* more than plain data */
	BAD("GLOBAL", "\x80\2cos\nsystem\nX\2\0\0\0id\x85R.", UNSUPPORTED, 2,
	    "GLOBAL: would import os.system; only plain data is read"),
	BAD("GLOBAL", "cbuiltins\nlist\n.", UNSUPPORTED, 0,
	    "GLOBAL: would import builtins.list; only plain data is read"),
	BAD("GLOBAL", "c\n\n.", UNSUPPORTED, 0, "GLOBAL: would import .; only plain data is read"),
	BAD("GLOBAL", "ctorch._utils\n_rebuild_tensor_v2\n.", UNSUPPORTED, 0,
	    "GLOBAL: would import torch._utils._rebuild_tensor_v2, as a checkpoint of torch.save "
	    "does; only plain data is read"),
	BAD("STACK_GLOBAL", "\x8c\2os\x8c\6system\x93\x8c\2id\x85R.", UNSUPPORTED, 12,
	    "STACK_GLOBAL: would import os.system; only plain data is read"),
	BAD("STACK_GLOBAL", "N\x8c\1x\x93", DAMAGED, 4,
	    "STACK_GLOBAL: module and name are no texts"),
	BAD("STACK_GLOBAL", "N\x93", DAMAGED, 1, "STACK_GLOBAL: needs 2 values, but there is 1"),
	BAD("REDUCE", "N)R", UNSUPPORTED, 2, "REDUCE: would call None; only plain data is read"),
	BAD("REDUCE", "NR", DAMAGED, 1, "REDUCE: needs 2 values, but there is 1"),
	BAD("REDUCE", "cbuiltins\ndict\n)R", UNSUPPORTED, 16,
	    "REDUCE: would call builtins.dict with other arguments than plain data has"),
	BAD("REDUCE", "ccollections\nOrderedDict\n]\x85R", UNSUPPORTED, 27,
	    "REDUCE: would call collections.OrderedDict with other arguments than plain data has"),
	BAD("REDUCE", "ccollections\nOrderedDict\nNR", UNSUPPORTED, 26,
	    "REDUCE: would call collections.OrderedDict with other arguments than plain data has"),
	BAD("REDUCE", "ccollections\ndefaultdict\nN\x85R", UNSUPPORTED, 27,
	    "REDUCE: would call collections.defaultdict with other arguments than plain data has"),
	BAD("REDUCE", "ccollections\ndefaultdict\nctorch\nSize\n\x85R", UNSUPPORTED, 38,
	    "REDUCE: would call collections.defaultdict with other arguments than plain data has"),
	BAD("REDUCE", "ctorch\nSize\n]\x85R", UNSUPPORTED, 14,
	    "REDUCE: would call torch.Size with other arguments than plain data has"),
	BAD("REDUCE", "ctorch\nSize\n))\x86R", UNSUPPORTED, 15,
	    "REDUCE: would call torch.Size with other arguments than plain data has"),
	BAD("BUILD", "N}b", UNSUPPORTED, 2,
	    "BUILD: would set the state of an object; only plain data is read"),
	BAD("INST", "(ios\nsystem\n.", UNSUPPORTED, 1,
	    "INST: would import os.system; only plain data is read"),
	BAD("INST", "(icollections\nOrderedDict\n.", UNSUPPORTED, 1,
	    "INST: would import collections.OrderedDict; only plain data is read"),
	BAD("OBJ", "(No", UNSUPPORTED, 2,
	    "OBJ: would make an object of a class; only plain data is read"),
	BAD("NEWOBJ", "N)\x81", UNSUPPORTED, 2,
	    "NEWOBJ: would make an object of a class; only plain data is read"),
	BAD("NEWOBJ_EX", "N)}\x92", UNSUPPORTED, 3,
	    "NEWOBJ_EX: would make an object of a class; only plain data is read"),
	BAD("EXT1", "\x82\1", UNSUPPORTED, 0,
	    "EXT1: would use a registered extension; only plain data is read"),
	BAD("EXT2", "\x83\1\0", UNSUPPORTED, 0,
	    "EXT2: would use a registered extension; only plain data is read"),
	BAD("EXT4", "\x84\1\0\0\0", UNSUPPORTED, 0,
	    "EXT4: would use a registered extension; only plain data is read"),
	BAD("PERSID", "P1\n.", UNSUPPORTED, 0,
	    "PERSID: would load a persistent object; only plain data is read"),
	BAD("BINPERSID", "NQ.", UNSUPPORTED, 1,
	    "BINPERSID: would load a persistent object; only plain data is read"),
	BAD("NEXT_BUFFER", "\x97.", UNSUPPORTED, 0,
	    "NEXT_BUFFER: would take a buffer from outside the pickle; only plain data is read"),
	BAD("READONLY_BUFFER", "N\x98.", UNSUPPORTED, 1,
	    "READONLY_BUFFER: would take a buffer from outside the pickle; only plain data is "
	    "read"),
};

TEST(test_good)
{
	for (size_t i = 0; i < TSI_COUNT_OF(good_cases); i++) {
		const struct pickle_case *c = &good_cases[i];
		check_dump(c->opcode, c->data, c->length, c->expected);
	}
}

TEST(test_bad)
{
	for (size_t i = 0; i < TSI_COUNT_OF(bad_cases); i++) {
		const struct pickle_case *c = &bad_cases[i];
		check_failure(c->data, c->length, NULL, c->status, c->expected, c->offset);
	}
}

static bool has_case(const struct pickle_case *cases, size_t count, const char *opcode)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(cases[i].opcode, opcode) == 0)
			return true;
	return false;
}

/* The 68 of Python's pickletools: each is read or refused above; a byte that is none, nowhere. */
TEST(test_all_opcodes)
{
	size_t count = 0;

	for (unsigned byte = 0; byte < 256; byte++) {
		const char *name = tsi_pickle_opcodes[byte].name;
		char data = (char)byte, message[80];
		if (name) {
			count++;
			if (!has_case(good_cases, TSI_COUNT_OF(good_cases), name) &&
			    !has_case(bad_cases, TSI_COUNT_OF(bad_cases), name))
				fail_msg("no case for %s", name);
			continue;
		}
		snprintf(message, sizeof(message), "not a pickle: begins with byte 0x%02x", byte);
		check_failure(&data, 1, NULL, TSCOPE_E_FORMAT, message, 0);
	}
	assert_int_equal(count, 68);
}

/* ---- whole pickles ----------------------------------------------------------------------- */

/* {'segments': [], 'device_traces': [[{'action': 'alloc', 'addr': 140737488355328, 'size': 512,
 * 'frames': [f, f]}, the same again]]}, f = {'name': 'g', 'line': 7}, as Python writes it. */
static const char small[] =
	"\x80\4\x95\x81\0\0\0\0\0\0\0}\x94(\x8c\x8segments\x94]\x94\x8c\xd"
	"device_traces\x94]\x94]\x94("
	"}\x94(\x8c\6action\x94\x8c\5alloc\x94\x8c\4"
	"addr\x94\x8a\7\0\0\0\0\0\x80\0\x8c\4size\x94M\0\2"
	"\x8c\6"
	"frames\x94]\x94(}\x94(\x8c\4name\x94\x8c\1g\x94\x8c\4line\x94K\7uh\reuh\6e"
	"au.";

static const char small_dump[] =
	"{'segments': [], 'device_traces': [[{'action': 'alloc', 'addr': 140737488355328, 'size': "
	"512, "
	"'frames': [{'name': 'g', 'line': 7}, {'name': 'g', 'line': 7}]}, "
	"{'action': 'alloc', 'addr': 140737488355328, 'size': 512, "
	"'frames': [{'name': 'g', 'line': 7}, {'name': 'g', 'line': 7}]}]]}";

TEST(test_small)
{
	check_dump("small", small, sizeof(small) - 1, small_dump);
}

#if HAVE_ZLIB
TEST(test_compressed)
{
	struct bytes packed = { 0 };

	bytes_add_gzip(&packed, small, sizeof(small) - 1);
	check_dump("gzip", packed.data, packed.length, small_dump);
	bytes_reset(&packed);
}
#endif

/* What a text says about the place is the opcode's byte, which is before the cut. */
TEST(test_truncated)
{
	static const char lines[] =
		"(dp0\nVsize\np1\nI512\nsVratio\np2\nF0.5\nsS'x'\n(lp3\nL1L\nas.";
	static const struct {
		const char *data;
		size_t length;
	} whole[] = { { small, sizeof(small) - 1 }, { lines, sizeof(lines) - 1 } };

	for (size_t w = 0; w < TSI_COUNT_OF(whole); w++) {
		for (size_t length = 0; length <= whole[w].length; length++) {
			struct tscope_error err = { 0 };
			struct plain *p;
			char *part = malloc(length + 1); /* a read behind it is seen */
			memcpy(part, whole[w].data, length);
			enum tscope_status status = read_with(&p, part, length, NULL, 0, &err);

			tsi_plain_free(p);
			free(part);
			if (length == whole[w].length) {
				assert_int_equal(status, TSCOPE_OK);
				continue;
			}
			assert_int_equal(status, length ? TSCOPE_E_DAMAGED : TSCOPE_E_EMPTY);
			assert_true(err.has_offset && err.offset <= length);
			if (length && !strstr(err.message, "truncated"))
				fail_msg("cut at %zu: %s", length, err.message);
		}
	}
}

TEST(test_stream_facts)
{
	struct plain *p = READ("\x80\3N.");

	assert_int_equal(tsi_pickle_protocol(p), 3);
	assert_int_equal(tsi_plain_trailing_bytes(p), 0);
	tsi_plain_free(p);

	p = READ("N.N.xyz"); /* what follows is not looked at, be it a pickle or not */
	assert_int_equal(tsi_pickle_protocol(p), 0);
	assert_int_equal(tsi_plain_trailing_bytes(p), 5);
	tsi_plain_free(p);
	tsi_plain_free(NULL);
}

/* ---- the graph ------------------------------------------------------------------------------ */

TEST(test_shared)
{
	/* r = [a, a, r] with a = [] */
	struct plain *p = READ("]\x94(]\x94h\1h\0e.");
	struct plain_value root = tsi_plain_root(p);

	assert_int_equal(tsi_plain_length(p, root), 3);
	assert_int_equal(tsi_plain_item(p, root, 2).word, root.word);
	assert_int_equal(tsi_plain_item(p, root, 0).word, tsi_plain_item(p, root, 1).word);
	assert_int_not_equal(tsi_plain_item(p, root, 0).word, root.word);
	assert_int_equal(tsi_plain_object_count(p), 2);
	assert_int_equal(tsi_plain_object_index(root), 0);
	assert_int_equal(tsi_plain_object_index(tsi_plain_item(p, root, 0)), 1);
	tsi_plain_free(p);
}

/* A memoised list grows where it is referred to already. */
TEST(test_grows_behind_references)
{
	static const char data[] = "]\x94K\1ah\0(K\2K\3e\x86h\0K\4a0.";

	check_dump("list", data, sizeof(data) - 1, "([1, 2, 3, 4], [1, 2, 3, 4])");
}

TEST(test_equal_texts)
{
	struct plain *p = READ("(\x8c\1a\x8c\1aC\1aX\1\0\0\0at.");
	struct plain_value root = tsi_plain_root(p);
	struct plain_value first = tsi_plain_item(p, root, 0);

	assert_int_equal(tsi_plain_item(p, root, 1).word, first.word);
	assert_int_equal(tsi_plain_item(p, root, 3).word, first.word);
	assert_int_not_equal(tsi_plain_item(p, root, 2).word, first.word); /* bytes are no text */
	assert_int_equal(tsi_plain_name(p, TSI_STR("a")).word, first.word);
	assert_int_equal(tsi_plain_name(p, TSI_STR("b")).word, 0);
	assert_int_equal(tsi_plain_text_index(first), 1); /* 0 is the empty text */
	assert_int_equal(tsi_plain_text_count(p), 2);
	tsi_plain_free(p);
}

/* Thirty lists, each holding the one before it twice: 2^30 leaves, were it a tree. */
TEST(test_is_no_tree)
{
	struct bytes data = { 0 };

	bytes_add_literal(&data, "N\x94");
	for (unsigned char i = 0; i < 30; i++) {
		char level[] = { '(', 'h', (char)i, 'h', (char)i, 'l', '\x94' };
		bytes_add(&data, level, sizeof(level));
	}
	bytes_add_literal(&data, ".");
	struct plain *p = read_whole(data.data, data.length);
	assert_int_equal(tsi_plain_object_count(p), 30);
	tsi_plain_free(p);
	bytes_reset(&data);
}

static void add_number(struct bytes *data, uint32_t number)
{
	char opcode[] = { 'J', (char)number, (char)(number >> 8), (char)(number >> 16),
			  (char)(number >> 24) };
	bytes_add(data, opcode, sizeof(opcode));
}

/* Items are packed by the largest of them, or stored whole when their kinds differ. */
TEST(test_packing)
{
	static const uint32_t largest[] = { 0,       0xff,     0x100,     0xffff,
					    0x10000, 0xffffff, 0x1000000, 0x7ffffff };

	for (size_t i = 0; i < TSI_COUNT_OF(largest); i++) {
		for (int is_mixed = 0; is_mixed < 2; is_mixed++) {
			struct bytes data = { 0 };
			int64_t number = -1;

			bytes_add_literal(&data, "](K\1K\2");
			add_number(&data, largest[i]);
			bytes_add(&data, is_mixed ? "N" : "K\3", is_mixed ? 1 : 2);
			bytes_add_literal(&data, "e.");
			struct plain *p = read_whole(data.data, data.length);
			struct plain_value list = tsi_plain_root(p), items[9];

			assert_int_equal(tsi_plain_length(p, list), 4);
			assert_int_equal(tsi_plain_items(p, list, 0, items, 9), 4);
			assert_true(tsi_plain_to_int64(p, items[2], &number));
			assert_int_equal(number, largest[i]);
			assert_true(tsi_plain_to_int64(p, items[1], &number));
			assert_int_equal(number, 2);
			assert_int_equal(tsi_plain_kind(items[3]),
					 is_mixed ? PLAIN_NONE : PLAIN_INT);
			tsi_plain_free(p);
			bytes_reset(&data);
		}
	}
}

/* A list of count numbers, added `batch` at a time: one by one as protocol 0 does, a thousand as later ones. */
static struct plain *read_range(uint32_t count, uint32_t batch)
{
	struct bytes data = { 0 };

	bytes_add_literal(&data, "]");
	for (uint32_t i = 0; i < count; i++) {
		if (i % batch == 0)
			bytes_add_literal(&data, "(");
		add_number(&data, i * 3);
		if (i % batch == batch - 1 || i == count - 1)
			bytes_add_literal(&data, "e");
	}
	bytes_add_literal(&data, ".");
	struct plain *p = read_whole(data.data, data.length);
	bytes_reset(&data);
	return p;
}

/* 4096 words and more are elsewhere, see CONTENT_WORDS_MAX. */
TEST(test_long_lists)
{
	static const uint32_t counts[] = { 1,  2,    3,    4,    5,    63,   64,
					   65, 1000, 4094, 4095, 4096, 4097, 9000 };
	static const uint32_t batches[] = { 1, 2, 3, 1000, 4095, 4096, 9000 };

	for (size_t c = 0; c < TSI_COUNT_OF(counts); c++) {
		for (size_t b = 0; b < TSI_COUNT_OF(batches); b++) {
			struct plain *p = read_range(counts[c], batches[b]);
			struct plain_value list = tsi_plain_root(p), items[7] = { 0 };

			assert_int_equal(tsi_plain_length(p, list), counts[c]);
			for (uint32_t i = 0; i < counts[c]; i++) {
				int64_t number = -1;
				assert_true(
					tsi_plain_to_int64(p, tsi_plain_item(p, list, i), &number));
				assert_int_equal(number, i * 3);
			}
			assert_int_equal(tsi_plain_item(p, list, counts[c]).word, 0);
			assert_int_equal(tsi_plain_items(p, list, counts[c] - 1, items, 7), 1);
			assert_int_equal(tsi_plain_items(p, list, counts[c], items, 7), 0);
			assert_int_equal(tsi_plain_items(p, list, SIZE_MAX, items, 7), 0);
			tsi_plain_free(p);
		}
	}
}

/* ---- dicts ---------------------------------------------------------------------------------- */

/* A dict of count pairs {base + i: i}, each set twice, the second value i + 1. */
static struct plain *read_dict(uint32_t count, uint32_t base, bool is_batched)
{
	struct bytes data = { 0 };

	bytes_add_literal(&data, "}");
	for (uint32_t pass = 0; pass < 2; pass++) {
		if (is_batched)
			bytes_add_literal(&data, "(");
		for (uint32_t i = 0; i < count; i++) {
			add_number(&data, base + i);
			add_number(&data, i + pass);
			if (!is_batched)
				bytes_add_literal(&data, "s");
		}
		if (is_batched)
			bytes_add_literal(&data, "u");
	}
	bytes_add_literal(&data, ".");
	struct plain *p = read_whole(data.data, data.length);
	bytes_reset(&data);
	return p;
}

static int64_t number_of(const struct plain *p, struct plain_value value)
{
	int64_t number = INT64_MIN;
	assert_true(tsi_plain_to_int64(p, value, &number));
	return number;
}

/* Small keys are values; from 2^27 on, equal ones have to be found to be equal. */
TEST(test_dicts_of_many_keys)
{
	static const uint32_t counts[] = { 1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 66, 200, 5000 };
	static const uint32_t bases[] = { 0, UINT32_C(1) << 28 };

	for (size_t c = 0; c < 2 * 2 * TSI_COUNT_OF(counts); c++) {
		uint32_t count = counts[c / 4], base = bases[c % 2];
		struct plain *p = read_dict(count, base, c % 4 < 2);
		struct plain_value dict = tsi_plain_root(p);

		assert_int_equal(tsi_plain_length(p, dict), count);
		for (uint32_t i = 0; i < count; i++) {
			struct plain_value key = tsi_plain_key(p, dict, i);
			assert_int_equal(number_of(p, key), base + i);
			assert_int_equal(number_of(p, tsi_plain_value(p, dict, i)), i + 1);
			assert_int_equal(number_of(p, tsi_plain_get(p, dict, key)), i + 1);
		}
		assert_int_equal(tsi_plain_key(p, dict, count).word, 0);
		assert_int_equal(tsi_plain_value(p, dict, count).word, 0);
		tsi_plain_free(p);
	}
}

/* The same keys in another order, a part of them, one more, one other: each dict keeps its own. */
TEST(test_dicts_alike)
{
	static const char data[] = "(}(K\1K\2K\3K\4u}(K\3K\5K\1K\6u}(K\1K\7u"
				   "}(K\1K\x8K\3K\x9K\5K\xau}(K\1K\xbK\5K\xcu}"
				   "}(K\1K\xdK\3K\xeK\5K\xfu}(K\1K\x10K\5K\x11ul.";

	check_dump("alike", data, sizeof(data) - 1,
		   "[{1: 2, 3: 4}, {3: 5, 1: 6}, {1: 7}, {1: 8, 3: 9, 5: 10}, {1: 11, 5: 12}, {}, "
		   "{1: 13, 3: 14, 5: 15}, {1: 16, 5: 17}]");
}

/* Reals, tuples, None and texts are keys as well; 1, 1.0 and True are three, unlike in Python. */
TEST(test_keys_of_other_kinds)
{
	static const char data[] = "}(G\x3f\xf0\0\0\0\0\0\0K\1K\1K\2\x88K\3NK\4\x8c\1aK\5C\1aK\6"
				   "G\x3f\xf0\0\0\0\0\0\0K\7u.";

	check_dump("keys", data, sizeof(data) - 1,
		   "{1.0000000000000000: 7, 1: 2, True: 3, None: 4, 'a': 5, b'a': 6}");
}

TEST(test_find)
{
	struct plain *p = READ("}(\x8c\4sizeK\5\x8c\4nameN\x8c\4size\x8c\4sizeu.");
	struct plain_value dict = tsi_plain_root(p);

	assert_true(
		tsi_str_is(tsi_plain_text(p, tsi_plain_find(p, dict, TSI_STR("size"))), "size"));
	assert_int_equal(tsi_plain_kind(tsi_plain_find(p, dict, TSI_STR("name"))), PLAIN_NONE);
	assert_int_equal(tsi_plain_find(p, dict, TSI_STR("none")).word, 0);
	assert_int_equal(tsi_plain_find(p, dict, TSI_STR("")).word, 0); /* a text, but no key */
	tsi_plain_free(p);
}

/* ---- memory -------------------------------------------------------------------------------- */

/* A thousand dicts of three keys: the keys are there once, the values in four words each. */
TEST(test_keys_are_stored_once)
{
	struct bytes data = { 0 };

	bytes_add_literal(&data, "(");
	for (int i = 0; i < 1000; i++)
		bytes_add_literal(&data, "}(U\1aNU\1bNU\1cNu");
	bytes_add_literal(&data, "t.");
	struct plain *p = read_whole(data.data, data.length);
	/* None, abc */
	assert_int_equal(p->shapes.count, 2);
	/* The tuple's are 1 and 1000 * 2 bytes. */
	assert_int_equal(p->contents.count, 1 + 1000 * 4 + 1 + 501);
	tsi_plain_free(p);
	bytes_reset(&data);
}

/* A hundred references to one of less than 256 objects: a byte each, and what is read behind the last. */
TEST(test_references_are_packed)
{
	struct bytes data = { 0 };

	bytes_add_literal(&data, "}\x94(");
	for (int i = 0; i < 100; i++)
		bytes_add_literal(&data, "h\0");
	bytes_add_literal(&data, "l.");
	struct plain *p = read_whole(data.data, data.length);
	assert_int_equal(p->contents.count, 1 + 1 + (99 + 4 + 3) / 4);
	tsi_plain_free(p);
	bytes_reset(&data);
}

/* ---- lists that are written again ---------------------------------------------------------- */

#define ITEMS "h\0h\1h\0h\1h\0h\1h\0h\1"
#define SHOWN "1, 2, 1, 2, 1, 2, 1, 2"
#define AGAIN(data, expected) GOOD("APPENDS", "(K\1q\0000K\2q\0010](" ITEMS "e" data, expected)

/* Whatever happens between, before and after, each list has its own items. */
TEST(test_repeated_lists)
{
	static const struct pickle_case cases[] = {
		AGAIN("](" ITEMS "et.", "([" SHOWN "], [" SHOWN "])"),
		AGAIN("](" ITEMS "eK\3at.", "([" SHOWN "], [" SHOWN ", 3])"),
		AGAIN("K\3a](" ITEMS "et.", "([" SHOWN ", 3], [" SHOWN "])"),
		AGAIN("q\2](" ITEMS "eh\2K\3a0t.", "([" SHOWN ", 3], [" SHOWN "])"),
		AGAIN("K\7q\0000](" ITEMS "et.", "([" SHOWN "], [7, 2, 7, 2, 7, 2, 7, 2])"),
		AGAIN("](" ITEMS "K\3et.", "([" SHOWN "], [" SHOWN ", 3])"),
		AGAIN("]K\3a(" ITEMS "et.", "([" SHOWN "], [3, " SHOWN "])"),
		AGAIN("](" ITEMS "e(" ITEMS "et.", "([" SHOWN "], [" SHOWN ", " SHOWN "])"),
		AGAIN("](K\0030" ITEMS "et.", "([" SHOWN "], [" SHOWN "])"),
		AGAIN("\x8f(" ITEMS "\x90t.", "([" SHOWN "], [" SHOWN "])"),
		AGAIN("](" ITEMS "tt.", "([" SHOWN "], [], (" SHOWN "))"),
	};
	static const char to_dict[] = "K\1q\0K\2q\1](" ITEMS "e}(" ITEMS "e.";
	static const char to_nothing[] = "K\1q\0K\2q\1](" ITEMS "e]((" ITEMS "e.";

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_dump(cases[i].opcode, cases[i].data, cases[i].length, cases[i].expected);
	check_failure(to_dict, sizeof(to_dict) - 1, NULL, TSCOPE_E_DAMAGED,
		      "APPENDS: would add to a dict", sizeof(to_dict) - 3);
	check_failure(to_nothing, sizeof(to_nothing) - 1, NULL, TSCOPE_E_DAMAGED,
		      "APPENDS: no value to add to", sizeof(to_nothing) - 3);
}

enum { ENTRIES = 256, ITEMS_EACH = 9 };

/* Which entry of the memo is the item of a list: no two lists have the same. */
static uint32_t entry_of(uint32_t list, uint32_t item)
{
	return (item == 0 ? list >> 8 : list * (item + 1)) % ENTRIES;
}

static void add_list(struct bytes *data, uint32_t list)
{
	bytes_add_literal(data, "](");
	for (uint32_t i = 0; i < ITEMS_EACH; i++) {
		char get[] = { 'j', (char)entry_of(list, i), 0, 0, 0 };
		bytes_add(data, get, sizeof(get));
	}
	bytes_add_literal(data, "e");
}

/* More of them than are remembered at a time, three times over. */
TEST(test_many_repeated_lists)
{
	enum { LISTS = 9000, ROUNDS = 3 };
	struct bytes data = { 0 };

	for (uint32_t i = 0; i < ENTRIES; i++) {
		add_number(&data, i * 1000);
		bytes_add_literal(&data, "\x94\x30");
	}
	bytes_add_literal(&data, "(");
	for (uint32_t i = 0; i < LISTS * ROUNDS; i++)
		add_list(&data, i % LISTS);
	bytes_add_literal(&data, "t.");
	struct plain *p = read_whole(data.data, data.length);
	for (uint32_t i = 0; i < LISTS * ROUNDS; i++) {
		struct plain_value list = tsi_plain_item(p, tsi_plain_root(p), i);
		assert_int_equal(tsi_plain_length(p, list), ITEMS_EACH);
		for (uint32_t k = 0; k < ITEMS_EACH; k++) {
			int64_t number = -1;
			assert_true(tsi_plain_to_int64(p, tsi_plain_item(p, list, k), &number));
			assert_int_equal(number, entry_of(i % LISTS, k) * 1000);
		}
	}
	tsi_plain_free(p);
	bytes_reset(&data);
}

/* A hundred lists of the same nine small numbers: one takes three words and a header. */
TEST(test_repeated_lists_share_memory)
{
	struct bytes data = { 0 };

	bytes_add_literal(&data, "K\1q\0(");
	for (uint32_t i = 0; i < 100; i++)
		add_list(&data, 0);
	bytes_add_literal(&data, "t.");
	struct plain *p = read_whole(data.data, data.length);
	assert_int_equal(tsi_plain_object_count(p), 101);
	struct plain_value first = tsi_plain_item(p, tsi_plain_root(p), 0);
	struct plain_value last = tsi_plain_item(p, tsi_plain_root(p), 99);
	assert_int_not_equal(first.word, last.word);
	assert_int_equal(tsi_plain_items_id(p, first), tsi_plain_items_id(p, last));
	assert_int_not_equal(tsi_plain_items_id(p, first),
			     tsi_plain_items_id(p, tsi_plain_root(p)));
	assert_in_range(p->contents.count, 1, 1 + 4 + 101);
	tsi_plain_free(p);
	bytes_reset(&data);
}

/* ---- asking for what is not there --------------------------------------------------------- */

TEST(test_absent)
{
	struct plain *p =
		READ("(NK\1G\x3f\xf0\0\0\0\0\0\0\x8c\1a]}\x88"
		     "c__builtin__\ndict\n\x8a\x9\0\0\0\0\0\0\0\x80\0J\xff\xff\xff\xffK\0t.");
	struct plain_value root = tsi_plain_root(p), absent = { 0 };
	/* What each can be turned into: i int64, u uint64, r real, b bool, t text, l length > 0. */
	static const char *const able[] = {
		"", "iur", "r", "t", "", "", "b", "t", "ur", "ir", "iur"
	};

	for (size_t i = 0; i <= TSI_COUNT_OF(able); i++) {
		struct plain_value value = tsi_plain_item(p, root, i);
		const char *can = i < TSI_COUNT_OF(able) ? able[i] : "";
		bool truth;
		int64_t integer;
		uint64_t natural;
		double real;

		assert_int_equal(tsi_plain_to_int64(p, value, &integer), strchr(can, 'i') != NULL);
		assert_int_equal(tsi_plain_to_uint64(p, value, &natural), strchr(can, 'u') != NULL);
		assert_int_equal(tsi_plain_to_real(p, value, &real), strchr(can, 'r') != NULL);
		assert_int_equal(tsi_plain_to_bool(value, &truth), strchr(can, 'b') != NULL);
		assert_int_equal(tsi_plain_text(p, value).length > 0, strchr(can, 't') != NULL);
		assert_int_equal(tsi_plain_length(p, value), 0);
		assert_int_equal(tsi_plain_item(p, value, 0).word, 0);
		assert_int_equal(tsi_plain_items_id(p, value), 0);
		assert_int_equal(tsi_plain_key(p, value, 0).word, 0);
		assert_int_equal(tsi_plain_value(p, value, 0).word, 0);
		assert_int_equal(tsi_plain_get(p, value, root).word, 0);
		assert_int_equal(tsi_plain_get(p, value, absent).word, 0);
		assert_int_equal(tsi_plain_object_index(value),
				 i == 4 || i == 5 ? i - 3 - 1 : SIZE_MAX);
		assert_int_equal(tsi_plain_text_index(value), i == 3 ? 1 : SIZE_MAX);
	}
	assert_int_equal(tsi_plain_find(p, root, TSI_STR("a")).word, 0);
	assert_int_equal(tsi_plain_key(p, root, 0).word, 0);
	tsi_plain_free(p);
}

TEST(test_reals_of_integers)
{
	struct plain *p = READ("\x8a\x9\0\0\0\0\0\0\0\x80\0K\7\x86.");
	struct plain_value root = tsi_plain_root(p);
	double real = 0;

	assert_true(tsi_plain_to_real(p, tsi_plain_item(p, root, 0), &real));
	assert_true(real == 9223372036854775808.0); /* 2^63 */
	assert_true(tsi_plain_to_real(p, tsi_plain_item(p, root, 1), &real));
	assert_true(real == 7.0);
	tsi_plain_free(p);
}

TEST(test_kind_names)
{
	for (int kind = PLAIN_ABSENT; kind <= PLAIN_DICT; kind++)
		assert_non_null(tsi_plain_kind_name((enum plain_kind)kind));
	assert_string_equal(tsi_plain_kind_name(PLAIN_DICT), "a dict");
}

/* ---- limits --------------------------------------------------------------------------------- */

struct limit_case {
	struct pickle_options options;
	const char *fits, *exceeds;
	size_t fits_length, exceeds_length;
	uint64_t offset;
	const char *message;
};

#define LIMIT(option, value, fits, exceeds, offset, message)                                       \
	{                                                                                          \
		{ .option = value }, fits, exceeds, sizeof(fits) - 1, sizeof(exceeds) - 1, offset, \
			message                                                                    \
	}

static const struct limit_case limit_cases[] = {
	LIMIT(max_stack, 3, "NNN.", "NNNN.", 3,
	      "NONE: more than 3 stack values (limit: stack values)"),
	LIMIT(max_stack, 17, "NNNNNNNNNNNNNNNNN.",
	      "Nq\0h\0h\0h\0h\0h\0h\0h\0h\0h\0h\0h\0h\0h\0h\0h\0h\0h\0.", 3 + 2 * 16,
	      "BINGET: more than 17 stack values (limit: stack values)"),
	LIMIT(max_marks, 2, "((tt.", "(((ttt.", 2, "MARK: more than 2 marks (limit: marks)"),
	LIMIT(max_memo, 2, "N\x94\x94.", "N\x94\x94\x94.", 3,
	      "MEMOIZE: more than 2 memo entries (limit: memo entries)"),
	LIMIT(max_memo, 2, "NNq\1.", "NNq\2.", 2,
	      "BINPUT: more than 2 memo entries (limit: memo entries)"),
	LIMIT(plain.max_text_bytes, 3, "X\3\0\0\0abc.", "X\4\0\0\0abcd.", 0,
	      "BINUNICODE: a text of more than 3 bytes (limit: text bytes)"),
	LIMIT(plain.max_text_bytes, 3, "Vabc\n.", "Vabcd\n.", 0,
	      "UNICODE: a text of more than 3 bytes (limit: text bytes)"),
	LIMIT(plain.max_text_bytes, 3, "I123\n.", "I1234", 0,
	      "INT: a text of more than 3 bytes (limit: text bytes)"),
	LIMIT(plain.max_objects, 2, "]].", "]]].", 2,
	      "EMPTY_LIST: more than 2 objects (limit: objects)"),
	LIMIT(plain.max_objects, 2, "U\0U\1aU\1bU\1a.", "U\1aU\1bU\1c.", 6,
	      "SHORT_BINSTRING: more than 2 texts (limit: texts)"),
	LIMIT(plain.max_objects, 2, "F1\nF1\nK\1.", "F1\nF1\nF1\n.", 6,
	      "FLOAT: more than 2 numbers (limit: numbers)"),
	/* One word is there from the beginning; two items of a byte are a header and two words. */
	LIMIT(plain.max_values, 4, "](K\1K\2e](e.", "](K\1K\2e](K\1K\2e.", 13,
	      "APPENDS: more than 4 values (limit: values)"),
	/* A dict's values have a header. */
	LIMIT(plain.max_values, 4, "}(K\1NK\2Nu.", "}(K\1NK\2NK\3Nu.", 11,
	      "SETITEMS: more than 4 values (limit: values)"),
};

TEST(test_limits)
{
	for (size_t i = 0; i < TSI_COUNT_OF(limit_cases); i++) {
		const struct limit_case *c = &limit_cases[i];
		for (size_t b = 0; b < TSI_COUNT_OF(block_sizes); b++) {
			struct tscope_error err = { 0 };
			struct plain *p;

			if (read_with(&p, c->fits, c->fits_length, &c->options, block_sizes[b],
				      &err) != TSCOPE_OK)
				fail_msg("case %zu: %s", i, err.message);
			tsi_plain_free(p);
		}
		check_failure(c->exceeds, c->exceeds_length, &c->options, TSCOPE_E_LIMIT,
			      c->message, c->offset);
	}
}

/* A list of `items` and a dict of `pairs` in memory of their own, up to the limit of both together. */
static enum tscope_status read_long_ones(int items, uint32_t pairs, struct tscope_error *err)
{
	static const struct pickle_options options = { .plain.max_values = 9000 };
	struct bytes data = { 0 };
	struct plain *p;

	bytes_add_literal(&data, "](");
	for (int i = 0; i < items; i++)
		bytes_add_literal(&data, "N");
	bytes_add_literal(&data, "e}(");
	for (uint32_t i = 0; i < pairs; i++) {
		add_number(&data, i);
		bytes_add_literal(&data, "N");
	}
	bytes_add_literal(&data, "u.");
	enum tscope_status status = read_with(&p, data.data, data.length, &options, 0, err);
	tsi_plain_free(p);
	bytes_reset(&data);
	return status;
}

TEST(test_limit_of_long_ones)
{
	struct tscope_error err = { 0 };

	assert_int_equal(read_long_ones(5000, 2000, &err), TSCOPE_OK); /* 5000 + 2 * 2000 */
	assert_int_equal(read_long_ones(5000, 2001, &err), TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "SETITEMS: more than 9000 values (limit: values)");
	assert_int_equal(read_long_ones(9000, 0, &err), TSCOPE_OK);
	assert_int_equal(read_long_ones(9001, 0, &err), TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "APPENDS: more than 9000 values (limit: values)");
}

/* ---- failures -------------------------------------------------------------------------------- */

/* All that allocates: every kind of value, long lists and dicts, escapes, the memo's second chunk. */
static void add_all_kinds(struct bytes *data)
{
	bytes_add_literal(data, "(");
	bytes_add(data, small, sizeof(small) - 2);
	bytes_add_literal(data, "F1.5\n\x8a\6\0\0\0\0\0\x7fV\\u20ac\nC\2ab](");
	for (uint32_t i = 0; i < 5000; i++)
		add_number(data, i);
	bytes_add_literal(data, "e](K\1K\2e(K\3e}(");
	for (uint32_t i = 0; i < 100; i++) {
		add_number(data, (UINT32_C(1) << 28) + i);
		bytes_add_literal(data, "N");
	}
	bytes_add_literal(data, "u}(");
	for (uint32_t i = 0; i < 70; i++) {
		add_number(data, i * 7);
		bytes_add_literal(data, "N");
	}
	bytes_add_literal(data, "ur\0\x41\0\0"); /* entry 16640 of the memo */
	add_list(data, 0);
	add_list(data, 0);
	for (uint32_t i = 0; i < 40; i++)
		bytes_add_literal(data, "(");
	for (uint32_t i = 0; i < 40; i++)
		bytes_add_literal(data, "t");
	bytes_add_literal(data, "l.");
}

TEST(test_out_of_memory)
{
	struct bytes data = { 0 };

	add_all_kinds(&data);
	struct alloc_sweep sweep = { .at_least = 20 };
	while (alloc_sweep_next(&sweep)) {
		struct input_options input_options = { .block_bytes = 1000 };
		struct input *in;
		struct plain *p = NULL;

		assert_int_equal(
			tsi_input_open_memory(&in, data.data, data.length, &input_options, NULL),
			TSCOPE_OK);
		alloc_sweep_try(&sweep, tsi_pickle_read(&p, in, NULL, &sweep.err));
		tsi_input_close(in);
		tsi_plain_free(p);
	}
	bytes_reset(&data);
}

TEST(test_no_error_wanted)
{
	static const char *const bad[] = { "", "?", "K", ".", "a", "cos\nsystem\n" };

	for (size_t i = 0; i < TSI_COUNT_OF(bad); i++) {
		struct plain *p;
		assert_true(read_with(&p, bad[i], strlen(bad[i]), NULL, 0, NULL) < 0);
	}
}

/* The error is the input's own. */
TEST(test_damaged_input)
{
#if HAVE_ZLIB
	struct tscope_error err = { 0 };
	struct bytes packed = { 0 };
	struct plain *p;

	bytes_add_gzip(&packed, small, sizeof(small) - 1);
	assert_int_equal(read_with(&p, packed.data, packed.length - 30, NULL, 0, &err),
			 TSCOPE_E_DAMAGED);
	assert_non_null(strstr(err.message, "gzip"));
	bytes_reset(&packed);
#endif
}
