/* SPDX-License-Identifier: MIT */
/*
 * The words of the writers: one table for each question that the model asks of
 * a category or a name, one row for each pattern. All comparisons are without
 * case. Tables are asked once for each distinct text, not for each event.
 */
#include "model/trace/classify.h"

#include "model/trace/kernel_table.h"

#define SPAN(text, class)                                                                          \
	{                                                                                          \
		text, USE_SPAN, TSCOPE_SPAN_##class, true, false                                   \
	}
#define NO_WORK(text)                                                                              \
	{                                                                                          \
		text, USE_NONE, TSCOPE_SPAN_OTHER, true, false                                     \
	}

static const struct category_rule category_rules[] = {
	SPAN("cpu_op", CPU_OP),
	{ "operator", USE_SPAN, TSCOPE_SPAN_CPU_OP, true, true }, /* until 1.9 */
	SPAN("user_annotation", ANNOTATION),
	SPAN("cuda_runtime", RUNTIME),
	SPAN("cuda_driver", RUNTIME),
	SPAN("runtime", RUNTIME), /* until 1.11 */
	SPAN("xpu_runtime", RUNTIME),
	SPAN("xpu_driver", RUNTIME),
	SPAN("mtia_runtime", RUNTIME),
	SPAN("mtia_workloadd", RUNTIME),
	SPAN("glow_runtime", RUNTIME),
	SPAN("hpu_op", RUNTIME),
	SPAN("privateuse1_runtime", RUNTIME),
	SPAN("privateuse1_driver", RUNTIME),
	SPAN("enqueue", RUNTIME), /* Ascend's task queue */
	SPAN("dequeue", RUNTIME),
	SPAN("overhead", OVERHEAD),
	{ "trace_event_overhead", USE_SPAN, TSCOPE_SPAN_OVERHEAD, false, false },
	SPAN("kernel", KERNEL),
	SPAN("mtia_ccp_events", KERNEL),
	SPAN("collective_comm", COMM),
	SPAN("communication", COMM),
	SPAN("gpu_memcpy", MEMCPY),
	SPAN("memcpy", MEMCPY), /* until 1.11 */
	SPAN("gpu_memset", MEMSET),
	SPAN("memset", MEMSET),
	{ "python_function", USE_FRAME, TSCOPE_SPAN_PYTHON, true, false },
	{ "fee", USE_SPAN, TSCOPE_SPAN_PYTHON, false, false }, /* VizTracer: all that it has */
	{ "trace", USE_CAPTURE, TSCOPE_SPAN_OTHER, true, false },
	NO_WORK("gpu_user_annotation"),
	{ "cuda_sync", USE_SYNC, TSCOPE_SPAN_OTHER, true, false },
	NO_WORK("xpu_sync"),
	NO_WORK("cuda_event"),
	NO_WORK("cuda_profiler_range"),
	NO_WORK("hardware_counters"),
	NO_WORK("mtia_counters"),
	NO_WORK("mtia_insight"),
	NO_WORK("xpu_scope_profiler"),
	NO_WORK("external_correlation"),
	NO_WORK("cpu_instant_event"),
	NO_WORK("tscope"), /* what a slice adds */
};

static const struct category_rule other_category = { NULL, USE_SPAN, TSCOPE_SPAN_OTHER, false,
						     true };

static bool starts_nocase(struct str text, struct str prefix)
{
	return text.length >= prefix.length &&
	       tsi_str_equal_nocase((struct str){ text.data, prefix.length }, prefix);
}

static bool has_nocase(struct str text, const char *needle)
{
	return tsi_str_find_nocase(text, tsi_str_of(needle)) >= 0;
}

static const struct category_rule *find_category(struct str category)
{
	for (size_t i = 0; i < TSI_COUNT_OF(category_rules); i++)
		if (tsi_str_equal_nocase(category, tsi_str_of(category_rules[i].name)))
			return &category_rules[i];
	return NULL;
}

const struct category_rule *tsi_classify_category(struct str category)
{
	while (category.length) {
		const char *comma = memchr(category.data, ',', category.length);
		size_t length = comma ? (size_t)(comma - category.data) : category.length;
		const struct category_rule *rule =
			find_category(tsi_str_trim((struct str){ category.data, length }));
		if (rule)
			return rule;
		if (!comma)
			break;
		category.data += length + 1;
		category.length -= length + 1;
	}
	return &other_category;
}

