/* SPDX-License-Identifier: MIT */
/*
 * TensorBoard's event files: records (decode/records/record_file.h), each an event in protocol
 * buffers with a time, a step and values under tags. Scalars are either a "simple value" (PyTorch)
 * or a tensor of one element (TensorFlow 2); images, histograms and the like are counted and left.
 */
#include "run/metrics.h"

#include "decode/records/protobuf.h"
#include "decode/records/record_file.h"
#include "run/file_name.h"

/* Numbers of fields. */
enum event_field { EVENT_TIME = 1, EVENT_STEP = 2, EVENT_GRAPH = 4, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1 };
enum value_field { VALUE_TAG = 1, VALUE_SIMPLE = 2, VALUE_TENSOR = 8, VALUE_METADATA = 9 };
enum { METADATA_PLUGIN = 1, PLUGIN_NAME = 1 };
enum { TENSOR_TYPE = 1, TENSOR_CONTENT = 4 };

/* ---- tasting ---- */

enum { TASTE_BITS_EVENTS = 64 + 64, TASTE_BITS_NAME = 64 };

/* An empty file, and one that is broken from the beginning, is known by its name. */
static unsigned taste(const char *path, struct str head)
{
	if (tsi_is_event_file(head))
		return TASTE_BITS_EVENTS;
	if (tsi_str_find(tsi_str_of(tsi_base_name(path)), TSI_STR("events.out.tfevents.")) >= 0)
		return TASTE_BITS_NAME;
	return 0;
}

/* ---- tensors ---- */

/* Types of elements that are numbers, each in a field of its own or as bytes. */
static const struct element {
	uint64_t type;
	uint32_t field;
	enum protobuf_type wire;
	unsigned bytes;
	bool is_real;
} elements[] = {
	{ 1, 5, PROTOBUF_FIXED32, 4, true },  /* float */
	{ 2, 6, PROTOBUF_FIXED64, 8, true },  /* double */
	{ 3, 7, PROTOBUF_VARINT, 4, false },  /* int32 */
	{ 9, 10, PROTOBUF_VARINT, 8, false }, /* int64 */
};

/* The elements of a tensor: the value of the last one, and how many there are. */
struct tensor {
	uint64_t count;
	double value;
};

static double number_of_bits(const struct element *element, uint64_t bits)
{
	if (element->is_real)
		return element->bytes == 4 ? tsi_float_of_bits((uint32_t)bits)
					   : tsi_double_of_bits(bits);
	return element->bytes == 4 ? (double)(int32_t)(uint32_t)bits : (double)(int64_t)bits;
}

/* Numbers of fixed size one behind the other. */
static bool add_fixed(struct tensor *tensor, const struct element *element, struct str bytes)
{
	if (bytes.length % element->bytes != 0)
		return false;
	if (bytes.length == 0)
		return true;
	const char *last = bytes.data + bytes.length - element->bytes;
	tensor->value = number_of_bits(element, tsi_little_endian(last, element->bytes));
	tensor->count += bytes.length / element->bytes;
	return true;
}

static bool add_varints(struct tensor *tensor, const struct element *element, struct str bytes)
{
	const char *at = bytes.data, *end = at + bytes.length; /* of a message: never NULL */
	uint64_t bits;

	while (at < end) {
		if (!tsi_protobuf_varint(&at, end, &bits))
			return false;
		tensor->value = number_of_bits(element, bits);
		tensor->count++;
	}
	return true;
}

/* A field of elements: one of them, or several packed. */
static bool add_elements(struct tensor *tensor, const struct element *element,
			 const struct protobuf_field *field)
{
	if (field->number == TENSOR_CONTENT && field->type == PROTOBUF_BYTES)
		return add_fixed(tensor, element, field->bytes);
	if (field->number != element->field)
		return true;
	if (field->type == PROTOBUF_BYTES)
		return element->wire == PROTOBUF_VARINT ? add_varints(tensor, element, field->bytes)
							: add_fixed(tensor, element, field->bytes);
	if (field->type == element->wire) {
		tensor->value = number_of_bits(element, field->value);
		tensor->count++;
	}
	return true;
}

static const struct element *find_element(uint64_t type)
{
	for (size_t i = 0; i < TSI_COUNT_OF(elements); i++)
		if (elements[i].type == type)
			return &elements[i];
	return NULL;
}

