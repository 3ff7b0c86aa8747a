/* SPDX-License-Identifier: MIT */
/*
 * The FLOPs of a trace's operators, and how near each comes to what the device could do with them
 * (the roofline): the larger of the time that its FLOPs take at the peak of its precision and the
 * time that its bytes take at the memory's bandwidth. Time beyond that is lost, and could be won
 * back.
 */
#include "analyze/facts.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/ops/peak.h"
#include "analyze/ops/trace_flops.h"
#include "analyze/shared/reliability.h"
#include "base/sum.h"

#define FACTS(X)                                                                                   \
	X(TOTAL, "total", FLOPS, "FLOPs that ran and are known")                                   \
	X(REPEATED, "repeated", FLOPS,                                                             \
	  "of them, forward work that activation checkpointing computed again")                    \
	X(COVERAGE_RATIO, "coverage_ratio", RATIO,                                                 \
	  "of the time of matrix kernels, that of kernels whose FLOPs are known")                  \
	X(MATRIX_NS, "matrix_ns", NS,                                                              \
	  "kernels of products, convolutions, attention and mixtures of experts; with them those " \
	  "of no known kind where these take more than 10 % of kernel time")                       \
	X(UNCOUNTED_NS, "uncounted_ns", NS, "of it, kernels whose FLOPs are not known")            \
	X(LOST_NS, "lost_ns", NS,                                                                  \
	  "what modelled operators took beyond their rooflines, over the whole trace")             \
	X(LOST_PER_STEP_NS, "lost_per_step_ns", NS, "of it, in a mean step of those that count")   \
	X(HAS_TENSOR_CORES, "has_tensor_cores", FLAG, "the device has tensor (matrix) cores")      \
	X(HAS_TF32, "has_tf32", FLAG, "they multiply float32 rounded to TF32")                     \
	X(HAS_BF16, "has_bf16", FLAG, "they multiply bfloat16")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define OPERATOR_COLUMNS(X)                                                                        \
	X(OP_NAME, "name", TEXT, "of the operator")                                                \
	X(OP_SHAPE, "shape", TEXT, "sizes of its tensors, as far as there is room")                \
	X(OP_INPUTS, "inputs", TEXT, "dimensions and types of its inputs")                         \
	X(OP_KIND, "kind", TEXT, "what it computes")                                               \
	X(OP_PRECISION, "precision", TEXT, "of its operands; absent where it multiplies nothing")  \
	X(OP_KERNEL, "kernel", TEXT,                                                               \
	  "the kernel with most of its time, of those that multiply if any do")                    \
	X(OP_TENSOR_CORES, "tensor_cores", TEXT,                                                   \
	  "does that kernel use tensor cores, by its name? yes, no or unknown")                    \
	X(OP_ALIGNMENT, "alignment", COUNT,                                                        \
	  "largest power of two, up to 16, that divides the sizes which tensor cores take in "     \
	  "pieces")                                                                                \
	X(OP_CALL_COUNT, "count", COUNT, "how often it ran")                                       \
	X(OP_COUNT_PER_STEP, "count_per_step", NUMBER,                                             \
	  "how often it ran in a mean step of those that count")                                   \
	X(OP_REPEATED_COUNT, "repeated_count", COUNT,                                              \
	  "of them, forward work that was computed again")                                         \
	X(OP_DEVICE_NS, "device_ns", NS, "sum of the durations of device events launched in it")   \
	X(OP_PRODUCT_NS, "product_ns", NS, "of it, kernels whose names say that they multiply")    \
	X(OP_FLOPS, "flops", FLOPS, "of all calls")                                                \
	X(OP_BYTES, "bytes", BYTES, "least that all calls must move")                              \
	X(OP_FLOPS_PER_SECOND, "flops_per_second", FLOPS_PER_SECOND, "flops by device_ns")         \
	X(OP_BYTES_PER_SECOND, "bytes_per_second", BYTES_PER_SECOND, "bytes by device_ns")         \
	X(OP_INTENSITY, "intensity", NUMBER, "arithmetic intensity: FLOPs by byte")                \
	X(OP_BOUND, "bound", TEXT, "what limits it at best: compute or memory")                    \
	X(OP_ROOFLINE_NS, "roofline_ns", NS, "the least that all calls could take")                \
	X(OP_ROOFLINE_RATIO, "roofline_ratio", RATIO,                                              \
	  "roofline_ns by device_ns: how near it comes")                                           \
	X(OP_TENSOR_ROOFLINE_NS, "tensor_roofline_ns", NS,                                         \
	  "the least that all calls could take on tensor cores with operands of this type; "       \
	  "absent: the device has none for it")                                                    \
	X(OP_HALF_ROOFLINE_NS, "half_roofline_ns", NS,                                             \
	  "of products of float32 and TF32, the least that all calls could take in bfloat16, "     \
	  "else float16; absent: the device multiplies neither faster, or is not known")           \
	X(OP_LOST_NS, "lost_ns", NS, "device_ns beyond roofline_ns")

