/* SPDX-License-Identifier: MIT */
/* A memray capture as a model: reads it through the reduction, and keeps what a cut one gave. */
#include "model/memory/host_memory.h"

#include <stdlib.h>

#include "base/error.h"

void tsi_host_memory_deinit(struct host_memory *host)
{
	tsi_memray_capture_deinit(&host->capture);
	tsi_intern_deinit(&host->texts);
	tsi_arena_deinit(&host->arena);
	free(host->stacks);
	free(host->threads);
	*host = (struct host_memory){ 0 };
}

static bool is_empty(const struct host_memory *host)
{
	return host->allocated.count == 0 && host->at_peak.count == 0 && host->live.count == 0;
}

/* Data read so far counts; only without any is the damage the result. */
static enum tscope_status judge_damage(const struct host_memory *host, struct tscope_error *damage,
				       struct tscope_error *err)
{
	if (!is_empty(host))
		return TSCOPE_OK;
	if (damage->status == TSCOPE_OK)
		return tsi_fail(err, TSCOPE_E_EMPTY,
				host->capture.is_complete
					? "a memray capture in which nothing was allocated"
					: "a memray capture without a record: the process was "
					  "killed before it wrote one, or is running");
	if (err)
		*err = *damage;
	return damage->status;
}

enum tscope_status tsi_host_memory_read(struct host_memory *host, struct input *in,
					struct tscope_error *damage, struct tscope_error *err)
{
	struct host_reduction *reduction = NULL;
	enum tscope_status status;

	*host = (struct host_memory){ 0 };
	*damage = (struct tscope_error){ 0 };
	if (tsi_host_reduction_new(&reduction, host, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	status = tsi_memray_read(&host->capture, in, tsi_host_reduction_sink(reduction), damage);
	if (status != TSCOPE_OK && status != TSCOPE_E_DAMAGED) {
		tsi_host_reduction_free(reduction);
		if (err)
			*err = *damage;
		return status;
	}
	host->source = host->capture.header.is_aggregated ? HOST_AGGREGATE : HOST_CAPTURE;
	tsi_host_reduction_finish(reduction);
	tsi_host_reduction_free(reduction);
	return judge_damage(host, damage, err);
}
