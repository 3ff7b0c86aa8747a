/* SPDX-License-Identifier: MIT */
/*
 * Reduces the records of a memray capture to sums: by stack, by thread, by allocator, by size.
 *
 * Memory live at the peak, stack by stack, is known only once the peak is over, and a capture has
 * millions of moments that were the highest so far. So nothing is copied at any of them: peaks are
 * numbered, and an account remembers the number of the last peak that it knows. When its live
 * memory is about to change after a later peak, what is live now was live then, too: it is put down
 * as at_peak, under the number of the last one. Accounts that never change again are settled at the
 * end. The same is done once for the middle of the capture.
 *
 * A peak is numbered when memory falls from it: of several of equal height it is the last one,
 * as in memray.
 */
#include "model/memory/host_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/ckd.h"
#include "model/memory/live_map.h"
#include "model/memory/mapping_set.h"

/* Allocations that a thread made last: two, see take_temporary(). */
enum { RECENT_COUNT = 2 };

struct recent {
	uint64_t address, size;
	uint32_t node;
	bool is_mapping, is_open; /* not freed by this thread */
};

struct thread_state {
	struct recent recent[RECENT_COUNT]; /* the newest first */
};

struct host_reduction {
	struct memray_sink sink;
	struct host_memory *host;
	struct live_map blocks;
	struct mapping_set mappings;
	struct thread_state *threads;
	size_t thread_count, thread_capacity;
	int64_t size_counts[HOST_SIZES];
	uint64_t peak_number;
	struct host_use peak;
	bool is_past_middle;
};

/* ---- accounts ----------------------------------------------------------------------------- */

