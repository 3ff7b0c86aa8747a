/* SPDX-License-Identifier: MIT */
#include "rules/live_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/memory/role_words.h"
#include "analyze/memory/site_words.h"
#include "base/print_text.h"
#include "base/scaled_text.h"
#include "model/memory/stack_site.h"

/* Share of what was live from which a second role has advice. */
#define ROLE_SHARE 0.25

enum { MAX_ADVISED = 2 };

static const char roles[] = "snapshot.oom_by_role";

static int64_t live_bytes(const struct rule_context *ctx)
{
	return tsi_rule_int(ctx, "snapshot.oom_live_bytes");
}

static struct role_part get_role(const struct rule_context *ctx, size_t row)
{
	return tsi_role_part(tsi_rule_table(ctx, roles), row, live_bytes(ctx));
}

static double role_ratio(const struct role_part *role)
{
	return tsi_ratio_of_whole(role, role->bytes);
}

static bool is_role(const struct role_part *role, const char *name)
{
	return strcmp(role->role, name) == 0;
}

/* Roles say what was live: some are known, and no entry is missing. */
static bool knows_live(const struct rule_context *ctx)
{
	return tsi_rule_rows(ctx, roles) > 0 && live_bytes(ctx) > 0 &&
	       !tsi_rule_doubt(ctx, "snapshot.oom_live_bytes");
}

/* ---- what to do about a role ---- */

/* The work of the process, as far as its memory says it; training may use checkpointing. */
enum work { WORK_UNKNOWN, WORK_TRAINING, WORK_CHECKPOINTING, WORK_SERVING };

static bool has_role(const struct rule_context *ctx, const char *table, const char *name)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, table); row++)
		if (strcmp(tsi_rule_cell_text(ctx, table, row, "role"), name) == 0)
			return true;
	return false;
}

static enum work get_work(const struct rule_context *ctx)
{
	static const struct {
		const char *role;
		enum work work;
	} signs[] = {
		{ "backward", WORK_TRAINING },
		{ "optimizer", WORK_TRAINING },
		{ "kv_cache", WORK_SERVING },
	};

	if (tsi_rule_flag(ctx, "snapshot.activation_checkpointing"))
		return WORK_CHECKPOINTING;
	for (size_t i = 0; i < TSI_COUNT_OF(signs); i++)
		if (has_role(ctx, roles, signs[i].role) ||
		    has_role(ctx, "snapshot.by_role", signs[i].role))
			return signs[i].work;
	return WORK_UNKNOWN;
}