TSI_FACT_LIST(enum operator_column, operator_columns, OPERATOR_COLUMNS);

#define PRECISION_COLUMNS(X)                                                                       \
	X(PRECISION, "precision", TEXT, "of the operands")                                         \
	X(PRECISION_CALL_COUNT, "count", COUNT, "operators that ran")                              \
	X(PRECISION_DEVICE_NS, "device_ns", NS, "what they launched took")                         \
	X(PRECISION_FLOPS, "flops", FLOPS, "of all of them")                                       \
	X(PRECISION_SHARE_RATIO, "share_ratio", RATIO, "of all FLOPs")                             \
	X(PRECISION_FLOPS_PER_SECOND, "flops_per_second", FLOPS_PER_SECOND, "flops by device_ns")  \
	X(PRECISION_PEAK_FLOPS, "peak_flops", FLOPS_PER_SECOND,                                    \
	  "the device's, at this precision, dense")                                                \
	X(PRECISION_TENSOR_PEAK_FLOPS, "tensor_peak_flops", FLOPS_PER_SECOND,                      \
	  "the device's, on tensor cores with operands of this type; absent: it has none for it")

TSI_FACT_LIST(enum precision_column, precision_columns, PRECISION_COLUMNS);

#define UNCOUNTED_COLUMNS(X)                                                                       \
	X(UNCOUNTED_KERNEL, "kernel", TEXT, "name")                                                \
	X(UNCOUNTED_KIND, "kind", TEXT, "what it computes")                                        \
	X(UNCOUNTED_OP, "op", TEXT, "the operator that launched it")                               \
	X(UNCOUNTED_WHY, "why", TEXT,                                                              \
	  "no_operator, no_model (no formula) or no_inputs (not recorded)")                        \
	X(UNCOUNTED_COUNT, "count", COUNT, "kernels")                                              \
	X(UNCOUNTED_TOTAL_NS, "total_ns", NS, "sum of their durations")

TSI_FACT_LIST(enum uncounted_column, uncounted_columns, UNCOUNTED_COLUMNS);

#define TABLES(X)                                                                                  \
	X(BY_OPERATOR, "by_operator", operator_columns,                                            \
	  "operators by name and inputs, those that lose most first")                              \
	X(BY_PRECISION, "by_precision", precision_columns,                                         \
	  "FLOPs by the precision of the operands")                                                \
	X(UNCOUNTED, "uncounted", uncounted_columns, "matrix kernels whose FLOPs are not known")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* The least time that an operator's calls could take, and what forbids less. */
struct roofline {
	double ns;         /* NAN: not known */
	const char *bound; /* "compute", "memory"; NULL where ns is not known */
};

struct row {
	const struct counted_op *op;
	struct roofline roofline;
	int64_t roofline_ns, lost_ns; /* -1: not known */
	double count_per_step;        /* NAN: no step counts */
};

static const char *text_of(const struct analysis_scope *scope, uint32_t id)
{
	return tsi_intern_text(&scope->trace->names, id).data;
}

/*
 * With a known compute peak but unknown bytes, compute alone is the bound, unless bytes may be so
 * many that the memory is.
 */
static struct roofline roofline_of(const struct trace_flops *flops, const struct counted_op *op,
				   enum tscope_precision precision)
{
	double peak = tsi_peak_at(flops, precision);
	double compute_s = op->multiplies ? op->work.flops / peak : 0;
	double memory_s = op->work.bytes / tsi_peak_bytes_per_second(flops);
	double ns_of_all = 1e9 * (double)op->count;

