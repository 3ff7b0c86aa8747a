/* SPDX-License-Identifier: MIT */
/*
 * In a circle each rank waits for the next; which one left its program follows from what its
 * neighbours did, and from what it did before.
 */
#include "hang/verdict.h"

#include "base/sum.h"

enum {
	MAX_KINDS = 32,       /* of groups that a rank is in */
	MAX_FELLOWS = 64,     /* ranks that one is held against */
	MAX_BACK = 64,        /* calls that these are followed back */
	MAX_CANDIDATES = 256, /* that are held against others: there may be many circles */
};

/* By how many calls one rank is ahead of another in the groups of a description. */
struct lead {
	uint32_t description;
	bool is_p2p;
	int64_t calls;
};

struct leads {
	struct lead items[MAX_KINDS];
	size_t count, even_count; /* all; those without a difference */
	bool is_full;             /* there was no room for another kind */
};

static void add_lead(struct leads *leads, struct lead lead)
{
	struct lead *item = leads->items;
	size_t i = 0;

	while (i < leads->count && (leads->items[i].description != lead.description ||
				    leads->items[i].is_p2p != lead.is_p2p))
		i++;
	leads->is_full |= i == MAX_KINDS;
	if (leads->is_full)
		return;
	item += i;
	if (i == leads->count) {
		*item = (struct lead){ lead.description, lead.is_p2p, 0 };
		leads->count++;
		leads->even_count++;
	}
	leads->even_count -= item->calls == 0;
	tsi_sum_signed(&item->calls, lead.calls);
	leads->even_count += item->calls == 0;
}

static struct lead lead_of(const struct hang_model *model, const struct dump_call *call,
			   int64_t calls)
{
	return (struct lead){ model->groups[call->group].description, call->is_p2p, calls };
}

/* How many calls a rank made in each of its groups, by the number of the last. */
static void add_calls(struct leads *leads, const struct hang_model *model, const struct dump *dump,
		      int sign)
{
	const struct dump_call *last[MAX_KINDS];
	size_t count = 0;

	for (size_t i = dump->call_count; i-- > 0 && count < MAX_KINDS;) {
		const struct dump_call *call = &dump->calls[i];
		size_t k = 0;

		while (k < count &&
		       (last[k]->group != call->group || last[k]->is_p2p != call->is_p2p))
			k++;
		if (k < count)
			continue;
		last[count++] = call;
		add_lead(leads, lead_of(model, call, tsi_narrow(sign * (tsi_wide)call->sequence)));
	}
}

/* Did another rank, now or some calls ago, stand where this one stands? */
static bool was_there(const struct hang_model *model, const struct dump *own,
		      const struct dump *other)
{
	struct leads leads = { .count = 0 };

	add_calls(&leads, model, own, 1);
	add_calls(&leads, model, other, -1);
	for (size_t i = 0; !leads.is_full && i < other->call_count && i < MAX_BACK; i++) {
		if (leads.even_count == leads.count)
			return true;
		add_lead(&leads, lead_of(model, &other->calls[other->call_count - 1 - i], 1));
	}
	return false;
}

/* No rank came by where it is. */
static bool is_astray(struct hang_verdict *verdict, const struct hang_model *model, uint32_t dump)
{
	if (verdict->candidate_count++ >= MAX_CANDIDATES)
		return true;
	for (size_t i = 1; i < model->dump_count && i <= MAX_FELLOWS; i++)
		if (was_there(model, &model->dumps[dump],
			      &model->dumps[(dump + i) % model->dump_count]))
			return false;
	return true;
}

/* The call that it waits in never came after the call before that, which came before. */
static bool is_new(struct hang_verdict *verdict, const struct hang_model *model, uint32_t index)
{
	const struct dump *dump = &model->dumps[index];
	const struct dump_call *head = verdict->heads[index];
	bool has_come = false;

	if (head == dump->calls)
		return false;
	for (const struct dump_call *call = dump->calls; call + 1 < head; call++) {
		if (!tsi_hang_is_alike(dump, call, head - 1))
			continue;
		if (tsi_hang_is_alike(dump, call + 1, head))
			return false;
		has_come = true;
	}
	return has_come;
}

/* Did the rank call something else after the same calls before? */
static bool is_unusual(struct hang_verdict *verdict, const struct hang_model *model, uint32_t index)
{
	const struct dump *dump = &model->dumps[index];
	const struct dump_call *head = verdict->heads[index];
	const struct dump_call *usual[HANG_MAX_EXPECTED];
	size_t count = tsi_hang_expect(dump, (size_t)(head - dump->calls), usual);

	for (size_t i = 0; i < count; i++)
		if (tsi_hang_is_alike(dump, usual[i], head))
			return false;
	return count > 0;
}

const hang_sign tsi_hang_signs[HANG_SIGN_COUNT] = { is_astray, is_new, is_unusual };
