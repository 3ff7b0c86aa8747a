/* SPDX-License-Identifier: MIT */
/*
 * run/metrics_tensorboard.c: event files that tests/lib/tfevents_writer.h writes, as
 * metrics_dump() shows them. Numbers of fields and types are those of TensorBoard's definitions.
 */
#include "metric_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"
#include "check.h"
#include "tfevents_writer.h"

enum {
	VALUE_TAG = 1,
	VALUE_SIMPLE = 2,
	VALUE_IMAGE = 4,
	VALUE_HISTOGRAM = 5,
	VALUE_TENSOR = 8,
	VALUE_METADATA = 9
};
enum { TENSOR_TYPE = 1, TENSOR_SHAPE = 2, TENSOR_CONTENT = 4 };

static void expect(struct bytes *file, const char *expected)
{
	metrics_expect("tensorboard", "", (struct str){ file->data, file->length }, expected);
	bytes_reset(file);
}

/* ---- tasting ---- */

TEST(test_taste)
{
	static const char name[] = "logs/events.out.tfevents.1700000000.host.123.0";
	struct bytes file = { 0 };

	tfevents_begin(&file, 1.5);
	struct str head = { file.data, file.length };
	assert_string_equal(tsi_metric_source_find("a", head, METRIC_TASTE_CERTAIN)->id,
			    "tensorboard");
	/* By its name alone, to be told what is wrong with it. */
	assert_string_equal(tsi_metric_source_find(name, TSI_STR(""), METRIC_TASTE_CERTAIN)->id,
			    "tensorboard");
	assert_string_equal(tsi_metric_source_find(name, TSI_STR("\0\0"), METRIC_TASTE_CERTAIN)->id,
			    "tensorboard");
	assert_null(tsi_metric_source_find("a.tfrecord", TSI_STR(""), 1));
	bytes_reset(&file);
}

/* ---- scalars ---- */

/* As PyTorch writes them: time 1.7e9 + 0.5 s is 1700000000500000000 ns. */
TEST(test_simple_values)
{
	struct bytes file = { 0 };

	tfevents_begin(&file, 1.7e9);
	tfevents_add_scalar(&file, 1.7e9, 0, "train/loss", 2.5f);
	tfevents_add_scalar(&file, 1.7e9 + 0.5, 50, "train/loss", 0.125f);
	tfevents_add_scalar(&file, NAN, -1, "a b", -INFINITY);
	tfevents_add_scalar(&file, 1e300, INT64_MAX, "lr", NAN);
	expect(&file, "0 train/loss 2.5 @1700000000000000000\n"
		      "50 train/loss 0.125 @1700000000500000000\n"
		      "-1 a b -inf\n"
		      "9223372036854775807 lr nan\n"
		      "records 5\n");
}

/* Several values in one event, which stand before step and time, and fields of later versions. */
TEST(test_one_event)
{
	struct bytes file = { 0 }, event = { 0 }, summary = { 0 }, value = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		pb_float(&value, VALUE_SIMPLE, 1.5f + (float)i);
		pb_varint(&value, 7, 5); /* the name of a node is no number */
		pb_text(&value, VALUE_TAG, i ? "b" : "a");
		pb_text(&value, 99, "later");
		pb_message(&summary, 1, &value);
		pb_varint(&summary, 2, 1);
	}
	pb_message(&event, 5, &summary);
	pb_varint(&event, 2, 3);
	pb_tag(&event, 20, 3); /* a group with a number in it */
	pb_varint(&event, 2, 4);
	pb_tag(&event, 20, 4);
	pb_double(&event, 1, 2);
	tfevents_add_record(&file, event.data, event.length);
	bytes_reset(&event);
	expect(&file, "3 a 1.5 @2000000000\n3 b 2.5 @2000000000\nrecords 1\n");
}

/* ---- tensors ---- */

static void add_plugin(struct bytes *value, const char *name)
{
	struct bytes plugin = { 0 }, metadata = { 0 };

	pb_text(&plugin, 1, name);
	pb_message(&metadata, 1, &plugin);
	pb_message(value, VALUE_METADATA, &metadata);
}

/* A tensor of floats, packed in their field. */
static void add_floats(struct bytes *value, unsigned count)
{
	static const float numbers[] = { 0.25f, 0.5f, 0.75f };
	struct bytes tensor = { 0 };

	pb_varint(&tensor, TENSOR_TYPE, 1);
	pb_bytes(&tensor, 5, numbers, count * sizeof(float));
	pb_message(value, VALUE_TENSOR, &tensor);
}

static void add_tensor(struct bytes *file, const char *tag, const char *plugin, unsigned count)
{
	struct bytes value = { 0 };

	pb_text(&value, VALUE_TAG, tag);
	if (plugin)
		add_plugin(&value, plugin);
	add_floats(&value, count);
	tfevents_add_value(file, 1, 7, &value);
}