	if (isnan(compute_s) || ((isnan(memory_s) || op->crosses_link) && !op->multiplies))
		return (struct roofline){ NAN, NULL };
	if (isnan(memory_s) && op->work.most_bytes / tsi_peak_bytes_per_second(flops) > compute_s)
		return (struct roofline){ NAN, NULL };
	if (isnan(memory_s) || compute_s >= memory_s)
		return (struct roofline){ compute_s * ns_of_all, "compute" };
	return (struct roofline){ memory_s * ns_of_all, "memory" };
}

/* Precision that tensor cores use for such operands; unknown for double precision. */
static enum tscope_precision on_tensor_cores(enum tscope_precision precision)
{
	switch (precision) {
	case TSCOPE_PRECISION_FP32:
		return TSCOPE_PRECISION_TF32;
	case TSCOPE_PRECISION_FP64:
		return TSCOPE_PRECISION_UNKNOWN;
	default:
		return precision;
	}
}

/* Halves up; -1 for what is no number or fits in no int64. */
static int64_t whole(double number)
{
	return number >= 0 && number < 9e18 ? (int64_t)(number + 0.5) : -1;
}

static struct tscope_value whole_value(int64_t number)
{
	return number < 0 ? (struct tscope_value){ 0 } : tsi_int(number);
}

static struct row row_of(const struct analysis_scope *scope, const struct counted_op *op,
			 int64_t step_count)
{
	struct row row = { .op = op, .lost_ns = -1, .count_per_step = NAN };

	row.roofline = roofline_of(scope->flops, op, op->work.precision);
	row.roofline_ns = whole(row.roofline.ns);
	if (row.roofline_ns >= 0 && op->device_ns > 0)
		row.lost_ns = op->device_ns > row.roofline_ns ? op->device_ns - row.roofline_ns : 0;
	if (step_count)
		row.count_per_step = (double)op->timed_count / (double)step_count;
	return row;
}

/* Most lost time first; where unknown, most device time; then trace order. */
static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->lost_ns != b->lost_ns)
		return a->lost_ns > b->lost_ns ? -1 : 1;
	if (a->op->device_ns != b->op->device_ns)
		return a->op->device_ns > b->op->device_ns ? -1 : 1;
	return a->op < b->op ? -1 : 1;
}

/* FLOPs or bytes by time; absent where nothing was timed. */
static struct tscope_value rate(double amount, int64_t ns)
{
	return ns > 0 ? tsi_real(amount * 1e9 / (double)ns) : (struct tscope_value){ 0 };
}

static const char *tensor_core_text(enum tensor_core_use use)
{
	switch (use) {
	case TENSOR_CORES_USED:
		return "yes";
	case TENSOR_CORES_NOT_USED:
		return "no";
	case TENSOR_CORES_UNKNOWN:
		break;
	}
	return "unknown";
}

static void fill_identity(const struct analysis_scope *scope, const struct counted_op *op,
			  struct tscope_value *cells)
{
	uint32_t signature = scope->trace->op_inputs[op->inputs].signature;

	cells[OP_NAME] = tsi_text(text_of(scope, op->name));
	if (op->shape[0] != '\0')
		cells[OP_SHAPE] = tsi_text(op->shape);
	if (signature)
		cells[OP_INPUTS] = tsi_text(text_of(scope, signature));
	cells[OP_KIND] = tsi_text(tsi_kernel_kind_name(op->work.kind));
	if (op->multiplies)
		cells[OP_PRECISION] = tsi_text(tscope_precision_name(op->work.precision));
	if (op->kernel)
		cells[OP_KERNEL] = tsi_text(text_of(scope, op->kernel));
	if (op->kernel && op->multiplies)
		cells[OP_TENSOR_CORES] = tsi_text(tensor_core_text(tsi_tensor_core_use(
			op->work.kind, tsi_intern_text(&scope->trace->names, op->kernel))));
	if (op->work.alignment)
		cells[OP_ALIGNMENT] = tsi_int(op->work.alignment);
}

