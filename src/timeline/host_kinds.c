/* SPDX-License-Identifier: MIT */
/*
 * Meaning of host spans' names for the thread inside them: one table for flags, which hold for all
 * that a span encloses, and one for the roles of calls. In both the first match wins.
 */
#include "timeline/host_kinds.h"

#include "model/trace/classify.h"
#include "model/trace/composer.h"
#include "model/trace/python_name.h"
#include "timeline/iteration.h"

enum place { ANYWHERE, AT_START, AT_END, WHOLE };

struct name_pattern {
	struct str text;
	uint8_t place; /* enum place */
	uint8_t value; /* enum idle_cause, enum host_role */
};

#define NAME(literal, place, value)                                                                \
	{                                                                                          \
		{ literal, sizeof(literal) - 1 }, place, value                                     \
	}

/* Loaders of PyTorch are labels of landmarks.c and frames of python_name.c. */
static const struct name_pattern flags[] = {
	NAME("get_batch", AT_END, IDLE_DATA),
	NAME("fetch_batch", AT_END, IDLE_DATA),
	NAME("load_batch", AT_END, IDLE_DATA),
	NAME("nvidia/dali", ANYWHERE, IDLE_DATA),
	NAME("webdataset", ANYWHERE, IDLE_DATA),
	NAME("ffcv/", ANYWHERE, IDLE_DATA),
	NAME("gc", WHOLE, IDLE_GC),
	NAME("gc.collect", ANYWHERE, IDLE_GC),
	NAME("(dynamo_timed)", ANYWHERE, IDLE_COMPILE),
	NAME("_compile.compile", ANYWHERE, IDLE_COMPILE),
	NAME("compile_inner", ANYWHERE, IDLE_COMPILE),
	NAME("compile_fx_inner", ANYWHERE, IDLE_COMPILE),
	NAME("codegen_and_compile", ANYWHERE, IDLE_COMPILE),
	NAME("nvrtcCompile", ANYWHERE, IDLE_COMPILE),
	NAME("GraphInstantiate", ANYWHERE, IDLE_COMPILE),
	NAME("ProfilerStart", ANYWHERE, IDLE_PROFILER),
	NAME("ProfilerStop", ANYWHERE, IDLE_PROFILER),
	NAME("Activity Buffer", ANYWHERE, IDLE_PROFILER),
	NAME("Buffer Flush", ANYWHERE, IDLE_PROFILER),
	NAME("PROFILER", AT_START, IDLE_PROFILER),
	NAME("c10d::barrier", AT_START, IDLE_PEER),
};

/* Functions of Python: files by their end, "" for any. */
static const struct {
	struct str file, function; /* the beginning of its name */
	uint8_t flag;
} frame_flags[] = {
	{ { "triton/compiler/compiler.py", 27 }, { "compile", 7 }, IDLE_COMPILE },
	{ { "convert_frame.py", 16 }, { "compile", 7 }, IDLE_COMPILE },
	{ { "convert_frame.py", 16 }, { "_compile", 8 }, IDLE_COMPILE },
	{ { "cudagraph_trees.py", 18 }, { "_record", 7 }, IDLE_COMPILE },
	{ { "cudagraph_trees.py", 18 }, { "record_function", 15 }, IDLE_COMPILE },
	{ { "torch/profiler.py", 17 }, { "", 0 }, IDLE_PROFILER },
	{ { "torch/profiler/profiler.py", 26 }, { "", 0 }, IDLE_PROFILER },
	{ { "torch/autograd/profiler.py", 26 }, { "", 0 }, IDLE_PROFILER },
	{ { "distributed_c10d.py", 19 }, { "barrier", 7 }, IDLE_PEER },
	{ { "distributed_c10d.py", 19 }, { "monitored_barrier", 17 }, IDLE_PEER },
};

