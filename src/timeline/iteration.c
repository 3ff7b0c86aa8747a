/* SPDX-License-Identifier: MIT */
/* Reads the annotations of iterations; each engine has its form, with and without details. */
#include "timeline/iteration.h"

#include "base/attributes.h"

/* Larger numbers are damage: sums over a trace's iterations must not overflow. */
#define MAX_NUMBER (INT64_C(1) << 31)

enum { MAX_PROPOSED = 1024 };

/* Takes the literal from the beginning of the text, if it is there. */
#define take(text, literal) take_text(text, TSI_STR(literal))

static bool take_text(struct str *text, struct str literal)
{
	if (!tsi_str_has_prefix(*text, literal))
		return false;
	*text = tsi_str_tail(*text, literal.length);
	return true;
}

static bool take_number(struct str *text, int64_t *number)
{
	int64_t value = 0;
	size_t i = 0;

	for (; i < text->length && tsi_is_digit(text->data[i]) && value < MAX_NUMBER; i++)
		value = 10 * value + (text->data[i] - '0');
	if (i == 0 || value >= MAX_NUMBER)
		return false;
	*text = tsi_str_tail(*text, i);
	*number = value;
	return true;
}

/* The number behind " key=" in a text, or NOT_SAID. */
static int64_t number_of(struct str text, struct str key)
{
	for (size_t i = 1; i + key.length < text.length; i++) {
		struct str rest = tsi_str_tail(text, i);
		int64_t number;

		if (text.data[i - 1] == ' ' && take_text(&rest, key) && take(&rest, "=") &&
		    take_number(&rest, &number))
			return number;
	}
	return NOT_SAID;
}

#define number(text, key) number_of(text, TSI_STR(key))

static int64_t sum_said(int64_t a, int64_t b)
{
	return (a > 0 ? a : 0) + (b > 0 ? b : 0);
}

/* The phase by the counts of requests and tokens. */
static uint8_t phase_of(const struct iteration *iteration)
{
	if (iteration->prompt_requests > 0)
		return iteration->decode_requests > 0 ? ITERATION_MIXED : ITERATION_PREFILL;
	if (iteration->decode_requests <= 0)
		return ITERATION_IDLE;
	return iteration->decode_tokens > iteration->decode_requests ? ITERATION_SPECULATIVE
								     : ITERATION_DECODE;
}

struct iteration tsi_no_iteration(void)
{
	return (struct iteration){
		.phase = ITERATION_UNKNOWN,
		.prompt_requests = NOT_SAID,
		.prompt_tokens = NOT_SAID,
		.decode_requests = NOT_SAID,
		.decode_tokens = NOT_SAID,
		.requests = NOT_SAID,
		.kv_tokens = NOT_SAID,
		.attention_pairs = NOT_SAID,
		.padded_requests = NOT_SAID,
	};
}

static struct iteration new_iteration(const char *engine)
{
	struct iteration iteration = tsi_no_iteration();

	iteration.engine = engine;
	return iteration;
}

/* Attention work: keys, and queries × keys; or NOT_SAID. */
struct attention_size {
	int64_t keys, pairs;
};

/* "(6144)" or "(sq6144sk7144sqsq…sqsk…)": tokens, and keys where they are said. */
static bool take_vllm_tokens(struct str *text, int64_t *tokens, struct attention_size *size)
{
	int64_t squares;

	*size = (struct attention_size){ NOT_SAID, NOT_SAID };
	if (!take(text, "("))
		return false;
	if (take(text, "sq")) {
		if (!take_number(text, tokens) || !take(text, "sk") ||
		    !take_number(text, &size->keys))
			return false;
		if (!take(text, "sqsq") || !take_number(text, &squares) || !take(text, "sqsk") ||
		    !take_number(text, &size->pairs))
			size->pairs = NOT_SAID;
	} else if (!take_number(text, tokens)) {
		return false;
	}
	while (text->length > 0 && text->data[0] != ')')
		*text = tsi_str_tail(*text, 1);
	return take(text, ")");
}

/* vLLM before 0.12 counts requests that are new, which are prompts, and all others. */
static bool parse_vllm_new(struct str text, struct iteration *ret)
{
	if (!take_number(&text, &ret->prompt_requests) || !take(&text, "_cached_") ||
	    !take_number(&text, &ret->decode_requests))
		return false;
	ret->requests = ret->prompt_requests + ret->decode_requests;
	ret->phase = phase_of(ret);
	return true;
}

