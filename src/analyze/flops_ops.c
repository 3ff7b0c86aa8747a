/* SPDX-License-Identifier: MIT */
/*
 * Which operators are counted, and for which step: one walk over the operators
 * as they enclose each other. Where an operator runs is known when it opens,
 * from those around it. Whether it may be counted is known when it closes, from those
 * within it; whether it is, when the outermost closes, from those around it.
 */
#include "analyze/flops_count.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "decode/json.h"
#include "model/classify.h"

/* What the name of an operator tells; asked once for each. */
enum {
	NAME_ASKED = 1 << 0,
	NAME_MODELLED = 1 << 1,     /* tsi_op_work() may know it */
	NAME_NODE = 1 << 2,         /* of the backward pass: the engine evaluates it */
	NAME_PRODUCT_NODE = 1 << 3, /* and it is a product's: MmBackward0, AddmmBackward0 … */
	NAME_PRODUCT = 1 << 4,      /* what such nodes call themselves */
};

/* What operators within it say of one. */
enum {
	LAUNCHED = 1 << 0,
	MULTIPLIED = 1 << 1,
	COUNTED = 1 << 2,
	LOOSE = 1 << 3, /* it launched matrix kernels beside the products within it */
};

#define NO_INDEX UINT32_MAX

struct open_op {
	int64_t end_ns; /* its own, or that of one around it, if earlier */
	double flops;   /* of the products within it, then its own if it stands for them */
	uint32_t row;
	uint8_t within; /* LAUNCHED … */
	uint8_t place;  /* enum place */
};

/* An operator in which device work was launched, within an outermost that is still open. */
struct closed_op {
	uint32_t row;
	uint32_t index; /* in out->ops, if it is counted unless one around it is; else NO_INDEX */
	uint8_t place;
};

struct walk {
	struct flops_count *c;
	struct open_op *open; /* each within the one before */
	struct closed_op *closed;
	size_t depth, open_capacity, closed_count, closed_capacity;
	uint8_t within_all; /* LAUNCHED in a trace without devices */
	bool has_written;   /* the trace's writer says FLOPs */
};

static uint8_t ask_name(struct flops_count *c, uint32_t name)
{
	uint8_t *known = &c->names[name];

	if (*known)
		return *known;
	struct str text = tsi_intern_text(&c->trace->names, name);
	*known = NAME_ASKED | NAME_MODELLED;
	if (tsi_is_autograd_engine(text))
		*known |= NAME_NODE;
	if (tsi_str_find(text, TSI_STR("mmBackward")) >= 0 ||
	    tsi_str_find(text, TSI_STR("MmBackward")) >= 0)
		*known |= NAME_PRODUCT_NODE;
	if (tsi_str_is(text, "aten::mm") || tsi_str_is(text, "aten::bmm"))
		*known |= NAME_PRODUCT;
	return *known;
}

/* The FLOPs that the trace's writer says, or NAN. A 0 mostly means that it does not know. */
static double written_flops(const struct flops_count *c, uint32_t inputs)
{
	uint32_t text = c->trace->op_inputs[inputs].flops;
	double flops;

	if (text == 0 || !tsi_json_to_double(tsi_intern_text(&c->trace->names, text), &flops))
		return NAN;
	return flops > 0 ? flops : NAN;
}

/*
 * Asks what an operator does with its inputs. What a writer says goes before the
 * formula, but not before the 0 of operators that multiply nothing by definition.
 */
static enum op_work_result find_work(const struct flops_count *c, struct counted_op *op)
{
	const struct intern *names = &c->trace->names;
	const struct op_inputs *inputs = &c->trace->op_inputs[op->inputs];
	struct str name = tsi_intern_text(names, op->name);
	enum op_work_result result =
		tsi_op_work(&op->work, name, tsi_intern_text(names, inputs->signature),
			    tsi_intern_text(names, inputs->concrete));
	double written = written_flops(c, op->inputs);

	op->multiplies = tsi_op_multiplies(name) || (result == OP_WORK_NO_MODEL && !isnan(written));
	if (!op->multiplies || isnan(written))
		return result;
	if (result != OP_WORK_KNOWN)
		op->work = (struct op_work){ .bytes = NAN, .kind = tsi_kernel_kind_of_op(name) };
	op->work.flops = written;
	return OP_WORK_KNOWN;
}