static const struct name_pattern call_roles[] = {
	NAME("LaunchHostFunc", ANYWHERE, HOST_CALL_ENQUEUE),
	NAME("StreamWaitValue", ANYWHERE, HOST_CALL_ENQUEUE),
	NAME("StreamAddCallback", ANYWHERE, HOST_CALL_ENQUEUE),
	NAME("HostRegister", ANYWHERE, HOST_CALL_ALLOC),
	NAME("HostUnregister", ANYWHERE, HOST_CALL_ALLOC),
	NAME("MemGetInfo", ANYWHERE, HOST_CALL_ALLOC),
	NAME("MemPool", ANYWHERE, HOST_CALL_ALLOC),
	NAME("AllocHost", ANYWHERE, HOST_CALL_ALLOC),
	NAME("cuMem", AT_START, HOST_CALL_ALLOC), /* copies and fills are known by their kind */
	NAME("hipMem", AT_START, HOST_CALL_ALLOC),
	NAME("cudaInit", WHOLE, HOST_CALL_LOAD),
	NAME("cuInit", WHOLE, HOST_CALL_LOAD),
	NAME("hipInit", WHOLE, HOST_CALL_LOAD),
	NAME("CtxCreate", ANYWHERE, HOST_CALL_LOAD),
	NAME("CtxRetain", ANYWHERE, HOST_CALL_LOAD),
	NAME("ModuleLoad", ANYWHERE, HOST_CALL_LOAD),
	NAME("ModuleUnload", ANYWHERE, HOST_CALL_LOAD),
	NAME("LibraryLoad", ANYWHERE, HOST_CALL_LOAD),
	NAME("LoadData", ANYWHERE, HOST_CALL_LOAD),
	NAME("cublasCreate", ANYWHERE, HOST_CALL_LOAD),
	NAME("cublasLtCreate", ANYWHERE, HOST_CALL_LOAD),
	NAME("cudnnCreate", ANYWHERE, HOST_CALL_LOAD),
	NAME("Create", ANYWHERE, HOST_CALL_INIT),
	NAME("Destroy", ANYWHERE, HOST_CALL_INIT),
	NAME("GetDevice", ANYWHERE, HOST_CALL_INIT),
	NAME("DeviceGet", ANYWHERE, HOST_CALL_INIT),
	NAME("PriorityRange", ANYWHERE, HOST_CALL_INIT),
	NAME("FuncGet", ANYWHERE, HOST_CALL_INIT),
	NAME("FuncSet", ANYWHERE, HOST_CALL_INIT),
	NAME("GetFunction", ANYWHERE, HOST_CALL_INIT),
	NAME("GetProcAddress", ANYWHERE, HOST_CALL_INIT),
	NAME("EntryPoint", ANYWHERE, HOST_CALL_INIT),
	NAME("Occupancy", ANYWHERE, HOST_CALL_INIT),
	NAME("PeerAccess", ANYWHERE, HOST_CALL_INIT),
	NAME("SetLimit", ANYWHERE, HOST_CALL_INIT),
	NAME("SetDevice", ANYWHERE, HOST_CALL_INIT),
	NAME("GetKernel", ANYWHERE, HOST_CALL_INIT),
};

/* A name, and which letters stand side by side in it: most patterns are ruled out by these. */
struct host_name {
	struct str text;
	struct letter_pairs pairs;
};

static void read_name(struct host_name *name, struct str text)
{
	name->text = text;
	tsi_letter_pairs_of(&name->pairs, text);
}

static bool holds(const struct host_name *name, struct str wanted)
{
	return tsi_may_hold(&name->pairs, wanted) && tsi_str_find(name->text, wanted) >= 0;
}

static bool matches(const struct host_name *name, const struct name_pattern *pattern)
{
	if (!tsi_may_hold(&name->pairs, pattern->text))
		return false;
	switch (pattern->place) {
	case AT_START:
		return tsi_str_has_prefix(name->text, pattern->text);
	case AT_END:
		return tsi_str_has_suffix(name->text, pattern->text);
	case WHOLE:
		return tsi_str_equal(name->text, pattern->text);
	default:
		return tsi_str_find(name->text, pattern->text) >= 0;
	}
}