/* The least time in halves, which are half the bytes, too; -1 where that is no gain. */
static int64_t half_roofline_ns(const struct trace_flops *flops, const struct counted_op *op)
{
	enum tscope_precision precision = op->work.precision, half = TSCOPE_PRECISION_BF16;
	struct counted_op in_halves = *op;

	if (!op->multiplies ||
	    (precision != TSCOPE_PRECISION_FP32 && precision != TSCOPE_PRECISION_TF32))
		return -1;
	if (!(tsi_peak_at(flops, half) > 0))
		half = TSCOPE_PRECISION_FP16;
	if (!(tsi_peak_at(flops, half) > tsi_peak_at(flops, precision)))
		return -1;
	in_halves.work.bytes /= 2;
	return whole(roofline_of(flops, &in_halves, half).ns);
}

static void fill_operator(const struct analysis_scope *scope, const struct row *row,
			  struct tscope_value *cells)
{
	const struct counted_op *op = row->op;
	double flops = op->work.flops * (double)op->count;
	double bytes = op->work.bytes * (double)op->count;

	fill_identity(scope, op, cells);
	cells[OP_CALL_COUNT] = tsi_int(op->count);
	cells[OP_COUNT_PER_STEP] = tsi_real(row->count_per_step);
	cells[OP_REPEATED_COUNT] = tsi_int(op->repeated_count);
	if (scope->trace->device_count)
		cells[OP_DEVICE_NS] = tsi_int(op->device_ns);
	if (op->product_ns)
		cells[OP_PRODUCT_NS] = tsi_int(op->product_ns);
	cells[OP_FLOPS] = tsi_real(flops);
	cells[OP_BYTES] = whole_value(whole(bytes));
	cells[OP_FLOPS_PER_SECOND] = rate(flops, op->device_ns);
	cells[OP_BYTES_PER_SECOND] = rate(bytes, op->device_ns);
	cells[OP_INTENSITY] = tsi_real(op->work.flops / op->work.bytes);
	if (row->roofline.bound)
		cells[OP_BOUND] = tsi_text(row->roofline.bound);
	cells[OP_ROOFLINE_NS] = whole_value(row->roofline_ns);
	if (row->lost_ns >= 0)
		cells[OP_ROOFLINE_RATIO] =
			tsi_real(fmin(row->roofline.ns / (double)op->device_ns, 1));
	if (op->multiplies)
		cells[OP_TENSOR_ROOFLINE_NS] = whole_value(whole(
			roofline_of(scope->flops, op, on_tensor_cores(op->work.precision)).ns));
	cells[OP_HALF_ROOFLINE_NS] = whole_value(half_roofline_ns(scope->flops, op));
	cells[OP_LOST_NS] = whole_value(row->lost_ns);
}

static int64_t count_steps(const struct tscope_timeline *timeline)
{
	int64_t count = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++)
		count += timeline->steps[i].mark == TSCOPE_STEP_COUNTED;
	return count;
}

/* Is there any operator with known FLOPs? */
static bool has_products(const struct trace_flops *flops)
{
	for (size_t i = 0; i < flops->op_count; i++)
		if (flops->ops[i].multiplies)
			return true;
	return false;
}

static void doubt_facts(struct fact_sheet *out, const enum fact *absent, size_t count,
			const char *reason)
{
	for (size_t i = 0; i < count; i++)
		tsi_fact_doubt(out, absent[i], reason);
}

static const char no_device[] = "no device activity in the trace";

/* Reasons for absent time beyond rooflines; where no shapes are recorded, that is the reason. */
static void doubt_lost(const struct analysis_scope *scope, bool is_known, bool has_steps,
		       struct fact_sheet *out)
{
	static const enum fact lost[] = { LOST_NS, LOST_PER_STEP_NS };

	if (is_known && !has_steps)
		tsi_fact_doubt(out, LOST_PER_STEP_NS, "no complete step");
	if (is_known || !tsi_trace_has_shapes(scope->trace))
		return;
	doubt_facts(out, lost, TSI_COUNT_OF(lost),
		    !scope->trace->device_count    ? no_device
		    : !scope->flops->device.device ? "unknown device"
						   : "no operator with a known roofline");
}

static void list_operators(const struct analysis_scope *scope, struct row *rows,
			   struct fact_sheet *out)
{
	size_t count = scope->flops->op_count;
	int64_t step_count = count_steps(scope->timeline), lost_ns = -1;
	double lost_per_step_ns = 0;

