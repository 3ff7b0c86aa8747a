/* SPDX-License-Identifier: MIT */
/*
 * run/write_steps.c: the text of steps.jsonl and run.json, and that reading what
 * was written gives the same series, whatever it holds.
 */
#include "run/write_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tscope/device.h>

#include "base/attributes.h"
#include "check.h"
#include "decode/json.h"
#include "random_numbers.h"
#include "run/scalars.h"
#include "run/settings.h"
#include "run/store.h"
#include "step_dump.h"
#include "step_text.h"

/* What a writer writes; to be freed. */
static char *written(void (*write)(FILE *out, const struct step_series *steps),
		     const struct step_series *steps)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	write(out, steps);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(text), length);
	return text;
}

static void check_steps(struct step_series *steps, const char *expected)
{
	char *text = written(tsi_write_steps, steps);

	assert_string_equal(text, expected);
	free(text);
	tsi_steps_deinit(steps);
}

TEST(test_records)
{
	struct step_series steps = test_steps("-3 data=0 forward=1500000000 eval=20\n"
					      "4 warmup loss=2.5 grad_norm=nan forward=1\n"
					      "5 alloc=0 peak_reserved=9223372036854775807\n");

	/* A step with a time but no phase, as one from a record without phases. */
	steps.records[2].has |= STEP_HAS_TIME;
	check_steps(&steps,
		    "{\"step\":-3,\"phases\":{\"data\":0.0,\"forward\":1.5,\"eval\":0.00000002},"
		    "\"scalars\":{}}\n"
		    "{\"step\":4,\"phases\":{\"forward\":0.000000001},"
		    "\"scalars\":{\"loss\":2.5,\"grad_norm\":NaN},\"mark\":\"warmup\"}\n"
		    "{\"step\":5,\"phases\":{},\"scalars\":{},"
		    "\"memory\":{\"alloc\":0,\"peak_reserved\":9223372036854775807}}\n");
}

/* That of a trace of several workers: without a phase the step would take no time. */
TEST(test_time_without_phases)
{
	struct step_series steps = test_steps("1\n");

	steps.records[0].has |= STEP_HAS_TIME;
	steps.records[0].time_ns = 1500000000;
	check_steps(&steps, "{\"step\":1,\"phases\":{\"unknown\":1.5},\"scalars\":{}}\n");
}

TEST(test_scalars)
{
	static const struct {
		struct str name;
		double value;
	} scalars[] = {
		{ { "lr", 2 }, 0.1 },     { { "a\"\\\n\x1f", 5 }, 1e-300 },
		{ { "", 0 }, -INFINITY }, { { "\xc3\xa4", 2 }, INFINITY },
		{ { "x", 1 }, 1.0 / 3 },
	};
	struct step_series steps = test_steps("1\n2\n");

	for (size_t i = 0; i < TSI_COUNT_OF(scalars); i++)
		assert_true(tsi_steps_add_extra(&steps, &steps.scalars, scalars[i].name,
						scalars[i].value));
	check_steps(&steps, "{\"step\":1,\"timed\":false,\"scalars\":{}}\n"
			    "{\"step\":2,\"timed\":false,\"scalars\":{\"lr\":0.1,"
			    "\"a\\\"\\\\\\u000a\\u001f\":1e-300,\"\":-Infinity,"
			    "\"\xc3\xa4\":Infinity,\"x\":0.3333333333333333}}\n");
}

/* A metric that is called loss, and is not what was taken for it, would be read as the loss. */
TEST(test_hidden_scalars)
{
	struct step_series steps = test_steps("1 loss=2 loss:3 grad_norm:4\n2 loss:5\n");

	tsi_scalars_note(&steps, "csv");
	check_steps(&steps, "{\"step\":1,\"timed\":false,\"scalars\":{\"loss\":2,"
			    "\"grad_norm\":4}}\n"
			    "{\"step\":2,\"timed\":false,\"scalars\":{}}\n");
}

