/* SPDX-License-Identifier: MIT */
/* Which store the first bytes of a file show: those of store_list.h taste them. */
#include "run/store.h"

#define STORE(name) extern const struct store tsi_store_##name;
#include "run/store_list.h"
#undef STORE

static const struct store *const stores[] = {
#define STORE(name) &tsi_store_##name,
#include "run/store_list.h"
#undef STORE
};

const struct store *tsi_store_find(struct str head)
{
	const struct store *best = NULL;
	unsigned best_bits = 0;

	for (size_t i = 0; i < TSI_COUNT_OF(stores); i++) {
		unsigned bits = stores[i]->taste(head);

		if (bits > best_bits) {
			best = stores[i];
			best_bits = bits;
		}
	}
	return best;
}
