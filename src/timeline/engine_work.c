/* SPDX-License-Identifier: MIT */
/*
 * Functions and annotations of inference engines, as their sources name them. The innermost that
 * is listed counts: prepare_for_decode() within get_next_batch_to_run() prepares inputs.
 */
#include "timeline/engine_work.h"

#include "base/attributes.h"
#include "model/trace/python_name.h"

struct engine_name {
	const char *file;     /* the last part of its path; NULL: any file of an engine */
	const char *function; /* "*" at its end: any that begins so; NULL: all of the file */
	enum engine_work work;
};

/* The first that fits counts. */
static const struct engine_name functions[] = {
	/* Files that do nothing else. */
	{ "shm_broadcast.py", NULL, ENGINE_WAIT }, /* vLLM's workers */
	{ "schedule_policy.py", NULL, ENGINE_SCHEDULE },
	{ "kv_cache_manager.py", NULL, ENGINE_SCHEDULE },
	{ "radix_cache.py", NULL, ENGINE_SCHEDULE },
	{ "block_table.py", NULL, ENGINE_PREPARE },
	{ "sampler.py", NULL, ENGINE_SAMPLE },
	{ "detokenizer.py", NULL, ENGINE_OUTPUT },
	{ "output_processor.py", NULL, ENGINE_OUTPUT },
	{ "output_streamer.py", NULL, ENGINE_OUTPUT },
	{ "batch_result_processor.py", NULL, ENGINE_OUTPUT },
	{ "scheduler_output_processor_mixin.py", NULL, ENGINE_OUTPUT },

	{ NULL, "schedule", ENGINE_SCHEDULE },
	{ NULL, "_schedule*", ENGINE_SCHEDULE },
	{ NULL, "_prepare_and_schedule_batch", ENGINE_SCHEDULE },
	{ NULL, "_fetch_new_requests", ENGINE_SCHEDULE },
	{ NULL, "_fetch_and_activate_new_requests", ENGINE_SCHEDULE },
	{ NULL, "get_next_*batch_to_run", ENGINE_SCHEDULE },
	{ NULL, "get_new_batch_prefill", ENGINE_SCHEDULE },
	{ NULL, "_get_new_batch_prefill_raw", ENGINE_SCHEDULE },
	{ NULL, "update_running_batch", ENGINE_SCHEDULE },
	{ NULL, "recv_requests", ENGINE_SCHEDULE },
	{ NULL, "process_input_requests", ENGINE_SCHEDULE },
	{ NULL, "_process_input_queue", ENGINE_SCHEDULE },
	{ NULL, "_process_aborts_queue", ENGINE_SCHEDULE },
	{ NULL, "prepare_mlp_sync_batch*", ENGINE_SCHEDULE },

	{ NULL, "_update_states", ENGINE_PREPARE },
	{ NULL, "update_requests", ENGINE_PREPARE },
	{ NULL, "_preprocess", ENGINE_PREPARE },
	{ NULL, "_prepare_input*", ENGINE_PREPARE },
	{ NULL, "prepare_input*", ENGINE_PREPARE },
	{ NULL, "prepare_attn", ENGINE_PREPARE },
	{ NULL, "prepare_for_*", ENGINE_PREPARE },
	{ NULL, "prepare_model", ENGINE_PREPARE },
	{ NULL, "prepare_prefill", ENGINE_PREPARE },
	{ NULL, "prepare_decode", ENGINE_PREPARE },
	{ NULL, "prepare_resources", ENGINE_PREPARE },
	{ NULL, "_prepare_tp_inputs", ENGINE_PREPARE },
	{ NULL, "_build_attention_metadata", ENGINE_PREPARE },
	{ NULL, "_determine_batch_execution_and_padding", ENGINE_PREPARE },
	{ NULL, "_get_slot_mappings", ENGINE_PREPARE },
	{ NULL, "synchronize_input_prep", ENGINE_PREPARE },
	{ NULL, "gather_batch_req_state", ENGINE_PREPARE },
	{ NULL, "get_model_worker_batch", ENGINE_PREPARE },
	{ "forward_batch_info.py", "init_new", ENGINE_PREPARE },
	{ NULL, "replay_prepare", ENGINE_PREPARE },
	{ NULL, "init_forward_metadata*", ENGINE_PREPARE },
	{ NULL, "alloc_future_indices", ENGINE_PREPARE },
	{ NULL, "resolve_future", ENGINE_PREPARE },

	{ NULL, "_model_forward", ENGINE_FORWARD },
	{ NULL, "_forward_raw", ENGINE_FORWARD },
	{ NULL, "_forward_step", ENGINE_FORWARD },
	{ NULL, "run_model", ENGINE_FORWARD },
	{ NULL, "run_fullgraph", ENGINE_FORWARD },
	{ NULL, "forward_batch_generation", ENGINE_FORWARD },

	{ NULL, "sample", ENGINE_SAMPLE },
	{ NULL, "_sample", ENGINE_SAMPLE },
	{ NULL, "sample_async", ENGINE_SAMPLE },
	{ NULL, "_sample_async", ENGINE_SAMPLE },
	{ NULL, "launch_batch_sample_if_needed", ENGINE_SAMPLE },
	{ NULL, "get_grammar_bitmask", ENGINE_SAMPLE },
	{ NULL, "grammar_bitmask", ENGINE_SAMPLE },
	{ NULL, "apply_grammar_bitmask", ENGINE_SAMPLE },

	{ NULL, "update_from_output", ENGINE_OUTPUT },
	{ NULL, "process_outputs", ENGINE_OUTPUT },
	{ NULL, "process_batch_result*", ENGINE_OUTPUT },
	{ NULL, "stream_output*", ENGINE_OUTPUT },
	{ NULL, "_bookkeeping_sync", ENGINE_OUTPUT },
	{ NULL, "postprocess*", ENGINE_OUTPUT },
	{ NULL, "_update_requests", ENGINE_OUTPUT },
	{ NULL, "_handle_responses", ENGINE_OUTPUT },
	{ NULL, "_process_previous_batch", ENGINE_OUTPUT },
};