/* Where in a name a pattern must be. */
enum place {
	AT_START,
	AT_END,
	ANYWHERE,
};

struct name_rule {
	const char *pattern;
	uint8_t place; /* enum place */
	uint8_t value; /* of the enum that the table is about */
};

static bool is_in_place(struct str name, struct str pattern, uint8_t place)
{
	if (place == AT_START)
		return starts_nocase(name, pattern);
	if (place == ANYWHERE)
		return tsi_str_find_nocase(name, pattern) >= 0;
	return name.length >= pattern.length &&
	       tsi_str_equal_nocase(
		       (struct str){ name.data + (name.length - pattern.length), pattern.length },
		       pattern);
}

/* The value of the first row that fits, or fallback. */
static uint8_t find_name(const struct name_rule *rules, size_t count, struct str name,
			 uint8_t fallback)
{
	for (size_t i = 0; name.length && i < count; i++) {
		const struct name_rule *rule = &rules[i];
		if (rule->place == AT_START && !tsi_may_equal_nocase(*name.data, *rule->pattern))
			continue;
		if (is_in_place(name, tsi_str_of(rule->pattern), rule->place))
			return rule->value;
	}
	return fallback;
}

#define FIND(rules, name, fallback) find_name(rules, TSI_COUNT_OF(rules), name, fallback)

bool tsi_is_device_mark(struct str name)
{
	return tsi_str_is(name, "event_wait") || tsi_str_is(name, "event_record");
}

/* ROCm runs copies and fills as kernels; MTIA files its copies among them. */
static const struct name_rule device_names[] = {
	{ "__amd_rocclr_copyBuffer", AT_START, TSCOPE_SPAN_MEMCPY },
	{ "__amd_rocclr_fillBuffer", AT_START, TSCOPE_SPAN_MEMSET },
	{ "CopyHostToDevice", AT_START, TSCOPE_SPAN_MEMCPY },
	{ "CopyDeviceToHost", AT_START, TSCOPE_SPAN_MEMCPY },
	{ "CopyDeviceToDevice", AT_START, TSCOPE_SPAN_MEMCPY },
	{ "hipMemcpy", AT_START, TSCOPE_SPAN_MEMCPY },
	{ "hipMemset", AT_START, TSCOPE_SPAN_MEMSET },
	{ "FillBuffer", AT_START, TSCOPE_SPAN_MEMSET },
	{ "dma_request", AT_START, TSCOPE_SPAN_MEMCPY },
};

uint8_t tsi_classify_device_name(struct str name, uint8_t span_class)
{
	if (span_class != TSCOPE_SPAN_KERNEL)
		return span_class;
	span_class = FIND(device_names, name, TSCOPE_SPAN_KERNEL);
	return span_class == TSCOPE_SPAN_KERNEL && tsi_is_comm_kernel(name) ? TSCOPE_SPAN_COMM
									    : span_class;
}

/* PyTorch 1.8 filed annotations as operators; Composer's slices have no category. */
static const struct name_rule host_names[] = {
	{ "ProfilerStep#", AT_START, TSCOPE_SPAN_ANNOTATION },
	{ "Optimizer.step#", AT_START, TSCOPE_SPAN_ANNOTATION },
	{ "Optimizer.zero_grad#", AT_START, TSCOPE_SPAN_ANNOTATION },
	{ "enumerate(Data", AT_START, TSCOPE_SPAN_ANNOTATION }, /* …Loader)#, …Pipe)# */
	{ "DistributedDataParallel.", AT_START, TSCOPE_SPAN_ANNOTATION },
	{ "## ", AT_START, TSCOPE_SPAN_ANNOTATION }, /* what people write around code */
};

