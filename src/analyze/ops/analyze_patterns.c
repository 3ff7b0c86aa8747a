/* SPDX-License-Identifier: MIT */
/*
 * Patterns of operators that cost time for nothing, as torch's pattern matcher knows them, in the
 * steps that count. Looked at are the operators of a thread that no other operator encloses, in
 * their order:
 *
 *	conv2d with a bias | (add_) | batch_norm          the norm subtracts the bias again
 *	… fill_ without a call | to(_to_copy(copy_(call)))   a tensor made on the host, then copied
 *	select a b | select a b | …                       a loop over a tensor, 10 times or more
 *	Broadcast, Scatter, Gather …                      torch.nn.DataParallel
 */
#include "analyze/facts.h"

#include "analyze/ops/op_inputs.h"
#include "base/attributes.h"
#include "base/sum.h"
#include "timeline/timeline.h"

enum {
	MIN_LOOP = 10, /* iterations, as torch has it */
	MAX_BODY = 8,  /* operators of one; layers that select once have more */
};

#define FACTS(X)                                                                                   \
	X(STEP_COUNT, "step_count", COUNT, "counted steps")                                        \
	X(WALL_NS, "wall_total_ns", NS, "their wall time")                                         \
	X(CONV_BIAS_COUNT, "conv_bias_count", COUNT,                                               \
	  "convolutions with a bias, right before a batch norm")                                   \
	X(HOST_TENSOR_COUNT, "host_tensor_count", COUNT,                                           \
	  "tensors filled on the host and copied to a device at once")                             \
	X(HOST_TENSOR_NS, "host_tensor_total_ns", NS, "host time of filling and copying them")     \
	X(LOOP_COUNT, "loop_count", COUNT, "iterations of loops that index a tensor")              \
	X(LOOP_NS, "loop_total_ns", NS, "host time of these loops")                                \
	X(DATA_PARALLEL_COUNT, "data_parallel_count", COUNT,                                       \
	  "operators of torch.nn.DataParallel, in a trace of several devices")                     \
	X(DATA_PARALLEL_NS, "data_parallel_total_ns", NS, "host time of these")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define PLACE_COLUMNS(X)                                                                           \
	X(PATTERN, "pattern", TEXT, "conv_bias, host_tensor, loop or data_parallel")               \
	X(MAX_START_NS, "max_start_ns", NS, "where the longest starts, on the trace's clock")      \
	X(MAX_NS, "max_ns", NS, "how long it takes")

TSI_FACT_LIST(enum place_column, place_columns, PLACE_COLUMNS);

#define TABLES(X) X(PLACES, "places", place_columns, "the longest of each pattern")

TSI_TABLE_LIST(enum table, tables, TABLES);

enum pattern { CONV_BIAS, HOST_TENSOR, LOOP, DATA_PARALLEL, PATTERN_COUNT };

static const char *const pattern_names[PATTERN_COUNT] = { "conv_bias", "host_tensor", "loop",
							  "data_parallel" };

/* Role of a span by its kind. */
enum role {
	NOTHING, /* no operator, no call */
	OPERATOR,
	CALL,
	BIASED_CONV,
	ADD,
	NORM,
	FILL,
	TO,
	COPY,
	SELECT,
	REPLICATE,
};

static const struct {
	struct str name;
	enum role role;
} roles[] = {
#define ROLE(text, role)                                                                           \
	{                                                                                          \
		{ text, sizeof(text) - 1 }, role                                                   \
	}
	ROLE("aten::conv1d", BIASED_CONV),
	ROLE("aten::conv2d", BIASED_CONV),
	ROLE("aten::conv3d", BIASED_CONV),
	ROLE("aten::add_", ADD),
	ROLE("aten::batch_norm", NORM),
	ROLE("aten::fill_", FILL),
	ROLE("aten::zero_", FILL),
	ROLE("aten::normal_", FILL),
	ROLE("aten::uniform_", FILL),
	ROLE("aten::to", TO),
	ROLE("aten::copy_", COPY),
	ROLE("aten::select", SELECT),
	ROLE("Broadcast", REPLICATE),
	ROLE("Scatter", REPLICATE),
	ROLE("Gather", REPLICATE),
	ROLE("BroadcastBackward", REPLICATE),
	ROLE("ScatterBackward", REPLICATE),
	ROLE("GatherBackward", REPLICATE),
	ROLE("ReduceAddCoalesced", REPLICATE),
};

struct found {
	int64_t count, ns;
	struct interval longest;
};

/* An operator that no other encloses. */
struct outer_op {
	uint32_t row, end_row; /* behind what it encloses */
	enum role role;
};

/* Operators from one select to the next, and how often these came in a row. */
struct loop {
	uint64_t body, last_body; /* hashes of their names */
	uint32_t inputs;          /* of the select */
	int64_t start_ns, end_ns; /* of all iterations that are alike; where the last one ends */
	int64_t count;
	unsigned length; /* of the body */
};

