/* SPDX-License-Identifier: MIT */
/* The files and names in stacks that say what the memory is for. */
#include "model/memory/stack_words.h"

#include "base/attributes.h"

enum where { WITHIN, AT_START, WHOLE };

struct pattern {
	struct str text;
	enum where where;
	uint32_t marks;
};

#define PATTERN(literal, where, marks)                                                             \
	{                                                                                          \
		{ (literal), sizeof(literal) - 1 }, where, marks                                   \
	}

static const struct pattern file_patterns[] = {
	PATTERN("-packages/torch/", WITHIN, FILE_FOLDED),
	PATTERN("-packages/functorch/", WITHIN, FILE_FOLDED),
	PATTERN("-packages/torchgen/", WITHIN, FILE_FOLDED),
	PATTERN("-packages/triton/", WITHIN, FILE_FOLDED),
	/* Thin layers over torch: the line that calls them says more than their own. */
	PATTERN("-packages/einops/", WITHIN, FILE_FOLDED),
	PATTERN("-packages/accelerate/", WITHIN, FILE_FOLDED),
	PATTERN("-packages/bitsandbytes/", WITHIN, FILE_FOLDED),
	PATTERN("-packages/apex/", WITHIN, FILE_FOLDED),
	PATTERN("-packages/flash_attn/flash_attn_interface.py", WITHIN, FILE_FOLDED),
	PATTERN("-packages/flash_attn/bert_padding.py", WITHIN, FILE_FOLDED),
	PATTERN("-packages/xformers/ops/", WITHIN, FILE_FOLDED),
	PATTERN("-packages/transformers/activations.py", WITHIN, FILE_FOLDED),
	PATTERN("-packages/transformers/integrations/", WITHIN, FILE_FOLDED),
	PATTERN("-packages/transformers/pytorch_utils.py", WITHIN, FILE_FOLDED),
	PATTERN("-packages/", WITHIN, FILE_PACKAGE),
	PATTERN("/pytorch/torch/", WITHIN, FILE_FOLDED),
	PATTERN("/torchinductor_", WITHIN, FILE_FOLDED),
	PATTERN("torch/", AT_START, FILE_FOLDED),
	PATTERN("<frozen ", AT_START, FILE_FOLDED),
	PATTERN("<string>", WHOLE, FILE_FOLDED),
	PATTERN("<eval_with_key>", AT_START, FILE_FOLDED),
	PATTERN("/torch/optim/", WITHIN, FILE_OPTIMIZER),
	PATTERN("torch/optim/", AT_START, FILE_OPTIMIZER),
	PATTERN("/apex/optimizers/", WITHIN, FILE_OPTIMIZER),
	PATTERN("/bitsandbytes/optim/", WITHIN, FILE_OPTIMIZER),
	PATTERN("/megatron/core/optimizer/", WITHIN, FILE_OPTIMIZER),
	PATTERN("/transformer_engine/pytorch/optimizers/", WITHIN, FILE_OPTIMIZER),
	PATTERN("/torch/nn/modules/", WITHIN, FILE_MODULES),
	PATTERN("torch/nn/modules/", AT_START, FILE_MODULES),
	PATTERN("/torch/nn/modules/module.py", WITHIN, FILE_MODULE),
	PATTERN("torch/nn/modules/module.py", AT_START, FILE_MODULE),
	PATTERN("/torch/nn/init.py", WITHIN, FILE_PARAMETERS),
	PATTERN("/torch/serialization.py", WITHIN, FILE_PARAMETERS),
	PATTERN("/safetensors/", WITHIN, FILE_PARAMETERS),
	PATTERN("/param_and_grad_buffer.py", WITHIN, FILE_PARAMETERS), /* Megatron */
	PATTERN("/torch/utils/checkpoint.py", WITHIN, FILE_CHECKPOINT),
	PATTERN("torch/utils/checkpoint.py", AT_START, FILE_CHECKPOINT),
	PATTERN("/megatron/core/tensor_parallel/random.py", WITHIN, FILE_CHECKPOINT),
	/* DeepSpeed */
	PATTERN("/activation_checkpointing/checkpointing.py", WITHIN, FILE_CHECKPOINT),
	PATTERN("/unsloth_zoo/gradient_checkpointing.py", WITHIN, FILE_CHECKPOINT),
	PATTERN("/transformers/cache_utils.py", WITHIN, FILE_KV_CACHE),
	PATTERN("/cache_engine.py", WITHIN, FILE_KV_CACHE),          /* vLLM, LMDeploy */
	PATTERN("/mem_cache/memory_pool.py", WITHIN, FILE_KV_CACHE), /* SGLang */
	/* DeepSpeed gathers what ZeRO-3 has sharded. */
	PATTERN("/zero/partitioned_param_coordinator.py", WITHIN, FILE_COMMUNICATION),
};