TEST(test_device_budget)
{
	struct step_series steps = test_steps("1 first\n");
	struct step_budget *budget = test_steps_add_budget(&steps, 0);

	steps.device_count = 2;
	budget->start_ns = 1700000000000000001;
	budget->has_alloc_peak = true;
	budget->alloc_peak_ns = 1700000000000000005;
	budget->wall_ns = 10;
	budget->mark = TSCOPE_STEP_COUNTED;
	budget->device.line_ns[TSCOPE_BUDGET_COMPUTE] = 12;
	budget->device.line_ns[TSCOPE_BUDGET_EXPOSED_COMM] = 3;
	budget->device.line_ns[TSCOPE_BUDGET_UNATTRIBUTED] = 5;
	budget->device.compute_phase_ns[PHASE_BACKWARD] = 12;
	budget->has_split = true;
	budget->exposed_ns[EXPOSED_WAIT] = 2;
	budget->exposed_ns[EXPOSED_TRANSFER] = 1;
	check_steps(&steps, "{\"step\":1,\"scalars\":{},\"mark\":\"first\","
			    "\"start_ns\":1700000000000000001,\"wall_ns\":10,\"budget_mark\":\"\","
			    "\"budget_ns\":{\"compute\":12,\"exposed_comm\":3,\"exposed_copy\":0,"
			    "\"data_stall\":0,\"sync_stall\":0,\"launch_stall\":0,"
			    "\"device_gap\":0,\"unattributed\":5},"
			    "\"compute_phase_ns\":{\"data\":0,\"forward\":0,\"backward\":12,"
			    "\"optimizer\":0,\"comm\":0,\"compute\":0,\"other\":0},"
			    "\"exposed_ns\":{\"wait\":2,\"transfer\":1,\"unsplit\":0,\"own\":0},"
			    "\"alloc_peak_ns\":1700000000000000005}\n");
}

TEST(test_host_budget)
{
	struct step_series steps = test_steps("1\n");
	struct step_budget *budget = test_steps_add_budget(&steps, 0);

	budget->wall_ns = 10;
	budget->host.line_ns[HOST_OPTIMIZER] = 10;
	check_steps(&steps, "{\"step\":1,\"scalars\":{},\"start_ns\":0,\"wall_ns\":10,"
			    "\"host_budget_ns\":{\"data\":0,\"forward\":0,\"backward\":0,"
			    "\"optimizer\":10,\"comm\":0,\"other\":0}}\n");
}

TEST(test_run_json)
{
	struct step_series steps = test_steps("1\n2\n");
	char *text = written(tsi_write_run_json, &steps);

	assert_string_equal(text, "{\"name\":\"run\",\"n_steps\":2,"
				  "\"tscope\":{\"has_start\":false,\"point_to_point\":false,"
				  "\"times_from_trace\":false,"
				  "\"name_from_tscope\":true,\"n_steps_from_records\":true}}\n");
	free(text);
	steps.rank = 0;
	steps.world_size = 8;
	steps.flops_per_step = 2.5e12;
	steps.peak_flops = 1e14;
	steps.has_start = true;
	steps.has_point_to_point = true;
	steps.is_of_trace = true;
	steps.memory_event_count = 40;
	steps.oom_count = 1;
	steps.doubt = "a \"b\"";
	text = written(tsi_write_run_json, &steps);
	assert_string_equal(text, "{\"name\":\"run\",\"rank\":0,\"world_size\":8,\"n_steps\":2,"
				  "\"flops_per_step\":2500000000000,\"peak_flops\":100000000000000,"
				  "\"tscope\":{\"has_start\":true,\"point_to_point\":true,"
				  "\"times_from_trace\":true,"
				  "\"name_from_tscope\":true,\"n_steps_from_records\":true,"
				  "\"memory_event_count\":40,\"oom_count\":1,"
				  "\"doubt\":\"a \\\"b\\\"\"}}\n");
	free(text);
	tsi_steps_deinit(&steps);
}