/* A number of its own for each, of which nobody says what it counts: the phase alone. */
static bool parse_vllm_bare(struct str text, struct iteration *ret)
{
	int64_t prompts, decodes;

	if (!take_number(&text, &prompts) || !take(&text, "_generation_") ||
	    !take_number(&text, &decodes) || text.length > 0)
		return false;
	ret->phase = phase_of(
		&(struct iteration){ .prompt_requests = prompts, .decode_requests = decodes });
	return true;
}

static bool parse_vllm(struct str text, struct iteration *ret)
{
	struct attention_size prompt, decode;
	int64_t all_tokens;

	*ret = new_iteration("vllm");
	if (take(&text, "new_"))
		return parse_vllm_new(text, ret);
	if (take_number(&text, &all_tokens) && !take(&text, "_"))
		return false;
	if (!take(&text, "context_"))
		return false;
	if (parse_vllm_bare(text, ret))
		return true;
	if (!take_number(&text, &ret->prompt_requests) ||
	    !take_vllm_tokens(&text, &ret->prompt_tokens, &prompt) ||
	    !take(&text, "_generation_") || !take_number(&text, &ret->decode_requests) ||
	    !take_vllm_tokens(&text, &ret->decode_tokens, &decode))
		return false;
	ret->requests = ret->prompt_requests + ret->decode_requests;
	if (prompt.keys >= 0 && decode.keys >= 0)
		ret->kv_tokens = prompt.keys + decode.keys;
	if (prompt.pairs >= 0 && decode.pairs >= 0)
		ret->attention_pairs = prompt.pairs + decode.pairs;
	ret->phase = phase_of(ret);
	return true;
}

/* SGLang's ForwardMode; the modes of a draft model are parts of an iteration. */
static const struct {
	const char *name;
	uint8_t phase;
} sglang_modes[] = {
	{ "EXTEND ", ITERATION_PREFILL },
	{ "SPLIT_PREFILL ", ITERATION_PREFILL },
	{ "DECODE ", ITERATION_DECODE },
	{ "MIXED ", ITERATION_MIXED },
	{ "TARGET_VERIFY ", ITERATION_SPECULATIVE },
	{ "IDLE ", ITERATION_IDLE },
	{ "DLLM_EXTEND ", ITERATION_UNKNOWN },
};

static void fill_sglang(struct str text, struct iteration *ret)
{
	int64_t prompt_tokens = number(text, "c_sq"), decode_tokens = number(text, "g_sq");

	ret->requests = number(text, "bs");
	if (prompt_tokens == NOT_SAID)
		prompt_tokens = number(text, "toks");
	if (number(text, "c_sk") != NOT_SAID || number(text, "g_sk") != NOT_SAID)
		ret->kv_tokens = sum_said(number(text, "c_sk"), number(text, "g_sk"));
	if (number(text, "c_sqsk") != NOT_SAID || number(text, "g_sqsk") != NOT_SAID)
		ret->attention_pairs = sum_said(number(text, "c_sqsk"), number(text, "g_sqsk"));
	if (ret->phase == ITERATION_MIXED) {
		ret->prompt_requests = number(text, "c");
		ret->decode_requests = number(text, "g");
		ret->prompt_tokens = prompt_tokens;
		ret->decode_tokens = decode_tokens;
	} else if (ret->phase == ITERATION_PREFILL) {
		ret->prompt_requests = ret->requests;
		ret->prompt_tokens = prompt_tokens;
	} else if (ret->phase == ITERATION_DECODE || ret->phase == ITERATION_SPECULATIVE) {
		ret->decode_requests = ret->requests;
		ret->decode_tokens = decode_tokens;
	}
	if (ret->phase == ITERATION_DECODE && decode_tokens == NOT_SAID)
		ret->decode_tokens = ret->requests;
	if (ret->phase == ITERATION_DECODE || ret->prompt_requests == 0 ||
	    (ret->phase == ITERATION_MIXED && ret->decode_requests == 0))
		ret->phase = phase_of(ret);
}

static bool parse_sglang(struct str text, struct iteration *ret)
{
	*ret = new_iteration("sglang");
	for (size_t i = 0; i < TSI_COUNT_OF(sglang_modes); i++) {
		struct str rest = text;

		if (!take_text(&rest, tsi_str_of(sglang_modes[i].name)))
			continue;
		ret->phase = sglang_modes[i].phase;
		/* The blank before the first key. */
		fill_sglang((struct str){ rest.data - 1, rest.length + 1 }, ret);
		return ret->requests != NOT_SAID;
	}
	return false;
}

