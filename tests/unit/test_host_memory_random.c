/* SPDX-License-Identifier: MIT */
/*
 * The reduction of memray's records on random ones, against a twin that keeps everything and
 * copies all of it at each peak.
 */
#include "model/memory/host_memory.h"

#include "base/attributes.h"
#include "check.h"
#include "random_numbers.h"

static void check_use(struct host_use use, int64_t bytes, int64_t count)
{
	assert_int_equal(use.bytes, bytes);
	assert_int_equal(use.count, count);
}

enum {
	NODES = 6,
	THREADS = 3,
	OPERATIONS = 400,
	PLACES = 24, /* addresses of blocks: 16, 32 … */
	UNITS = 96,  /* addresses of mappings: UNIT_0 + unit */
	UNIT_0 = 1 << 20,
};

struct amount {
	int64_t bytes, count;
};

/* What is at a place or unit: of allocation `id`, or none where that is 0. */
struct cell {
	int id, node, thread;
	int64_t size;
};

struct made {
	uint64_t address, size;
	int thread, node;
	bool is_mapping, is_matched;
};

struct twin {
	struct cell blocks[PLACES], units[UNITS];
	struct made made[OPERATIONS];
	size_t made_count;
	struct amount allocated[NODES], temporary[NODES];
	struct amount at_peak[NODES], thread_at_peak[THREADS], at_middle[NODES];
	int64_t peak_bytes, middle_bytes;
	uint64_t unmatched, replaced;
};

/* All that is live, of one stack or thread, or of all: -1. */
static struct amount sum_live(const struct twin *t, int node, int thread)
{
	struct amount sum = { 0, 0 };

	for (size_t i = 0; i < PLACES; i++) {
		const struct cell *c = &t->blocks[i];

		if (!c->id || (node >= 0 && c->node != node) ||
		    (thread >= 0 && c->thread != thread))
			continue;
		sum.bytes += c->size;
		sum.count++;
	}
	for (size_t i = 0; i < UNITS; i++) {
		const struct cell *c = &t->units[i];

		if (!c->id || (node >= 0 && c->node != node) ||
		    (thread >= 0 && c->thread != thread))
			continue;
		sum.bytes++;
		sum.count += i == 0 || t->units[i - 1].id != c->id;
	}
	return sum;
}

static void copy_if_peak(struct twin *t)
{
	struct amount live = sum_live(t, -1, -1);

	if (live.bytes < t->peak_bytes)
		return;
	t->peak_bytes = live.bytes;
	for (int i = 0; i < NODES; i++)
		t->at_peak[i] = sum_live(t, i, -1);
	for (int i = 0; i < THREADS; i++)
		t->thread_at_peak[i] = sum_live(t, -1, i);
}

static void copy_middle(struct twin *t)
{
	t->middle_bytes = sum_live(t, -1, -1).bytes;
	for (int i = 0; i < NODES; i++)
		t->at_middle[i] = sum_live(t, i, -1);
}

/* Among the last two that the thread made. */
static void match_temporary(struct twin *t, const struct memray_allocation *a)
{
	int seen = 0;

	for (size_t i = t->made_count; i-- > 0 && seen < 2;) {
		struct made *m = &t->made[i];

		if (m->thread != (int)a->thread)
			continue;
		seen++;
		if (m->is_matched || m->address != a->address ||
		    m->is_mapping != (a->allocator == MEMRAY_MUNMAP) ||
		    (m->is_mapping && m->size != a->size))
			continue;
		m->is_matched = true;
		t->temporary[m->node].bytes += (int64_t)m->size;
		t->temporary[m->node].count++;
		return;
	}
}

static bool clear_units(struct twin *t, uint64_t address, uint64_t size)
{
	bool is_any = false;

	for (uint64_t i = 0; i < size && address - UNIT_0 + i < UNITS; i++) {
		struct cell *c = &t->units[address - UNIT_0 + i];

		is_any |= c->id != 0;
		*c = (struct cell){ 0 };
	}
	return is_any;
}

static void play_free(struct twin *t, const struct memray_allocation *a)
{
	bool is_known;

	match_temporary(t, a);
	if (a->allocator == MEMRAY_MUNMAP) {
		is_known = clear_units(t, a->address, a->size);
	} else {
		struct cell *c = &t->blocks[a->address / 16 - 1];

		is_known = c->id != 0;
		*c = (struct cell){ 0 };
	}
	t->unmatched += !is_known;
}