/* What operators and the device tell stands where other readers look for it, and says that it does. */
TEST(test_run_json_of_a_trace)
{
	struct step_series steps = test_steps("1\n");

	steps.counted_flops_per_step = 2.5e12;
	steps.peak = (struct step_peak){ 1e14, "H100 SXM5", "bf16", "" };
	char *text = written(tsi_write_run_json, &steps);
	assert_string_equal(text, "{\"name\":\"run\",\"n_steps\":1,"
				  "\"flops_per_step\":2500000000000,\"peak_flops\":100000000000000,"
				  "\"tscope\":{\"has_start\":false,\"point_to_point\":false,"
				  "\"times_from_trace\":false,"
				  "\"name_from_tscope\":true,\"n_steps_from_records\":true,"
				  "\"flops_from_operators\":true,"
				  "\"peak_from_device\":true,\"peak\":{"
				  "\"flops_per_second\":100000000000000,\"device\":\"H100 SXM5\","
				  "\"precision\":\"bf16\",\"lack\":\"\"}}}\n");
	free(text);
	/* What run.json said itself goes before it. */
	steps.flops_per_step = 7;
	steps.peak_flops = 8;
	steps.peak = (struct step_peak){ .lack = "no such device" };
	text = written(tsi_write_run_json, &steps);
	assert_string_equal(text,
			    "{\"name\":\"run\",\"n_steps\":1,"
			    "\"flops_per_step\":7,\"peak_flops\":8,"
			    "\"tscope\":{\"has_start\":false,\"point_to_point\":false,"
			    "\"times_from_trace\":false,"
			    "\"name_from_tscope\":true,\"n_steps_from_records\":true,\"peak\":{"
			    "\"flops_per_second\":0,"
			    "\"precision\":\"\",\"lack\":\"no such device\"}}}\n");
	free(text);
	tsi_steps_deinit(&steps);
}

/* What the job said of itself stands there as it did, nested names flat, and numbers as numbers. */
TEST(test_provenance)
{
	static const char said[] =
		"{\"name\":\"a "
		"\\\"b\\\"\",\"n_steps\":9,\"started\":1790857026.25,\"wall_time\":0.5,"
		"\"environment\":{\"torch\":\"2\",\"env\":{\"B\":\"\\t\",\"A\":null}},"
		"\"config\":{\"lr\":1e-3,\"a\":{\"c\":[1.0],\"b\":true}}}";
	struct step_series steps = test_steps("1\n");

	assert_int_equal(tsi_run_json_read(TSI_STR(said), &steps, NULL), TSCOPE_OK);
	char *text = written(tsi_write_run_json, &steps);
	assert_string_equal(text,
			    "{\"name\":\"a \\\"b\\\"\",\"n_steps\":9,\"started\":1790857026.25,"
			    "\"wall_time\":0.5,\"environment\":{\"env.A\":null,"
			    "\"env.B\":\"\\u0009\",\"torch\":\"2\"},"
			    "\"config\":{\"a\":{\"b\":true,\"c\":[1]},\"lr\":0.001},"
			    "\"tscope\":{\"has_start\":false,\"point_to_point\":false,"
			    "\"times_from_trace\":false}}\n");
	free(text);
	tsi_steps_deinit(&steps);
}

/* ---- there and back ---- */

static uint64_t next_random(uint64_t *seed)
{
	return random_bits(seed) >> 33;
}

static bool flip(uint64_t *seed)
{
	return next_random(seed) & 1;
}

/* Nanoseconds of any magnitude below 2^59. */
static int64_t random_ns(uint64_t *seed)
{
	uint64_t bits = next_random(seed) << 31 | next_random(seed);

	return (int64_t)(bits >> 3 >> next_random(seed) % 60);
}

/* Any double at all. */
static double random_real(uint64_t *seed)
{
	uint64_t bits = next_random(seed) << 62 | next_random(seed) << 31 | next_random(seed);
	double real;

	memcpy(&real, &bits, sizeof(real));
	return flip(seed) ? real : (double)(bits >> 44) / 1000;
}

