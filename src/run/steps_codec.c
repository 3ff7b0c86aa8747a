/* SPDX-License-Identifier: MIT */
/* Series of steps, metrics and memory by step as bytes (base/codec.h). */
#include "run/steps_codec.h"

enum limit {
	LIMIT_NONE,
	LIMIT_NAMES,
	LIMIT_BUDGETS,
	LIMIT_RECORDS,
	LIMIT_MARKS,
	LIMIT_ROLES,
	LIMIT_PHASE_BITS,
	LIMIT_HAS_BITS,
	LIMIT_DEVICES,
};

enum { MOST_DEVICES = 1 << 16 };

#define SERIES(member, limit) TSI_FIELD(struct step_series, member, 0, limit)
static const struct field series_fields[] = {
	SERIES(rank, LIMIT_NONE),
	SERIES(world_size, LIMIT_NONE),
	SERIES(device_count, LIMIT_DEVICES),
	SERIES(has_start, LIMIT_NONE),
	SERIES(has_point_to_point, LIMIT_NONE),
	SERIES(is_counted, LIMIT_NONE),
	SERIES(is_of_trace, LIMIT_NONE),
	SERIES(has_shapes, LIMIT_NONE),
	SERIES(unknown_time_count, LIMIT_NONE),
	SERIES(is_timeless, LIMIT_NONE),
	SERIES(clock.sync_ns, LIMIT_NONE),
	SERIES(clock.error_ns, LIMIT_NONE),
	SERIES(clock.shifted_ns, LIMIT_NONE),
	SERIES(clock.first_step, LIMIT_NONE),
	SERIES(clock.is_known, LIMIT_NONE),
	SERIES(flops_per_step, LIMIT_NONE),
	SERIES(peak_flops, LIMIT_NONE),
	SERIES(hardware_flops_per_step, LIMIT_NONE),
	SERIES(counted_flops_per_step, LIMIT_NONE),
	SERIES(peak.flops_per_second, LIMIT_NONE),
	SERIES(memory_event_count, LIMIT_NONE),
	SERIES(oom_count, LIMIT_NONE),
	SERIES(provenance.run_name, LIMIT_NAMES),
	SERIES(provenance.started_s, LIMIT_NONE),
	SERIES(provenance.wall_s, LIMIT_NONE),
	SERIES(provenance.step_count, LIMIT_NONE),
};

#define RECORD(member, flags, limit) TSI_FIELD(struct step_record, member, flags, limit)
static const struct field record_fields[] = {
	RECORD(number, FIELD_NEAR, LIMIT_NONE),
	RECORD(time_ns, 0, LIMIT_NONE),
	RECORD(phase_ns, 0, LIMIT_NONE),
	RECORD(memory_bytes, FIELD_NEAR, LIMIT_NONE),
	RECORD(loss, 0, LIMIT_NONE),
	RECORD(grad_norm, 0, LIMIT_NONE),
	RECORD(budget, FIELD_ROW | FIELD_NEAR, LIMIT_BUDGETS),
	RECORD(has, 0, LIMIT_HAS_BITS),
	RECORD(phases, 0, LIMIT_PHASE_BITS),
	RECORD(mark, 0, LIMIT_MARKS),
};

#define BUDGET(member, flags, limit) TSI_FIELD(struct step_budget, member, flags, limit)
static const struct field budget_fields[] = {
	BUDGET(start_ns, FIELD_NEAR, LIMIT_NONE),
	BUDGET(wall_ns, 0, LIMIT_NONE),
	BUDGET(device.line_ns, 0, LIMIT_NONE),
	BUDGET(device.compute_phase_ns, 0, LIMIT_NONE),
	BUDGET(device.idle_ns, 0, LIMIT_NONE),
	BUDGET(host.line_ns, 0, LIMIT_NONE),
	BUDGET(exposed_ns, 0, LIMIT_NONE),
	BUDGET(has_split, 0, LIMIT_NONE),
	BUDGET(flops.flops, 0, LIMIT_NONE),
	BUDGET(flops.repeated_flops, 0, LIMIT_NONE),
	BUDGET(flops.matrix_ns, 0, LIMIT_NONE),
	BUDGET(flops.counted_ns, 0, LIMIT_NONE),
	BUDGET(alloc_peak_ns, 0, LIMIT_NONE),
	BUDGET(has_alloc_peak, 0, LIMIT_NONE),
	BUDGET(mark, 0, LIMIT_MARKS),
};

static const struct field extra_fields[] = {
	TSI_FIELD(struct step_extra, record, FIELD_RISING, LIMIT_RECORDS),
	TSI_FIELD(struct step_extra, name, 0, LIMIT_NAMES),
	TSI_FIELD(struct step_extra, value, 0, LIMIT_NONE),
};

static const struct field scalar_fields[] = {
	TSI_FIELD(struct step_scalar, name, 0, LIMIT_NAMES),
	TSI_FIELD(struct step_scalar, source, 0, LIMIT_NAMES),
	TSI_FIELD(struct step_scalar, role, 0, LIMIT_ROLES),
};

static const struct field setting_fields[] = {
	TSI_FIELD(struct step_setting, name, 0, LIMIT_NAMES),
	TSI_FIELD(struct step_setting, value, 0, LIMIT_NAMES),
	TSI_FIELD(struct step_setting, is_text, 0, LIMIT_NONE),
};

