/* SPDX-License-Identifier: MIT */
/*
 * Attention made of single operators: a product of queries and keys, a softmax over its scores, a
 * product with the values. A fused kernel (scaled_dot_product_attention) never writes the scores,
 * so that what only reads and writes them is saved. It is recognised by shapes: a softmax
 * over [heads, S, T] with products that make such a tensor and products that take one.
 */
#include "analyze/facts.h"

#include "analyze/ops/trace_flops.h"
#include "base/sum.h"

enum {
	MAX_SCORES = 64, /* shapes of scores that are kept apart */
	MIN_LENGTH = 16, /* shorter rows are no sequences: experts, classes, single tokens */
};

#define FACTS(X)                                                                                   \
	X(SOFTMAX_COUNT, "softmax_count", COUNT,                                                   \
	  "softmaxes over scores of unfused attention, in the steps that count")                   \
	X(SCORES_NS, "scores_total_ns", NS,                                                        \
	  "device time of operators on the scores that are no products")                           \
	X(SOFTMAX_NS, "softmax_total_ns", NS, "of this, softmax and its gradient")                 \
	X(PRODUCTS_NS, "products_total_ns", NS,                                                    \
	  "device time of products that make the scores or take them")                             \
	X(HEADS, "heads", NUMBER,                                                                  \
	  "heads times sequences of the scores with most of scores_total_ns")                      \
	X(QUERIES, "queries", NUMBER, "their rows")                                                \
	X(KEYS, "keys", NUMBER, "their columns")

TSI_FACT_LIST(enum fact, facts, FACTS);

/* Scores of one shape, […, queries, keys]. */
struct scores {
	int64_t heads, queries, keys;
	int64_t softmax_count, scores_ns, softmax_ns, products_ns;
	unsigned dim_count;     /* of the softmax; products have 3 */
	bool is_made, is_taken; /* by a product */
};

struct work {
	const struct tscope_trace *trace;
	const struct op_sums *sums;
	struct scores scores[MAX_SCORES];
	size_t count;
};

static bool has_softmax_name(struct str name)
{
	return tsi_str_is(name, "aten::_softmax") || tsi_str_is(name, "aten::_safe_softmax");
}

static bool is_product(struct str name)
{
	return tsi_str_is(name, "aten::bmm") || tsi_str_is(name, "aten::baddbmm") ||
	       tsi_str_is(name, "aten::matmul");
}

/* False for what is no […, S, T] of sequences. */
static bool read_scores(struct scores *scores, const struct tensor *tensor)
{
	unsigned last = tensor->dim_count;
	int64_t heads = 1;

	if (last < 3 || tensor->dims[last - 1] < MIN_LENGTH || tensor->dims[last - 2] < MIN_LENGTH)
		return false;
	for (unsigned i = 0; i + 2 < last; i++)
		heads *= tensor->dims[i]; /* all elements together fit in 2^53 */
	*scores = (struct scores){
		.heads = heads,
		.queries = tensor->dims[last - 2],
		.keys = tensor->dims[last - 1],
		.dim_count = last,
	};
	return true;
}

static struct scores *find_scores(struct work *work, int64_t heads, int64_t queries, int64_t keys)
{
	for (size_t i = 0; i < work->count; i++) {
		struct scores *scores = &work->scores[i];
		if (scores->heads == heads && scores->queries == queries && scores->keys == keys)
			return scores;
	}
	return NULL;
}

static struct scores *find_tensor(struct work *work, const struct tensor *tensor)
{
	struct scores wanted;

	return read_scores(&wanted, tensor)
		       ? find_scores(work, wanted.heads, wanted.queries, wanted.keys)
		       : NULL;
}

static void add_softmax(struct work *work, const struct op_call *call, const struct op_times *times)
{
	struct scores scores;
	struct tensor tensor;

	if (!tsi_op_tensor(call, 0, &tensor) || !read_scores(&scores, &tensor))
		return;
	struct scores *known = find_scores(work, scores.heads, scores.queries, scores.keys);
	if (!known && work->count < MAX_SCORES) {
		known = &work->scores[work->count++];
		*known = scores;
	}
	if (known)
		known->softmax_count += times->count;
}

