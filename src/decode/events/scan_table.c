/* SPDX-License-Identifier: MIT */
/*
 * Which scanner runs: the first of the table that this machine supports. Also
 * the end of every reader: what an event must have to be passed on.
 */
#include "decode/events/scan.h"

#if defined(__x86_64__)
extern const struct scan_isa tsi_scan_avx2, tsi_scan_sse2;
#elif defined(__aarch64__)
extern const struct scan_isa tsi_scan_neon;
#endif
extern const struct scan_isa tsi_scan_plain;

static const struct scan_isa *const isas[] = {
#if defined(__x86_64__)
	&tsi_scan_avx2,
	&tsi_scan_sse2,
#elif defined(__aarch64__)
	&tsi_scan_neon,
#endif
	&tsi_scan_plain,
};

const struct scan_isa *tsi_scan_isa(const char *name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(isas); i++)
		if (isas[i]->is_supported() && (!name || strcmp(isas[i]->name, name) == 0))
			return isas[i];
	return NULL;
}

bool tsi_event_settle(struct event_sink *sink, struct raw_event *event,
		      const struct event_flaws *flaws)
{
	uint64_t *count = sink->diagnostics;
	sink->element_count++;
	count[TSCOPE_DIAGNOSTIC_duplicate_key] += flaws->duplicate_key;
	count[TSCOPE_DIAGNOSTIC_control_character] += flaws->control_character;

	if (tsi_unlikely(!event->phase)) {
		count[TSCOPE_DIAGNOSTIC_missing_phase]++;
		return false;
	}
	if (tsi_unlikely(flaws->bad_time)) {
		count[TSCOPE_DIAGNOSTIC_bad_timestamp]++;
		return false;
	}
	if (tsi_unlikely(!event->has_ts && event->phase != 'M')) {
		count[TSCOPE_DIAGNOSTIC_missing_timestamp]++;
		return false;
	}
	if (tsi_unlikely(event->phase == 'X' && !event->has_dur && flaws->has_tdur)) {
		event->dur_ns = flaws->tdur_ns;
		event->has_dur = true;
	}
	if (tsi_unlikely(event->phase == 'X' && !event->has_dur)) {
		count[TSCOPE_DIAGNOSTIC_missing_duration]++;
		return false;
	}
	if (tsi_unlikely(event->dur_ns < 0)) {
		count[TSCOPE_DIAGNOSTIC_negative_duration]++;
		event->dur_ns = 0;
	}
	return true;
}

enum tscope_status tsi_event_emit(struct event_sink *sink, struct raw_event *event,
				  const struct event_flaws *flaws, struct tscope_error *err)
{
	return tsi_event_settle(sink, event, flaws) ? sink->event(sink, event, err) : TSCOPE_OK;
}