static void add_random_extras(struct step_series *steps, struct step_extras *extras, bool is_phase,
			      uint64_t *seed)
{
	static const char *const names[] = {
		"", "lr", "a \"b\"\\\t", "\xc3\xa9val", "step", "\x7f"
	};

	for (size_t i = 0; i < TSI_COUNT_OF(names); i++) {
		double value = is_phase ? (double)random_ns(seed) : random_real(seed);

		if (next_random(seed) % 3 == 0)
			assert_true(tsi_steps_add_extra(
				steps, extras, (struct str){ names[i], strlen(names[i]) }, value));
	}
}

/* At most 13 phases below 2^59: their sum fits. */
static void add_random_phases(struct step_series *steps, struct step_record *record, uint64_t *seed)
{
	size_t first_extra = steps->phases.count;

	record->has |= STEP_HAS_TIME;
	for (size_t phase = 0; phase < PHASE_COUNT; phase++) {
		if (flip(seed))
			continue;
		record->phase_ns[phase] = random_ns(seed);
		record->phases |= (uint8_t)(1u << phase);
		record->time_ns += record->phase_ns[phase];
	}
	add_random_extras(steps, &steps->phases, true, seed);
	for (size_t i = first_extra; i < steps->phases.count; i++)
		record->time_ns += tsi_extra_ns(&steps->phases.items[i]);
}

static void add_random_scalars(struct step_series *steps, struct step_record *record,
			       uint64_t *seed)
{
	if (flip(seed)) {
		record->has |= STEP_HAS_LOSS;
		record->loss = random_real(seed);
	}
	if (flip(seed)) {
		record->has |= STEP_HAS_GRAD_NORM;
		record->grad_norm = random_real(seed);
	}
	add_random_extras(steps, &steps->scalars, false, seed);
	for (size_t i = 0; i < STEP_MEMORY_COUNT; i++)
		if (flip(seed))
			record->memory_bytes[i] = random_ns(seed);
}

static void add_random_split(struct step_budget *budget, uint64_t *seed)
{
	int64_t rest_ns = budget->device.line_ns[TSCOPE_BUDGET_EXPOSED_COMM] +
			  budget->host.line_ns[HOST_COMM];

	budget->has_split = flip(seed);
	if (!budget->has_split)
		return;
	budget->exposed_ns[EXPOSED_WAIT] = random_ns(seed) % (rest_ns + 1);
	rest_ns -= budget->exposed_ns[EXPOSED_WAIT];
	budget->exposed_ns[EXPOSED_TRANSFER] = random_ns(seed) % (rest_ns + 1);
	budget->exposed_ns[EXPOSED_UNSPLIT] = rest_ns - budget->exposed_ns[EXPOSED_TRANSFER];
}

/* The wall time is cut into the lines of each device, or of the host. */
static void add_random_budget(struct step_series *steps, size_t index, uint64_t *seed)
{
	struct step_budget *budget = test_steps_add_budget(steps, index);

	budget->has_alloc_peak = flip(seed);
	budget->alloc_peak_ns = flip(seed) ? random_ns(seed) : -random_ns(seed);
	budget->start_ns = flip(seed) ? random_ns(seed) : -random_ns(seed);
	budget->wall_ns = 1 + (random_ns(seed) >> 8);
	if (flip(seed))
		budget->mark = (uint8_t)(next_random(seed) % 4);
	for (uint32_t device = 0; device < steps->device_count; device++) {
		int64_t rest_ns = budget->wall_ns;

		for (size_t line = 1; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
			int64_t part_ns = random_ns(seed) % (rest_ns + 1);
			budget->device.line_ns[line] += part_ns;
			rest_ns -= part_ns;
		}
		budget->device.line_ns[TSCOPE_BUDGET_COMPUTE] += rest_ns;
		budget->device.compute_phase_ns[next_random(seed) % PHASE_COUNT] += rest_ns;
	}
	if (flip(seed))
		budget->flops = (struct step_flops){ 1 + fabs((double)random_ns(seed)) / 7, 0.5,
						     INT64_MAX, random_ns(seed) };
	if (steps->device_count == 0)
		budget->host.line_ns[next_random(seed) % HOST_LINE_COUNT] = budget->wall_ns;
	add_random_split(budget, seed);
}