/* […, m, k] × […, k, n]: the scores are its result or the left side, backward also the right. */
static void add_product(struct work *work, const struct op_call *call, unsigned first,
			const struct op_times *times)
{
	struct tensor a, b;
	struct scores left;

	if (!tsi_op_tensor(call, first, &a) || !tsi_op_tensor(call, first + 1, &b) ||
	    a.dim_count < 3 || b.dim_count != a.dim_count)
		return;
	int64_t heads = 1;
	for (unsigned i = 0; i + 2 < a.dim_count; i++)
		heads *= a.dims[i];
	struct scores *made =
		find_scores(work, heads, a.dims[a.dim_count - 2], b.dims[b.dim_count - 1]);
	struct scores *taken = read_scores(&left, &a) ? find_tensor(work, &a) : NULL;
	if (made)
		made->is_made = true;
	if (taken)
		taken->is_taken = true;
	if (made || taken)
		tsi_sum(taken ? &taken->products_ns : &made->products_ns, times->self_device_ns);
}

/*
 * Any other operator that reads the scores. Those of as many elements in another form are not
 * taken for them: a bias for each pair is made of such.
 */
static void add_reader(struct work *work, struct str name, const struct op_call *call,
		       const struct op_times *times)
{
	for (unsigned i = 0; i < call->count; i++) {
		struct tensor tensor;
		struct scores *scores =
			tsi_op_tensor(call, i, &tensor) ? find_tensor(work, &tensor) : NULL;
		if (scores && (tensor.dim_count == 3 || tensor.dim_count == scores->dim_count)) {
			tsi_sum(&scores->scores_ns, times->self_device_ns);
			if (tsi_str_find(name, TSI_STR("softmax")) >= 0)
				tsi_sum(&scores->softmax_ns, times->self_device_ns);
			return;
		}
	}
}

enum pass { FIND_SOFTMAXES, ADD_UP };

static void visit_kind(struct work *work, uint32_t number, enum pass pass)
{
	const struct intern *names = &work->trace->names;
	const struct pair *kind = &work->sums->kinds.pairs[number];
	const struct op_inputs *inputs = &work->trace->op_inputs[kind->second];
	const struct op_times *times = &tsi_op_kind(work->sums, number)->counted;
	struct str name = tsi_intern_text(names, kind->first);
	struct op_call call;

	if (times->self_device_ns <= 0 || inputs->signature == 0 ||
	    (pass == FIND_SOFTMAXES && !has_softmax_name(name)))
		return;
	tsi_op_call_parse(&call, tsi_intern_text(names, inputs->signature), (struct str){ "", 0 });
	if (pass == FIND_SOFTMAXES)
		add_softmax(work, &call, times);
	else if (is_product(name))
		add_product(work, &call, tsi_str_is(name, "aten::baddbmm"), times);
	else
		add_reader(work, name, &call, times);
}

static void put_facts(const struct work *work, struct fact_sheet *out)
{
	const struct scores *most = NULL;
	struct scores sum = { 0 };

	for (size_t i = 0; i < work->count; i++) {
		const struct scores *scores = &work->scores[i];
		if (!scores->is_made || !scores->is_taken)
			continue;
		sum.softmax_count += scores->softmax_count;
		tsi_sum(&sum.scores_ns, scores->scores_ns);
		tsi_sum(&sum.softmax_ns, scores->softmax_ns);
		tsi_sum(&sum.products_ns, scores->products_ns);
		if (!most || scores->scores_ns > most->scores_ns)
			most = scores;
	}
	tsi_fact_int(out, SOFTMAX_COUNT, sum.softmax_count);
	tsi_fact_int(out, SCORES_NS, sum.scores_ns);
	tsi_fact_int(out, SOFTMAX_NS, sum.softmax_ns);
	tsi_fact_int(out, PRODUCTS_NS, sum.products_ns);
	if (!most)
		return;
	tsi_fact_real(out, HEADS, (double)most->heads);
	tsi_fact_real(out, QUERIES, (double)most->queries);
	tsi_fact_real(out, KEYS, (double)most->keys);
}

static void fill_attention(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct work work = { .trace = scope->trace, .sums = &scope->flops->operators };

	if (scope->trace->op_inputs_count < 2)
		return; /* the first says nothing */
	for (size_t i = 0; i < work.sums->ended_count; i++)
		visit_kind(&work, work.sums->ended[i], FIND_SOFTMAXES);
	for (size_t i = 0; work.count > 0 && i < work.sums->ended_count; i++)
		visit_kind(&work, work.sums->ended[i], ADD_UP);
	put_facts(&work, out);
}

const struct analyzer tsi_analyzer_attention = {
	.def = {
		.id = "attention",
		.summary = "attention that is made of single operators",
		TSI_FACTS(facts),
		.needs = "a trace with the shapes of operators (record_shapes=True)",
		.total = TSCOPE_TOTAL_STEPS,
	},
	.levels = LEVEL_TRACE,
	.fill = fill_attention,
};
