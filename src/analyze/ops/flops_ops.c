/* SPDX-License-Identifier: MIT */
/*
 * Which operators are counted, and for which step: one walk over the operators
 * as they enclose each other. Where an operator runs is known when it opens,
 * from those around it. Whether it may be counted is known when it closes, from those
 * within it; whether it is, when the outermost closes, from those around it.
 */
#include "analyze/ops/flops_count.h"

#include <math.h>

#include "analyze/ops/op_experts.h"
#include "analyze/ops/peak.h"
#include "decode/json.h"
#include "model/trace/classify.h"

/* Properties of an operator name, looked up once. */
enum {
	NAME_ASKED = 1 << 0,
	NAME_MODELLED = 1 << 1,     /* tsi_op_work() may know it */
	NAME_NODE = 1 << 2,         /* of the backward pass: the engine evaluates it */
	NAME_PRODUCT_NODE = 1 << 3, /* and it is a product's: MmBackward0, AddmmBackward0 … */
	NAME_PRODUCT = 1 << 4,      /* what such nodes call themselves */
	NAME_MULTIPLIES = 1 << 5,   /* tsi_op_multiplies() */
	NAME_EXPERTS = 1 << 6,      /* tsi_hides_experts() */
};

/* Properties of an operator by those within it. */
enum {
	MULTIPLIED = 1 << 0,
	COUNTED = 1 << 1,
	LOOSE = 1 << 2, /* it launched matrix kernels beside the products within it */
};

static uint8_t ask_name(struct flops_count *c, uint32_t name)
{
	uint8_t *known = &c->names[name];

	if (*known)
		return *known;
	struct str text = tsi_intern_text(&c->trace->names, name);
	*known = NAME_ASKED | NAME_MODELLED;
	if (tsi_op_multiplies(text))
		*known |= NAME_MULTIPLIES;
	if (tsi_hides_experts(text))
		*known |= NAME_EXPERTS;
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
 * Asks what an operator does with its inputs. FLOPs stated by the writer go before the formula, but
 * not before the 0 of operators that multiply nothing by definition.
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

	op->multiplies = (c->names[op->name] & NAME_MULTIPLIES) ||
			 (result == OP_WORK_NO_MODEL && !isnan(written));
	if (!op->multiplies || isnan(written))
		return result;
	if (result != OP_WORK_KNOWN)
		op->work = (struct op_work){ .bytes = NAN, .kind = tsi_kernel_kind_of_op(name) };
	op->work.flops = written;
	return OP_WORK_KNOWN;
}

uint32_t tsi_flops_add_op(struct flops_count *c, uint32_t name, uint32_t inputs)
{
	size_t count = c->out->op_count;
	struct counted_op *ops = tsi_arena_reserve(&c->out->memory, c->out->ops, &c->op_capacity,
						   count + 1, sizeof(*ops));
	struct op_calls *calls = tsi_arena_reserve(&c->memory, c->calls, &c->call_capacity,
						   count + 1, sizeof(*calls));

	c->out->ops = ops ? ops : c->out->ops;
	c->calls = calls ? calls : c->calls;
	if (!ops || !calls)
		return 0;
	ops[count] = (struct counted_op){ .name = name, .inputs = inputs };
	calls[count] = (struct op_calls){ .result = OP_WORK_NO_MODEL };
	return (uint32_t)++c->out->op_count;
}

/*
 * Adds an operator with its inputs, unless nothing is known of it: that is so of most. Returns its
 * index + 1, NO_ROW of those; 0 without memory.
 */
static uint32_t add_op(struct flops_count *c, const struct op_kind *kind)
{
	uint32_t number = tsi_op_kind_number(&c->out->operators, kind);
	const struct pair *pair = &c->out->operators.kinds.pairs[number];
	uint32_t added = tsi_flops_add_op(c, pair->first, pair->second);

	if (added == 0)
		return 0;
	c->calls[added - 1].result = find_work(c, &c->out->ops[added - 1]);
	if (c->calls[added - 1].result != OP_WORK_NO_MODEL)
		return added;
	c->out->op_count--;
	c->names[pair->first] &= (uint8_t)~NAME_MODELLED;
	return NO_ROW;
}

/* ---- counting ------------------------------------------------------------------------ */

/* It may repeat forward work; decided once all operators were seen. */
static void note_again(struct flops_count *c, const struct op_node *node)
{
	struct sort_pair *again = tsi_arena_push(&c->memory, &c->again, &c->again_count,
						 &c->again_capacity, sizeof(*again));
	if (again)
		*again = (struct sort_pair){ node->row, node->index };
}