static const struct name_rule slice_names[] = {
	{ "ProfilerStep#", AT_START, TSCOPE_SPAN_ANNOTATION },
	{ "event/", AT_START, TSCOPE_SPAN_ANNOTATION },
	{ "callback/", AT_START, TSCOPE_SPAN_ANNOTATION },
	{ "algorithm/", AT_START, TSCOPE_SPAN_ANNOTATION },
	{ "dataloader/", AT_START, TSCOPE_SPAN_ANNOTATION },
	{ "aten::", AT_START, TSCOPE_SPAN_CPU_OP }, /* torch.autograd.profiler */
};

uint8_t tsi_classify_host_name(struct str name, uint8_t span_class)
{
	if (span_class == TSCOPE_SPAN_CPU_OP)
		return FIND(host_names, name, span_class);
	if (span_class == TSCOPE_SPAN_OTHER)
		return FIND(slice_names, name, span_class);
	return span_class;
}

/* First match wins: cudaEventSynchronize waits, cudaStreamWaitEvent does not. */
static const struct name_rule call_names[] = {
	{ "LaunchHostFunc", ANYWHERE, CALL_OTHER },
	{ "GraphLaunch", ANYWHERE, CALL_GRAPH_LAUNCH },
	{ "Launch", ANYWHERE, CALL_LAUNCH }, /* launch_kernel, urEnqueueKernelLaunch, … */
	{ "Synchronize", ANYWHERE, CALL_SYNC },
	{ "Memcpy", ANYWHERE, CALL_MEMCPY },
	{ "MemoryCopy", ANYWHERE, CALL_MEMCPY },
	{ "Memset", ANYWHERE, CALL_MEMSET },
	{ "MemoryFill", ANYWHERE, CALL_MEMSET },
	{ "USMFill", ANYWHERE, CALL_MEMSET },
	{ "Event", ANYWHERE, CALL_EVENT },
	{ "Malloc", ANYWHERE, CALL_MALLOC },
	{ "MemAlloc", ANYWHERE, CALL_MALLOC },
	{ "HostAlloc", ANYWHERE, CALL_MALLOC },
	{ "MemCreate", ANYWHERE, CALL_MALLOC }, /* expandable segments */
	{ "Free", ANYWHERE, CALL_FREE },
	{ "MemRelease", ANYWHERE, CALL_FREE },
	{ "BeginCapture", ANYWHERE, CALL_CAPTURE_BEGIN },
	{ "EndCapture", ANYWHERE, CALL_CAPTURE_END },
};

enum call_kind tsi_classify_call(struct str name)
{
	return FIND(call_names, name, CALL_OTHER);
}

static const struct name_rule copy_names[] = {
	{ "HtoD", ANYWHERE, COPY_H2D },
	{ "HostToDevice", ANYWHERE, COPY_H2D },
	{ "HOST_TO_DEVICE", ANYWHERE, COPY_H2D },
	{ "(M2D)", ANYWHERE, COPY_H2D },
	{ "DtoH", ANYWHERE, COPY_D2H },
	{ "DeviceToHost", ANYWHERE, COPY_D2H },
	{ "DEVICE_TO_HOST", ANYWHERE, COPY_D2H },
	{ "(D2M)", ANYWHERE, COPY_D2H },
	{ "DtoD", ANYWHERE, COPY_D2D },
	{ "DeviceToDevice", ANYWHERE, COPY_D2D },
	{ "DEVICE_TO_DEVICE", ANYWHERE, COPY_D2D },
	{ "(D2D)", ANYWHERE, COPY_D2D },
	{ "PtoP", ANYWHERE, COPY_P2P },
	{ "PeerToPeer", ANYWHERE, COPY_P2P },
	{ "HtoH", ANYWHERE, COPY_H2H },
	{ "HostToHost", ANYWHERE, COPY_H2H },
};

const char *tsi_call_kind_name(uint8_t kind)
{
	static const char *const names[CALL_KIND_COUNT] = {
		[CALL_OTHER] = "other",
		[CALL_LAUNCH] = "launch",
		[CALL_GRAPH_LAUNCH] = "graph_launch",
		[CALL_MEMCPY] = "memcpy",
		[CALL_MEMSET] = "memset",
		[CALL_SYNC] = "sync",
		[CALL_MALLOC] = "malloc",
		[CALL_FREE] = "free",
		[CALL_EVENT] = "event",
		[CALL_CAPTURE_BEGIN] = "other",
		[CALL_CAPTURE_END] = "other",
	};

	return names[kind];
}

