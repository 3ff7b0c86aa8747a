/* SPDX-License-Identifier: MIT */
/* A series of steps as text: two are equal where their texts are. */
#include "step_dump.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "run/record.h"

static void put_ns(FILE *out, const char *prefix, const char *name, int64_t ns)
{
	if (ns != 0)
		fprintf(out, " %s%s=%" PRId64, prefix, name, ns);
}

static void put_scalar(FILE *out, struct str name, double value)
{
	/* The sign of a NaN is nobody's business. */
	if (isnan(value))
		fprintf(out, " %.*s:nan", (int)name.length, name.data);
	else
		fprintf(out, " %.*s:%.17g", (int)name.length, name.data, value);
}

static void put_phases(FILE *out, const struct step_series *steps, size_t index)
{
	const struct step_record *record = &steps->records[index];

	if (record->has & STEP_HAS_TIME)
		fprintf(out, " time=%" PRId64, record->time_ns);
	if (record->has & STEP_TIME_UNKNOWN)
		fprintf(out, " time=?");
	for (enum phase phase = 0; phase < PHASE_COUNT; phase++)
		if (record->phases & 1u << phase)
			fprintf(out, " %s=%" PRId64, tsi_phase_name(phase),
				record->phase_ns[phase]);
	for (size_t i = 0; i < steps->phases.count; i++)
		if (steps->phases.items[i].record == index)
			fprintf(out, " %s=%.17g",
				tsi_intern_text(&steps->names, steps->phases.items[i].name).data,
				steps->phases.items[i].value);
}

static void put_scalars(FILE *out, const struct step_series *steps, size_t index)
{
	const struct step_record *record = &steps->records[index];

	if (record->has & STEP_HAS_LOSS)
		put_scalar(out, TSI_STR("loss"), record->loss);
	if (record->has & STEP_HAS_GRAD_NORM)
		put_scalar(out, TSI_STR("grad_norm"), record->grad_norm);
	for (size_t i = 0; i < steps->scalars.count; i++)
		if (steps->scalars.items[i].record == index)
			put_scalar(out,
				   tsi_intern_text(&steps->names, steps->scalars.items[i].name),
				   steps->scalars.items[i].value);
	for (enum step_memory i = 0; i < STEP_MEMORY_COUNT; i++)
		if (record->memory_bytes[i] != NO_BYTES)
			fprintf(out, " %s=%" PRId64, tsi_step_memory_name(i),
				record->memory_bytes[i]);
}

static void put_budget(FILE *out, const struct step_budget *budget, uint8_t record_mark)
{
	fprintf(out, " | start=%" PRId64 " wall=%" PRId64, budget->start_ns, budget->wall_ns);
	if (budget->mark != record_mark)
		fprintf(out, " mark=%s",
			tscope_step_mark_name((enum tscope_step_mark)budget->mark));
	for (enum tscope_budget_line i = 0; i < TSCOPE_BUDGET_LINE_COUNT; i++)
		put_ns(out, "", tscope_budget_line_name(i), budget->device.line_ns[i]);
	for (enum phase phase = 0; phase < PHASE_COUNT; phase++)
		put_ns(out, "", tsi_phase_name(phase), budget->device.compute_phase_ns[phase]);
	for (enum host_line i = 0; i < HOST_LINE_COUNT; i++)
		put_ns(out, "host.", tsi_host_line_name(i), budget->host.line_ns[i]);
	if (budget->flops.flops > 0)
		fprintf(out, " flops=%.17g repeated=%.17g", budget->flops.flops,
			budget->flops.repeated_flops);
	put_ns(out, "", "matrix", budget->flops.matrix_ns);
	put_ns(out, "", "counted", budget->flops.counted_ns);
	for (enum exposed_part i = 0; budget->has_split && i < EXPOSED_PART_COUNT; i++)
		fprintf(out, " %s=%" PRId64, tsi_exposed_part_name(i), budget->exposed_ns[i]);
	if (budget->has_alloc_peak)
		fprintf(out, " alloc_peak=%" PRId64, budget->alloc_peak_ns);
}

char *step_dump(const struct step_series *steps)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	for (size_t i = 0; i < steps->count; i++) {
		const struct step_record *record = &steps->records[i];

		fprintf(out, "%" PRId64, record->number);
		if (record->mark != TSCOPE_STEP_COUNTED)
			fprintf(out, " %s",
				tscope_step_mark_name((enum tscope_step_mark)record->mark));
		put_phases(out, steps, i);
		put_scalars(out, steps, i);
		if (record->budget != NO_ROW)
			put_budget(out, &steps->budgets[record->budget], record->mark);
		fputc('\n', out);
	}
	assert_int_equal(fclose(out), 0);
	return text;
}