void tsi_flops_note_call(struct flops_count *c, uint32_t index, uint32_t row, struct call_work work)
{
	struct trace_flops *out = c->out;
	uint32_t *noted = &c->calls[index].noted;

	if (*noted == 0 || memcmp(&out->call_works[*noted - 1], &work, sizeof(work)) != 0) {
		struct call_work *added =
			tsi_arena_push(&out->memory, &out->call_works, &out->call_work_count,
				       &out->call_work_capacity, sizeof(*added));
		if (!added)
			return;
		*added = work;
		*noted = (uint32_t)out->call_work_count;
	}
	struct counted_call *call = tsi_arena_push(&out->memory, &out->calls, &out->call_count,
						   &out->call_capacity, sizeof(*call));
	if (call)
		*call = (struct counted_call){ row, *noted - 1 };
}

static void count_op(struct flops_count *c, struct op_node *node)
{
	struct counted_op *op = &c->out->ops[node->index];
	uint32_t step = tsi_flops_step_at(c, tsi_start_ns(&c->trace->spans, node->row));

	struct call_work work = { op->work.flops, op->work.bytes };

	node->owner = node->index;
	node->owner_row = node->row;
	op->count++;
	c->calls[node->index].outside_count += node->place == PLACE_OUTSIDE;
	if (node->is_varied) {
		work = node->own;
		tsi_flops_vary(&c->calls[node->index], work);
	}
	c->out->all.flops += work.flops;
	tsi_flops_move(c, op, step, work);
	if (step != NO_ROW) {
		c->out->steps[step].flops += work.flops;
		op->timed_count += c->timeline->steps[step].mark == TSCOPE_STEP_COUNTED;
	}
	if (node->place == PLACE_AGAIN)
		note_again(c, node);
	if (c->trace->has_places)
		tsi_flops_note_call(c, node->index, node->row, work);
}

/*
 * Says in whose name those launched that are within an outermost one: last closed are
 * the outer ones, so the answer of what is around each is there.
 */
static void settle_closed(struct flops_count *c)
{
	struct op_nodes *nodes = &c->nodes;

	for (; nodes->closed_count; nodes->closed_count--) {
		struct op_node *node = &nodes->items[nodes->closed[nodes->closed_count - 1]];

		node->owner = NO_ROW;
		if (node->around != NO_NODE) {
			node->owner = nodes->items[node->around].owner;
			node->owner_row = nodes->items[node->around].owner_row;
			node->is_lacking |= nodes->items[node->around].is_lacking;
		}
		if (node->index != NO_NODE && node->owner == NO_ROW)
			count_op(c, node);
		if (node->launcher != NO_ROW) {
			c->launchers[node->launcher].owner = node->owner;
			c->launchers[node->launcher].owner_row = node->owner_row;
			c->launchers[node->launcher].is_lacking = node->is_lacking;
		}
	}
	nodes->count = 0;
}

/*
 * Is a product counted, unless one around it is? Products within make it up, unless it multiplies
 * beside them. A product with fewer FLOPs than they have cannot stand for them.
 */
static bool stands_for_all(const struct op_node *op, double flops)
{
	return !(op->within & MULTIPLIED) || (op->within & LOOSE && flops >= op->flops);
}

/* Is an operator counted, of which is known what it does, unless one around it is? */
static bool judge_known(const struct counted_op *known, struct op_node *op)
{
	double flops = op->is_varied ? op->own.flops : known->work.flops;
	bool stands = known->multiplies ? stands_for_all(op, flops) : !(op->within & COUNTED);

	if (known->multiplies && stands) {
		op->flops = flops;
		op->within &= (uint8_t)~LOOSE;
	}
	op->within |= known->multiplies ? MULTIPLIED | COUNTED : COUNTED;
	return stands;
}

/* All calls of a kind have the same experts, or none of those that differ from the first. */
static bool has_experts(struct flops_count *c, uint32_t index, uint32_t row)
{
	struct op_work work;

	if (!tsi_experts_within(&work, c->trace, row))
		return false;
	if (!c->calls[index].has_experts)
		c->out->ops[index].work = work;
	c->calls[index].has_experts = true;
	return c->out->ops[index].work.flops == work.flops;
}

bool tsi_flops_of_contexts(const struct flops_count *c, const struct op_work *work, uint32_t step,
			   int64_t device_ns, struct call_work *ret)
{
	const struct paged_work *paged = &work->paged;

	if (!c->iterations.by_step || step == NO_ROW)
		return false;
	const struct iteration *said = &c->iterations.by_step[step];
	int64_t tokens = tsi_iteration_tokens(said);
	if (said->attention_pairs < 0 || said->kv_tokens < 0 || tokens < 0 ||
	    (double)tokens > paged->tokens)
		return false;
	double bytes =
		paged->key_bytes * (double)said->kv_tokens + paged->token_bytes * (double)tokens;
	if (bytes > tsi_peak_bytes_per_second(c->out) * (double)device_ns / 1e9)
		return false;
	*ret = (struct call_work){ paged->pair_flops * (double)said->attention_pairs,
				   paged->is_cache_typed ? bytes : NAN };
	return true;
}