/* "bs=117/128": the batch, and that of the graph it was padded to. */
static int64_t padded_of(struct str text)
{
	int64_t padded;

	if (!take(&text, "bs=") || !take_number(&text, &padded) || !take(&text, "/") ||
	    !take_number(&text, &padded))
		return NOT_SAID;
	return padded;
}

static bool parse_atom(struct str text, bool is_prefill, struct iteration *ret)
{
	int64_t tokens = number(text, "tok"), prompts = number(text, "p");
	int64_t decodes = number(text, "d"), proposed = number(text, "spec");

	*ret = new_iteration("atom");
	ret->padded_requests = padded_of(text);
	ret->kv_tokens = number(text, "sk");
	ret->attention_pairs = number(text, "sqsk");
	if (!take(&text, "bs=") || !take_number(&text, &ret->requests))
		return false;
	if (is_prefill) {
		ret->prompt_requests = ret->requests;
		ret->prompt_tokens = tokens;
	} else if (prompts > 0 && decodes >= 0) {
		ret->prompt_requests = prompts;
		ret->decode_requests = decodes;
		ret->decode_tokens =
			decodes * (proposed > 0 && proposed < MAX_PROPOSED ? 1 + proposed : 1);
		if (tokens >= ret->decode_tokens)
			ret->prompt_tokens = tokens - ret->decode_tokens;
	} else {
		ret->decode_requests = ret->requests;
		ret->decode_tokens = tokens;
	}
	ret->phase = phase_of(ret);
	return true;
}

/*
 * Recognizes dummy iterations: ranks without a request run them so that others can run their
 * collectives.
 */
static bool parse_atom_dummy(struct str text, struct iteration *ret)
{
	bool is_one = take(&text, "decode[bs=") || take(&text, "eager_decode[bs=") ||
		      take(&text, "prefill[bs=");

	*ret = new_iteration("atom");
	ret->requests = 0;
	ret->phase = ITERATION_IDLE;
	return is_one;
}

static bool parse_tensorrt(struct str text, struct iteration *ret)
{
	int64_t step;

	*ret = new_iteration("tensorrt_llm");
	if (take(&text, " ") && !take_number(&text, &step))
		return false;
	if (!take(&text, ": ") || !take_number(&text, &ret->prompt_requests) ||
	    !take(&text, " ctx reqs, "))
		return false;
	struct str rest = text;
	if (take_number(&rest, &ret->prompt_tokens) && take(&rest, " ctx tokens, "))
		text = rest;
	else
		ret->prompt_tokens = NOT_SAID;
	if (!take_number(&text, &ret->decode_requests) || !take(&text, " gen reqs"))
		return false;
	ret->requests = ret->prompt_requests + ret->decode_requests;
	ret->phase = phase_of(ret);
	return true;
}

bool tsi_parse_iteration(struct str name, struct iteration *ret)
{
	struct iteration found;
	bool is_one = false;

	if (take(&name, "execute_diffusion_")) {
		found = tsi_no_iteration();
		found.phase = ITERATION_DIFFUSION;
		is_one = true;
	} else if (take(&name, "execute_"))
		is_one = parse_vllm(name, &found);
	else if (take(&name, "step["))
		is_one = parse_sglang(name, &found);
	else if (take(&name, "prefill["))
		is_one = parse_atom(name, true, &found);
	else if (take(&name, "decode[") || take(&name, "eager_decode["))
		is_one = parse_atom(name, false, &found);
	else if (take(&name, "dummy_"))
		is_one = parse_atom_dummy(name, &found);
	else if (take(&name, "[Executor] _forward_step"))
		is_one = parse_tensorrt(name, &found);
	if (is_one)
		*ret = found;
	return is_one;
}

int64_t tsi_iteration_tokens(const struct iteration *iteration)
{
	int64_t prompt = iteration->prompt_tokens, decode = iteration->decode_tokens;

	if (iteration->phase == ITERATION_PREFILL)
		return prompt;
	if (iteration->phase != ITERATION_MIXED)
		return decode;
	return prompt == NOT_SAID || decode == NOT_SAID ? NOT_SAID : prompt + decode;
}

bool tsi_is_capture_mark(struct str name, int64_t *batch)
{
	return take(&name, "capture_") && take_number(&name, batch) && take(&name, "_") &&
	       name.length > 0 && tsi_is_letter(name.data[0]);
}

const char *tsi_iteration_phase_name(enum iteration_phase phase)
{
	static const char *const names[] = { ITERATION_PHASES(TSI_NAMED_TEXT) };

	return names[phase];
}
