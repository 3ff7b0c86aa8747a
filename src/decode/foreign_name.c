/* SPDX-License-Identifier: MIT */
/*
 * Naming what is not read by the name of the file: where its first bytes show nothing, or it is not
 * worth opening. One row of the table adds one kind.
 */
#include "decode/foreign.h"

#include <string.h>

#include "base/attributes.h"
#include "base/error.h"
#include "decode/foreign_text.h"

/* How the last part of the path begins and ends, in letters of either case. */
static const struct {
	const char *start, *end;
	const char *text;
} names[] = {
	{ "", ".cvf", CVF },
	{ "", ".nsys-rep", NSYS },
	{ "", ".nsys", NSYS },
	{ "", ".qdrep", NSYS },
	{ "", ".qdstrm", NSYS },
	{ "", ".ncu-rep", NCU },
	{ "perf.data", "", PERF },
	{ "", ".wandb", WANDB },
	{ "", ".xplane.pb", XPLANE },
	{ "", ".pftrace", PERFETTO },
	{ "", ".perfetto-trace", PERFETTO },
	{ "", ".prof", PSTATS },
	{ "", ".pstats", PSTATS },
	{ "", ".stack", STACKS },
	{ "", ".stacks", STACKS },
	{ "", ".folded", STACKS },
	{ "", ".collapsed", STACKS },
	{ "nccl_trace_rank_", "", FLIGHT_RECORDER },
	{ "mlflow.db", "", MLFLOW_DATABASE },
	{ "dedicated_log_torch_trace_", "", TORCH_TRACE },
	/* Lightning's profilers: <stage>-<name>-<rank>.txt */
	{ "fit-", ".txt", SUMMARY },
	{ "validate-", ".txt", SUMMARY },
	{ "test-", ".txt", SUMMARY },
	{ "predict-", ".txt", SUMMARY },
	{ "", ".ckpt", CHECKPOINT },
	{ "", ".distcp", CHECKPOINT },
	{ "", ".safetensors", CHECKPOINT },
	{ "hparams.y", "ml", SETTINGS },
};

static bool starts(struct str name, struct str start)
{
	return name.length >= start.length &&
	       tsi_str_equal_nocase((struct str){ name.data, start.length }, start);
}

static bool ends(struct str name, struct str end)
{
	return name.length >= end.length &&
	       tsi_str_equal_nocase(
		       (struct str){ name.data + name.length - end.length, end.length }, end);
}

/* The last part of the path, without ".gz". */
static struct str file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str name = tsi_str_of(slash ? slash + 1 : path);

	if (ends(name, TSI_STR(".gz")))
		name.length -= sizeof(".gz") - 1;
	return name;
}

const char *tsi_foreign_name_path(const char *path)
{
	struct str name = file_name(path);

	for (size_t i = 0; i < TSI_COUNT_OF(names); i++)
		if (starts(name, tsi_str_of(names[i].start)) &&
		    ends(name, tsi_str_of(names[i].end)))
			return names[i].text;
	return NULL;
}

enum tscope_status tsi_foreign_rename(enum tscope_status status, const char *path,
				      struct tscope_error *err)
{
	const char *text = status == TSCOPE_E_FORMAT ? tsi_foreign_name_path(path) : NULL;

	return text ? tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s", text) : status;
}