/* Is the work of this call known, if not by its name and inputs alone? */
static bool is_known_here(struct flops_count *c, uint32_t index, struct op_node *op)
{
	const struct counted_op *kind = &c->out->ops[index];

	if (c->calls[index].result == OP_WORK_NO_INPUTS)
		return c->names[kind->name] & NAME_EXPERTS && has_experts(c, index, op->row);
	if (c->captured) /* will run elsewhere */
		return true;
	uint32_t step = tsi_flops_step_at(c, tsi_start_ns(&c->trace->spans, op->row));
	op->is_varied = tsi_flops_of_contexts(c, &kind->work, step, op->device_ns, &op->own);
	return op->is_varied;
}

static void judge_op(struct flops_count *c, struct op_kind *kind, struct op_node *op)
{
	uint8_t name = c->names[tsi_name_id(&c->trace->spans, op->row)];
	uint32_t *index_and_1 = &kind->flops_op;

	if (!(name & NAME_MODELLED) && !c->has_written)
		return;
	if (*index_and_1 == 0)
		*index_and_1 = add_op(c, kind);
	if (*index_and_1 == 0 || *index_and_1 == NO_ROW)
		return;
	uint32_t index = *index_and_1 - 1;
	if (c->calls[index].result != OP_WORK_KNOWN && !is_known_here(c, index, op))
		op->is_lacking = c->out->ops[index].multiplies;
	else if (judge_known(&c->out->ops[index], op))
		op->index = index;
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

/* False without memory. */
static bool add_node(struct flops_count *c, struct op_stack *stack, size_t at)
{
	struct op_nodes *nodes = &c->nodes;
	struct open_op *op = &stack->open[at];
	enum place around = stack->is_autograd ? PLACE_NODE : PLACE_OUTSIDE;
	struct op_node *node = tsi_arena_push(&c->memory, &nodes->items, &nodes->count,
					      &nodes->capacity, sizeof(*node));

	if (!node)
		return false;
	if (at > 1)
		around = (enum place)nodes->items[op[-1].node].place;
	uint8_t name = ask_name(c, tsi_name_id(&c->trace->spans, op->row));
	*node = (struct op_node){
		.around = op[-1].node,
		.launcher = op->launcher,
		.row = op->row,
		.index = NO_NODE,
		.place = (uint8_t)place_of(name, tsi_cpu_op(c->trace, op->row), around),
	};
	op->node = (uint32_t)nodes->count - 1;
	return true;
}

void tsi_flops_open(struct flops_count *c, struct op_stack *stack)
{
	size_t at = stack->depth;

	/* Enclosing operators need nodes, too, the outermost first. */
	while (at > 1 && stack->open[at - 1].node == NO_NODE)
		at--;
	while (at < stack->depth && add_node(c, stack, at))
		at++;
}

void tsi_flops_close(struct flops_count *c, const struct open_op *op)
{
	struct op_nodes *nodes = &c->nodes;
	struct op_node *node = &nodes->items[op->node];

	if (node->launcher != NO_ROW && c->launchers[node->launcher].launches_matrix)
		node->within |= LOOSE;
	node->device_ns = op->device_ns;
	judge_op(c, op->kind, node);
	uint32_t *closed = tsi_arena_push(&c->memory, &nodes->closed, &nodes->closed_count,
					  &nodes->closed_capacity, sizeof(*closed));
	if (!closed)
		return;
	*closed = op->node;
	if (node->around == NO_NODE) {
		settle_closed(c);
		return;
	}
	nodes->items[node->around].within |= node->within;
	nodes->items[node->around].flops += node->flops;
}

/* ---- after the walk ------------------------------------------------------------------ */

/* Only when all have been seen is it known which ran outside the backward pass, too. */
static void count_repeated(struct flops_count *c, const struct sort_pair *again)
{
	struct counted_op *op = &c->out->ops[again->value];

	if (c->calls[again->value].outside_count == 0)
		return;
	uint32_t step = tsi_flops_step_at(c, tsi_start_ns(&c->trace->spans, (uint32_t)again->key));
	op->repeated_count++;
	c->out->all.repeated_flops += op->work.flops;
	if (step != NO_ROW)
		c->out->steps[step].repeated_flops += op->work.flops;
}

void tsi_flops_find_repeated(struct flops_count *c)
{
	struct sort_pair *scratch = tsi_arena_new(&c->memory, c->again_count, sizeof(*scratch));

	if (!scratch)
		return;
	/* Sums of reals depend on the order: that of the rows. */
	tsi_sort_pairs(c->again, scratch, c->again_count);
	for (size_t i = 0; i < c->again_count; i++)
		count_repeated(c, &c->again[i]);
}
