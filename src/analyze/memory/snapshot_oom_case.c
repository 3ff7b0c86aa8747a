/* SPDX-License-Identifier: MIT */
/*
 * Why a request failed: what torch asks the driver for to serve it, and which of a limit of the
 * process, rounding, fragmentation and too little memory is to blame.
 */
#include "analyze/memory/snapshot_oom_case.h"

#include "base/ckd.h"

static struct oom_settings settings_of(const struct snapshot *snapshot)
{
	const struct plain *plain = snapshot->plain;
	struct oom_settings settings = { 0 };
	int64_t max_split_size = -1; /* no limit */
	double threshold = 0;        /* none */
	bool is_said;

	settings.is_expandable = tsi_snapshot_is_expandable(snapshot, &is_said);
	(void)tsi_plain_to_int64(
		plain, tsi_plain_find(plain, snapshot->settings, TSI_STR("max_split_size")),
		&max_split_size);
	settings.is_split_limited = max_split_size > 0;
	(void)tsi_plain_to_real(
		plain,
		tsi_plain_find(plain, snapshot->settings, TSI_STR("garbage_collection_threshold")),
		&threshold);
	settings.is_collecting = threshold > 0;
	return settings;
}

/* As torch's allocator does (get_allocation_size); expandable segments grow by whole pages. */
static int64_t driver_bytes_of(int64_t size_bytes, bool is_expandable)
{
	const int64_t mib = INT64_C(1) << 20;
	const int64_t unit = is_expandable ? 20 * mib : 2 * mib;
	int64_t bytes;

	if (size_bytes <= mib)
		return 2 * mib;
	if (size_bytes < 10 * mib)
		return 20 * mib;
	if (tsi_ckd_add(&bytes, size_bytes, unit - 1))
		return INT64_MAX;
	return bytes / unit * unit;
}

static enum oom_cause cause_of(const struct snapshot_oom *oom, int64_t driver_bytes)
{
	if (oom->device_free_bytes >= driver_bytes)
		return OOM_CAUSE_LIMIT;
	if (oom->device_free_bytes >= oom->size_bytes &&
	    oom->unfragmented_free_bytes < driver_bytes)
		return OOM_CAUSE_ROUNDING;
	return tsi_fits_unfragmented(oom) ? OOM_CAUSE_FRAGMENTATION : OOM_CAUSE_SHORTAGE;
}

struct oom_case tsi_oom_case(const struct snapshot_view *view, const struct oom_row *row)
{
	static const char inexact[] =
		"the layout is not known to the byte: a block that was live then, or a segment, "
		"is gone at the end";
	const struct snapshot_oom *oom = &row->oom;
	struct oom_case c = { .oom = oom, .settings = settings_of(view->snapshot) };

	c.driver_bytes = driver_bytes_of(oom->size_bytes, c.settings.is_expandable);
	c.cause = cause_of(oom, c.driver_bytes);
	c.is_private = oom->pool.is_known && (oom->pool.high != 0 || oom->pool.low != 0);
	if (tsi_snapshot_is_incomplete(&view->replays[row->device]))
		c.doubt = tsi_snapshot_missing_entries;
	else if (!oom->is_exact)
		c.doubt = inexact;
	return c;
}