static bool find_type(struct str text, const struct element **element)
{
	struct protobuf message = tsi_protobuf(text);
	struct protobuf_field field;

	*element = NULL;
	while (tsi_protobuf_next(&message, &field))
		if (field.number == TENSOR_TYPE && field.type == PROTOBUF_VARINT)
			*element = find_element(field.value);
	return !message.is_broken;
}

/* False: broken. One of texts, or of a type that is no number, counts as none. */
static bool read_tensor(struct str text, struct tensor *tensor)
{
	struct protobuf message = tsi_protobuf(text);
	struct protobuf_field field;
	const struct element *element;
	bool is_good = find_type(text, &element);

	*tensor = (struct tensor){ 0 };
	while (is_good && element && tsi_protobuf_next(&message, &field))
		is_good = add_elements(tensor, element, &field);
	return is_good && !message.is_broken;
}

/* ---- values ---- */

struct value {
	struct str tag;
	struct str plugin; /* what shows it; "scalars" where it is a scalar */
	double number;
	bool has_number;
};

/* The last field of this number in a message, as bytes. */
static bool find_bytes(struct str text, uint32_t number, struct str *bytes)
{
	struct protobuf message = tsi_protobuf(text);
	struct protobuf_field field;

	*bytes = (struct str){ 0 };
	while (tsi_protobuf_next(&message, &field))
		if (field.number == number && field.type == PROTOBUF_BYTES)
			*bytes = field.bytes;
	return !message.is_broken;
}

static bool read_plugin(struct str metadata, struct str *name)
{
	struct str plugin;

	return find_bytes(metadata, METADATA_PLUGIN, &plugin) &&
	       find_bytes(plugin, PLUGIN_NAME, name);
}

/* False: broken. The last of several contents holds. */
static bool read_value_field(const struct protobuf_field *field, struct value *value)
{
	struct tensor tensor;

	if (field->number == VALUE_SIMPLE && field->type == PROTOBUF_FIXED32) {
		value->number = tsi_float_of_bits((uint32_t)field->value);
		value->has_number = true;
	}
	if (field->type != PROTOBUF_BYTES)
		return true;
	if (field->number == VALUE_TAG)
		value->tag = field->bytes;
	if (field->number == VALUE_METADATA)
		return read_plugin(field->bytes, &value->plugin);
	if (field->number != VALUE_TENSOR)
		return true;
	bool is_good = read_tensor(field->bytes, &tensor);
	value->number = tensor.value;
	value->has_number = tensor.count == 1;
	return is_good;
}

static bool read_value(struct str text, struct value *value)
{
	struct protobuf message = tsi_protobuf(text);
	struct protobuf_field field;

	*value = (struct value){ 0 };
	while (tsi_protobuf_next(&message, &field))
		if (!read_value_field(&field, value))
			return false;
	return !message.is_broken;
}

/* ---- events ---- */

struct event_reader {
	struct metric_log *log;
	struct intern others; /* tags of which a value said that it is no scalar */
	struct tscope_error *err;
};

/* Whether any value of this tag set the flag; the empty tag never does. */
static bool is_other(const struct event_reader *reader, struct str tag)
{
	return tag.length > 0 && tsi_intern_find(&reader->others, tag) != UINT32_MAX;
}

/*
 * Is it one for TensorBoard? Who writes may say so with the first value of a tag only. A tag
 * that there is no room for is judged by each of its values.
 */
static enum tscope_status judge(struct event_reader *reader, const struct value *value,
				bool *is_scalar)
{
	bool is_of_other = value->plugin.length && !tsi_str_is(value->plugin, "scalars");
	enum tscope_status status = TSCOPE_OK;
	uint32_t id;

	if (is_of_other)
		status = tsi_intern_add(&reader->others, value->tag, &id, reader->err);
	*is_scalar = value->has_number && !is_of_other &&
		     (value->plugin.length || !is_other(reader, value->tag));
	return status == TSCOPE_E_LIMIT ? TSCOPE_OK : status;
}

