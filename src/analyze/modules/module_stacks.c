/* SPDX-License-Identifier: MIT */
/*
 * Stacks for flame graphs: the modules around, "backward" where it is, the operator, the kernel.
 * Modules with their numbers: a graph is where one layer is compared with another.
 */
#include "analyze/modules/module_stacks.h"

#include "analyze/memory/stack_sums.h"
#include "base/error.h"
#include "model/trace/device_rows.h"
#include "model/trace/python_name.h"

enum { NAME_SHOWN_MAX = 256 };

/* The stack at hand. */
struct stack_text {
	const struct tscope_trace *trace;
	const struct places *places; /* or NULL */
	size_t *near;                /* by host track: of the last question for a place */
	struct stack_sums *sums;
	char *text;
	size_t length, capacity;
};

/* Puts a frame where it cannot be taken for the end of a frame, stack or line. */
static void put_frame(struct stack_text *stack, struct str name)
{
	size_t length = name.length < NAME_SHOWN_MAX ? name.length : NAME_SHOWN_MAX;
	char *text = tsi_arena_reserve(&stack->sums->arena, stack->text, &stack->capacity,
				       stack->length + length + 1, 1);
	if (!text)
		return;
	stack->text = text;
	if (stack->length > 0)
		text[stack->length++] = ';';
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)name.data[i];

		text[stack->length++] = c == ';' ? ':' : c < ' ' || c == 0x7f ? ' ' : (char)c;
	}
}

static void put_modules(struct stack_text *stack, uint32_t node)
{
	const struct module_node *module = &stack->places->nodes[node];

	if (node == 0)
		return;
	put_modules(stack, module->parent); /* no deeper than trees of modules are */
	put_frame(stack, module->text);
}

static void begin_stack(struct stack_text *stack, struct place place, bool is_backward)
{
	stack->length = 0;
	if (place.node)
		put_modules(stack, place.node);
	else if (stack->places)
		put_frame(stack, TSI_STR("(outside modules)"));
	if (is_backward)
		put_frame(stack, TSI_STR("backward"));
}

static void add_stack(struct stack_text *stack, int64_t ns)
{
	struct str text = { stack->text, stack->length };

	if (!stack->sums->arena.has_failed)
		tsi_stack_sums_add(stack->sums, tsi_stack_sums_find(stack->sums, text), ns);
}

static void add_device_row(struct stack_text *stack, uint32_t row)
{
	const struct tscope_trace *trace = stack->trace;
	uint32_t op = tsi_launching_op(trace, row);
	struct place place = { 0 };

	if (stack->places)
		place = tsi_place_of_device(stack->places, row, stack->near);
	begin_stack(stack, place,
		    place.is_backward || tsi_device_event(trace, row)->phase == PHASE_BACKWARD);
	if (op != NO_ROW)
		put_frame(stack, tsi_span_name(trace, op));
	put_frame(stack, tsi_span_name(trace, row));
	add_stack(stack, tsi_dur_ns(&trace->spans, row));
}

static void add_thread(struct stack_text *stack, const struct thread_places *thread)
{
	for (size_t i = 0; i + 1 < thread->count && tsi_stack_sums_has_room(stack->sums); i++) {
		struct place place = thread->points[i].place;
		if (!place.node && !place.source)
			continue;
		begin_stack(stack, place, place.is_backward);
		if (place.source)
			put_frame(stack, tsi_intern_text(&stack->trace->names, place.source));
		add_stack(stack, thread->points[i + 1].start_ns - thread->points[i].start_ns);
	}
}

enum tscope_status tsi_module_write_stacks(FILE *out, const struct tscope_trace *trace,
					   const struct places *places, struct tscope_error *err)
{
	struct stack_sums sums;
	struct stack_text stack = { .trace = trace, .places = places, .sums = &sums };

	if (!places && !trace->device_count)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"neither device work nor Python frames: nothing for a flame graph");
	tsi_stack_sums_init(&sums);
	stack.near = tsi_arena_new(&sums.arena, trace->host_track_count, sizeof(*stack.near));
	for (uint32_t row = tsi_first_device_row(trace);
	     stack.near && row < trace->spans.count && tsi_stack_sums_has_room(&sums); row++)
		add_device_row(&stack, row);
	for (uint32_t i = 0; !trace->device_count && i < trace->host_track_count; i++)
		add_thread(&stack, &places->threads[i]);
	enum tscope_status status = tsi_stack_sums_write(out, &sums, err);
	tsi_stack_sums_deinit(&sums);
	return status;
}