/* With a plugin, without one, of another; of one element, of none, of several. */
TEST(test_tensors)
{
	static const struct {
		const char *plugin;
		unsigned count;
		bool is_scalar;
	} cases[] = {
		{ "scalars", 1, true },  { NULL, 1, true },          { "", 1, true },
		{ "scalars", 0, false }, { "scalars", 2, false },    { NULL, 0, false },
		{ NULL, 3, false },      { "histograms", 1, false }, { "hparams", 1, false },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct bytes file = { 0 };

		add_tensor(&file, "x", cases[i].plugin, cases[i].count);
		expect(&file, cases[i].is_scalar ? "7 x 0.25 @1000000000\nrecords 1\n"
						 : "records 1 other 1\n");
	}
}

/* Only the first value of a tag need say whose it is. */
TEST(test_plugin_is_remembered)
{
	struct bytes file = { 0 };

	add_tensor(&file, "curve", "pr_curves", 1);
	add_tensor(&file, "curve", NULL, 1);
	add_tensor(&file, "loss", "scalars", 1);
	add_tensor(&file, "loss", NULL, 1);
	add_tensor(&file, "curve", "scalars", 1); /* what it says itself holds */
	expect(&file, "7 loss 0.25 @1000000000\n7 loss 0.25 @1000000000\n"
		      "7 curve 0.25 @1000000000\nrecords 5 other 2\n");
}

/* A tensor of this type, with one field, in an event by itself. */
static void add_typed(struct bytes *file, uint64_t type, const struct bytes *field)
{
	struct bytes value = { 0 }, tensor = { 0 };

	bytes_add(&tensor, field->data, field->length);
	pb_varint(&tensor, TENSOR_TYPE, type); /* it may stand behind the numbers */
	pb_text(&value, VALUE_TAG, "x");
	pb_message(&value, VALUE_TENSOR, &tensor);
	tfevents_add_value(file, 1, 0, &value);
}

static void expect_typed(uint64_t type, struct bytes *field, const char *expected)
{
	struct bytes file = { 0 };
	char text[128];

	add_typed(&file, type, field);
	snprintf(text, sizeof(text), *expected ? "0 x %s @1000000000\nrecords 1\n" : "%s%s",
		 expected, "records 1 other 1\n");
	expect(&file, text);
	bytes_reset(field);
}

TEST(test_types)
{
	static const double numbers[] = { 0.5, 0.75 };
	struct bytes field = { 0 };

	pb_float(&field, 5, 0.5f); /* not packed */
	expect_typed(1, &field, "0.5");
	pb_float(&field, 5, 0.5f);
	pb_float(&field, 5, 0.5f);
	expect_typed(1, &field, "");
	pb_bytes(&field, TENSOR_CONTENT, "\0\0\xc0\xbf", 4); /* -1.5 */
	expect_typed(1, &field, "-1.5");
	pb_double(&field, 6, 0.1);
	expect_typed(2, &field, "0.10000000000000001");
	pb_bytes(&field, TENSOR_CONTENT, numbers, sizeof(double));
	expect_typed(2, &field, "0.5");
	pb_bytes(&field, 6, numbers, sizeof(numbers));
	expect_typed(2, &field, "");
	pb_varint(&field, 7, (uint64_t)-3); /* int32: as the 64 bits of its sign */
	expect_typed(3, &field, "-3");
	pb_bytes(&field, 7, "\x96\x01", 2);
	expect_typed(3, &field, "150");
	pb_bytes(&field, TENSOR_CONTENT, "\xfd\xff\xff\xff", 4);
	expect_typed(3, &field, "-3");
	pb_bytes(&field, TENSOR_CONTENT, "\xfd\xff\xff\xff\xff\xff\xff\xff", 8);
	expect_typed(9, &field, "-3");
	pb_varint(&field, 10, UINT64_C(1) << 62);
	expect_typed(9, &field, "4.6116860184273879e+18");
	/* Numbers of another type's field, texts, halves, types that there are not. */
	pb_varint(&field, 7, 3);
	expect_typed(1, &field, "");
	pb_text(&field, 8, "a text");
	expect_typed(7, &field, "");
	pb_varint(&field, 13, 0x3c00);
	expect_typed(19, &field, "");
	pb_varint(&field, 7, 3);
	expect_typed(UINT64_MAX, &field, "");
}

/* ---- what is no scalar ---- */

static void add_message_value(struct bytes *file, const char *tag, uint32_t field)
{
	struct bytes value = { 0 };

	pb_text(&value, VALUE_TAG, tag);
	pb_text(&value, field, "\x08\x01"); /* some message */
	tfevents_add_value(file, 1, 1, &value);
}

TEST(test_others)
{
	struct bytes file = { 0 }, event = { 0 };

	add_message_value(&file, "image", VALUE_IMAGE);
	add_message_value(&file, "histogram", VALUE_HISTOGRAM);
	add_message_value(&file, "audio", 6);
	add_message_value(&file, "old", 3);
	tfevents_add_scalar(&file, 1, 1, "x", 0.5f);
	pb_text(&event, 4, "a graph");
	tfevents_add_record(&file, event.data, event.length);
	bytes_reset(&event);
	pb_text(&event, 6, "a message to a log");
	tfevents_add_record(&file, event.data, event.length);
	bytes_reset(&event);
	expect(&file, "1 x 0.5 @1000000000\nrecords 7 other 5\n");
}

