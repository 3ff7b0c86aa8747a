/* SPDX-License-Identifier: MIT */
/* timeline/engine_work.c: what functions and annotations of inference engines are for. */
#include "timeline/engine_work.h"

#include "base/attributes.h"
#include "check.h"

static const struct {
	const char *name;
	enum engine_work work;
} functions[] = {
	{ "vllm/v1/core/sched/scheduler.py(248): schedule", ENGINE_SCHEDULE },
	{ "vllm/v1/core/sched/scheduler.py(1035): update_from_output", ENGINE_OUTPUT },
	{ "vllm/v1/worker/gpu_model_runner.py(931): _update_states", ENGINE_PREPARE },
	{ "vllm/v1/worker/gpu_model_runner.py(1518): _prepare_inputs", ENGINE_PREPARE },
	{ "vllm/v1/worker/gpu_model_runner.py(1352): _prepare_input_ids", ENGINE_PREPARE },
	{ "vllm/v1/worker/gpu_model_runner.py(3102): _model_forward", ENGINE_FORWARD },
	{ "vllm/v1/worker/gpu_model_runner.py(3380): execute_model", ENGINE_OTHER },
	{ "/usr/lib/python3/dist-packages/vllm/v1/sample/sampler.py(70): forward", ENGINE_SAMPLE },
	{ "vllm/v1/worker/gpu/model_runner.py(700): prepare_inputs", ENGINE_PREPARE },
	{ "vllm/distributed/device_communicators/shm_broadcast.py(520): dequeue", ENGINE_WAIT },
	{ "vllm/v1/engine/detokenizer.py(100): update", ENGINE_OUTPUT },
	{ "vllm/myshm_broadcast.py(520): dequeue", ENGINE_OTHER },
	{ "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py(1): get_next_batch_to_run",
	  ENGINE_SCHEDULE },
	{ "sglang/srt/disaggregation/prefill.py(1): get_next_disagg_prefill_batch_to_run",
	  ENGINE_SCHEDULE },
	{ "sglang/srt/managers/schedule_batch.py(2000): prepare_for_decode", ENGINE_PREPARE },
	{ "sglang/srt/model_executor/forward_batch_info.py(443): init_new", ENGINE_PREPARE },
	{ "sglang/srt/managers/schedule_batch.py(443): init_new", ENGINE_OTHER },
	{ "sglang/srt/managers/scheduler.py(2500): process_batch_result_decode", ENGINE_OUTPUT },
	{ "Scheduler.process_batch_result (/opt/sglang/srt/managers/scheduler.py:2500)",
	  ENGINE_OUTPUT },
	{ "tensorrt_llm/_torch/pyexecutor/py_executor.py(1032): _schedule", ENGINE_SCHEDULE },
	{ "tensorrt_llm/_torch/pyexecutor/py_executor.py(1300): _sample_async", ENGINE_SAMPLE },
	{ "/app/atom/model_engine/scheduler.py(80): schedule", ENGINE_SCHEDULE },
	{ "train.py(3): schedule", ENGINE_OTHER },
	{ "<built-in method sample of Tensor>", ENGINE_OTHER },
};

static const struct {
	const char *name;
	enum engine_work work;
} annotations[] = {
	{ "gpu_model_runner: preprocess", ENGINE_PREPARE },
	{ "gpu_model_runner: forward", ENGINE_FORWARD },
	{ "Bookkeep", ENGINE_OUTPUT },
	{ "schedule: allocate_slots", ENGINE_SCHEDULE },
	{ "scheduler.get_next_batch_to_run", ENGINE_SCHEDULE },
	{ "scheduler.run_batch", ENGINE_OTHER },
	{ "execute_context_0(0)_generation_4(4)", ENGINE_OTHER },
	{ "", ENGINE_OTHER },
};

TEST(test_functions)
{
	for (size_t i = 0; i < TSI_COUNT_OF(functions); i++)
		if (tsi_engine_function(tsi_str_of(functions[i].name)) != functions[i].work)
			fail_msg("%s: %d", functions[i].name,
				 tsi_engine_function(tsi_str_of(functions[i].name)));
}

TEST(test_annotations)
{
	for (size_t i = 0; i < TSI_COUNT_OF(annotations); i++)
		if (tsi_engine_annotation(tsi_str_of(annotations[i].name)) != annotations[i].work)
			fail_msg("%s: %d", annotations[i].name,
				 tsi_engine_annotation(tsi_str_of(annotations[i].name)));
}
