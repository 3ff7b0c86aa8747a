/* SPDX-License-Identifier: MIT */
/*
 * Cuspy, an exporter of torch, calls every copy "Memcpy" and every fill "Memset"; args say between
 * which memories. They get Kineto's names: "Memcpy HtoD (Pageable -> Device)".
 */
#include "model/trace/build.h"

#include <stdio.h>

/* In the order of CUPTI's numbers, by which fills have them. */
static const struct {
	const char *cuspy, *kineto;
} memories[] = {
	{ "unknown", "Unknown" },
	{ "pageable", "Pageable" },
	{ "pinned", "Pinned" },
	{ "device", "Device" },
	{ "array", "Array" },
	{ "managed", "Managed" },
	{ "device_static", "Device Static" },
	{ "managed_static", "Managed Static" },
};

static const char *name_memory(struct str memory)
{
	int64_t number;

	for (size_t i = 0; i < TSI_COUNT_OF(memories); i++)
		if (tsi_str_equal(memory, tsi_str_of(memories[i].cuspy)))
			return memories[i].kineto;
	if (tsi_str_to_int64(memory, &number) && number >= 0 &&
	    number < (int64_t)TSI_COUNT_OF(memories))
		return memories[number].kineto;
	return "Unknown";
}

/* "HtoD", "PtoP" … */
static bool is_copy_kind(struct str kind)
{
	return kind.length == 4 && tsi_str_find(kind, TSI_STR("to")) == 1 &&
	       tsi_is_letter(kind.data[0]) && tsi_is_letter(kind.data[3]);
}

struct str tsi_copy_name(const struct raw_event *event, const struct raw_work *work,
			 struct copy_name_room *room)
{
	int length = 0;

	if (tsi_str_is(event->name, "Memcpy") && is_copy_kind(work->copy_kind))
		length = snprintf(room->text, sizeof(room->text), "Memcpy %.*s (%s -> %s)",
				  TSI_QUOTE(work->copy_kind), name_memory(work->copy_from),
				  name_memory(work->copy_to));
	else if (tsi_str_is(event->name, "Memset") && work->filled.length)
		length = snprintf(room->text, sizeof(room->text), "Memset (%s)",
				  name_memory(work->filled));
	return length > 0 ? (struct str){ room->text, (size_t)length } : event->name;
}