static void add_random_provenance(struct step_series *steps, uint64_t *seed)
{
	static const char *const jsons[] = {
		"{}",
		"{\"a\":\"1\",\"b\":1,\"c\":\"\\\\\"}",
		"{\"\":[\"\xc3\xa4\"]}",
		"{\"z\":{\"y\":{\"x\":-1e300}},\"null\":null}",
	};
	struct step_provenance *provenance = &steps->provenance;

	provenance->started_s = flip(seed) ? (double)random_ns(seed) / 7 : NAN;
	provenance->wall_s = flip(seed) ? (double)random_ns(seed) / 7 : NAN;
	provenance->step_count = flip(seed) ? random_ns(seed) : -1;
	if (flip(seed))
		tsi_settings_text(steps, TSI_STR("\"run\""), &provenance->run_name);
	tsi_settings_read(steps, &provenance->environment,
			  tsi_str_of(jsons[next_random(seed) % TSI_COUNT_OF(jsons)]), true);
	tsi_settings_read(steps, &provenance->config,
			  tsi_str_of(jsons[next_random(seed) % TSI_COUNT_OF(jsons)]), false);
	assert_false(steps->has_failed);
}

static void make_random(struct step_series *steps, uint64_t *seed)
{
	size_t count = next_random(seed) % 8;
	bool has_trace = flip(seed);
	int64_t number = (int64_t)(next_random(seed) % 100) - 50;

	tsi_steps_init(steps);
	steps->device_count = has_trace ? (uint32_t)(next_random(seed) % 5) : 0;
	steps->has_start = flip(seed);
	steps->has_point_to_point = flip(seed);
	steps->is_of_trace = flip(seed);
	steps->doubt = flip(seed) ? "clocks \\ jump" : NULL;
	steps->rank = (int64_t)(next_random(seed) % 9) - 1;
	steps->world_size = flip(seed) ? 8 : -1;
	steps->memory_event_count = flip(seed) ? 1 + random_ns(seed) : 0;
	steps->oom_count = steps->memory_event_count ? random_ns(seed) : 0;
	steps->flops_per_step = flip(seed) ? (double)random_ns(seed) + 1 : 0;
	steps->peak_flops = flip(seed) ? 0.1 + (double)next_random(seed) : 0;
	steps->hardware_flops_per_step = flip(seed) ? 0.5 + (double)next_random(seed) : 0;
	steps->counted_flops_per_step = flip(seed) ? 1 + (double)next_random(seed) : 0;
	add_random_provenance(steps, seed);
	if (flip(seed))
		steps->peak = (struct step_peak){
			.flops_per_second = flip(seed) ? 1 + (double)random_ns(seed) : 0,
			.device = flip(seed)
					  ? tscope_device(next_random(seed) % tscope_device_count())
						    ->name
					  : NULL,
			.precision = "bf16 97 %, \"tf32\" 3 %",
			.lack = "no \\ such\tdevice",
		};
	for (size_t i = 0; i < count; i++) {
		struct step_record *record;

		record = tsi_steps_add(steps, number);
		record->mark = (uint8_t)(next_random(seed) % 4);
		if (!has_trace || flip(seed))
			add_random_phases(steps, record, seed);
		add_random_scalars(steps, record, seed);
		if (has_trace)
			add_random_budget(steps, i, seed);
		/* Windows may number their steps anew. */
		number += has_trace ? (int64_t)(next_random(seed) % 5) - 2
				    : 1 + (int64_t)(next_random(seed) % 5);
	}
}

