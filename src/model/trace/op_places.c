/* SPDX-License-Identifier: MIT */
/*
 * Modules and lines of code from args and names of annotations, where there are no frames:
 * operators of TorchScript say the modules around them, older profilers the call stack of each
 * operator, kernels of graphs the module that they were captured in.
 */
#include "decode/json.h"
#include "model/trace/build.h"
#include "model/trace/module_path.h"
#include "model/trace/node_modules.h"

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

uint32_t tsi_find_op_place(struct builder *b, const struct raw_place *raw)
{
	struct tscope_trace *trace = b->trace;
	struct str hierarchy = tsi_json_unquote(raw->hierarchy);
	struct str stack = tsi_json_unquote(raw->call_stack);
	uint32_t index = find_raw(b, hierarchy, stack);

	while (index >= trace->op_place_count && b->status == TSCOPE_OK) {
		struct op_place *place =
			tsi_builder_push(b, &trace->op_places, &trace->op_place_count,
					 &trace->op_place_capacity, sizeof(*place));
		if (place && index + 1 == trace->op_place_count)
			*place = (struct op_place){ keep_text(b, hierarchy),
						    keep_text(b, tsi_user_frame(stack)) };
	}
	if (b->status != TSCOPE_OK)
		return 0;
	b->has_paths |= index > 0;
	b->trace->has_places |= index > 0;
	return index;
}

uint32_t tsi_read_module(struct builder *b, struct str value)
{
	struct str path = tsi_json_unquote(value);

	if (!tsi_is_module_path(path))
		return 0;
	b->has_paths = b->trace->has_places = true;
	return keep_text(b, path);
}

uint32_t tsi_module_of_node(struct builder *b, struct str value)
{
	uint64_t node;

	if (!tsi_json_to_uint64(value, &node))
		return 0;
	struct str path = tsi_node_module(b->options.node_modules, node);
	if (path.length)
		b->has_paths = b->trace->has_places = true;
	return path.length ? tsi_builder_name(b, path, false) : 0;
}

void tsi_note_annotation(struct builder *b, struct str name)
{
	if (tsi_module_mark(name).kind == MARK_NONE)
		return;
	b->has_paths = b->trace->has_places = true;
}