/* Makes room for account `index`. */
static enum tscope_status know_account(struct host_account **accounts, size_t *count,
				       size_t *capacity, size_t index, struct tscope_error *err)
{
	if (index < *count)
		return TSCOPE_OK;
	if (tsi_array_reserve(accounts, capacity, index + 1, sizeof(**accounts), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	memset(*accounts + *count, 0, (index + 1 - *count) * sizeof(**accounts));
	*count = index + 1;
	return TSCOPE_OK;
}

static enum tscope_status know_stack(struct host_reduction *r, uint32_t node,
				     struct tscope_error *err)
{
	return know_account(&r->host->stacks, &r->host->stack_count, &r->host->stack_capacity, node,
			    err);
}

static enum tscope_status know_thread(struct host_reduction *r, uint32_t thread,
				      struct tscope_error *err)
{
	size_t count = (size_t)thread + 1;

	if (count > r->thread_count) {
		if (tsi_array_reserve(&r->threads, &r->thread_capacity, count, sizeof(*r->threads),
				      err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		memset(&r->threads[r->thread_count], 0,
		       (count - r->thread_count) * sizeof(*r->threads));
		r->thread_count = count;
	}
	return know_account(&r->host->threads, &r->host->thread_count, &r->host->thread_capacity,
			    thread, err);
}

/* Puts down what is live in an account, before it changes, or at the end. */
static void settle(const struct host_reduction *r, struct host_account *account)
{
	if (account->peak_number != r->peak_number) {
		account->at_peak = account->live;
		account->peak_number = r->peak_number;
	}
	if (r->is_past_middle && !account->has_middle) {
		account->middle_bytes = account->live.bytes;
		account->has_middle = true;
	}
}

static void number_peak(struct host_reduction *r)
{
	if (r->host->live.bytes < r->peak.bytes)
		return;
	r->peak = r->host->live;
	r->peak_number++;
}

static void add_use(struct host_use *use, struct host_use change)
{
	use->bytes += change.bytes;
	use->count += change.count;
}

/*
 * All that is live was allocated, and all that was allocated fits into 63 bits (count_allocation):
 * no sum overflows.
 */
static void change_live(struct host_reduction *r, uint32_t node, uint32_t thread,
			struct host_use change)
{
	struct host_account *const accounts[] = { &r->host->stacks[node],
						  &r->host->threads[thread] };

	if (change.bytes < 0)
		number_peak(r);
	for (size_t i = 0; i < TSI_COUNT_OF(accounts); i++) {
		settle(r, accounts[i]);
		add_use(&accounts[i]->live, change);
	}
	add_use(&r->host->live, change);
}

/* ---- temporary allocations ---------------------------------------------------------------- */

static void remember(struct host_reduction *r, const struct memray_allocation *a)
{
	struct recent *recent = r->threads[a->thread].recent;

	memmove(&recent[1], &recent[0], (RECENT_COUNT - 1) * sizeof(*recent));
	recent[0] = (struct recent){
		.address = a->address,
		.size = a->size,
		.node = a->node,
		.is_mapping = a->allocator == MEMRAY_MMAP,
		.is_open = true,
	};
}

/*
 * Allocations that a thread frees before it has made two more are temporary, as in memray's
 * --temporary-allocations.
 */
static void take_temporary(struct host_reduction *r, const struct memray_allocation *a)
{
	bool is_mapping = a->allocator == MEMRAY_MUNMAP;
	struct recent *recent = r->threads[a->thread].recent;

	for (size_t i = 0; i < RECENT_COUNT; i++) {
		struct host_use use = { (int64_t)recent[i].size, 1 };

		if (!recent[i].is_open || recent[i].address != a->address ||
		    recent[i].is_mapping != is_mapping || (is_mapping && recent[i].size != a->size))
			continue;
		recent[i].is_open = false;
		add_use(&r->host->temporary, use);
		add_use(&r->host->stacks[recent[i].node].temporary, use);
		add_use(&r->host->threads[a->thread].temporary, use);
		return;
	}
}

/* ---- records ------------------------------------------------------------------------------ */

/* Memory that begins and ends there is no more: was unmapped, or is mapped anew. Is there any? */
static bool cut_mappings(struct host_reduction *r, uint64_t begin, uint64_t end)
{
	struct mapping_cut cut = tsi_mapping_cut(&r->mappings, begin, end);
	bool is_any = cut.is_any;

	for (; cut.is_any; cut = tsi_mapping_cut(&r->mappings, begin, end)) {
		r->host->arena.has_failed |= cut.has_failed;
		change_live(
			r, cut.piece.node, cut.piece.thread,
			(struct host_use){ -(int64_t)(cut.piece.end - cut.piece.begin), cut.more });
	}
	return is_any;
}

static uint64_t end_of(const struct memray_allocation *a)
{
	uint64_t end;

	return tsi_ckd_add(&end, a->address, a->size) ? UINT64_MAX : end;
}

static void map(struct host_reduction *r, const struct memray_allocation *a)
{
	struct mapping mapping = { a->address, end_of(a), a->node, a->thread };

	if (mapping.begin == mapping.end)
		return;
	r->host->replaced_count += cut_mappings(r, mapping.begin, mapping.end);
	if (!tsi_mapping_add(&r->mappings, &mapping))
		r->host->arena.has_failed = true;
	change_live(r, a->node, a->thread,
		    (struct host_use){ (int64_t)(mapping.end - mapping.begin), 1 });
}

static bool release(struct host_reduction *r, uint64_t address)
{
	struct live_block block;

	if (!tsi_live_map_take(&r->blocks, address, &block))
		return false;
	change_live(r, block.node, block.thread, (struct host_use){ -(int64_t)block.size, -1 });
	return true;
}

static void allocate(struct host_reduction *r, const struct memray_allocation *a)
{
	struct live_block block = { a->address, a->size, a->node, a->thread };

	r->host->replaced_count += release(r, a->address);
	if (!tsi_live_map_add(&r->blocks, &block))
		r->host->arena.has_failed = true;
	change_live(r, a->node, a->thread, (struct host_use){ (int64_t)a->size, 1 });
}

/* 0, 1, 2 to 3, 4 to 7 … */
static size_t size_class(uint64_t size)
{
	return size ? 64 - (size_t)__builtin_clzll(size) : 0;
}

/* False if the sum of sizes overflows. */
static bool count_allocation(struct host_reduction *r, const struct memray_allocation *a)
{
	struct host_memory *host = r->host;
	struct host_use use = { (int64_t)a->size, 1 };
	int64_t sum;

	if (a->size > INT64_MAX || tsi_ckd_add(&sum, host->allocated.bytes, use.bytes))
		return false;
	add_use(&host->allocated, use);
	add_use(&host->allocators[a->allocator], use);
	add_use(&host->stacks[a->node].allocated, use);
	add_use(&host->threads[a->thread].allocated, use);
	r->size_counts[size_class(a->size)]++;
	return true;
}

static void take_free(struct host_reduction *r, const struct memray_allocation *a)
{
	bool is_known;

	if (a->thread < r->thread_count)
		take_temporary(r, a);
	if (a->allocator == MEMRAY_MUNMAP)
		is_known = cut_mappings(r, a->address, end_of(a));
	else
		is_known = release(r, a->address);
	r->host->unmatched_count += !is_known;
}

static enum tscope_status take_allocation(struct memray_sink *sink,
					  const struct memray_allocation *a,
					  struct tscope_error *err)
{
	struct host_reduction *r = (struct host_reduction *)sink;

	if (tsi_memray_frees((enum memray_allocator)a->allocator)) {
		take_free(r, a);
		return tsi_arena_status(&r->host->arena, err);
	}
	if (know_stack(r, a->node, err) != TSCOPE_OK || know_thread(r, a->thread, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (!count_allocation(r, a)) {
		r->host->dropped_count++;
		return TSCOPE_OK;
	}
	remember(r, a);
	if (a->allocator == MEMRAY_MMAP)
		map(r, a);
	else
		allocate(r, a);
	return tsi_arena_status(&r->host->arena, err);
}

/* False where a sum would be no number. */
static bool add_aggregate(struct host_use *use, uint64_t bytes, uint64_t count)
{
	struct host_use sum;

	if (tsi_ckd_add(&sum.bytes, use->bytes, bytes) ||
	    tsi_ckd_add(&sum.count, use->count, count))
		return false;
	*use = sum;
	return true;
}

/* The sum over all is the largest: where it is a number, those of its parts are. */
static enum tscope_status take_aggregate(struct memray_sink *sink, const struct memray_aggregate *a,
					 struct tscope_error *err)
{
	struct host_reduction *r = (struct host_reduction *)sink;
	struct host_memory *host = r->host;
	struct host_use at_peak = host->at_peak, live = host->live;

	if (!add_aggregate(&at_peak, a->bytes_at_peak, a->count_at_peak) ||
	    !add_aggregate(&live, a->leaked_bytes, a->leaked_count)) {
		host->dropped_count++;
		return TSCOPE_OK;
	}
	if (know_stack(r, a->node, err) != TSCOPE_OK || know_thread(r, a->thread, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	host->at_peak = at_peak;
	host->live = live;
	(void)add_aggregate(&host->stacks[a->node].at_peak, a->bytes_at_peak, a->count_at_peak);
	(void)add_aggregate(&host->stacks[a->node].live, a->leaked_bytes, a->leaked_count);
	(void)add_aggregate(&host->threads[a->thread].at_peak, a->bytes_at_peak, a->count_at_peak);
	(void)add_aggregate(&host->threads[a->thread].live, a->leaked_bytes, a->leaked_count);
	return TSCOPE_OK;
}

/* Where the process was killed nobody knows where the middle is. */
static bool is_past_middle(const struct host_memory *host, int64_t time_ms)
{
	const struct memray_header *header = &host->capture.header;
	int64_t duration_ms;

	return !tsi_ckd_sub(&duration_ms, header->end_ms, header->start_ms) && duration_ms > 0 &&
	       time_ms >= duration_ms / 2;
}

static enum tscope_status take_resident(struct memray_sink *sink, const struct memray_resident *rss,
					struct tscope_error *err)
{
	struct host_reduction *r = (struct host_reduction *)sink;
	bool is_aggregated = r->host->capture.header.is_aggregated;
	const struct resident_record record = {
		.time_ms = rss->time_ms,
		.rss_bytes = rss->rss_bytes,
		.heap_bytes = is_aggregated ? -1 : r->host->live.bytes,
	};

	r->host->dropped_count += !tsi_resident_add(&r->host->resident, &record, &r->host->arena);
	if (!is_aggregated && !r->is_past_middle && is_past_middle(r->host, rss->time_ms)) {
		r->is_past_middle = true;
		r->host->middle_bytes = r->host->live.bytes;
	}
	return tsi_arena_status(&r->host->arena, err);
}

/* ---- the end ------------------------------------------------------------------------------ */

static void put_sizes(struct host_memory *host, const int64_t counts[HOST_SIZES])
{
	for (size_t i = 0; i < HOST_SIZES; i++) {
		int64_t low = i ? INT64_C(1) << (i - 1) : 0;

		if (counts[i])
			host->sizes[host->size_count++] =
				(struct host_size){ low, i ? low - 1 + low : 0, counts[i] };
	}
}

static void settle_all(const struct host_reduction *r, struct host_account *accounts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		settle(r, &accounts[i]);
}

void tsi_host_reduction_finish(struct host_reduction *r)
{
	struct host_memory *host = r->host;

	if (host->source == HOST_AGGREGATE)
		return;
	number_peak(r);
	settle_all(r, host->stacks, host->stack_count);
	settle_all(r, host->threads, host->thread_count);
	host->at_peak = r->peak;
	put_sizes(host, r->size_counts);
}

enum tscope_status tsi_host_reduction_new(struct host_reduction **ret, struct host_memory *host,
					  struct tscope_error *err)
{
	if (tsi_array_new(ret, 1, sizeof(**ret), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	host->middle_bytes = -1;
	(*ret)->host = host;
	(*ret)->sink = (struct memray_sink){ take_allocation, take_aggregate, take_resident };
	return TSCOPE_OK;
}

struct memray_sink *tsi_host_reduction_sink(struct host_reduction *reduction)
{
	return &reduction->sink;
}

void tsi_host_reduction_free(struct host_reduction *reduction)
{
	if (!reduction)
		return;
	tsi_live_map_deinit(&reduction->blocks);
	tsi_mapping_set_deinit(&reduction->mappings);
	free(reduction->threads);
	free(reduction);
}
