/* SPDX-License-Identifier: MIT */
/*
 * Stacks for flame graphs: the modules around, "backward" where it is, the operator, the kernel; of
 * threads the function and the operators.
 * Modules with their numbers: a graph is where one layer is compared with another.
 */
#include "analyze/modules/module_stacks.h"

#include "analyze/memory/stack_sums.h"
#include "analyze/ops/trace_flops.h"
#include "base/error.h"
#include "model/trace/device_rows.h"
#include "timeline/flatten.h"

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

/* ---- time of threads ----------------------------------------------------------------- */

/* The operators that are open on the thread at hand. */
struct op_stack {
	struct stack_text *stack;
	uint32_t track;
	struct flattener flat; /* labels are rows */
	int64_t now_ns;        /* time is assigned up to here */
};

static void add_moment(struct op_stack *open, int64_t until_ns, size_t depth)
{
	struct stack_text *stack = open->stack;
	struct place place = { 0 };

	if (stack->places)
		place = tsi_place_near(stack->places, open->track, open->now_ns, stack->near);
	if (!place.node && !place.source && !depth)
		return;
	begin_stack(stack, place, place.is_backward);
	if (place.source)
		put_frame(stack, tsi_intern_text(&stack->trace->names, place.source));
	for (size_t i = 0; i < depth; i++)
		put_frame(stack, tsi_span_name(stack->trace, open->flat.open[i].label));
	add_stack(stack, until_ns - open->now_ns);
}

/* Time that passes with the same operators open, but perhaps in several places. */
static void pass_time(struct op_stack *open, int64_t until_ns, size_t depth)
{
	const struct places *places = open->stack->places;

	while (open->now_ns < until_ns && tsi_stack_sums_has_room(open->stack->sums)) {
		int64_t next_ns = places ? tsi_place_next(places, open->track, open->now_ns,
							  open->stack->near)
					 : INT64_MAX;
		if (next_ns > until_ns)
			next_ns = until_ns;
		add_moment(open, next_ns, depth);
		open->now_ns = next_ns;
	}
}

static void charge_segment(void *data, struct flat_segment segment)
{
	struct op_stack *open = data;

	pass_time(open, segment.start_ns, 0);
	pass_time(open, segment.end_ns, open->flat.depth);
}

static void add_thread(struct stack_text *stack, uint32_t index)
{
	const struct tscope_trace *trace = stack->trace;
	const struct track *track = &trace->tracks[index];
	struct op_stack open = { .stack = stack,
				 .track = index,
				 .flat = { .arena = &stack->sums->arena } };
	struct flattener *flat = &open.flat;

	if (track->count)
		open.now_ns = tsi_start_ns(&trace->spans, track->first);
	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_CPU_OP)
			continue;
		int64_t start_ns = tsi_start_ns(&trace->spans, row);
		int64_t end_ns = tsi_span_end(trace, row);
		tsi_flatten_until(flat, start_ns, charge_segment, &open);
		if (flat->depth && flat->open[flat->depth - 1].end_ns < end_ns)
			end_ns = flat->open[flat->depth - 1].end_ns;
		tsi_flatten_add(flat, (struct flat_segment){ start_ns, end_ns, row },
				charge_segment, &open);
	}
	tsi_flatten_end(flat, charge_segment, &open);
	const struct thread_places *places = stack->places ? &stack->places->threads[index] : NULL;
	if (places && places->count)
		pass_time(&open, places->starts_ns[places->count - 1], 0);
}

/* ---- bytes --------------------------------------------------------------------------- */

/* Adds the least bytes that a call must move, where known; those of a graph are its kernels'. */
static void add_call_bytes(struct stack_text *stack, const struct counted_call *call, double bytes)
{
	const struct tscope_trace *trace = stack->trace;
	bool is_device = call->row >= tsi_first_device_row(trace);
	struct place place = { 0 };

	if (!(bytes >= 1) || bytes > 9e18)
		return;
	if (stack->places && is_device)
		place = tsi_place_of_device(stack->places, call->row, stack->near);
	else if (stack->places)
		place = tsi_place_near(stack->places, tsi_trace_track_of(trace, call->row),
				       tsi_start_ns(&trace->spans, call->row), stack->near);
	begin_stack(stack, place, place.is_backward);
	put_frame(stack, tsi_span_name(trace, call->row));
	add_stack(stack, (int64_t)bytes);
}

/* Adds the bytes that copies moved and fills wrote. */
static void add_copy_bytes(struct stack_text *stack, uint32_t row)
{
	const struct tscope_trace *trace = stack->trace;
	struct place place = { 0 };
	int64_t bytes = tsi_work_shape(trace, row)->bytes;

	if (bytes <= 0 || tsi_is_kernel(trace, row))
		return;
	if (stack->places)
		place = tsi_place_of_device(stack->places, row, stack->near);
	begin_stack(stack, place, place.is_backward);
	put_frame(stack, tsi_span_name(trace, row));
	add_stack(stack, bytes);
}

/* -------------------------------------------------------------------------------------- */

static void add_all(struct stack_text *stack, const struct trace_flops *flops,
		    enum tscope_stack_weight weight)
{
	const struct tscope_trace *trace = stack->trace;

	for (uint32_t row = tsi_first_device_row(trace);
	     row < trace->spans.count && tsi_stack_sums_has_room(stack->sums); row++)
		if (weight == TSCOPE_STACKS_DEVICE)
			add_device_row(stack, row);
		else if (weight == TSCOPE_STACKS_BYTES)
			add_copy_bytes(stack, row);
	if (weight == TSCOPE_STACKS_HOST)
		for (uint32_t i = 0; i < trace->host_track_count; i++)
			add_thread(stack, i);
	for (size_t i = 0; weight == TSCOPE_STACKS_BYTES && flops && i < flops->call_count; i++)
		add_call_bytes(stack, &flops->calls[i],
			       flops->call_works[flops->calls[i].work].bytes);
}

enum tscope_status tsi_module_write_stacks(FILE *out, const struct analysis_scope *scope,
					   enum tscope_stack_weight weight,
					   struct tscope_error *err)
{
	const struct tscope_trace *trace = scope->trace;
	struct stack_sums sums;
	struct stack_text stack = { .trace = trace, .places = scope->places, .sums = &sums };

	if (!scope->places && !trace->device_count && !trace->cpu_op_count)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"neither device work nor operators: nothing for a flame graph");
	if (weight == TSCOPE_STACKS_BYTES && !scope->places)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"nothing says modules or functions: bytes are not counted by call");
	if (weight == TSCOPE_STACKS_TIME)
		weight = trace->device_count ? TSCOPE_STACKS_DEVICE : TSCOPE_STACKS_HOST;
	tsi_stack_sums_init(&sums);
	stack.near = tsi_arena_new(&sums.arena, trace->host_track_count, sizeof(*stack.near));
	if (stack.near)
		add_all(&stack, scope->flops, weight);
	enum tscope_status status = tsi_stack_sums_write(out, &sums, err);
	tsi_stack_sums_deinit(&sums);
	return status;
}