struct work {
	const struct tscope_trace *trace;
	const struct tscope_timeline *timeline;
	uint8_t *roles; /* by kind of span: enum role */
	struct found found[PATTERN_COUNT];
	struct outer_op before, before_that; /* the operators in front of the one at hand */
	struct loop loop;
	uint32_t step;
};

/* The operators that pass a bias, an argument of its own after input and weight. */
static bool has_bias(const struct tscope_trace *trace, const struct cpu_op *op)
{
	struct str signature =
		tsi_intern_text(&trace->names, trace->op_inputs[op->inputs].signature);
	struct op_call call;
	struct tensor bias;

	tsi_op_call_parse(&call, signature, TSI_STR(""));
	return tsi_op_tensor(&call, 2, &bias);
}

static enum role role_of(const struct tscope_trace *trace, const struct span_kind *kind)
{
	struct str name = tsi_intern_text(&trace->names, kind->name);

	if (kind->span_class == TSCOPE_SPAN_RUNTIME)
		return CALL;
	if (kind->span_class != TSCOPE_SPAN_CPU_OP)
		return NOTHING;
	for (size_t i = 0; i < TSI_COUNT_OF(roles); i++) {
		if (!tsi_str_equal(name, roles[i].name))
			continue;
		return roles[i].role == BIASED_CONV && !has_bias(trace, &kind->op) ? OPERATOR
										   : roles[i].role;
	}
	return OPERATOR;
}

/* Whether all kinds of spans of any pattern are there. */
static bool find_roles(struct work *work, struct arena *arena)
{
	const struct tscope_trace *trace = work->trace;
	bool has[REPLICATE + 1] = { false };

	work->roles = tsi_arena_new(arena, trace->spans.kind_count, 1);
	for (uint32_t i = 0; work->roles && i < trace->spans.kind_count; i++) {
		work->roles[i] = (uint8_t)role_of(trace, &trace->spans.kinds[i]);
		has[work->roles[i]] = true;
	}
	return (has[BIASED_CONV] && has[NORM]) || (has[FILL] && has[TO] && has[COPY]) ||
	       has[SELECT] || (has[REPLICATE] && trace->device_count > 1);
}

static struct interval time_of(const struct work *work, uint32_t row)
{
	return (struct interval){ tsi_start_ns(&work->trace->spans, row),
				  tsi_span_end(work->trace, row) };
}

static inline enum role role_of_row(const struct work *work, uint32_t row)
{
	return (enum role)work->roles[work->trace->spans.kind[row]];
}

static void add_found(struct work *work, enum pattern pattern, struct interval time, int64_t count)
{
	struct found *found = &work->found[pattern];
	int64_t ns = time.end_ns - time.start_ns;
	uint32_t step = tsi_timeline_step_near(work->timeline, time.start_ns, &work->step);

	if (step == NO_ROW || work->timeline->steps[step].mark != TSCOPE_STEP_COUNTED)
		return;
	found->count += count;
	tsi_sum(&found->ns, ns);
	if (ns > found->longest.end_ns - found->longest.start_ns)
		found->longest = time;
}

/* ---- loops ---- */

static void end_loop(struct work *work)
{
	struct loop *loop = &work->loop;

	if (loop->count >= MIN_LOOP)
		add_found(work, LOOP, (struct interval){ loop->start_ns, loop->end_ns },
			  loop->count);
	*loop = (struct loop){ 0 };
}

/* Each iteration is known once the next select begins. */
static void follow_loop(struct work *work, const struct outer_op *op)
{
	struct loop *loop = &work->loop;
	const struct span_kind *kind = tsi_span_kind(&work->trace->spans, op->row);

	if (op->role != SELECT) {
		loop->length++;
		loop->body = (loop->body ^ kind->name) * UINT64_C(0x9e3779b97f4a7c15);
		return;
	}
	bool goes_on = loop->count > 0 && loop->inputs == kind->op.inputs &&
		       loop->length <= MAX_BODY &&
		       (loop->count == 1 || loop->body == loop->last_body);
	uint64_t body = loop->body;
	struct interval time = time_of(work, op->row);
	if (!goes_on)
		end_loop(work);
	if (loop->count++ == 0)
		loop->start_ns = time.start_ns;
	loop->inputs = kind->op.inputs;
	loop->last_body = body;
	loop->body = 0;
	loop->length = 0;
	loop->end_ns = time.end_ns;
}

/* ---- one operator after the other ---- */

/* Sizes of the first tensor: "[[100, 100]". */
static struct str first_sizes(const struct tscope_trace *trace, uint32_t row)
{
	uint32_t inputs = tsi_span_kind(&trace->spans, row)->op.inputs;
	struct str text = tsi_intern_text(&trace->names, trace->op_inputs[inputs].signature);
	int64_t end = tsi_str_find(text, TSI_STR("]"));

	text.length = end > 0 ? (size_t)end : 0;
	return text;
}

