/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_SETTINGS_H
#define TSCOPE_RUN_SETTINGS_H

#include "run/steps.h"

/*
 * Environment and configuration of a job as pairs of texts. The value of a JSON string is what
 * stands in it, that of anything else its JSON in one form (decode/json_normal.h): equal values
 * have equal texts. A text that is too long is cut, and says its length and a hash, so that two
 * that differ still do. Settings are those of a series, which says where memory ran out.
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
void tsi_settings_read(struct step_series *steps, struct step_settings *settings, struct str object,
		       bool is_nested);

/* Keeps the inside of a JSON string, cut like a name; *id stays where it is none or has no room. */
void tsi_settings_text(struct step_series *steps, struct str value, uint32_t *id);

/* Takes where a trace was recorded, as trace.gpu, trace.nccl_version … */
void tsi_settings_of_trace(struct step_series *steps, const struct tscope_trace *trace);

/* Adds a setting of two texts, which are cut. To be followed by tsi_settings_sort(). */
void tsi_settings_add(struct step_series *steps, struct step_settings *settings, struct str name,
		      struct str value);

/* Puts settings in order, by name, and keeps the last of one name. */
void tsi_settings_sort(struct step_series *steps, struct step_settings *settings);

/* Takes over what is not known yet; of environment and configuration names that are not there. */
void tsi_settings_take(struct step_series *steps, const struct step_series *from);

#endif
