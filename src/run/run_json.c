/* SPDX-License-Identifier: MIT */
/*
 * run.json: what a job says of itself, once, at its end. A job that was killed
 * leaves none, or half of one, so nothing here is needed and nothing a failure.
 */
#include "run/store.h"

#include <math.h>
#include <string.h>
#include <tscope/device.h>

#include "base/error.h"
#include "decode/json.h"
#include "run/settings.h"

enum { RUN_JSON_MAX_DEPTH = 64, DOUBT_MAX_BYTES = 4096, DEVICE_NAME_BYTES = 64 };

/* A number of ranks or of one: min or more, and not known yet. */
static void take_integer(struct str text, struct str key, int64_t min, int64_t *number)
{
	int64_t value;

	if (*number < 0 && tsi_json_to_int64(tsi_json_object_get(text, key), &value) &&
	    value >= min)
		*number = value;
}

static void take_count(struct str text, struct str key, int64_t *count)
{
	int64_t value;

	if (*count == 0 && tsi_json_to_int64(tsi_json_object_get(text, key), &value) && value > 0)
		*count = value;
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

	if (steps->doubt || !tsi_json_is_string(value))
		return;
	steps->doubt = "run.json says that device times cannot be believed";
	if (inside.length > sizeof(text))
		return;
	inside = (struct str){ text, tsi_json_unescape(inside, text, &bad_escapes) };
	uint32_t id = tsi_steps_name(steps, inside);
	if (id != NO_ROW)
		steps->doubt = tsi_intern_text(&steps->names, id).data;
}

static bool is_true(struct str object, struct str key)
{
	return tsi_str_is(tsi_json_object_get(object, key), "true");
}

/* A text of so many bytes with its NUL; what is longer or none leaves it as it is. */
static void take_text(struct str value, char *text, size_t size)
{
	char inside[DOUBT_MAX_BYTES];
	uint64_t bad_escapes = 0;
	size_t length;

	if (!tsi_json_is_string(value) || tsi_json_unquote(value).length > sizeof(inside))
		return;
	length = tsi_json_unescape(tsi_json_unquote(value), inside, &bad_escapes);
	if (length >= size || memchr(inside, '\0', length))
		return;
	memcpy(text, inside, length);
	text[length] = '\0';
}

static const char *find_device(const char *name)
{
	for (size_t i = 0; i < tscope_device_count(); i++)
		if (strcmp(tscope_device(i)->name, name) == 0)
			return tscope_device(i)->name;
	return NULL;
}

static void take_peak(struct str peak, struct step_peak *to)
{
	char device[DEVICE_NAME_BYTES] = "";

	if (to->device || to->flops_per_second > 0)
		return;
	take_flops(peak, TSI_STR("flops_per_second"), &to->flops_per_second);
	take_text(tsi_json_object_get(peak, TSI_STR("device")), device, sizeof(device));
	to->device = find_device(device);
	take_text(tsi_json_object_get(peak, TSI_STR("precision")), to->precision,
		  sizeof(to->precision));
	take_text(tsi_json_object_get(peak, TSI_STR("lack")), to->lack, sizeof(to->lack));
}

/* Takes the members that tsi_write_run_json() adds. */
static void take_own(struct str own, struct step_series *steps)
{
	steps->has_start |= is_true(own, TSI_STR("has_start"));
	steps->has_point_to_point |= is_true(own, TSI_STR("point_to_point"));
	steps->is_of_trace |= is_true(own, TSI_STR("times_from_trace"));
	take_count(own, TSI_STR("memory_event_count"), &steps->memory_event_count);
	take_count(own, TSI_STR("oom_count"), &steps->oom_count);
	take_flops(own, TSI_STR("hardware_flops_per_step"), &steps->hardware_flops_per_step);
	take_peak(tsi_json_object_get(own, TSI_STR("peak")), &steps->peak);
	take_doubt(tsi_json_object_get(own, TSI_STR("doubt")), steps);
}

static void take_real(struct str text, struct str key, double *number)
{
	double value;

	if (isnan(*number) && tsi_json_to_double(tsi_json_object_get(text, key), &value) &&
	    isfinite(value))
		*number = value;
}

/* Placeholders that tsi_write_run_json() had to write are not taken. */
static void take_provenance(struct str text, struct str own, struct step_series *steps)
{
	struct step_provenance *to = &steps->provenance;

	take_real(text, TSI_STR("started"), &to->started_s);
	take_real(text, TSI_STR("wall_time"), &to->wall_s);
	if (!is_true(own, TSI_STR("n_steps_from_records")))
		take_integer(text, TSI_STR("n_steps"), 0, &to->step_count);
	if (to->run_name == 0 && !is_true(own, TSI_STR("name_from_tscope")))
		tsi_settings_text(steps, tsi_json_object_get(text, TSI_STR("name")), &to->run_name);
	if (to->environment.count == 0)
		tsi_settings_read(steps, &to->environment,
				  tsi_json_object_get(text, TSI_STR("environment")), true);
	if (to->config.count == 0)
		tsi_settings_read(steps, &to->config, tsi_json_object_get(text, TSI_STR("config")),
				  false);
}

enum tscope_status tsi_run_json_read(struct str text, struct step_series *steps,
				     struct tscope_error *err)
{
	text = tsi_str_trim(text);
	if (text.length == 0 || text.data[0] != '{' ||
	    tsi_json_check(text, RUN_JSON_MAX_DEPTH, NULL) != TSCOPE_OK)
		return tsi_fail(err, TSCOPE_E_FORMAT, "no JSON object");
	take_integer(text, TSI_STR("rank"), 0, &steps->rank);
	take_integer(text, TSI_STR("world_size"), 1, &steps->world_size);
	struct str own = tsi_json_object_get(text, TSI_STR("tscope"));

	if (!is_true(own, TSI_STR("flops_from_operators")))
		take_flops(text, TSI_STR("flops_per_step"), &steps->flops_per_step);
	if (!is_true(own, TSI_STR("peak_from_device")))
		take_flops(text, TSI_STR("peak_flops"), &steps->peak_flops);
	take_own(own, steps);
	take_provenance(text, own, steps);
	return tsi_steps_status(steps, err);
}