enum copy_direction tsi_classify_copy(struct str name)
{
	/* Each pattern has one of these; ROCm's "Dispatch Kernel" has neither. */
	if (!has_nocase(name, "to") && !has_nocase(name, "2"))
		return COPY_UNKNOWN;
	return FIND(copy_names, name, COPY_UNKNOWN);
}

bool tsi_is_pageable_copy(struct str name)
{
	return has_nocase(name, "pageable");
}

bool tsi_is_compute_kernel(struct str name)
{
	uint8_t kind = tsi_kernel_facts(name).kind;

	if (kind == KERNEL_OTHER)
		return has_nocase(name, "at::native::"); /* PyTorch's own, whatever it computes */
	return kind != KERNEL_COMM;
}

/* First match wins: "ReduceScatter" holds "Reduce" and "Scatter", "AllGather" holds "Gather". */
static const struct name_rule collective_names[] = {
	{ "AllReduce", ANYWHERE, COLLECTIVE_ALL_REDUCE },
	{ "all_reduce", ANYWHERE, COLLECTIVE_ALL_REDUCE },
	{ "cross_device_reduce", ANYWHERE, COLLECTIVE_ALL_REDUCE },
	{ "quick_reduce", ANYWHERE, COLLECTIVE_ALL_REDUCE },
	{ "quickreduce", ANYWHERE, COLLECTIVE_ALL_REDUCE },
	{ "ReduceScatter", ANYWHERE, COLLECTIVE_REDUCE_SCATTER },
	{ "reduce_scatter", ANYWHERE, COLLECTIVE_REDUCE_SCATTER },
	{ "AllGather", ANYWHERE, COLLECTIVE_ALL_GATHER },
	{ "all_gather", ANYWHERE, COLLECTIVE_ALL_GATHER },
	{ "AllToAll", ANYWHERE, COLLECTIVE_ALL_TO_ALL },
	{ "all_to_all", ANYWHERE, COLLECTIVE_ALL_TO_ALL },
	{ "::dispatch<", ANYWHERE, COLLECTIVE_ALL_TO_ALL }, /* DeepEP */
	{ "::combine<", ANYWHERE, COLLECTIVE_ALL_TO_ALL },
	{ "Broadcast", ANYWHERE, COLLECTIVE_BROADCAST },
	{ "SendRecv", ANYWHERE, COLLECTIVE_SEND_RECV },
	{ "send", AT_START, COLLECTIVE_SEND_RECV },
	{ "recv", AT_START, COLLECTIVE_SEND_RECV },
	{ "hcom_send", AT_START, COLLECTIVE_SEND_RECV },
	{ "hcom_recv", AT_START, COLLECTIVE_SEND_RECV },
	{ "hcom_receive", AT_START, COLLECTIVE_SEND_RECV },
	{ "barrier", ANYWHERE, COLLECTIVE_BARRIER },
	{ "ncclKernel_Reduce", AT_START, COLLECTIVE_REDUCE },
	{ "ncclDevKernel_Reduce", AT_START, COLLECTIVE_REDUCE },
	{ "ncclReduce", AT_START, COLLECTIVE_REDUCE },
	{ "reduce", AT_START, COLLECTIVE_REDUCE },
	{ "_reduce", AT_START, COLLECTIVE_REDUCE },
	{ "gather", AT_START, COLLECTIVE_GATHER },
	{ "scatter", AT_START, COLLECTIVE_SCATTER },
};

enum collective_kind tsi_classify_collective(struct str name)
{
	return FIND(collective_names, name, COLLECTIVE_UNKNOWN);
}

bool tsi_is_collective_wait(struct str name)
{
	return tsi_str_is(name, "wait") || tsi_str_is(name, "init") ||
	       tsi_str_is(name, "coalesced");
}

/* Those without kernels first. */
static const struct str backend_prefixes[] = {
	{ "gloo:", 5 }, { "mpi:", 4 },  { "nccl:", 5 },
	{ "xccl:", 5 }, { "hccl:", 5 }, { "ucc:", 4 },
};

enum { KERNELLESS_PREFIXES = 2 };