static uint8_t find_name(const struct name_pattern *patterns, size_t count,
			 const struct host_name *name, uint8_t fallback)
{
	for (size_t i = 0; i < count; i++) {
		const char *text = patterns[i].text.data;
		if (tsi_has_pair(&name->pairs, text[0], text[1]) && matches(name, &patterns[i]))
			return patterns[i].value;
	}
	return fallback;
}

static uint8_t frame_flag(const struct host_name *name, const struct python_name *frame)
{
	for (size_t i = 0; i < TSI_COUNT_OF(frame_flags); i++)
		if (tsi_may_hold(&name->pairs, frame_flags[i].file) &&
		    tsi_str_has_suffix(frame->file, frame_flags[i].file) &&
		    tsi_str_has_prefix(frame->function, frame_flags[i].function))
			return frame_flags[i].flag;
	switch (tsi_python_work(frame, &name->pairs)) {
	case PYTHON_DATA:
		return IDLE_DATA;
	case PYTHON_GC:
		return IDLE_GC;
	case PYTHON_LOGGING:
	case PYTHON_CHECKPOINT:
		return IDLE_CALLBACK;
	default:
		return IDLE_NONE;
	}
}

/* Hooks of Composer's trainer and Lightning's. Some of Composer's are its profiler. */
static uint8_t callback_flag(struct str name)
{
	static const struct str lightning = { "[pl][profile]", 13 };
	struct callback_name callback;

	if (tsi_str_has_prefix(name, lightning))
		name = tsi_str_tail(name, lightning.length);
	if (tsi_str_starts(name, "[Callback]"))
		return IDLE_CALLBACK;
	if (!tsi_callback_name(name, &callback) || !tsi_str_is(callback.kind, "callback"))
		return IDLE_NONE;
	return tsi_is_profiler_callback(&callback) ? IDLE_PROFILER : IDLE_CALLBACK;
}

/* frame: of a Python frame, else NULL. */
static uint8_t flag_of(uint32_t span_class, const struct host_name *name,
		       const struct python_name *frame, unsigned labels)
{
	uint8_t flag = IDLE_NONE;
	int64_t batch;

	if (span_class == TSCOPE_SPAN_GC)
		return IDLE_GC;
	if (labels & LABEL_DATA)
		return IDLE_DATA;
	if (tsi_is_capture_mark(name->text, &batch))
		return IDLE_COMPILE;
	flag = find_name(flags, TSI_COUNT_OF(flags), name, IDLE_NONE);
	if (flag == IDLE_PROFILER && span_class == TSCOPE_SPAN_ANNOTATION)
		flag = IDLE_NONE;
	if (flag == IDLE_NONE && frame)
		flag = frame_flag(name, frame);
	if (flag == IDLE_NONE && tsi_kernelless_prefix(name->text))
		flag = IDLE_PEER;
	return flag == IDLE_NONE && !frame ? callback_flag(name->text) : flag;
}

static uint8_t role_of_call(uint32_t call_kind, const struct host_name *name)
{
	switch (call_kind) {
	case CALL_LAUNCH:
	case CALL_MEMSET:
		return HOST_CALL_LAUNCH;
	case CALL_GRAPH_LAUNCH:
		return HOST_CALL_GRAPH;
	case CALL_MEMCPY:
		return HOST_CALL_COPY;
	case CALL_SYNC:
		return HOST_CALL_SYNC;
	case CALL_MALLOC:
	case CALL_FREE:
		return HOST_CALL_ALLOC;
	case CALL_CAPTURE_BEGIN:
		return HOST_CALL_CAPTURE_BEGIN;
	case CALL_CAPTURE_END:
		return HOST_CALL_CAPTURE_END;
	default:
		return find_name(call_roles, TSI_COUNT_OF(call_roles), name, HOST_CALL);
	}
}