static const struct pattern name_patterns[] = {
	PATTERN("Backward", WITHIN, NAME_NODE),
	PATTERN("AccumulateGrad", WITHIN, NAME_NODE),
	PATTERN("at::_ops::", AT_START, NAME_OPERATOR),
	PATTERN("unwind::unwind", WITHIN, NAME_PLUMBING),
	PATTERN("CapturedTraceback::gather", WITHIN, NAME_PLUMBING),
	PATTERN("gather_with_cpp", WITHIN, NAME_PLUMBING),
	PATTERN("CachingAllocator", WITHIN, NAME_PLUMBING),
	PATTERN("torch::autograd::Engine::", WITHIN, NAME_ENGINE),
	PATTERN("backward", WHOLE, NAME_BACKWARD),
	PATTERN("_engine_run_backward", WHOLE, NAME_BACKWARD),
	PATTERN("_call_impl", WHOLE, NAME_CALL),
	PATTERN("_wrapped_call_impl", WHOLE, NAME_CALL),
	PATTERN("forward", WHOLE, NAME_FORWARD),
	PATTERN("_apply", WHOLE, NAME_MOVE),
	PATTERN("to", WHOLE, NAME_MOVE),
	PATTERN("cuda", WHOLE, NAME_MOVE),
	PATTERN("__init__", WHOLE, NAME_INIT),
	PATTERN("reset_parameters", WHOLE, NAME_PARAMETERS),
	PATTERN("load_state_dict", WHOLE, NAME_PARAMETERS),
	PATTERN("_load_from_state_dict", WHOLE, NAME_PARAMETERS),
	PATTERN("from_pretrained", WHOLE, NAME_PARAMETERS), /* Hugging Face */
	PATTERN("create_weights", WHOLE, NAME_PARAMETERS),  /* vLLM, as the next */
	PATTERN("process_weights_after_loading", WHOLE, NAME_PARAMETERS),
	/* DeepSpeed: the shards of ZeRO-3, the optimizer's copy of them, gradients to reduce. */
	PATTERN("_partition_param", WHOLE, NAME_PARAMETERS),
	PATTERN("_create_fp16_partitions_with_defragmentation", WHOLE, NAME_PARAMETERS),
	PATTERN("_create_fp32_partitions", WHOLE, NAME_OPTIMIZER),
	PATTERN("__avg_scatter_grads", WHOLE, NAME_COMMUNICATION),
	PATTERN("allocate_kv_cache", WITHIN, NAME_KV_CACHE),    /* vLLM */
	PATTERN("initialize_kv_cache", WITHIN, NAME_KV_CACHE),  /* vLLM 1.0 */
	PATTERN("_ddp_init_helper", WHOLE, NAME_COMMUNICATION), /* DDP's buckets, by Python … */
	PATTERN("c10d::Reducer::", WITHIN, NAME_COMMUNICATION), /* … and by C++ */
	PATTERN("_alloc_padded_unsharded_flat_param", WHOLE, NAME_COMMUNICATION), /* FSDP */
	PATTERN("foreach_all_gather", WHOLE, NAME_COMMUNICATION),                 /* FSDP 2 */
	PATTERN("init_all_gather_outputs", WHOLE, NAME_COMMUNICATION),
	PATTERN("alloc_all_gather_outputs", WHOLE, NAME_COMMUNICATION),
	PATTERN("foreach_reduce", WHOLE, NAME_COMMUNICATION),
};

static bool begins_with(const char *text, struct str pattern)
{
	for (size_t i = 0; i < pattern.length; i++)
		if (text[i] != pattern.data[i] && !(pattern.data[i] == '/' && text[i] == '\\'))
			return false;
	return true;
}

static bool holds(struct str text, const struct pattern *pattern)
{
	size_t length = pattern->text.length;

	if (text.length < length || (pattern->where == WHOLE && text.length != length))
		return false;
	if (pattern->where != WITHIN)
		return begins_with(text.data, pattern->text);
	for (size_t i = 0; i + length <= text.length; i++)
		if (begins_with(text.data + i, pattern->text))
			return true;
	return false;
}

static bool is_python(struct str file)
{
	const char *end = file.data + file.length;

	if (file.length >= 3 && memcmp(end - 3, ".py", 3) == 0)
		return true;
	return file.length && file.data[0] == '<' && end[-1] == '>';
}

uint32_t tsi_stack_text_marks(struct str text, struct str filter)
{
	uint32_t marks = TEXT_KNOWN | (is_python(text) ? FILE_PYTHON : 0);

	if (tsi_str_find(text, filter) >= 0)
		marks |= TEXT_MATCHES;
	for (size_t i = 0; i < TSI_COUNT_OF(file_patterns); i++)
		if (holds(text, &file_patterns[i]))
			marks |= file_patterns[i].marks;
	for (size_t i = 0; i < TSI_COUNT_OF(name_patterns); i++)
		if (holds(text, &name_patterns[i]))
			marks |= name_patterns[i].marks;
	return marks;
}