/* What is too long for a scalar is none, if its checksum fits. */
TEST(test_long_record)
{
	enum { LENGTH = 17 << 20 };
	struct bytes file = { 0 };
	struct metric_log log;
	char *data = calloc(LENGTH, 1);

	assert_non_null(data);
	tfevents_add_record(&file, data, LENGTH);
	tfevents_add_scalar(&file, 1, 1, "x", 0.5f);
	assert_int_equal(metrics_read(&log, "tensorboard", TSI_STR(""),
				      (struct str){ file.data, file.length }, 0, NULL),
			 TSCOPE_OK);
	assert_int_equal(log.count, 1);
	assert_int_equal(log.other_count, 1);
	assert_int_equal(log.bad_record_count, 0);
	tsi_metric_log_deinit(&log);
	bytes_reset(&file);
	free(data);
}

TEST(test_tags)
{
	struct bytes file = { 0 }, value = { 0 };
	char tag[METRIC_MAX_NAME_BYTES + 2];

	pb_float(&value, VALUE_SIMPLE, 1);
	tfevents_add_value(&file, 1, 1, &value); /* without a tag */
	memset(tag, 't', METRIC_MAX_NAME_BYTES + 1);
	tag[METRIC_MAX_NAME_BYTES + 1] = '\0';
	tfevents_add_scalar(&file, 1, 1, tag, 1);
	tfevents_add_scalar(&file, 1, 2, "x", 1);
	expect(&file, "2 x 1 @1000000000\nrecords 3 no-number 2\n");
}

/* ---- damage ---- */

TEST(test_bad_records)
{
	struct bytes file = { 0 };

	tfevents_add_scalar(&file, 1, 1, "x", 1);
	file.data[file.length - 8] ^= 1;
	tfevents_add_scalar(&file, 1, 2, "x", 1);
	/* No event, though the checksum fits. */
	tfevents_add_record(&file, "\x0f", 1);
	expect(&file, "2 x 1 @1000000000\nrecords 3 bad 2\n");
}

/* Of an event that breaks in its last value the first ones are not taken either. */
TEST(test_broken_event)
{
	static const struct {
		const char *bytes;
		size_t length;
	} values[] = {
		{ "\x0a\x05x", 3 },                    /* a tag beyond the end */
		{ "\x42\x02\x08", 3 },                 /* a tensor beyond the end */
		{ "\x42\x01\x08", 3 },                 /* one that ends in its type */
		{ "\x42\x05\x08\x01\x2a\x01\x00", 7 }, /* floats of one byte */
		{ "\x42\x05\x08\x03\x3a\x01\x80", 7 }, /* an integer without an end */
		{ "\x4a\x02\x0a\x05", 4 },             /* a plugin beyond the end */
	};

	for (size_t i = 0; i < TSI_COUNT_OF(values); i++) {
		struct bytes file = { 0 }, event = { 0 }, summary = { 0 }, value = { 0 };

		pb_text(&value, VALUE_TAG, "good");
		pb_float(&value, VALUE_SIMPLE, 1);
		pb_message(&summary, 1, &value);
		pb_text(&value, VALUE_TAG, "image");
		pb_message(&summary, 1, &value);
		pb_bytes(&summary, 1, values[i].bytes, values[i].length);
		pb_message(&event, 5, &summary);
		tfevents_add_record(&file, event.data, event.length);
		bytes_reset(&event);
		expect(&file, "records 1 bad 1\n");
	}
}

static struct bytes some_file(void)
{
	struct bytes file = { 0 };

	tfevents_begin(&file, 1);
	tfevents_add_scalar(&file, 1, 1, "x", 0.5f);
	add_tensor(&file, "y", "scalars", 1);
	add_tensor(&file, "z", "histograms", 2);
	tfevents_add_scalar(&file, 2, 2, "x", 0.25f);
	return file;
}

TEST(test_cut)
{
	struct bytes file = some_file();

	metrics_cut_everywhere("tensorboard", (struct str){ file.data, file.length });
	bytes_reset(&file);
}

/* A length that does not fit ends the file: what came before is kept. */
TEST(test_broken_length)
{
	struct bytes file = { 0 };
	struct metric_log log;
	struct tscope_error err = { 0 };

	tfevents_add_scalar(&file, 1, 1, "x", 1);
	size_t place = file.length;
	tfevents_add_scalar(&file, 1, 2, "x", 1);
	file.data[place + 9] ^= 1;
	assert_int_equal(metrics_read(&log, "tensorboard", TSI_STR(""),
				      (struct str){ file.data, file.length }, 0, &err),
			 TSCOPE_E_DAMAGED);
	assert_int_equal(err.offset, place);
	assert_string_equal(err.message, "the checksum of a record's length does not fit: what "
					 "follows cannot be told apart");
	assert_int_equal(log.count, 1);
	tsi_metric_log_deinit(&log);
	bytes_reset(&file);
}

TEST(test_allocations)
{
	struct bytes file = some_file();

	assert_true(metrics_fail_everywhere("tensorboard", (struct str){ file.data, file.length }) >
		    8);
	bytes_reset(&file);
}