/* Does an operator copy by a call that it makes itself? */
static bool copies(const struct work *work, const struct outer_op *op)
{
	enum role around = op->role;

	for (uint32_t row = op->row + 1; row < op->end_row; row++) {
		enum role role = role_of_row(work, row);
		if (role == CALL && around == COPY &&
		    tsi_call_kind(work->trace, row) == CALL_MEMCPY)
			return true;
		if (role != NOTHING && role != CALL)
			around = role;
	}
	return false;
}

/* The row of the last operator in one, if that fills a tensor and there is no call; or NO_ROW. */
static uint32_t find_fill(const struct work *work, const struct outer_op *op)
{
	uint32_t last = op->row;

	for (uint32_t row = op->row + 1; row < op->end_row; row++) {
		enum role role = role_of_row(work, row);
		if (role == CALL)
			return NO_ROW;
		if (role != NOTHING)
			last = row;
	}
	return role_of_row(work, last) == FILL ? last : NO_ROW;
}

/* A tensor of the size that the operator before has filled. */
static bool copies_filled(const struct work *work, const struct outer_op *op)
{
	if (op->role != TO || work->before.role == NOTHING || !copies(work, op))
		return false;
	uint32_t fill = find_fill(work, &work->before);
	if (fill == NO_ROW)
		return false;
	struct str sizes = first_sizes(work->trace, op->row);
	return sizes.length && tsi_str_equal(sizes, first_sizes(work->trace, fill));
}

/* An operator that may end a pattern. */
static void end_pattern(struct work *work, const struct outer_op *op)
{
	const struct outer_op *before = &work->before;

	if (op->role == REPLICATE && work->trace->device_count > 1)
		add_found(work, DATA_PARALLEL, time_of(work, op->row), 1);
	if (op->role == NORM && before->role == ADD)
		before = &work->before_that;
	if (op->role == NORM && before->role == BIASED_CONV)
		add_found(work, CONV_BIAS, time_of(work, before->row), 1);
	if (copies_filled(work, op))
		add_found(work, HOST_TENSOR,
			  (struct interval){ tsi_start_ns(&work->trace->spans, before->row),
					     tsi_span_end(work->trace, op->row) },
			  1);
}

static void walk_track(struct work *work, const struct track *track)
{
	const struct spans *spans = &work->trace->spans;
	uint32_t row = track->first, end = track->first + track->count;

	work->before = work->before_that = (struct outer_op){ 0 };
	while (row < end) {
		struct outer_op op = { .row = row, .role = role_of_row(work, row) };
		if (op.role == NOTHING || op.role == CALL) {
			row++;
			continue;
		}
		row = tsi_time_seek(&spans->starts, row + 1, end, tsi_span_end(work->trace, row));
		op.end_row = row;
		if (op.role == SELECT || work->loop.count)
			follow_loop(work, &op);
		if (op.role != OPERATOR)
			end_pattern(work, &op);
		work->before_that = work->before;
		work->before = op;
	}
	end_loop(work);
}

static void set_facts(const struct work *work, struct fact_sheet *out)
{
	static const enum fact counts[PATTERN_COUNT] = { CONV_BIAS_COUNT, HOST_TENSOR_COUNT,
							 LOOP_COUNT, DATA_PARALLEL_COUNT };
	const struct tscope_timeline *timeline = work->timeline;
	int64_t step_count = 0, wall_ns = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		if (timeline->steps[i].mark != TSCOPE_STEP_COUNTED)
			continue;
		step_count++;
		tsi_sum(&wall_ns, timeline->steps[i].wall_ns);
	}
	tsi_fact_int(out, STEP_COUNT, step_count);
	tsi_fact_int(out, WALL_NS, wall_ns);
	for (size_t i = 0; i < PATTERN_COUNT; i++) {
		const struct found *found = &work->found[i];
		tsi_fact_int(out, counts[i], found->count);
		if (!found->count)
			continue;
		struct tscope_value *cells = tsi_table_row(out, PLACES);
		cells[PATTERN] = tsi_text(pattern_names[i]);
		cells[MAX_START_NS] = tsi_int(found->longest.start_ns);
		cells[MAX_NS] = tsi_int(found->longest.end_ns - found->longest.start_ns);
	}
	tsi_fact_int(out, HOST_TENSOR_NS, work->found[HOST_TENSOR].ns);
	tsi_fact_int(out, LOOP_NS, work->found[LOOP].ns);
	tsi_fact_int(out, DATA_PARALLEL_NS, work->found[DATA_PARALLEL].ns);
}

static void fill_patterns(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct work work = { .trace = scope->trace, .timeline = scope->timeline };

	if (!scope->trace->cpu_op_count || !scope->trace->device_count)
		return;
	if (find_roles(&work, tsi_sheet_scratch(out)))
		for (uint32_t i = 0; i < scope->trace->host_track_count; i++)
			walk_track(&work, &scope->trace->tracks[i]);
	set_facts(&work, out);
}

const struct analyzer tsi_analyzer_patterns = {
	.def = {
		.id = "patterns",
		.summary = "operators that cost time for nothing",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with operators and device activity",
		.total = TSCOPE_TOTAL_STEPS,
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_patterns,
};
