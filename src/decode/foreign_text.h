/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_FOREIGN_TEXT_H
#define TSCOPE_DECODE_FOREIGN_TEXT_H

/* A row's text, as struct str. */
#define TEXT(literal)                                                                              \
	{                                                                                          \
		literal, sizeof(literal) - 1                                                       \
	}

/*
 * Messages about foreign files that tscope does not read: the kind of file, then what to do. Some
 * are known by their first bytes (foreign.c), some by their names (foreign_name.c), most by either.
 */
#define CVF                                                                                        \
	"a trace that VizTracer compressed (.cvf): `viztracer --decompress FILE -o result.json` "  \
	"makes one that can be read"
#define NSYS "a report of Nsight Systems: `nsys stats FILE` shows it; record with torch.profiler"

#define PSTATS                                                                                     \
	"sums of Python's cProfile, without the times of calls: `python -m pstats FILE` shows "    \
	"them; record with VizTracer"

#define FLIGHT_RECORDER                                                                            \
	"a dump of NCCL's flight recorder, which holds no steps: `tscope hang` reads the dumps "   \
	"of all ranks"

#define SUMMARY                                                                                    \
	"a table that a profiler printed, without the times of calls: give the trace "             \
	"(.pt.trace.json)"

#define STACKS                                                                                     \
	"collapsed stacks (export_stacks(), for flame graphs), without the times of calls: give "  \
	"the trace (.pt.trace.json)"

#define NCU "a report of Nsight Compute: `ncu --import FILE` shows it; record with torch.profiler"

#define PERF "a recording of Linux perf: `perf report -i FILE` shows it; record with torch.profiler"

#define WANDB "a log of Weights & Biases: log to CSV, TensorBoard or an MLflow file store as well"

#define XPLANE "a profile of XLA (xplane.pb): give the .trace.json.gz beside it"

#define PERFETTO "a trace of Perfetto: `traceconv json FILE trace.json` makes one that can be read"

#define MLFLOW_DATABASE "a database of MLflow: tscope reads its file stores (log to file:./mlruns)"

#define MLFLOW_META "meta.yaml of an MLflow store: tscope reads the metrics beside it"

#define EVENT_FILE "a TensorBoard event file, which holds metrics by step: use `tscope report FILE`"

#define METRIC_TABLE                                                                               \
	"a CSV table with a column \"step\": if it holds metrics, use `tscope report FILE`"

#define TORCH_TRACE                                                                                \
	"a log of torch.compile (TORCH_TRACE), which holds no steps: `tlparse` makes pages of it"

#define CHECKPOINT "a checkpoint: it holds tensors, and nothing that was measured"

#define SETTINGS "settings of the job: they hold nothing that was measured"

#endif