/* Room for the array is what was read. */
static void code_grown(struct codec *codec, void *items, size_t *count, size_t *capacity,
		       const struct field_list *list)
{
	tsi_code_list(codec, items, count, list, NULL);
	if (codec->is_reading)
		*capacity = *count;
}

static void code_extras(struct codec *codec, struct step_extras *extras)
{
	code_grown(codec, &extras->items, &extras->count, &extras->capacity,
		   &TSI_LIST_OF(struct step_extra, extra_fields));
}

static void code_settings(struct codec *codec, struct step_settings *settings)
{
	code_grown(codec, &settings->items, &settings->count, &settings->capacity,
		   &TSI_LIST_OF(struct step_setting, setting_fields));
}

/* A part of a name is no time: they are durations. */
static void check_budgets(struct codec *codec, const struct step_series *steps)
{
	for (size_t i = 0; codec->is_reading && i < steps->budget_count; i++)
		if (steps->budgets[i].wall_ns < 0)
			tsi_codec_refuse(codec, "a step that takes less than no time");
}

void tsi_code_steps(struct codec *codec, struct step_series *steps, struct arena *texts)
{
	static const struct field_list series = { series_fields, TSI_COUNT_OF(series_fields),
						  sizeof(*steps) };

	if (steps->has_failed) {
		codec->has_failed = true;
		return;
	}
	tsi_code_names(codec, &steps->names);
	codec->limits[LIMIT_NAMES] = steps->names.count;
	codec->limits[LIMIT_MARKS] = TSCOPE_STEP_UNRECORDED + 1;
	codec->limits[LIMIT_ROLES] = SCALAR_OTHER + 1;
	codec->limits[LIMIT_PHASE_BITS] = 1 << PHASE_COUNT;
	codec->limits[LIMIT_HAS_BITS] = STEP_MEMORY_UNKNOWN << 1;
	codec->limits[LIMIT_DEVICES] = MOST_DEVICES + 1;
	tsi_code_struct(codec, steps, &series);
	tsi_code_text(codec, &steps->doubt, texts);
	tsi_code_text(codec, &steps->peak.device, texts);
	tsi_code_chars(codec, steps->peak.precision, sizeof(steps->peak.precision));
	tsi_code_chars(codec, steps->peak.lack, sizeof(steps->peak.lack));
	code_grown(codec, &steps->budgets, &steps->budget_count, &steps->budget_capacity,
		   &TSI_LIST_OF(struct step_budget, budget_fields));
	check_budgets(codec, steps);
	codec->limits[LIMIT_BUDGETS] = steps->budget_count;
	code_grown(codec, &steps->records, &steps->count, &steps->capacity,
		   &TSI_LIST_OF(struct step_record, record_fields));
	codec->limits[LIMIT_RECORDS] = steps->count;
	code_extras(codec, &steps->phases);
	code_extras(codec, &steps->scalars);
	code_grown(codec, &steps->scalar_names, &steps->scalar_name_count,
		   &steps->scalar_name_capacity, &TSI_LIST_OF(struct step_scalar, scalar_fields));
	code_settings(codec, &steps->provenance.environment);
	code_settings(codec, &steps->provenance.config);
}

static const struct field metrics_fields[] = {
	TSI_FIELD(struct metric_log, record_count, 0, LIMIT_NONE),
	TSI_FIELD(struct metric_log, bad_record_count, 0, LIMIT_NONE),
	TSI_FIELD(struct metric_log, bad_value_count, 0, LIMIT_NONE),
	TSI_FIELD(struct metric_log, without_step_count, 0, LIMIT_NONE),
	TSI_FIELD(struct metric_log, other_count, 0, LIMIT_NONE),
	TSI_FIELD(struct metric_log, lost_file_count, 0, LIMIT_NONE),
	TSI_FIELD(struct metric_log, is_cut, 0, LIMIT_NONE),
};

static const struct field point_fields[] = {
	TSI_FIELD(struct metric_point, step, FIELD_NEAR, LIMIT_NONE),
	TSI_FIELD(struct metric_point, time_ns, FIELD_NEAR, LIMIT_NONE),
	TSI_FIELD(struct metric_point, value, 0, LIMIT_NONE),
	TSI_FIELD(struct metric_point, name, 0, LIMIT_NAMES),
	TSI_FIELD(struct metric_point, is_sample, 0, LIMIT_NONE),
};

void tsi_code_metrics(struct codec *codec, struct metric_log *log)
{
	if (codec->is_reading && tsi_metric_log_init(log, NULL) != TSCOPE_OK) {
		codec->has_failed = true;
		return;
	}
	tsi_code_names(codec, &log->names);
	codec->limits[LIMIT_NAMES] = log->names.count;
	tsi_code_struct(codec, log, &TSI_LIST_OF(struct metric_log, metrics_fields));
	code_grown(codec, &log->points, &log->count, &log->capacity,
		   &TSI_LIST_OF(struct metric_point, point_fields));
}

static const struct field memory_fields[] = {
	TSI_FIELD(struct memory_step, rank, 0, LIMIT_NONE),
	TSI_FIELD(struct memory_step, number, FIELD_NEAR, LIMIT_NONE),
	TSI_FIELD(struct memory_step, bytes, 0, LIMIT_NONE),
	TSI_FIELD(struct memory_step, rss_bytes, 0, LIMIT_NONE),
};

void tsi_code_memory_steps(struct codec *codec, struct memory_steps *memory)
{
	tsi_code_list(codec, &memory->items, &memory->count,
		      &TSI_LIST_OF(struct memory_step, memory_fields), NULL);
}