/* Options have names of their own in each engine; it shows in the path of the site. */
static const char *advise_kv_cache(const struct role_part *role)
{
	static const struct {
		const char *part, *advice;
	} engines[] = {
		{ "vllm", "a smaller KV cache (gpu_memory_utilization)" },
		{ "mem_cache/memory_pool.py", "a smaller KV cache (mem_fraction_static)" },
		{ "transformers",
		  "a KV cache that is quantized or offloaded to the host, fewer or shorter "
		  "sequences at once" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(engines); i++)
		if (strstr(role->site, engines[i].part))
			return engines[i].advice;
	return "a smaller KV cache: fewer or shorter sequences, or less memory reserved for it";
}

static const char *advise_forward(enum work work)
{
	if (work == WORK_TRAINING)
		return "activation checkpointing, a smaller micro-batch";
	if (work == WORK_CHECKPOINTING)
		return "a smaller micro-batch, checkpointing of more layers";
	if (work == WORK_SERVING)
		return "fewer tokens at once (vLLM: max_num_batched_tokens, SGLang: "
		       "chunked_prefill_size)";
	return "a smaller batch, activation checkpointing where it trains, "
	       "torch.inference_mode() where it does not";
}

static const char *advise_parameters(enum work work)
{
	if (work == WORK_TRAINING || work == WORK_CHECKPOINTING)
		return "parameters sharded over ranks (FSDP, ZeRO-3) or, where they are frozen, "
		       "quantized";
	return "parameters in lower precision (bfloat16, quantized) or sharded over more devices";
}

/* Gradients of parameters are as large as these, whatever the batch. */
static const char *advise_backward(const struct role_part *role)
{
	if (tsi_str_is(tsi_site_words(role->site), "AccumulateGrad"))
		return "gradients sharded over ranks (ZeRO-2, FSDP)";
	return "a smaller micro-batch, gradients of parameters sharded over ranks (ZeRO-2, FSDP)";
}

/* DDP's buckets are as large as all gradients, however many there are. */
static const char *advise_communication(const struct role_part *role)
{
	if (strstr(role->site, "/deepspeed/"))
		return "smaller stage3_max_live_parameters and stage3_prefetch_bucket_size "
		       "(ZeRO-3)";
	return "with DDP gradient_as_bucket_view=True, with FSDP smaller wrapped modules that are "
	       "resharded after forward";
}

/* NULL of what only the site describes. */
static const char *advise(const struct role_part *role, enum work work)
{
	if (is_role(role, "forward"))
		return advise_forward(work);
	if (is_role(role, "parameter"))
		return advise_parameters(work);
	if (is_role(role, "backward"))
		return advise_backward(role);
	if (is_role(role, "kv_cache"))
		return advise_kv_cache(role);
	if (is_role(role, "optimizer"))
		return "optimizer state sharded over ranks (ZeRO, FSDP), in 8 bits or offloaded "
		       "to the host";
	if (is_role(role, "communication"))
		return advise_communication(role);
	return NULL;
}

static void append_role(struct memory_advice *advice, const struct role_part *role, enum work work)
{
	const char *text = advise(role, work);
	struct str place = role->file_bytes > role->site_bytes
				   ? tsi_stack_file_name(tsi_str_of(role->file))
				   : tsi_site_words(role->site);

	tsi_append_text(advice->chars, sizeof(advice->chars), "%s",
			*advice->chars == '\0' ? ": " : "; ");
	if (text)
		tsi_append_text(advice->chars, sizeof(advice->chars), "%s", text);
	else
		tsi_append_text(
			advice->chars, sizeof(advice->chars),
			"what %.*s allocates: free it sooner, keep it on the host or make it "
			"smaller",
			TSI_QUOTE(place));
}

/* How the next snapshot would say what the memory is for. */
static void append_unknown(struct memory_advice *advice, const struct role_part *role)
{
	tsi_append_text(advice->chars, sizeof(advice->chars),
			"; %.0f %% of what was live %s: %s would show what it is for",
			100 * role_ratio(role), tsi_role_sentence(role->role),
			is_role(role, "earlier")
				? "_record_memory_history() before the model is built"
				: "_record_memory_history(context=\"all\", stacks=\"all\")");
}

static struct memory_advice advise_by_role(const struct rule_context *ctx)
{
	struct memory_advice advice = { "" };
	struct role_part unknown = { .role = NULL };
	enum work work = get_work(ctx);
	size_t advised = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, roles) && advised < MAX_ADVISED; row++) {
		struct role_part role = get_role(ctx, row);

		if (row > 0 && role_ratio(&role) < ROLE_SHARE)
			break;
		if (tsi_is_role_unknown(role.role)) {
			unknown = unknown.role ? unknown : role;
			continue;
		}
		append_role(&advice, &role, work);
		advised++;
	}
	if (unknown.role)
		append_unknown(&advice, &unknown);
	return advice;
}

struct memory_advice tsi_memory_advice(const struct rule_context *ctx)
{
	struct memory_advice advice = { "" };
	struct str site = tsi_site_words(tsi_rule_text(ctx, "snapshot.oom_site"));

	site = site.length ? site : TSI_STR("the request");
	if (!knows_live(ctx))
		tsi_append_text(advice.chars, sizeof(advice.chars),
				": %sa smaller micro-batch, sharded or offloaded optimizer state",
				get_work(ctx) == WORK_CHECKPOINTING ? ""
								    : "activation checkpointing, ");
	else if (tsi_rule_int(ctx, "snapshot.oom_size_bytes") <= live_bytes(ctx))
		return advise_by_role(ctx);
	else
		tsi_append_text(
			advice.chars, sizeof(advice.chars),
			": split what %.*s asks for into chunks, since that alone is more than all "
			"that was live",
			TSI_QUOTE(site));
	return advice;
}

/* ---- what was live ---- */

void tsi_describe_live(struct rule_context *ctx)
{
	if (!knows_live(ctx))
		return;
	tsi_rule_detail(ctx, "%s was live", tsi_size_text(live_bytes(ctx)).chars);
	for (size_t row = 0; row < tsi_rule_rows(ctx, roles); row++) {
		struct role_part role = get_role(ctx, row);
		struct role_words words = tsi_describe_role(&role);

		if (row > 0 && role_ratio(&role) < ROLE_SHARE)
			return;
		if (*words.chars != '\0')
			tsi_rule_detail(ctx, "%s", words.chars);
		if (!tsi_is_role_unknown(role.role))
			return;
	}
}
