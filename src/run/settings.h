/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_SETTINGS_H
#define TSCOPE_RUN_SETTINGS_H

#include "run/steps.h"

/*
 * Environment and configuration of a job as pairs of texts. The value of a JSON string is what
 * stands in it, that of anything else its JSON in one form (decode/json_normal.h): equal values
 * have equal texts. What is too long is cut, and says its length and a hash, so that two that
 * differ still do.
 */
enum {
	SETTING_MAX_NAME_BYTES = 256,
	SETTING_MAX_VALUE_BYTES = 4096,
	MAX_SETTINGS = 4096, /* of one kind; more are left out, and what names have no room for */
};

/*
 * Takes the members of a JSON object, which has passed tsi_json_check(); anything else has
 * none. With is_nested an object in it gives its own members, "env": {"A": 1} the name env.A.
 */
TSI_MUST_CHECK
enum tscope_status tsi_settings_read(struct step_settings *settings, struct intern *names,
				     struct str object, bool is_nested, struct tscope_error *err);

/* Keeps the inside of a JSON string, cut like a name; *id stays where it is none or has no room. */
TSI_MUST_CHECK
enum tscope_status tsi_settings_text(struct intern *names, struct str value, uint32_t *id,
				     struct tscope_error *err);

/* Takes where a trace was recorded, as trace.gpu, trace.nccl_version … */
TSI_MUST_CHECK
enum tscope_status tsi_settings_of_trace(struct step_series *steps,
					 const struct tscope_trace *trace,
					 struct tscope_error *err);

/* Adds a setting of two texts, which are cut. To be followed by tsi_settings_sort(). */
TSI_MUST_CHECK
enum tscope_status tsi_settings_add(struct step_settings *settings, struct intern *names,
				    struct str name, struct str value, struct tscope_error *err);

/* Puts settings in order, by name, and keeps the last of one name. */
TSI_MUST_CHECK
enum tscope_status tsi_settings_sort(struct step_settings *settings, const struct intern *names,
				     struct tscope_error *err);

/* Takes over what is not known yet; of environment and configuration names that are not there. */
TSI_MUST_CHECK
enum tscope_status tsi_settings_take(struct step_series *steps, const struct step_series *from,
				     struct tscope_error *err);

#endif