	for (size_t i = 0; i < count; i++)
		rows[i] = row_of(scope, &scope->flops->ops[i], step_count);
	if (count)
		qsort(rows, count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < count; i++) {
		struct tscope_value *cells = tsi_table_row(out, BY_OPERATOR);
		fill_operator(scope, &rows[i], cells);
		if (rows[i].lost_ns < 0)
			continue;
		lost_ns = lost_ns < 0 ? 0 : lost_ns;
		tsi_sum(&lost_ns, rows[i].lost_ns);
		lost_per_step_ns += (double)rows[i].lost_ns / (double)rows[i].op->count *
				    rows[i].count_per_step;
	}
	if (lost_ns >= 0)
		tsi_fact_int(out, LOST_NS, lost_ns);
	if (lost_ns >= 0 && step_count)
		tsi_fact_int(out, LOST_PER_STEP_NS, whole(lost_per_step_ns));
	doubt_lost(scope, lost_ns >= 0, step_count > 0, out);
}

struct precision_sum {
	int64_t count, device_ns;
	double flops;
};

/* all_flops: the sum over all precisions, in the same order: no share is above 1. */
static void fill_precision(const struct analysis_scope *scope, enum tscope_precision precision,
			   const struct precision_sum *sum, double all_flops,
			   struct tscope_value *cells)
{
	const struct trace_flops *flops = scope->flops;

	cells[PRECISION] = tsi_text(tscope_precision_name(precision));
	cells[PRECISION_CALL_COUNT] = tsi_int(sum->count);
	if (scope->trace->device_count)
		cells[PRECISION_DEVICE_NS] = tsi_int(sum->device_ns);
	cells[PRECISION_FLOPS] = tsi_real(sum->flops);
	cells[PRECISION_SHARE_RATIO] = tsi_real(sum->flops / all_flops);
	cells[PRECISION_FLOPS_PER_SECOND] = rate(sum->flops, sum->device_ns);
	cells[PRECISION_PEAK_FLOPS] = tsi_real(tsi_peak_at(flops, precision));
	cells[PRECISION_TENSOR_PEAK_FLOPS] =
		tsi_real(tsi_peak_at(flops, on_tensor_cores(precision)));
}

static void list_precisions(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct precision_sum sums[TSCOPE_PRECISION_COUNT] = { 0 };
	double all_flops = 0;

	for (size_t i = 0; i < scope->flops->op_count; i++) {
		const struct counted_op *op = &scope->flops->ops[i];
		struct precision_sum *sum = &sums[op->work.precision];
		if (!op->multiplies)
			continue;
		sum->count += op->count;
		tsi_sum(&sum->device_ns, op->device_ns);
		sum->flops += op->work.flops * (double)op->count;
	}
	for (int i = 0; i < TSCOPE_PRECISION_COUNT; i++)
		all_flops += sums[i].flops;
	for (int i = 0; i < TSCOPE_PRECISION_COUNT; i++) {
		if (sums[i].count == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, BY_PRECISION);
		fill_precision(scope, (enum tscope_precision)i, &sums[i], all_flops, cells);
	}
}

static void list_uncounted(const struct analysis_scope *scope, struct fact_sheet *out)
{
	static const char *const reasons[] = {
		[UNCOUNTED_NO_OPERATOR] = "no_operator",
		[UNCOUNTED_NO_MODEL] = "no_model",
		[UNCOUNTED_NO_INPUTS] = "no_inputs",
	};

	for (size_t i = 0; i < scope->flops->uncounted_count; i++) {
		const struct uncounted_kernel *kernel = &scope->flops->uncounted[i];
		struct tscope_value *cells = tsi_table_row(out, UNCOUNTED);
		cells[UNCOUNTED_KERNEL] = tsi_text(text_of(scope, kernel->kernel));
		cells[UNCOUNTED_KIND] = tsi_text(tsi_kernel_kind_name(kernel->kind));
		if (kernel->op)
			cells[UNCOUNTED_OP] = tsi_text(text_of(scope, kernel->op));
		cells[UNCOUNTED_WHY] = tsi_text(reasons[kernel->reason]);
		cells[UNCOUNTED_COUNT] = tsi_int(kernel->count);
		cells[UNCOUNTED_TOTAL_NS] = tsi_int(kernel->total_ns);
	}
	tsi_table_order(out, UNCOUNTED, UNCOUNTED_TOTAL_NS, UNCOUNTED_KERNEL);
}

