/* SPDX-License-Identifier: MIT */
/*
 * run.json: what a job says of itself, once, at its end. A job that was killed
 * leaves none, or half of one, so nothing here is needed and nothing a failure.
 */
#include "run/store.h"

#include <math.h>

#include "decode/json.h"

enum { RUN_JSON_MAX_DEPTH = 64, DOUBT_MAX_BYTES = 4096 };

/* A number of ranks or of one: min or more, and not known yet. */
static void take_integer(struct str text, struct str key, int64_t min, int64_t *number)
{
	int64_t value;

	if (*number < 0 && tsi_json_to_int64(tsi_json_object_get(text, key), &value) &&
	    value >= min)
		*number = value;
}

static void take_flops(struct str text, struct str key, double *number)
{
	double value;

	if (*number == 0 && tsi_json_to_double(tsi_json_object_get(text, key), &value) &&
	    isfinite(value) && value > 0)
		*number = value;
}

/* Why device times must not be believed. Where there is no room for its words, the doubt stays. */
static void take_doubt(struct str value, struct step_series *steps)
{
	char text[DOUBT_MAX_BYTES];
	struct str inside = tsi_json_unquote(value);
	uint64_t bad_escapes = 0;
	uint32_t id;

	if (steps->doubt || !tsi_json_is_string(value))
		return;
	steps->doubt = "run.json says that device times cannot be believed";
	if (inside.length > sizeof(text))
		return;
	inside = (struct str){ text, tsi_json_unescape(inside, text, &bad_escapes) };
	if (tsi_intern_add(&steps->names, inside, &id, NULL) == TSCOPE_OK)
		steps->doubt = tsi_intern_text(&steps->names, id).data;
}

/* What tsi_write_run_json() adds of the budgets. */
static void take_own(struct str own, struct step_series *steps)
{
	steps->has_start |= tsi_str_is(tsi_json_object_get(own, TSI_STR("has_start")), "true");
	steps->has_point_to_point |=
		tsi_str_is(tsi_json_object_get(own, TSI_STR("point_to_point")), "true");
	steps->is_of_trace |=
		tsi_str_is(tsi_json_object_get(own, TSI_STR("times_from_trace")), "true");
	take_doubt(tsi_json_object_get(own, TSI_STR("doubt")), steps);
}

bool tsi_run_json_read(struct str text, struct step_series *steps)
{
	text = tsi_str_trim(text);
	if (text.length == 0 || text.data[0] != '{' ||
	    tsi_json_check(text, RUN_JSON_MAX_DEPTH, NULL) != TSCOPE_OK)
		return false;
	take_integer(text, TSI_STR("rank"), 0, &steps->rank);
	take_integer(text, TSI_STR("world_size"), 1, &steps->world_size);
	take_flops(text, TSI_STR("flops_per_step"), &steps->flops_per_step);
	take_flops(text, TSI_STR("peak_flops"), &steps->peak_flops);
	take_own(tsi_json_object_get(text, TSI_STR("tscope")), steps);
	return true;
}