/* vLLM's with VLLM_CUSTOM_SCOPES_FOR_PROFILING, of two eras; SGLang's of each recording. */
static const struct engine_name annotations[] = {
	{ NULL, "gpu_model_runner: preprocess", ENGINE_PREPARE },
	{ NULL, "gpu_model_runner: forward", ENGINE_FORWARD },
	{ NULL, "gpu_model_runner: sample", ENGINE_SAMPLE },
	{ NULL, "gpu_model_runner: bookkeep", ENGINE_OUTPUT },
	{ NULL, "Preprocess", ENGINE_PREPARE },
	{ NULL, "Forward", ENGINE_FORWARD },
	{ NULL, "Sample", ENGINE_SAMPLE },
	{ NULL, "Bookkeep", ENGINE_OUTPUT },
	{ NULL, "schedule: *", ENGINE_SCHEDULE },
	{ NULL, "llm_engine step: process_outputs", ENGINE_OUTPUT },
	{ NULL, "scheduler.recv_requests", ENGINE_SCHEDULE },
	{ NULL, "scheduler.process_input_requests", ENGINE_SCHEDULE },
	{ NULL, "scheduler.get_next_batch_to_run", ENGINE_SCHEDULE },
	{ NULL, "scheduler.process_batch_result", ENGINE_OUTPUT },
};

static const char *const packages[] = { "vllm", "sglang", "tensorrt_llm", "atom/" };

static bool is_engine_file(struct str path)
{
	for (size_t i = 0; i < TSI_COUNT_OF(packages); i++)
		if (tsi_str_find(path, tsi_str_of(packages[i])) >= 0)
			return true;
	return false;
}

/* "get_next_*batch_to_run", "prepare_for_*": one "*" for any text. */
static bool fits(struct str text, struct str pattern)
{
	ptrdiff_t star = tsi_str_find(pattern, TSI_STR("*"));

	if (star < 0)
		return tsi_str_equal(text, pattern);
	size_t before = (size_t)star, behind = pattern.length - before - 1;
	return text.length >= before + behind &&
	       tsi_str_has_prefix(text, (struct str){ pattern.data, before }) &&
	       tsi_str_has_suffix(text, (struct str){ pattern.data + before + 1, behind });
}

static bool is_file(struct str path, const char *file)
{
	struct str end = tsi_str_of(file);

	return tsi_str_has_suffix(path, end) &&
	       (path.length == end.length || path.data[path.length - end.length - 1] == '/');
}

static struct str without_class(struct str function)
{
	while (true) {
		ptrdiff_t dot = tsi_str_find(function, TSI_STR("."));
		if (dot < 0)
			return function;
		function = tsi_str_tail(function, (size_t)dot + 1);
	}
}

enum engine_work tsi_engine_function(struct str name)
{
	struct python_name parts = tsi_python_name(name);
	struct str function = without_class(parts.function);

	if (!is_engine_file(parts.file))
		return ENGINE_OTHER;
	for (size_t i = 0; i < TSI_COUNT_OF(functions); i++) {
		const struct engine_name *known = &functions[i];
		if ((!known->file || is_file(parts.file, known->file)) &&
		    (!known->function || fits(function, tsi_str_of(known->function))))
			return known->work;
	}
	return ENGINE_OTHER;
}

enum engine_work tsi_engine_annotation(struct str name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(annotations); i++)
		if (fits(name, tsi_str_of(annotations[i].function)))
			return annotations[i].work;
	return ENGINE_OTHER;
}