static void play_allocation(struct twin *t, const struct memray_allocation *a)
{
	struct cell cell = { (int)t->made_count + 1, (int)a->node, (int)a->thread,
			     (int64_t)a->size };
	struct made *m = &t->made[t->made_count++];

	*m = (struct made){
		a->address, a->size, cell.thread, cell.node, a->allocator == MEMRAY_MMAP, false
	};
	t->allocated[a->node].bytes += cell.size;
	t->allocated[a->node].count++;
	if (m->is_mapping) {
		t->replaced += clear_units(t, a->address, a->size);
		for (uint64_t i = 0; i < a->size; i++)
			t->units[a->address - UNIT_0 + i] = cell;
	} else {
		t->replaced += t->blocks[a->address / 16 - 1].id != 0;
		t->blocks[a->address / 16 - 1] = cell;
	}
}

static struct memray_allocation any_record(uint64_t *chance)
{
	static const enum memray_allocator kinds[] = {
		MEMRAY_MALLOC, MEMRAY_CALLOC, MEMRAY_PYMALLOC_MALLOC, MEMRAY_FREE,
		MEMRAY_FREE,   MEMRAY_FREE,   MEMRAY_PYMALLOC_FREE,   MEMRAY_MMAP,
		MEMRAY_MUNMAP, MEMRAY_MUNMAP,
	};
	struct memray_allocation a = {
		.allocator = (uint8_t)kinds[random_bits(chance) % TSI_COUNT_OF(kinds)],
		.node = (uint32_t)(random_bits(chance) % NODES),
		.thread = (uint32_t)(random_bits(chance) % THREADS),
	};

	if (a.allocator == MEMRAY_MMAP || a.allocator == MEMRAY_MUNMAP) {
		uint64_t unit = random_bits(chance) % UNITS;

		a.address = UNIT_0 + unit;
		a.size = 1 + random_bits(chance) % (UNITS / 4);
		if (a.allocator == MEMRAY_MMAP && a.size > UNITS - unit)
			a.size = UNITS - unit;
	} else {
		a.address = 16 * (1 + random_bits(chance) % PLACES);
		a.size = tsi_memray_frees(a.allocator) ? 0 : random_bits(chance) % 9;
	}
	return a;
}

static void check_accounts(const struct host_memory *host, const struct twin *t)
{
	for (int i = 0; i < NODES && (size_t)i < host->stack_count; i++) {
		const struct host_account *account = &host->stacks[i];
		struct amount live = sum_live(t, i, -1);

		check_use(account->allocated, t->allocated[i].bytes, t->allocated[i].count);
		check_use(account->temporary, t->temporary[i].bytes, t->temporary[i].count);
		check_use(account->at_peak, t->at_peak[i].bytes, t->at_peak[i].count);
		check_use(account->live, live.bytes, live.count);
		assert_int_equal(account->middle_bytes, t->at_middle[i].bytes);
	}
	for (int i = 0; i < THREADS && (size_t)i < host->thread_count; i++) {
		struct amount live = sum_live(t, -1, i);

		check_use(host->threads[i].at_peak, t->thread_at_peak[i].bytes,
			  t->thread_at_peak[i].count);
		check_use(host->threads[i].live, live.bytes, live.count);
	}
}

static void play(uint64_t seed)
{
	const struct memray_resident middle = { 500, 1000 };
	struct host_memory host = { .capture.header = { .start_ms = 7, .end_ms = 1007 } };
	struct host_reduction *r;
	struct twin t = { 0 };
	uint64_t chance = seed;
	size_t middle_at = random_bits(&chance) % OPERATIONS;

	assert_int_equal(tsi_host_reduction_new(&r, &host, NULL), TSCOPE_OK);
	struct memray_sink *sink = tsi_host_reduction_sink(r);
	for (size_t i = 0; i < OPERATIONS; i++) {
		struct memray_allocation a = any_record(&chance);

		if (i == middle_at) {
			assert_int_equal(sink->resident(sink, &middle, NULL), TSCOPE_OK);
			copy_middle(&t);
		}
		assert_int_equal(sink->allocation(sink, &a, NULL), TSCOPE_OK);
		if (tsi_memray_frees(a.allocator))
			play_free(&t, &a);
		else
			play_allocation(&t, &a);
		copy_if_peak(&t);
	}
	tsi_host_reduction_finish(r);
	tsi_host_reduction_free(r);
	struct amount live = sum_live(&t, -1, -1);
	assert_int_equal(host.at_peak.bytes, t.peak_bytes);
	check_use(host.live, live.bytes, live.count);
	assert_int_equal(host.middle_bytes, t.middle_bytes);
	assert_int_equal(host.unmatched_count, t.unmatched);
	assert_int_equal(host.replaced_count, t.replaced);
	check_accounts(&host, &t);
	tsi_host_memory_deinit(&host);
}

TEST(equals_a_twin_that_keeps_everything)
{
	for (uint64_t seed = 1; seed <= 400; seed++)
		play(seed);
}