/* TSCOPE_E_FORMAT: broken, and nothing of it counts. */
static enum tscope_status add_value(struct event_reader *reader, struct str text,
				    const struct metric_point *event)
{
	struct metric_point point = *event;
	struct value value;
	bool is_scalar;

	if (!read_value(text, &value))
		return TSCOPE_E_FORMAT;
	if (judge(reader, &value, &is_scalar) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (!is_scalar) {
		reader->log->other_count++;
		return TSCOPE_OK;
	}
	point.value = value.number;
	return tsi_metric_log_add(reader->log, value.tag, point, reader->err);
}

static enum tscope_status add_summary(struct event_reader *reader, struct str text,
				      const struct metric_point *event)
{
	struct protobuf message = tsi_protobuf(text);
	struct protobuf_field field;

	while (tsi_protobuf_next(&message, &field)) {
		if (field.number != SUMMARY_VALUE || field.type != PROTOBUF_BYTES)
			continue;
		enum tscope_status status = add_value(reader, field.bytes, event);
		if (status != TSCOPE_OK)
			return status;
	}
	return message.is_broken ? TSCOPE_E_FORMAT : TSCOPE_OK;
}

/* Time and step of an event, which may stand behind its values. A step of 0 is not written. */
static bool read_event(struct str text, struct metric_point *event)
{
	struct protobuf message = tsi_protobuf(text);
	struct protobuf_field field;

	*event = (struct metric_point){ .time_ns = NO_METRIC_TIME };
	while (tsi_protobuf_next(&message, &field)) {
		if (field.number == EVENT_TIME && field.type == PROTOBUF_FIXED64)
			event->time_ns = tsi_metric_time(tsi_double_of_bits(field.value));
		if (field.number == EVENT_STEP && field.type == PROTOBUF_VARINT)
			event->step = (int64_t)field.value;
	}
	return !message.is_broken;
}

static enum tscope_status add_event(struct event_reader *reader, struct str text)
{
	struct protobuf message = tsi_protobuf(text);
	struct protobuf_field field;
	struct metric_point event;
	enum tscope_status status = TSCOPE_OK;

	if (!read_event(text, &event))
		return TSCOPE_E_FORMAT;
	while (status == TSCOPE_OK && tsi_protobuf_next(&message, &field)) {
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == EVENT_SUMMARY)
			status = add_summary(reader, field.bytes, &event);
		else
			reader->log->other_count += field.number == EVENT_GRAPH;
	}
	return status;
}

/* An event that is broken is left out as a whole. */
static enum tscope_status read_record(struct event_reader *reader, enum record_state state,
				      struct str bytes)
{
	struct metric_log *log = reader->log;
	const struct metric_log before = *log;
	enum tscope_status status = TSCOPE_OK;

	if (state == RECORD_CUT) {
		log->is_cut = true;
		return TSCOPE_OK;
	}
	log->record_count++;
	log->other_count += state == RECORD_LONG;
	log->bad_record_count += state == RECORD_BAD;
	if (state == RECORD_GOOD)
		status = add_event(reader, bytes);
	if (status != TSCOPE_E_FORMAT)
		return status;
	log->count = before.count;
	log->bad_value_count = before.bad_value_count;
	log->other_count = before.other_count;
	log->bad_record_count++;
	return TSCOPE_OK;
}

static enum tscope_status read_records(struct event_reader *reader, struct input *in)
{
	struct record_file file = { .in = in };
	enum record_state state = RECORD_GOOD;
	struct str bytes = { 0 };
	enum tscope_status status = TSCOPE_OK;

	while (status == TSCOPE_OK && state != RECORD_CUT) {
		status = tsi_record_file_next(&file, &state, &bytes, reader->err);
		if (status == TSCOPE_OK)
			status = read_record(reader, state, bytes);
	}
	tsi_input_consume(in, file.shown_bytes);
	return status == TSCOPE_END ? TSCOPE_OK : status;
}

static enum tscope_status read_metrics(struct input *in, struct str name, struct metric_log *log,
				       struct tscope_error *err)
{
	struct event_reader reader = { .log = log, .err = err };
	enum tscope_status status = tsi_intern_init(&reader.others, METRIC_MAX_NAMES, err);

	(void)name;
	if (status == TSCOPE_OK)
		status = read_records(&reader, in);
	tsi_intern_deinit(&reader.others);
	return status;
}

const struct metric_source tsi_metrics_tensorboard = {
	.id = "tensorboard",
	.taste = taste,
	.read = read_metrics,
};
