/* SPDX-License-Identifier: MIT */
/* Which reader gets a document, and what is said of one that nobody reads. */
#include "decode/plain/plain_reader.h"

#include "base/attributes.h"
#include "check.h"
#include "config.h"
#include "packed.h"

#define BYTES(literal) (literal), sizeof(literal) - 1

static enum tscope_status read_bytes(struct plain **p, const char **form, const void *data,
				     size_t length, struct tscope_error *err)
{
	const struct input_options options = { .block_bytes = 5, .single_thread = true };
	struct input *in = NULL;

	*p = NULL;
	enum tscope_status status = tsi_input_open_memory(&in, data, length, &options, err);
	if (status == TSCOPE_OK)
		status = tsi_plain_read(p, form, in, NULL, err);
	tsi_input_close(in);
	return status;
}

TEST(test_forms)
{
	static const struct {
		const char *data;
		size_t length;
		const char *form;
	} cases[] = {
		{ BYTES("\x80\4}."), "pickle" },
		{ BYTES("(dp0\n."), "pickle" },
		{ BYTES("].xx"), "pickle" },
		{ BYTES("{\"segments\": []}"), "json" },
		{ BYTES("\xef\xbb\xbf\n [[1, 2], [[0], [0]]]"), "json" },
		{ BYTES("{\"traceEvents\": []}"), "json" }, /* the model says what it is */
#if HAVE_YAML
		{ BYTES("!!python/object/apply:collections.defaultdict\nargs: []\n"), "yaml" },
		{ BYTES("0.f.0.start:\n  rss: 1\n"), "yaml" },
#endif
		{ BYTES("<!DOCTYPE html>\"base64\": \"gAROLg==\""), "html" },
		{ BYTES("Iteration 0 f Peak FSDP memory stats: \n"), "text" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_error err = { 0 };
		const char *form = NULL;
		struct plain *p;
		if (read_bytes(&p, &form, cases[i].data, cases[i].length, &err) != TSCOPE_OK)
			fail_msg("%s: %s", cases[i].form, err.message);
		assert_string_equal(form, cases[i].form);
		struct str head = { cases[i].data, cases[i].length };
		assert_string_equal(tsi_plain_reader_find(head)->form, form);
		tsi_plain_free(p);
	}
}

#if HAVE_ARCHIVE
#define ZIP_REMEDY                                                                                 \
	"unpack it first, then give the files that are in it (a checkpoint of torch.save is one, " \
	"too: it holds tensors and no memory snapshot)"
#else
#define ZIP_REMEDY "this build cannot read it: unpack it first, or build tscope with libarchive-dev"
#endif

TEST(test_refused)
{
#define NOT_MEMORY                                                                                 \
	"not a file about memory: expected a pickle, JSON, YAML, a page of torch's memory_viz, a " \
	"memory tracker's log or a memray capture, found "
	static const struct {
		const char *data;
		size_t length;
		enum tscope_status status;
		const char *message;
	} cases[] = {
		{ BYTES(""), TSCOPE_E_EMPTY, "the file is empty" },
		{ BYTES(" \n"), TSCOPE_E_EMPTY, "the file holds nothing but white space" },
		{ BYTES("hello"), TSCOPE_E_FORMAT, NOT_MEMORY "\"hello\"" },
		{ BYTES("\1\2"), TSCOPE_E_FORMAT, NOT_MEMORY "bytes 01 02" },
		{ BYTES("\x89PNG\r\n\x1a\n"), TSCOPE_E_UNSUPPORTED,
		  "PNG image, not a file about memory" },
		{ BYTES("memray\0\x0b"), TSCOPE_E_UNSUPPORTED,
		  "a memray capture, not a trace: use `tscope memory FILE`" },
		{ BYTES("\xff\xfe{\0"), TSCOPE_E_UNSUPPORTED,
		  "UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)" },
		{ BYTES("PK\3\4"), TSCOPE_E_UNSUPPORTED, "zip archive: " ZIP_REMEDY },
		{ BYTES("\x80\2ctorch._utils\n_rebuild_tensor_v2\n."), TSCOPE_E_UNSUPPORTED,
		  "GLOBAL: would import torch._utils._rebuild_tensor_v2, as a checkpoint of "
		  "torch.save does; only plain data is read" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_error err = { 0 };
		const char *form = NULL;
		struct plain *p;
		assert_int_equal(read_bytes(&p, &form, cases[i].data, cases[i].length, &err),
				 cases[i].status);
		assert_string_equal(err.message, cases[i].message);
		assert_null(p);
	}
}

#if HAVE_ZLIB
TEST(test_compressed)
{
	struct tscope_error err = { 0 };
	struct bytes packed = { 0 };
	const char *form = NULL;
	struct plain *p;

	bytes_add_gzip(&packed, "[7]", 3);
	assert_int_equal(read_bytes(&p, &form, packed.data, packed.length, &err), TSCOPE_OK);
	assert_int_equal(tsi_plain_length(p, tsi_plain_root(p)), 1);
	tsi_plain_free(p);
	bytes_reset(&packed);
}
#endif

/* An input that breaks at once is no file of another kind. */
TEST(test_broken_input)
{
	struct tscope_error err = { 0 };
	const char *form = NULL;
	struct plain *p;

#if HAVE_ZLIB
	assert_int_equal(read_bytes(&p, &form, BYTES("\x1f\x8b\x08\0\0\0\0\0\0\3\xff"), &err),
			 TSCOPE_E_DAMAGED);
	assert_null(p);
#else
	assert_int_equal(read_bytes(&p, &form, BYTES("\x1f\x8b\x08\0\0\0\0\0\0\3\xff"), &err),
			 TSCOPE_E_UNSUPPORTED);
#endif
}