/* Reason why tensor core use is unknown. */
static const char *lack_of_cores(const struct analysis_scope *scope)
{
	if (!scope->trace->device_count)
		return no_device;
	if (scope->flops->other_device_name)
		return "the trace is of devices of different kinds";
	return scope->flops->tensor_cores == TENSOR_CORES_MISSING ? "the device has no tensor cores"
								  : "unknown device";
}

/* Reasons for what is absent although the shapes of operators are recorded. */
static void say_lacks(const struct analysis_scope *scope, struct fact_sheet *out)
{
	static const enum fact device_facts[] = { COVERAGE_RATIO, MATRIX_NS, UNCOUNTED_NS };
	static const enum fact products_facts[] = { TOTAL, REPEATED };
	static const enum fact cores_facts[] = { HAS_TF32, HAS_BF16 };
	const struct trace_flops *flops = scope->flops;

	if (!scope->trace->device_count)
		doubt_facts(out, device_facts, TSI_COUNT_OF(device_facts), no_device);
	else if (!flops->all.matrix_ns)
		tsi_fact_doubt(out, COVERAGE_RATIO, "no matrix kernel ran");
	if (flops->tensor_cores == TENSOR_CORES_UNSTATED)
		tsi_fact_doubt(out, HAS_TENSOR_CORES, lack_of_cores(scope));
	if (!flops->tensor_precisions)
		doubt_facts(out, cores_facts, TSI_COUNT_OF(cores_facts), lack_of_cores(scope));
	if (!has_products(flops) && tsi_trace_has_shapes(scope->trace))
		doubt_facts(out, products_facts, TSI_COUNT_OF(products_facts),
			    "no operator with known FLOPs");
}

static void put_facts(const struct analysis_scope *scope, struct fact_sheet *out)
{
	static const enum fact kinds_facts[] = { COVERAGE_RATIO, MATRIX_NS, UNCOUNTED_NS };
	const struct step_flops *all = &scope->flops->all;

	if (scope->trace->device_count) {
		tsi_fact_int(out, MATRIX_NS, all->matrix_ns);
		tsi_fact_int(out, UNCOUNTED_NS, all->matrix_ns - all->counted_ns);
		tsi_fact_ratio(out, COVERAGE_RATIO, all->counted_ns, all->matrix_ns);
	}
	if (scope->flops->tensor_cores != TENSOR_CORES_UNSTATED)
		tsi_fact_flag(out, HAS_TENSOR_CORES,
			      scope->flops->tensor_cores == TENSOR_CORES_THERE);
	if (scope->flops->tensor_precisions) {
		unsigned set = scope->flops->tensor_precisions;
		tsi_fact_flag(out, HAS_TF32, set >> TSCOPE_PRECISION_TF32 & 1);
		tsi_fact_flag(out, HAS_BF16, set >> TSCOPE_PRECISION_BF16 & 1);
	}
	if (has_products(scope->flops)) {
		tsi_fact_real(out, TOTAL, all->flops);
		tsi_fact_real(out, REPEATED, all->repeated_flops);
	}
	for (size_t i = 0; scope->flops->counts_others && i < TSI_COUNT_OF(kinds_facts); i++)
		tsi_fact_doubt(out, kinds_facts[i],
			       "more than 10 % of kernel time is of no known kind");
	tsi_judge_device_time(scope->timeline, out);
}

static void fill_flops(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct row *rows =
		tsi_arena_new(tsi_sheet_scratch(out), scope->flops->op_count, sizeof(*rows));

	if (!rows)
		return;
	put_facts(scope, out);
	say_lacks(scope, out);
	list_operators(scope, rows, out);
	list_precisions(scope, out);
	list_uncounted(scope, out);
}

const struct analyzer tsi_analyzer_flops = {
	.def = {
		.id = "flops",
		.summary = "FLOPs by operator and shape, and how near each comes to its roofline",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with the shapes of operators (record_shapes=True)",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.fill = fill_flops,
};
