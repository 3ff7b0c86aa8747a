/* SPDX-License-Identifier: MIT */
/*
 * Modules and lines of code from args and names of annotations, where there are no frames:
 * operators of TorchScript say the modules around them, older profilers the call stack of each
 * operator, kernels of graphs the module that they were captured in, compiled kernels the stacks of
 * the operators that Inductor made them of.
 */
#include "decode/json.h"
#include "model/trace/build.h"
#include "model/trace/module_path.h"
#include "model/trace/node_modules.h"
#include "model/trace/python_name.h"

#include <inttypes.h>
#include <stdio.h>

/* The id of a text, which may have escapes; 0: of none. */
static uint32_t keep_text(struct builder *b, struct str text)
{
	if (!text.length)
		return 0;
	return tsi_builder_name(b, text, memchr(text.data, '\\', text.length) != NULL);
}

/* Interned id of the texts as the file has them; 0: there are none. */
static uint32_t find_raw(struct builder *b, struct str hierarchy, struct str stack)
{
	size_t length = hierarchy.length;

	if (!length && !stack.length)
		return 0;
	if (!tsi_builder_reserve(b, &b->text, &b->text_capacity, length + 1 + stack.length, 1))
		return 0;
	if (length)
		memcpy(b->text, hierarchy.data, length);
	b->text[length++] = '\f';
	if (stack.length)
		memcpy(b->text + length, stack.data, stack.length);
	return tsi_builder_id(b, &b->raw_places, (struct str){ b->text, length + stack.length });
}

/* Puts a place at its index, where it is new; 0 if that failed. */
static uint32_t add_place(struct builder *b, uint32_t index, uint32_t hierarchy, uint32_t source)
{
	struct tscope_trace *trace = b->trace;

	while (index >= trace->op_place_count && b->status == TSCOPE_OK) {
		struct op_place *place =
			tsi_builder_push(b, &trace->op_places, &trace->op_place_count,
					 &trace->op_place_capacity, sizeof(*place));
		if (place && index + 1 == trace->op_place_count)
			*place = (struct op_place){ hierarchy, source };
	}
	if (b->status != TSCOPE_OK)
		return 0;
	b->has_paths |= index > 0;
	trace->has_places |= index > 0;
	return index;
}

uint32_t tsi_find_op_place(struct builder *b, const struct raw_place *raw)
{
	struct str hierarchy = tsi_json_unquote(raw->hierarchy);
	struct str stack = tsi_json_unquote(raw->call_stack);
	uint32_t index = find_raw(b, hierarchy, stack);

	if (index < b->trace->op_place_count)
		return index;
	return add_place(b, index, keep_text(b, hierarchy), keep_text(b, tsi_user_frame(stack)));
}

uint32_t tsi_find_work_place(struct builder *b, uint32_t module, uint32_t source)
{
	char text[32]; /* those of operators have a form feed */

	if (!module && !source)
		return 0;
	int length = snprintf(text, sizeof(text), "%" PRIu32 " %" PRIu32, module, source);
	uint32_t index = tsi_builder_id(b, &b->raw_places, (struct str){ text, (size_t)length });
	return add_place(b, index, module, source);
}

uint32_t tsi_read_module(struct builder *b, struct str value)
{
	struct str path = tsi_json_unquote(value);

	return tsi_is_module_path(path) ? keep_text(b, path) : 0;
}

uint32_t tsi_module_of_node(struct builder *b, struct str value)
{
	uint64_t node;

	if (!tsi_json_to_uint64(value, &node))
		return 0;
	struct str path = tsi_node_module(b->options.node_modules, node);
	return path.length ? tsi_builder_name(b, path, false) : 0;
}

static bool is_same_function(struct str a, struct str b)
{
	struct python_name first = tsi_python_name(a), second = tsi_python_name(b);

	return tsi_str_equal(first.function, second.function) &&
	       tsi_str_equal(first.file, second.file);
}

/* The id of a traceback's frame as text; 0: it has none, or not that of a first one. */
static uint32_t read_stack(struct builder *b, struct str value, uint32_t first)
{
	struct str text = tsi_json_unquote(value);
	uint64_t bad_escapes = 0;

	if (!text.length ||
	    !tsi_builder_reserve(b, &b->text, &b->text_capacity, 2 * text.length, 1))
		return 0;
	struct str traceback = { b->text, tsi_json_unescape(text, b->text, &bad_escapes) };
	char *out = b->text + text.length;
	struct str frame = { out, tsi_traceback_frame(traceback, out) };
	if (!frame.length)
		return 0;
	if (!first)
		return tsi_builder_name(b, frame, false);
	return is_same_function(tsi_intern_text(&b->trace->names, first), frame) ? first : 0;
}

/* A kernel that is fused of lines of several functions is of none. */
uint32_t tsi_read_stacks(struct builder *b, struct str value)
{
	struct json_cursor stacks;
	struct str stack;
	uint32_t source = 0;

	tsi_json_array_open(&stacks, value);
	while (tsi_json_array_next(&stacks, &stack)) {
		source = read_stack(b, stack, source);
		if (!source)
			return 0;
	}
	return source;
}

void tsi_note_annotation(struct builder *b, struct str name)
{
	if (tsi_module_mark(name).kind == MARK_NONE)
		return;
	b->has_paths = b->trace->has_places = true;
}
