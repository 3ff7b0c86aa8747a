/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_EVENTS_MEMBERS_H
#define TSCOPE_DECODE_EVENTS_MEMBERS_H

#include "decode/events/scan.h"

/*
 * The members of args of one kind of event, by the hundred thousand: as
 * tsi_json_object_next() gives them, but with the layout that was learned from
 * those before, and with the caller's number for each key instead of its text.
 *
 *	struct members members = tsi_members_open(isa, &layout, field_of, event->args);
 *	while (tsi_members_next(&members, &field, &value))
 *		switch (field) …
 *
 * TSI_INPUT_PADDING bytes behind the text may be read.
 */
struct members {
	const struct scan_isa *isa;
	struct layout *layout;
	/* The number of a key, below GLUE_END; asked once for each glue that is learned. */
	unsigned (*field_of)(struct str key);
	const char *at, *end;
	unsigned glue;
	bool is_on_path; /* of glues that are known so far */
};

#ifdef TSI_ISA
/* Implementation of tsi_members_next(): members.c, compiled for this instruction set. */
bool TSI_ISA_NAME(tsi_next_member)(struct members *members, unsigned *field, struct str *value);
#endif

static inline struct members tsi_members_open(const struct scan_isa *isa, struct layout *layout,
					      unsigned (*field_of)(struct str key), struct str args)
{
	if (args.length == 0)
		args = TSI_STR(""); /* NULL is nothing to count from */
	bool is_object = args.length && args.data[0] == '{';
	return (struct members){
		.isa = isa,
		.layout = layout,
		.field_of = field_of,
		.at = args.data,
		.end = args.data + (is_object ? args.length : 0),
		.is_on_path = true,
	};
}

/* The next member; false at the end, or where the text is no JSON. */
static inline bool tsi_members_next(struct members *members, unsigned *field, struct str *value)
{
	return members->isa->next_member(members, field, value);
}

#endif