static size_t find_prefix(struct str name, size_t prefix_count)
{
	for (size_t i = 0; i < prefix_count; i++)
		if (tsi_str_has_prefix(name, backend_prefixes[i]))
			return backend_prefixes[i].length;
	return 0;
}

size_t tsi_backend_prefix(struct str name)
{
	return find_prefix(name, TSI_COUNT_OF(backend_prefixes));
}

size_t tsi_kernelless_prefix(struct str name)
{
	return find_prefix(name, KERNELLESS_PREFIXES);
}

/* Element types by each of their names, and the name that is shown. */
static const struct dtype {
	const char *name, *shown;
	uint32_t bytes;
} dtypes[] = {
	{ "Float", "Float", 4 },
	{ "BFloat16", "BFloat16", 2 },
	{ "Half", "Half", 2 },
	{ "Double", "Double", 8 },
	{ "Long", "Long", 8 },
	{ "Int", "Int", 4 },
	{ "Short", "Short", 2 },
	{ "Byte", "Byte", 1 },
	{ "Char", "Char", 1 },
	{ "Bool", "Bool", 1 },
	{ "Float32", "Float", 4 },
	{ "Float16", "Half", 2 },
	{ "Int64", "Long", 8 },
	{ "Int32", "Int", 4 },
	{ "ComplexFloat", "ComplexFloat", 8 },
	{ "ComplexDouble", "ComplexDouble", 16 },
	{ "long int", "Long", 8 },
	{ "short int", "Short", 2 },
	{ "unsigned char", "Byte", 1 },
	{ "signed char", "Char", 1 },
	{ "Float8_e4m3fn", "Float8_e4m3fn", 1 },
	{ "Float8_e4m3fnuz", "Float8_e4m3fnuz", 1 },
	{ "Float8_e5m2", "Float8_e5m2", 1 },
	{ "Float8_e5m2fnuz", "Float8_e5m2fnuz", 1 },
	{ "Float8_e8m0fnu", "Float8_e8m0fnu", 1 },
	{ "complex<float>", "ComplexFloat", 8 },
	{ "complex<double>", "ComplexDouble", 16 },
};

static const struct dtype *find_dtype(struct str type)
{
	if (tsi_str_starts(type, "c10::"))
		type = tsi_str_tail(type, 5);
	for (size_t i = 0; i < TSI_COUNT_OF(dtypes); i++)
		if (tsi_str_equal_nocase(type, tsi_str_of(dtypes[i].name)))
			return &dtypes[i];
	return NULL;
}

uint32_t tsi_dtype_bytes(struct str type)
{
	const struct dtype *dtype = find_dtype(type);

	return dtype ? dtype->bytes : 0;
}

struct str tsi_dtype_name(struct str type)
{
	const struct dtype *dtype = find_dtype(type);

	return dtype ? tsi_str_of(dtype->shown) : (struct str){ 0 };
}

/* First match wins. */
static const struct name_rule phase_names[] = {
	{ "ProfilerStep#", AT_START, PHASE_FORWARD }, /* of operators that nothing inside claims */
	{ "Optimizer.step#", AT_START, PHASE_OPTIMIZER },
	{ "Optimizer.zero_grad#", AT_START, PHASE_OPTIMIZER },
	{ "enumerate(DataLoader)", AT_START, PHASE_DATA },
	/* Lightning computes forward and backward in a closure within the optimizer's step. */
	{ "].train_dataloader_next", ANYWHERE, PHASE_DATA },
	{ "event/dataloader", AT_START, PHASE_DATA },
	{ "event/loss", AT_START, PHASE_FORWARD },
	{ "event/train_batch", AT_START, PHASE_OPTIMIZER }, /* … that none of these is */
	{ "event/eval", AT_START, PHASE_OTHER },
	{ "callback/", AT_START, PHASE_OTHER },
	{ "algorithm/", AT_START, PHASE_OTHER },
	/* Annotations written by users. */
	{ "## optimizer", AT_START, PHASE_OPTIMIZER },
	{ "## zero_grad", AT_START, PHASE_OPTIMIZER },
	{ "forward_backward", ANYWHERE, PHASE_COUNT },
	{ "forward-backward", ANYWHERE, PHASE_COUNT },
	{ "forward", AT_START, PHASE_FORWARD },
	{ "backward", AT_START, PHASE_BACKWARD },
	{ "event/forward", AT_START, PHASE_FORWARD },
	{ "event/backward", AT_START, PHASE_BACKWARD },
	{ "## forward", AT_START, PHASE_FORWARD },
	{ "## backward", AT_START, PHASE_BACKWARD },
	{ ".forward", AT_END, PHASE_FORWARD },
	{ ".training_step", AT_END, PHASE_FORWARD },
	{ ".backward", AT_END, PHASE_BACKWARD },
	/* Zero bubble, DualPipe: backward of the inputs (B) and of the weights (W). */
	{ "(F)", AT_END, PHASE_FORWARD },
	{ "(B)", AT_END, PHASE_BACKWARD },
	{ "(W)", AT_END, PHASE_BACKWARD },
};

