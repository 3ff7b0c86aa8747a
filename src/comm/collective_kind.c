/* SPDX-License-Identifier: MIT */
/*
 * Common properties of collectives: their names, their sizes and how much a link carries for them
 * (the conventions of nccl-tests).
 */
#include "comm/collective_kind.h"

#include <math.h>

#include "base/ckd.h"

#define WORD(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

const char *tsi_collective_kind_name(enum collective_kind kind)
{
	static const char *const names[] = { COLLECTIVE_KINDS(TSI_NAMED_TEXT) };

	return kind < COLLECTIVE_KIND_COUNT ? names[kind] : "unknown";
}

/* A word of a kernel's name and what it says. */
struct meaning {
	struct str word;
	const char *text;
};

static const struct meaning algorithms[] = {
	{ WORD("_NVLS_TREE"), "nvls_tree" },
	{ WORD("_NVLS"), "nvls" },
	{ WORD("_COLLNET_DIRECT"), "collnet_direct" },
	{ WORD("_COLLNET_CHAIN"), "collnet_chain" },
	{ WORD("_RING"), "ring" },
	{ WORD("_TREE"), "tree" },
	{ WORD("_PAT"), "pat" },
};

static const struct meaning protocols[] = {
	{ WORD("_LL128"), "ll128" },
	{ WORD("_LL"), "ll" },
	{ WORD("_SIMPLE"), "simple" },
	{ WORD("_Simple"), "simple" },
};

/* The meaning of the first of these words in the name; "" without any. */
static const char *find_meaning(const struct meaning *meanings, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (tsi_str_find(name, meanings[i].word) >= 0)
			return meanings[i].text;
	return "";
}

const struct comm_name *tsi_comm_name(struct comm_name *names, const struct tscope_trace *trace,
				      uint32_t id)
{
	struct comm_name *name = &names[id];

	if (!name->algorithm) {
		struct str text = tsi_intern_text(&trace->names, id);
		name->algorithm = find_meaning(algorithms, TSI_COUNT_OF(algorithms), text);
		name->protocol = find_meaning(protocols, TSI_COUNT_OF(protocols), text);
	}
	return name;
}

/* Elements of S, without the care for what is not said. */
static int64_t size_in_elements(const struct collective *collective)
{
	int64_t in = collective->in_elements, out = collective->out_elements, total;

	switch (collective->kind) {
	case COLLECTIVE_ALL_GATHER:
		return out;
	case COLLECTIVE_ALL_TO_ALL:
		if (in < 0 || out < 0)
			return NO_NUMBER;
		return in > out ? in : out;
	case COLLECTIVE_GATHER:
	case COLLECTIVE_SCATTER:
		total = collective->kind == COLLECTIVE_GATHER ? in : out;
		if (collective->group_size <= 0 ||
		    tsi_ckd_mul(&total, total, collective->group_size))
			return NO_NUMBER;
		return total;
	default:
		return in;
	}
}

int64_t tsi_collective_bytes(const struct collective *collective)
{
	int64_t elements = size_in_elements(collective), bytes;

	if (elements < 0 || collective->element_bytes == 0 ||
	    tsi_ckd_mul(&bytes, elements, (int64_t)collective->element_bytes))
		return NO_NUMBER;
	return bytes;
}

double tsi_collective_bus_factor(const struct collective *collective)
{
	double n = (double)collective->group_size;

	switch (collective->kind) {
	case COLLECTIVE_BROADCAST:
	case COLLECTIVE_REDUCE:
	case COLLECTIVE_SEND_RECV:
		return 1;
	case COLLECTIVE_ALL_TO_ALL:
		/* Unequal parts: the busiest rank's bytes are all that is known. */
		if (collective->in_elements != collective->out_elements)
			return 1;
		break;
	case COLLECTIVE_ALL_REDUCE:
	case COLLECTIVE_ALL_GATHER:
	case COLLECTIVE_REDUCE_SCATTER:
	case COLLECTIVE_GATHER:
	case COLLECTIVE_SCATTER:
		break;
	default:
		return NAN;
	}
	if (collective->group_size <= 0)
		return NAN;
	return (collective->kind == COLLECTIVE_ALL_REDUCE ? 2 : 1) * (n - 1) / n;
}
