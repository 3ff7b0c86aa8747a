/* SPDX-License-Identifier: MIT */
/* Reads steps that a test wrote down; a word that it does not know fails the test. */
#include "step_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check.h"

static bool set_memory(struct step_record *record, const char *name, const char *value)
{
	static const char *const names[STEP_MEMORY_COUNT] = {
		[STEP_MEMORY_ALLOC] = "alloc",
		[STEP_MEMORY_RESERVED] = "reserved",
		[STEP_MEMORY_PEAK_ALLOC] = "peak_alloc",
		[STEP_MEMORY_PEAK_RESERVED] = "peak_reserved",
	};

	for (size_t i = 0; i < STEP_MEMORY_COUNT; i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		record->memory_bytes[i] = strtoll(value, NULL, 10);
		return true;
	}
	return false;
}

static bool set_scalar(struct step_record *record, const char *name, const char *value)
{
	if (strcmp(name, "loss") == 0) {
		record->loss = strtod(value, NULL);
		record->has |= STEP_HAS_LOSS;
		return true;
	}
	if (strcmp(name, "grad_norm") == 0) {
		record->grad_norm = strtod(value, NULL);
		record->has |= STEP_HAS_GRAD_NORM;
		return true;
	}
	return false;
}

/* "lr:0.1" */
static bool set_other_scalar(struct step_series *steps, const char *word)
{
	const char *colon = strrchr(word, ':');

	if (!colon)
		return false;
	assert_true(tsi_steps_add_extra(steps, &steps->scalars,
					(struct str){ word, (size_t)(colon - word) },
					strtod(colon + 1, NULL)));
	return true;
}

static void set_phase(struct step_series *steps, struct step_record *record, const char *name,
		      const char *value)
{
	int64_t ns = strtoll(value, NULL, 10);
	struct str text = { name, strlen(name) };

	record->has |= STEP_HAS_TIME;
	record->time_ns += ns;
	for (int phase = 0; phase < PHASE_COUNT; phase++) {
		if (strcmp(name, tsi_phase_name((enum phase)phase)) != 0)
			continue;
		record->phase_ns[phase] = ns;
		record->phases |= (uint8_t)(1 << phase);
		return;
	}
	assert_true(tsi_steps_add_extra(steps, &steps->phases, text, (double)ns));
}

static enum tscope_step_mark mark_named(const char *name)
{
	for (int mark = TSCOPE_STEP_FIRST; mark <= TSCOPE_STEP_INCOMPLETE; mark++)
		if (strcmp(name, tscope_step_mark_name((enum tscope_step_mark)mark)) == 0)
			return (enum tscope_step_mark)mark;
	fail_msg("a step has no mark %s", name);
	return TSCOPE_STEP_COUNTED;
}

static void read_step(struct step_series *steps, char *line)
{
	struct step_record *record;
	char *rest = NULL, *word = strtok_r(line, " ", &rest);

	assert_non_null(word);
	record = tsi_steps_add(steps, strtoll(word, NULL, 10));
	while ((word = strtok_r(NULL, " ", &rest))) {
		char *value = strchr(word, '=');
		if (!value && set_other_scalar(steps, word))
			continue;
		if (!value) {
			record->mark = (uint8_t)mark_named(word);
			continue;
		}
		*value++ = '\0';
		if (!set_memory(record, word, value) && !set_scalar(record, word, value))
			set_phase(steps, record, word, value);
	}
}

struct step_series test_steps(const char *text)
{
	struct step_series steps;
	char *copy = strdup(text), *rest = NULL;

	assert_non_null(copy);
	tsi_steps_init(&steps);
	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_step(&steps, line);
	free(copy);
	return steps;
}

struct step_budget *test_steps_add_budget(struct step_series *steps, size_t record)
{
	assert_true(record < steps->count);
	assert_int_equal(tsi_array_reserve(&steps->budgets, &steps->budget_capacity,
					   steps->budget_count + 1, sizeof(*steps->budgets), NULL),
			 TSCOPE_OK);
	struct step_budget *budget = &steps->budgets[steps->budget_count];
	*budget = (struct step_budget){ .mark = steps->records[record].mark };
	steps->records[record].budget = (uint32_t)steps->budget_count++;
	return budget;
}