/* "PP:2F7" of torch.distributed.pipelining: what stage 2 does with microbatch 7. */
static enum phase classify_pipeline_action(struct str name)
{
	const char *p = name.data + 3, *end = name.data + name.length;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	/* Else it communicates, or does several things: "PP:1SEND_F3". */
	if (p == name.data + 3 || p == end || (p + 1 < end && (p[1] < '0' || p[1] > '9')))
		return PHASE_COUNT;
	if (*p == 'F')
		return PHASE_FORWARD;
	return *p == 'B' || *p == 'W' || *p == 'I' ? PHASE_BACKWARD : PHASE_COUNT;
}

enum phase tsi_classify_phase(struct str name)
{
	if (tsi_is_backward_node(name))
		return PHASE_BACKWARD;
	if (tsi_str_starts(name, "PP:"))
		return classify_pipeline_action(name);
	return FIND(phase_names, name, PHASE_COUNT);
}

/* By what a formula reads: a new one (analyze/ops/op_work.h) that reads more has a row here. */
static const struct name_rule concrete_names[] = {
	{ "conv", ANYWHERE, true },      /* strides, padding, groups, transposed, output mask */
	{ "attention", ANYWHERE, true }, /* lengths of packed sequences */
	{ "attn", ANYWHERE, true },
	{ "flash_", ANYWHERE, true },
	{ "fmha", ANYWHERE, true },
	{ "scaled_mm", ANYWHERE, true }, /* type of the result */
	{ "grouped_mm", ANYWHERE, true },
	{ "norm", ANYWHERE, true },    /* sizes, groups, output mask, training or not */
	{ "softmax", ANYWHERE, true }, /* halves to floats or not */
	{ "dropout", ANYWHERE, true }, /* training or not */
	{ "embedding", ANYWHERE, true },
	{ "aten::index_select", AT_START, true }, /* the dimension */
	{ "aten::sum", AT_START, true },          /* the dimensions */
	{ "aten::mean", AT_START, true },
	{ "aten::var", AT_START, true },
	{ "aten::std", AT_START, true },
	{ "aten::amax", AT_START, true },
	{ "aten::amin", AT_START, true },
	{ "aten::max", AT_START, true },
	{ "aten::min", AT_START, true },
	{ "aten::arg", AT_START, true },
	{ "aten::any", AT_START, true },
	{ "aten::all", AT_START, true },
};

bool tsi_needs_concrete(struct str name)
{
	return FIND(concrete_names, name, false);
}

bool tsi_is_step_marker(struct str name)
{
	return tsi_str_starts(name, "ProfilerStep#");
}

bool tsi_is_autograd_engine(struct str name)
{
	return tsi_str_starts(name, "autograd::engine");
}

bool tsi_is_backward_node(struct str name)
{
	static const struct str suffix = { "Backward", 8 };

	if (tsi_is_autograd_engine(name) || tsi_str_starts(name, "torch::autograd::"))
		return true;
	while (name.length && name.data[name.length - 1] >= '0' &&
	       name.data[name.length - 1] <= '9')
		name.length--;
	return name.length > suffix.length &&
	       tsi_str_equal(
		       (struct str){ name.data + (name.length - suffix.length), suffix.length },
		       suffix);
}
