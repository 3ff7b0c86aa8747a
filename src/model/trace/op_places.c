/* SPDX-License-Identifier: MIT */
/*
 * What args and names of annotations say of modules and of lines of code, where no frames do:
 * operators of TorchScript say the modules around them, older profilers the call stack of each
 * operator, kernels of graphs the module that they were captured in.
 */
#include "decode/json.h"
#include "model/trace/build.h"
#include "model/trace/module_path.h"

/* The id of a text, which may have escapes; 0: of none. */
static uint32_t keep_text(struct builder *b, struct str text)
{
	if (!text.length)
		return 0;
	return tsi_builder_name(b, text, memchr(text.data, '\\', text.length) != NULL);
}

static uint32_t add_place(struct builder *b, struct op_place place)
{
	struct tscope_trace *trace = b->trace;
	bool is_first = trace->op_place_count == 0;

	for (int i = 0; i < 1 + is_first; i++) { /* [0] says nothing */
		struct op_place *added =
			tsi_builder_push(b, &trace->op_places, &trace->op_place_count,
					 &trace->op_place_capacity, sizeof(*added));
		if (!added)
			return 0;
		if (i == is_first)
			*added = place;
	}
	return (uint32_t)trace->op_place_count - 1;
}

uint32_t tsi_find_op_place(struct builder *b, const struct raw_place *raw)
{
	struct str stack = tsi_json_unquote(raw->call_stack);
	struct op_place place = {
		.hierarchy = keep_text(b, tsi_json_unquote(raw->hierarchy)),
		.source = keep_text(b, tsi_user_frame(stack)),
	};
	uint64_t key = tsi_key_of_pair(place.hierarchy, place.source);

	if (b->status != TSCOPE_OK || key == 0)
		return 0;
	uint32_t index = tsi_key_map_find(&b->op_place_of, key);
	if (index == NO_ROW) {
		index = add_place(b, place);
		tsi_builder_put(b, &b->op_place_of, key, index);
	}
	b->has_paths = b->trace->has_places = true;
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

void tsi_note_annotation(struct builder *b, struct str name)
{
	if (tsi_module_mark(name).kind == MARK_NONE)
		return;
	b->has_paths = b->trace->has_places = true;
}