/* The index of an operator with its inputs, which is added if it is new. */
static enum tscope_status find_op(struct flops_count *c, uint32_t name, uint32_t inputs,
				  uint32_t *index, struct tscope_error *err)
{
	size_t known = c->ops.count;

	if (tsi_pair_set_add(&c->ops, name, inputs, index, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (*index < known)
		return TSCOPE_OK;
	if (tsi_array_reserve(&c->out->ops, &c->op_capacity, c->ops.count, sizeof(*c->out->ops),
			      err) != TSCOPE_OK ||
	    tsi_array_reserve(&c->calls, &c->call_capacity, c->ops.count, sizeof(*c->calls), err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	struct counted_op *op = &c->out->ops[*index];
	*op = (struct counted_op){ .name = name, .inputs = inputs };
	c->calls[*index] = (struct op_calls){ .result = find_work(c, op) };
	c->out->op_count = c->ops.count;
	return TSCOPE_OK;
}

/* ---- counting ------------------------------------------------------------------------ */

static void count_op(struct flops_count *c, uint32_t row, uint32_t index, uint8_t place)
{
	const struct spans *spans = &c->trace->spans;
	struct op_state *state = &c->states[tsi_op_index(c->trace, row)];
	struct counted_op *op = &c->out->ops[index];
	struct op_calls *calls = &c->calls[index];
	uint32_t step = tsi_flops_step_at(c, tsi_start_ns(spans, row));

	state->place = place;
	c->links[tsi_op_index(c->trace, row)] = index;
	op->count++;
	calls->outside_count += place == PLACE_OUTSIDE;
	c->again_count += place == PLACE_AGAIN;
	c->out->all.flops += op->work.flops;
	if (step != NO_ROW) {
		c->out->steps[step].flops += op->work.flops;
		op->timed_count += c->timeline->steps[step].mark == TSCOPE_STEP_COUNTED;
	}
}

/*
 * Says in whose name those that closed launched: last closed are the outer ones, so
 * the answer of what is around each is there.
 */
static void settle_closed(struct walk *walk)
{
	struct flops_count *c = walk->c;

	while (walk->closed_count) {
		const struct closed_op *op = &walk->closed[--walk->closed_count];
		uint32_t at = tsi_op_index(c->trace, op->row), around = c->links[at];
		uint32_t owner = around == NO_ROW ? NO_ROW : c->links[around];
		if (around != NO_ROW)
			c->states[at].is_lacking |= c->states[around].is_lacking;
		c->links[at] = owner;
		if (op->index != NO_INDEX && owner == NO_ROW)
			count_op(c, op->row, op->index, op->place);
	}
}

/*
 * Is a product counted, unless one around it is? Products within make it up, unless
 * it multiplies beside them. What has fewer FLOPs than they cannot stand for them.
 */
static bool stands_for_all(const struct open_op *op, double flops)
{
	return !(op->within & MULTIPLIED) || (op->within & LOOSE && flops >= op->flops);
}

/* Is an operator counted, of which is known what it does, unless one around it is? */
static bool judge_known(const struct counted_op *known, struct open_op *op)
{
	bool stands =
		known->multiplies ? stands_for_all(op, known->work.flops) : !(op->within & COUNTED);

	if (known->multiplies && stands) {
		op->flops = known->work.flops;
		op->within &= (uint8_t)~LOOSE;
	}
	op->within |= known->multiplies ? MULTIPLIED | COUNTED : COUNTED;
	return stands;
}

static enum tscope_status judge_op(struct walk *walk, struct open_op *op, uint32_t *index,
				   struct tscope_error *err)
{
	struct flops_count *c = walk->c;
	uint32_t name = tsi_name_id(&c->trace->spans, op->row);

	*index = NO_INDEX;
	if (!(c->names[name] & NAME_MODELLED) && !walk->has_written)
		return TSCOPE_OK;
	if (find_op(c, name, tsi_cpu_op(c->trace, op->row)->inputs, index, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	switch (c->calls[*index].result) {
	case OP_WORK_KNOWN:
		if (judge_known(&c->out->ops[*index], op))
			return TSCOPE_OK;
		break;
	case OP_WORK_NO_INPUTS:
		c->states[tsi_op_index(c->trace, op->row)].is_lacking =
			c->out->ops[*index].multiplies;
		break;
	case OP_WORK_NO_MODEL:
		c->names[name] &= (uint8_t)~NAME_MODELLED;
		break;
	}
	*index = NO_INDEX;
	return TSCOPE_OK;
}

/* ---- the walk ------------------------------------------------------------------------ */

static enum place place_of(uint8_t name, const struct cpu_op *op, enum place around)
{
	if (op->is_backward || name & NAME_NODE)
		return name & NAME_PRODUCT_NODE ? PLACE_PRODUCT_NODE : PLACE_NODE;
	if (!op->is_forward || around == PLACE_OUTSIDE)
		return around;
	if (around == PLACE_PRODUCT_NODE && name & NAME_PRODUCT)
		return around;
	return PLACE_AGAIN;
}

static enum tscope_status open_op(struct walk *walk, uint32_t row, bool is_autograd,
				  struct tscope_error *err)
{
	struct flops_count *c = walk->c;
	const struct spans *spans = &c->trace->spans;
	int64_t end_ns = tsi_start_ns(spans, row) + tsi_dur_ns(spans, row);
	enum place around = is_autograd ? PLACE_NODE : PLACE_OUTSIDE;

	if (walk->depth == walk->open_capacity &&
	    tsi_array_reserve(&walk->open, &walk->open_capacity, walk->depth + 1,
			      sizeof(*walk->open), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	struct open_op *op = &walk->open[walk->depth];
	if (walk->depth++) {
		around = (enum place)op[-1].place;
		end_ns = end_ns < op[-1].end_ns ? end_ns : op[-1].end_ns;
	}
	op->end_ns = end_ns;
	op->flops = 0;
	op->row = row;
	op->within = walk->within_all;
	op->place = (uint8_t)place_of(ask_name(c, tsi_name_id(spans, row)),
				      tsi_cpu_op(c->trace, row), around);
	return TSCOPE_OK;
}

/* An operator closes in which device work was launched; it is no longer on the stack. */
static enum tscope_status close_launcher(struct walk *walk, struct open_op *op,
					 struct tscope_error *err)
{
	struct flops_count *c = walk->c;
	struct closed_op closed = { .row = op->row, .place = op->place };

	op->within |= LAUNCHED;
	if (c->states[tsi_op_index(c->trace, op->row)].launches_matrix)
		op->within |= LOOSE;
	c->links[tsi_op_index(c->trace, op->row)] =
		walk->depth ? tsi_op_index(c->trace, op[-1].row) : NO_ROW;
	if (judge_op(walk, op, &closed.index, err) != TSCOPE_OK ||
	    tsi_array_reserve(&walk->closed, &walk->closed_capacity, walk->closed_count + 1,
			      sizeof(*walk->closed), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	walk->closed[walk->closed_count++] = closed;
	if (walk->depth == 0) {
		settle_closed(walk);
		return TSCOPE_OK;
	}
	op[-1].within |= op->within;
	op[-1].flops += op->flops;
	return TSCOPE_OK;
}

/* Closes what has ended by then. */
static enum tscope_status close_until(struct walk *walk, int64_t t_ns, struct tscope_error *err)
{
	const struct flops_count *c = walk->c;

	while (walk->depth && walk->open[walk->depth - 1].end_ns <= t_ns) {
		struct open_op *op = &walk->open[--walk->depth];
		bool is_launcher = op->within & LAUNCHED ||
				   c->states[tsi_op_index(c->trace, op->row)].is_launcher;
		if (is_launcher && close_launcher(walk, op, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return TSCOPE_OK;
}

static enum tscope_status walk_track(struct walk *walk, const struct track *track,
				     struct tscope_error *err)
{
	const struct spans *spans = &walk->c->trace->spans;
	uint32_t end_row = track->first + track->count;

	for (uint32_t row = track->first; row < end_row; row++) {
		if (tsi_span_class(spans, row) != TSCOPE_SPAN_CPU_OP)
			continue;
		if (close_until(walk, tsi_start_ns(spans, row), err) != TSCOPE_OK ||
		    open_op(walk, row, track->is_autograd, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return close_until(walk, INT64_MAX, err);
}

/* ---- what only the whole tells ------------------------------------------------------- */

/* Only those that are counted have a place. */
static bool is_again(const struct flops_count *c, uint32_t at)
{
	return c->states[at].place == PLACE_AGAIN && c->calls[c->links[at]].outside_count > 0;
}

/* Only when all have been seen is it known which ran outside the backward pass, too. */
static void find_repeated(struct flops_count *c)
{
	const struct spans *spans = &c->trace->spans;

	for (uint32_t row = 0; c->again_count && row < spans->count; row++) {
		if (tsi_span_class(spans, row) != TSCOPE_SPAN_CPU_OP ||
		    !is_again(c, tsi_op_index(c->trace, row)))
			continue;
		struct counted_op *op = &c->out->ops[c->links[tsi_op_index(c->trace, row)]];
		uint32_t step = tsi_flops_step_at(c, tsi_start_ns(spans, row));
		op->repeated_count++;
		c->out->all.repeated_flops += op->work.flops;
		if (step != NO_ROW)
			c->out->steps[step].repeated_flops += op->work.flops;
	}
}

static bool has_written_flops(const struct tscope_trace *trace)
{
	for (size_t i = 0; i < trace->op_inputs_count; i++)
		if (trace->op_inputs[i].flops)
			return true;
	return false;
}

enum tscope_status tsi_flops_count_ops(struct flops_count *c, struct tscope_error *err)
{
	const struct tscope_trace *trace = c->trace;
	struct walk walk = {
		.c = c,
		.within_all = trace->device_count ? 0 : LAUNCHED,
		.has_written = has_written_flops(trace),
	};
	enum tscope_status status = TSCOPE_OK;

	for (uint32_t i = 0; status == TSCOPE_OK && i < trace->host_track_count; i++)
		status = walk_track(&walk, &trace->tracks[i], err);
	free(walk.open);
	free(walk.closed);
	if (status == TSCOPE_OK)
		find_repeated(c);
	return status;
}