static void read_back(struct step_series *steps, const char *lines, const char *run_json)
{
	struct store_log log = { 0 };
	struct tscope_error err = { 0 };
	struct input *in;

	tsi_steps_init(steps);
	assert_int_equal(tsi_input_open_memory(&in, lines, strlen(lines), NULL, &err), TSCOPE_OK);
	assert_int_equal(tsi_store_find(TSI_STR("{\"step\":0}"))->read(in, steps, &log, &err),
			 TSCOPE_OK);
	tsi_input_close(in);
	assert_int_equal(log.bad_line_count, 0);
	assert_int_equal(log.bad_value_count, 0);
	assert_int_equal(log.earlier_count, 0);
	assert_false(log.is_cut);
	assert_int_equal(tsi_run_json_read((struct str){ run_json, strlen(run_json) }, steps, NULL),
			 TSCOPE_OK);
}

static void check_settings(const struct step_settings *a, const struct intern *a_names,
			   const struct step_settings *b, const struct intern *b_names)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		assert_string_equal(tsi_intern_text(a_names, a->items[i].name).data,
				    tsi_intern_text(b_names, b->items[i].name).data);
		assert_string_equal(tsi_intern_text(a_names, a->items[i].value).data,
				    tsi_intern_text(b_names, b->items[i].value).data);
		assert_int_equal(a->items[i].is_text, b->items[i].is_text);
	}
}

static bool are_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void check_provenance(const struct step_series *a, const struct step_series *b)
{
	const struct step_provenance *left = &a->provenance, *right = &b->provenance;

	assert_string_equal(tsi_intern_text(&a->names, left->run_name).data,
			    tsi_intern_text(&b->names, right->run_name).data);
	assert_true(are_same(left->started_s, right->started_s));
	assert_true(are_same(left->wall_s, right->wall_s));
	assert_int_equal(left->step_count, right->step_count);
	check_settings(&left->environment, &a->names, &right->environment, &b->names);
	check_settings(&left->config, &a->names, &right->config, &b->names);
}

static void check_equal(const struct step_series *a, const struct step_series *b)
{
	char *text_a = step_dump(a), *text_b = step_dump(b);

	assert_string_equal(text_a, text_b);
	free(text_a);
	free(text_b);
	assert_int_equal(a->rank, b->rank);
	assert_int_equal(a->world_size, b->world_size);
	/* Where there is no step, nothing has lines. */
	if (a->budget_count > 0)
		assert_int_equal(a->device_count, b->device_count);
	assert_int_equal(a->has_start, b->has_start);
	assert_int_equal(a->has_point_to_point, b->has_point_to_point);
	assert_int_equal(a->is_of_trace, b->is_of_trace);
	assert_int_equal(a->memory_event_count, b->memory_event_count);
	assert_int_equal(a->oom_count, b->oom_count);
	assert_true(a->flops_per_step == b->flops_per_step);
	assert_true(a->peak_flops == b->peak_flops);
	assert_true(a->hardware_flops_per_step == b->hardware_flops_per_step);
	assert_true(a->peak.flops_per_second == b->peak.flops_per_second);
	assert_ptr_equal(a->peak.device, b->peak.device);
	assert_string_equal(a->peak.precision, b->peak.precision);
	assert_string_equal(a->peak.lack, b->peak.lack);
	assert_string_equal(a->doubt ? a->doubt : "-", b->doubt ? b->doubt : "-");
	check_provenance(a, b);
}

/* Each line is one that any reader of JSON takes, but for NaN and the infinities. */
static void check_lines(const char *text)
{
	for (const char *end; (end = strchr(text, '\n')); text = end + 1)
		assert_int_equal(
			tsi_json_check((struct str){ text, (size_t)(end - text) }, 8, NULL),
			TSCOPE_OK);
	assert_string_equal(text, "");
}

TEST(test_round_trip)
{
	uint64_t seed = 3;

	for (int i = 0; i < 3000; i++) {
		struct step_series steps, again;
		char *lines, *run_json;

		make_random(&steps, &seed);
		lines = written(tsi_write_steps, &steps);
		run_json = written(tsi_write_run_json, &steps);
		check_lines(lines);
		check_lines(run_json);
		read_back(&again, lines, run_json);
		check_equal(&steps, &again);
		free(lines);
		free(run_json);
		tsi_steps_deinit(&steps);
		tsi_steps_deinit(&again);
	}
}