static bool is_autograd(struct str name)
{
	while (name.length && tsi_is_digit(name.data[name.length - 1]))
		name.length--;
	return tsi_str_starts(name, "autograd::") ||
	       tsi_str_has_suffix(name, TSI_STR("Backward")) ||
	       tsi_str_find(name, TSI_STR("AccumulateGrad")) >= 0;
}

/* A Python frame that waits for another thread, which may be the engine of autograd. */
static bool is_wait(const struct host_name *name, const struct python_name *frame)
{
	struct str function = frame->function;

	if (holds(name, TSI_STR("run_backward")) || holds(name, TSI_STR("_thread.lock")))
		return true;
	if (tsi_str_has_suffix(frame->file, TSI_STR("queue.py")))
		return tsi_str_starts(function, "get");
	return tsi_str_has_suffix(frame->file, TSI_STR("threading.py")) &&
	       (tsi_str_starts(function, "wait") || tsi_str_starts(function, "join") ||
		tsi_str_starts(function, "acquire"));
}

/* Functions of the interpreter and of its library in which a thread only waits. */
static const struct str waiting_calls[] = {
	{ "built-in function sleep", 23 },
	{ "built-in function select>", 25 },
	{ "of select.", 10 }, /* poll and epoll */
	{ "of _queue.SimpleQueue", 21 },
	{ "of _multiprocessing.SemLock", 27 },
};

/* As VizTracer writes them, which calls locks "_thread.lock", too. */
static const struct str waiting_functions[] = {
	{ "time.sleep", 10 },
	{ "select.select", 13 },
	{ "select.poll.poll", 16 },
	{ "select.epoll.poll", 17 },
	{ "select.kqueue.control", 21 },
	{ "_queue.SimpleQueue.get", 22 },
	{ "_thread.RLock.acquire", 21 },
	{ "_multiprocessing.SemLock.acquire", 32 },
};

static bool is_waiting_call(const struct host_name *name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(waiting_calls); i++)
		if (holds(name, waiting_calls[i]))
			return true;
	for (size_t i = 0; i < TSI_COUNT_OF(waiting_functions); i++)
		if (tsi_str_equal(name->text, waiting_functions[i]))
			return true;
	return false;
}

static bool is_idle(const struct host_name *name, const struct python_name *frame)
{
	if (is_wait(name, frame))
		return !holds(name, TSI_STR("run_backward"));
	return is_waiting_call(name) ||
	       (tsi_str_has_suffix(frame->file, TSI_STR("multiprocessing/queues.py")) &&
		tsi_str_is(frame->function, "get")) ||
	       (tsi_str_has_suffix(frame->file, TSI_STR("selectors.py")) &&
		tsi_str_is(frame->function, "select"));
}

bool tsi_is_waiting_frame(struct str name)
{
	struct python_name frame = tsi_python_name(name);
	struct host_name read;

	read_name(&read, name);
	return is_wait(&read, &frame) || is_idle(&read, &frame);
}

bool tsi_is_idle_frame(struct str name)
{
	struct python_name frame = tsi_python_name(name);
	struct host_name read;

	read_name(&read, name);
	return is_idle(&read, &frame);
}

static uint8_t role_of(const struct span_kind *kind, const struct host_name *name,
		       const struct python_name *frame)
{
	switch (kind->span_class) {
	case TSCOPE_SPAN_CPU_OP:
		return is_autograd(name->text) ? HOST_AUTOGRAD : HOST_OP;
	case TSCOPE_SPAN_RUNTIME:
		return role_of_call(kind->call.kind, name);
	case TSCOPE_SPAN_ANNOTATION:
		return tsi_backend_prefix(name->text) ? HOST_DISPATCH : HOST_CODE;
	case TSCOPE_SPAN_PYTHON:
		return is_wait(name, frame) ? HOST_WAIT : HOST_CODE;
	case TSCOPE_SPAN_GC:
	case TSCOPE_SPAN_OTHER:
		return HOST_CODE;
	default:
		return HOST_NOTHING;
	}
}

