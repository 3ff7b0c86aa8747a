/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_EVENTS_EVENT_FIELD_H
#define TSCOPE_DECODE_EVENTS_EVENT_FIELD_H

#include "base/str.h"
#include "decode/events/layout.h"

/* The fields of an event that anybody asks for. */
enum event_field {
	FIELD_OTHER, /* skipped */
	FIELD_PH,
	FIELD_TS,
	FIELD_ID,
	FIELD_CAT,
	FIELD_PID,
	FIELD_TID,
	FIELD_DUR,
	FIELD_NAME,
	FIELD_ARGS,
	FIELD_TDUR,
	FIELD_ID2,
	FIELD_END = GLUE_END, /* no field: the brace that closes the event */
};

/* By length and first letters: a handful of integer compares. */
static inline enum event_field event_field_of(struct str key)
{
	const char *k = key.data;
	switch (key.length) {
	case 2:
		if (k[0] == 't' && k[1] == 's')
			return FIELD_TS;
		if (k[0] == 'p' && k[1] == 'h')
			return FIELD_PH;
		if (k[0] == 'i' && k[1] == 'd')
			return FIELD_ID;
		return FIELD_OTHER;
	case 3:
		if (k[1] == 'i' && k[2] == 'd')
			return k[0] == 'p' ? FIELD_PID : k[0] == 't' ? FIELD_TID : FIELD_OTHER;
		if (memcmp(k, "dur", 3) == 0)
			return FIELD_DUR;
		if (memcmp(k, "cat", 3) == 0)
			return FIELD_CAT;
		if (memcmp(k, "id2", 3) == 0)
			return FIELD_ID2;
		return FIELD_OTHER;
	case 4:
		if (memcmp(k, "name", 4) == 0)
			return FIELD_NAME;
		if (memcmp(k, "args", 4) == 0)
			return FIELD_ARGS;
		if (memcmp(k, "tdur", 4) == 0)
			return FIELD_TDUR;
		return FIELD_OTHER;
	}
	return FIELD_OTHER;
}

#endif