bool tsi_is_telling_frame(struct str name)
{
	struct python_name frame;
	struct host_name read;

	if (tsi_module_name(name).length)
		return false;
	frame = tsi_python_name(name);
	read_name(&read, name);
	return flag_of(TSCOPE_SPAN_PYTHON, &read, &frame, 0) != IDLE_NONE ||
	       is_wait(&read, &frame) || is_idle(&read, &frame);
}

static uint32_t dull_limit(struct host_kind kind)
{
	if (kind.flag != IDLE_NONE)
		return 0;
	switch (kind.role) {
	case HOST_NOTHING:
	case HOST_OP:
	case HOST_AUTOGRAD:
	case HOST_CALL:
	case HOST_CALL_GRAPH:
	case HOST_CALL_ENQUEUE:
		return UINT32_MAX;
	case HOST_CALL_LAUNCH:
	case HOST_CALL_COPY:
	case HOST_CALL_INIT:
		return HOST_COPY_MIN_NS;
	default:
		return 0;
	}
}

static struct host_kind look_at(const struct landmarks *marks, const struct span_kind *kind)
{
	enum { STEP_LABELS = LABEL_PROFILER_STEP | LABEL_STEP_MARKER | LABEL_TRAIN_BATCH };
	struct str text = tsi_intern_text(&marks->trace->names, kind->name);
	unsigned labels = tsi_labels_of_kind(marks, kind);
	bool is_frame = kind->span_class == TSCOPE_SPAN_PYTHON;
	struct host_kind ret = { .role = HOST_NOTHING, .flag = IDLE_NONE };
	struct python_name frame = { 0 };
	struct host_name name;

	if (is_frame && !labels &&
	    (kind->frame.is_uninformative || kind->frame.place == FRAME_MODULE)) {
		ret.role = HOST_CODE;
		return ret;
	}
	/* Device spans do not describe a thread. */
	if (!(labels & STEP_LABELS) && !tsi_class_is_device((uint8_t)kind->span_class)) {
		read_name(&name, text);
		if (is_frame)
			frame = tsi_python_name(text);
		ret.role = role_of(kind, &name, &frame);
		ret.is_idle = is_frame && is_idle(&name, &frame);
		ret.flag = flag_of(kind->span_class, &name, is_frame ? &frame : NULL, labels);
	}
	ret.dull_below_ns = dull_limit(ret);
	return ret;
}

struct host_kind *tsi_host_kinds(const struct landmarks *marks, struct arena *arena)
{
	const struct tscope_trace *trace = marks->trace;
	const struct spans *spans = &trace->spans;
	struct host_kind *kinds = tsi_arena_new(arena, spans->kind_count, sizeof(*kinds));
	/* By name: 1 + the last kind that has it; those of one name mostly are of one class. */
	uint32_t *last = tsi_arena_new(arena, trace->names.count, sizeof(*last));

	for (uint32_t i = 0; kinds && last && i < spans->kind_count; i++) {
		const struct span_kind *kind = &spans->kinds[i];
		uint32_t other = last[kind->name];
		if (kind->span_class == TSCOPE_SPAN_PYTHON && kind->frame.use == FRAME_PLACE) {
			kinds[i] = (struct host_kind){ .role = HOST_NOTHING,
						       .flag = IDLE_NONE,
						       .dull_below_ns = UINT32_MAX };
			continue;
		}
		last[kind->name] = i + 1;
		if (other && spans->kinds[other - 1].span_class == kind->span_class)
			kinds[i] = kinds[other - 1];
		else
			kinds[i] = look_at(marks, kind);
	}
	return last ? kinds : NULL;
}
