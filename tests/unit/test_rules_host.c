/* SPDX-License-Identifier: MIT */
/* Rules on what the host does to the device: launching late, waiting, allocating, pausing. */
#include "rule_check.h"

#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"

/* Two steps of 100 ms on one device: a line of n ms in all is n ÷ 200 of the step. */
#define STEPS "step_time.mean_ns 100000000\nbudget.wall_total_ns 200000000\n"

/* In each step of 100 ms the device idles for `ms` because of this. */
#define IDLE_OF(cause, ms) STEPS "idle." #cause "_ns " #ms "000000\n"

/* So many Python calls in so many ms; of 100 the device waits 10 for Python, and for dispatch. */
#define FRAMES(count, ms, dispatch)                                                                \
	IDLE_OF(profiler, 0)                                                                       \
	"integrity.python_frame_count " #count "\nintegrity.work_ns " #ms "000000\n"               \
	"idle.python_ns 10000000\nidle.op_overhead_ns " #dispatch "000000\n"

/* So long for whatever reason. */
#define IDLE(ms) STEPS "idle.total_ns " #ms "000000\n"

/* The three causes of late launches, in ns. */
#define LATE(dispatch, calls, latency)                                                             \
	STEPS "idle.op_overhead_ns " #dispatch "\nidle.launch_call_ns " #calls                     \
	      "\nidle.start_latency_ns " #latency "\n"

/* So many calls of cudaMalloc, of 2 ms each, in so many of the 4 steps after the first. */
#define MALLOCS(count, ns, steps)                                                                  \
	"launches.malloc_count 100\nlaunches.steady_malloc_count " #count                          \
	"\nlaunches.steady_malloc_ns " #ns "\nlaunches.steady_free_count 0\n"                      \
	"launches.steady_free_ns 0\nlaunches.steady_step_count 4\n"                                \
	"launches.allocating_step_count " #steps "\n"

#define CALLS(kind, name, module, ns)                                                              \
	"sources.callers kind=" kind " name=" name " module=" module                               \
	" source='train.py(12): step' ns=" #ns "\n"

/* So many ns of logging and of checkpoints in 10 s of the main thread. */
#define LOGGING(logging, checkpoint)                                                               \
	"python.main_ns 10000000000\npython.logging_ns " #logging                                  \
	"\npython.checkpoint_ns " #checkpoint "\n"

/* Of a step of 200 ms: shares and times of all, and of them the profiler's own. */
#define CALLBACKS(ratio, profiler_ratio, ns, profiler_ns)                                          \
	"callbacks.step_ratio " ratio "\ncallbacks.profiler_ratio " profiler_ratio                 \
	"\ncallbacks.in_step_ns_per_step " #ns "\ncallbacks.profiler_ns_per_step " #profiler_ns    \
	"\n"
#define TOP "callbacks.top_name SpeedMonitor\ncallbacks.top_ns_per_step 9000000\n"

/* A culprit, and which line of what file has so much of its time. */
#define ITEM(ns)                                                                                   \
	"idle.culprits cause=sync name='cudaStreamSynchronize in aten::_local_scalar_dense' "      \
	"ns_per_step=" #ns "\n"
#define ITEM_IN(file, ratio)                                                                       \
	"sources.callers name=cudaStreamSynchronize op=aten::_local_scalar_dense kind=sync "       \
	"source='lib/" file "(12): step' module=Net.Head share_ratio=" #ratio "\n"

#define PYTHON_IN(steps, mark, ns)                                                                 \
	"step_time.mean_ns 100000000\nbudget.wall_total_ns 300000000\nbudget.step_count 3\n"       \
	"idle.python_ns 28000000\nstep_time.count " steps "\n"                                     \
	"steps.list step=7 mark= wall_ns=90000000\nsteps.list step=8 mark=" mark                   \
	" wall_ns=90000000\n"                                                                      \
	"idle.gaps cause=python step=8 cause_ns=20000000\n"                                        \
	"idle.gaps cause=sync step=8 cause_ns=20000000\n"                                          \
	"idle.gaps cause=python step=7 cause_ns=20000000\n"                                        \
	"idle.gaps cause=python step=8 cause_ns=" ns "\n"

#define WAITS(ns)                                                                                  \
	"idle.culprits cause=data kind=wait name=other ns_per_step=7000000\n"                      \
	"idle.culprits cause=python kind=wait name='queue.py(154): get in server.py(80): loop' "   \
	"ns_per_step=" ns "\n"                                                                     \
	"idle.culprits cause=python kind=function name='server.py(7): reply' "                     \
	"ns_per_step=7000000\n"                                                                    \
	"idle.culprits cause=python kind=wait name=sleep ns_per_step=1000000\n"

#define CULPRIT(name, ns) "idle.culprits cause=python name='" name "' ns_per_step=" ns "\n"

static const struct rule_case cases[] = {
	{ "HOST.LAUNCH_BOUND", FIRES,
	  LATE(8000000, 3000000,
	       1000000) "launches.launches_per_step 2400\n"
			"idle.culprits cause=op_overhead name=aten::mm ns_per_step=5000000\n"
			"idle.culprits cause=python name=forward ns_per_step=4000000\n"
			"idle.culprits cause=op_overhead name=aten::add ns_per_step=2000000\n"
			"idle.culprits cause=op_overhead name=aten::mul ns_per_step=1000000\n",
	  NULL,
	  "med: the device waits for the host to launch work for 12.0 % of the step (8.0 % "
	  "operator dispatch (5.0 % aten::mm, 2.0 % aten::add); 3.0 % launch calls; 1.0 % kernel "
	  "start latency; 2400 launch calls per step) [12000000 ns]" },
	{ "HOST.LAUNCH_BOUND", AT, LATE(12000000, 0, 0) "launches.launches_per_step 1.25\n", NULL,
	  "med: the device waits for the host to launch work for 12.0 % of the step (12.0 % "
	  "operator dispatch; 1 launch call per step) [12000000 ns]" },
	{ "HOST.LAUNCH_BOUND", QUIET, LATE(4000000, 0, 0), NULL, "" },
	{ "HOST.LAUNCH_BOUND", AT, LATE(4000000, 3000000, 3000000), NULL,
	  "med: the device waits for the host to launch work for 10.0 % of the step (4.0 % "
	  "operator dispatch; 3.0 % launch calls; 3.0 % kernel start latency) [10000000 ns]" },
	{ "HOST.LAUNCH_BOUND", AT, LATE(4000000, 3000000, 2999999), NULL, "" },
	{ "HOST.LAUNCH_BOUND", AT, LATE(20000000, 0, 0), NULL, "high" },
	{ "HOST.LAUNCH_BOUND", AT, LATE(19999999, 0, 0), NULL, "med" },
	/* A budget of the host alone knows no idle time. */
	{ "HOST.LAUNCH_BOUND", SKIPPED, STEPS "budget.host.data_total_ns 1\n", NULL,
	  "skipped: no idle.op_overhead_ns: it needs a trace with device activity and a "
	  "complete step" },

	{ "HOST.COLD_START", FIRES,
	  IDLE_OF(startup, 44) "idle.culprits cause=startup name=cudaLaunchKernel "
			       "ns_per_step=40000000\n",
	  NULL,
	  "high: start-up takes 44.0 % of the step: this is not steady state (40.0 % "
	  "cudaLaunchKernel) [44000000 ns]" },
	{ "HOST.COLD_START", QUIET, IDLE_OF(startup, 1), NULL, "" },
	{ "HOST.COLD_START", AT, IDLE_OF(startup, 10), NULL, "med" },
	{ "HOST.COLD_START", AT, STEPS "idle.startup_ns 9999999\n", NULL, "" },

	{ "HOST.COMPILE", FIRES, IDLE_OF(compile, 30), NULL,
	  "high: compilation takes 30.0 % of the step: this is not steady state [30000000 ns]" },
	/* A step that is left out does not count, nor is its compilation one again. */
	{ "HOST.COMPILE", FIRES,
	  IDLE_OF(compile, 30) "steps.list mark=cold wall_ns=100 compile_ns=90\n"
			       "steps.list mark= wall_ns=100 compile_ns=5\n"
			       "steps.list mark= wall_ns=100 compile_ns=4\n"
			       "steps.list mark= wall_ns=100 compile_ns=5\n"
			       "steps.list mark= wall_ns=100 compile_ns=0\n",
	  NULL,
	  "high: compilation takes 30.0 % of the step: 1 of 4 steps compiles again [30000000 ns]" },
	{ "HOST.COMPILE", FIRES,
	  IDLE_OF(compile, 30) "idle.culprits cause=compile name=cudaGraphInstantiate "
			       "ns_per_step=15000000\n",
	  NULL,
	  "high: capture of graphs takes 30.0 % of the step: this is not steady state (15.0 % "
	  "cudaGraphInstantiate) [30000000 ns]" },
	{ "HOST.COMPILE", QUIET, IDLE_OF(compile, 0), NULL, "" },
	{ "HOST.COMPILE", AT, IDLE_OF(compile, 5), NULL, "med" },
	{ "HOST.COMPILE", AT, IDLE_OF(compile, 4), NULL, "" },

	{ "HOST.PYTHON", FIRES, IDLE_OF(python, 28), NULL,
	  "high: the device waits for Python code between operators for 28.0 % of the step "
	  "[28000000 ns]" },
	/* 84 ms of Python in 3 steps, more than 42 of it in step 8, which counts. */
	{ "HOST.PYTHON", FIRES, PYTHON_IN("3", "", "22000001"), NULL,
	  "high: the device waits for Python code between operators for 28.0 % of the step, most "
	  "of "
	  "it in step 8 [28000000 ns]" },
	{ "HOST.PYTHON", AT, PYTHON_IN("3", "", "22000000"), NULL,
	  "high: the device waits for Python code between operators for 28.0 % of the step [" },
	{ "HOST.PYTHON", AT, PYTHON_IN("3", "cold", "22000001"), NULL,
	  "high: the device waits for Python code between operators for 28.0 % of the step [" },
	/* Gaps that reach into other steps: so much of step 8 is the host's. */
	{ "HOST.PYTHON", AT, PYTHON_IN("3", " launch_stall_ns=42000001", "22000001"), NULL,
	  "high: the device waits for Python code between operators for 28.0 % of the step, most" },
	{ "HOST.PYTHON", AT, PYTHON_IN("3", " launch_stall_ns=42000000", "22000001"), NULL,
	  "high: the device waits for Python code between operators for 28.0 % of the step [" },
	{ "HOST.PYTHON", AT, PYTHON_IN("2", "", "22000001"), NULL,
	  "high: the device waits for Python code between operators for 28.0 % of the step [" },
	/* Ranks of 100 ms in the mean, the slowest of 200: the share is that of the mean. */
	{ "HOST.PYTHON", FIRES,
	  "step_time.mean_ns 200000000\nbudget.wall_total_ns 400000000\nbudget.step_count 4\n"
	  "idle.python_ns 28000000\n",
	  NULL,
	  "high: the device waits for Python code between operators for 28.0 % of the step "
	  "[56000000 ns]" },
	/* 21 of 28 ms in two functions that wait, or less. */
	{ "HOST.PYTHON", AT, IDLE_OF(python, 28) WAITS("20000000"), NULL,
	  "high: the device idles for 21.0 % of the step while the host waits in queue.py(154): "
	  "get in server.py(80): loop (20.0 % queue.py(154): get in server.py(80): loop, 7.0 % "
	  "server.py(7): reply) [28000000 ns]" },
	{ "HOST.PYTHON", AT, IDLE_OF(python, 28) WAITS("19999999"), NULL,
	  "high: the device waits for Python code between operators for 28.0 % of the step (" },
	{ "HOST.PYTHON", AT, IDLE_OF(python, 9) WAITS("9000000"), NULL, "" },
	/* 14 of 28 ms in the optimizer, or less; it may run on the CPU. */
	{ "HOST.PYTHON", AT, IDLE_OF(python, 28) CULPRIT("Optimizer.step#AdamW.step", "14000001"),
	  NULL,
	  "high: the device waits for Python code in Optimizer.step#AdamW.step for 28.0 % of the "
	  "step (14.0 % Optimizer.step#AdamW.step) [28000000 ns]" },
	{ "HOST.PYTHON", AT, IDLE_OF(python, 28) CULPRIT("Optimizer.step#AdamW.step", "13999999"),
	  NULL,
	  "high: the device waits for Python code between operators for 28.0 % of the step (" },
	{ "HOST.PYTHON", FIRES,
	  IDLE_OF(python, 28) CULPRIT("Optimizer.step#DeepSpeedCPUAdam.step", "14000001"), NULL,
	  "high: the device waits for the optimizer on the CPU "
	  "(Optimizer.step#DeepSpeedCPUAdam.step) "
	  "for 28.0 % of the step (14.0 % Optimizer.step#DeepSpeedCPUAdam.step) [28000000 ns]" },
	{ "HOST.PYTHON", QUIET, IDLE_OF(python, 2), NULL, "" },
	{ "HOST.PYTHON", AT, IDLE_OF(python, 10), NULL, "med" },
	{ "HOST.PYTHON", AT, IDLE_OF(python, 9), NULL, "" },

	{ "HOST.CPU_WORK", FIRES, IDLE_OF(cpu_work, 18), NULL,
	  "med: the device waits for operators on the CPU for 18.0 % of the step [18000000 ns]" },
	{ "HOST.CPU_WORK", QUIET, IDLE_OF(cpu_work, 0), NULL, "" },
	{ "HOST.CPU_WORK", AT, IDLE_OF(cpu_work, 5), NULL, "med" },
	{ "HOST.CPU_WORK", AT, IDLE_OF(cpu_work, 4), NULL, "" },

	{ "HOST.PROFILER", FIRES, IDLE_OF(profiler, 16), NULL,
	  "med: the device waits for the profiler itself for 16.0 % of the step [16000000 ns]" },
	{ "HOST.PROFILER", QUIET, IDLE_OF(profiler, 0), NULL, "" },
	{ "HOST.PROFILER", AT, IDLE_OF(profiler, 5), NULL, "med" },
	{ "HOST.PROFILER", AT, IDLE_OF(profiler, 4), NULL, "" },
	/* 200,000 calls in 250 ms, behind which the device waits. */
	{ "HOST.PROFILER", FIRES, FRAMES(200000, 250, 20), NULL,
	  "low: the profiler recorded 800 Python calls per millisecond (200000 in the trace; each "
	  "slows the host, and the device waits for the host for 30.0 % of the step)" },
	{ "HOST.PROFILER", AT, FRAMES(50000, 250, 10), NULL, "low" },
	{ "HOST.PROFILER", AT, FRAMES(49999, 250, 10), NULL, "" },
	{ "HOST.PROFILER", AT, FRAMES(50000, 250, 9), NULL, "" },

	{ "TRACE.UNRECORDED", FIRES, IDLE_OF(unrecorded, 40) "idle.edge_ns 3000000\n", NULL,
	  "high: the trace does not show what the device does for 43.0 % of the step (40.0 % "
	  "unrecorded work; 3.0 % capture edges)" },
	/* Most of it is the end of the trace, where nobody knows of any more work. */
	{ "TRACE.UNRECORDED", AT, IDLE_OF(unrecorded, 20) "idle.edge_ns 20000000\n", NULL,
	  "low: the device has no more work in the trace for 40.0 % of the step (20.0 % "
	  "unrecorded work; 20.0 % capture edges)" },
	{ "TRACE.UNRECORDED", AT, IDLE_OF(unrecorded, 20) "idle.edge_ns 19999999\n", NULL, "high" },
	{ "TRACE.UNRECORDED", AT,
	  IDLE_OF(unrecorded, 0) "idle.edge_ns 20000000\nintegrity.verdict damaged\n", NULL,
	  "high: the trace does not show" },
	{ "TRACE.UNRECORDED", AT, IDLE_OF(unrecorded, 0) "idle.edge_ns 9999999\n", NULL, "" },
	{ "TRACE.UNRECORDED", QUIET, IDLE_OF(unrecorded, 1) "idle.edge_ns 0\n", NULL, "" },
	{ "TRACE.UNRECORDED", AT, IDLE_OF(unrecorded, 7) "idle.edge_ns 3000000\n", NULL, "med" },
	{ "TRACE.UNRECORDED", AT, IDLE_OF(unrecorded, 7) "idle.edge_ns 2999999\n", NULL, "" },

	/* 0.04 + 0.03 of 10 s, so 7 ms of the step of 100 ms. */
	{ "HOST.LOGGING_STALL", FIRES,
	  STEPS LOGGING(400000000,
			300000000) "python.by_cause cause=data_loading main_function=next\n"
				   "python.by_cause cause=logging function=print "
				   "main_function=Run.log\n",
	  NULL,
	  "med: logging and checkpoints take 7.0 % of the main thread's time (logging 4.0 %, "
	  "mostly in Run.log; checkpoints 3.0 %) [7000000 ns]" },
	/* A part that is too small is not told; the device idles for 5 ms of the step. */
	{ "HOST.LOGGING_STALL", FIRES, IDLE(5) LOGGING(0, 700000000), NULL,
	  "med: logging and checkpoints take 7.0 % of the main thread's time (checkpoints 7.0 %) "
	  "[5000000 ns]" },
	{ "HOST.LOGGING_STALL", QUIET, LOGGING(100000000, 0), NULL, "" },
	{ "HOST.LOGGING_STALL", QUIET,
	  "python.main_ns 0\npython.logging_ns 0\n"
	  "python.checkpoint_ns 0\n",
	  NULL, "" },
	{ "HOST.LOGGING_STALL", AT, LOGGING(250000000, 250000000), NULL, "med" },
	{ "HOST.LOGGING_STALL", AT, LOGGING(250000000, 249999999), NULL, "" },
	{ "HOST.LOGGING_STALL", AT, LOGGING(0, 2000000000), NULL, "high" },
	{ "HOST.LOGGING_STALL", AT, LOGGING(0, 1999999999), NULL, "med" },

	{ "HOST.CALLBACKS", FIRES, CALLBACKS("0.1", "0.03", 20000000, 6000000) TOP, NULL,
	  "med: callbacks and algorithms take 7.0 % of the step (mostly SpeedMonitor: 9.000 ms per "
	  "step) [14000000 ns]" },
	{ "HOST.CALLBACKS", FIRES,
	  IDLE_OF(callback, 9) "idle.culprits cause=callback name=on_train_batch_end "
			       "ns_per_step=8000000\n",
	  NULL,
	  "med: the device waits for callbacks and logging for 9.0 % of the step (8.0 % "
	  "on_train_batch_end) [9000000 ns]" },
	/* All of it the profiler's own. */
	{ "HOST.CALLBACKS", QUIET, CALLBACKS("0.3", "0.3", 60000000, 60000000), NULL, "" },
	{ "HOST.CALLBACKS", AT, CALLBACKS("0.05", "0", 10000000, 0), NULL,
	  "med: callbacks and algorithms take 5.0 % of the step [10000000 ns]" },
	{ "HOST.CALLBACKS", AT, CALLBACKS("0.0499", "0", 9980000, 0), NULL, "" },
	{ "HOST.CALLBACKS", AT, CALLBACKS("0.2", "0", 40000000, 0), NULL, "high" },
	{ "HOST.CALLBACKS", AT, CALLBACKS("0.1999", "0", 39980000, 0), NULL, "med" },
	{ "HOST.CALLBACKS", SKIPPED, STEPS, NULL,
	  "skipped: no callbacks.step_ratio: it needs a Composer trace (JSONTraceHandler)" },

	{ "SYNC.BLOCKING", FIRES,
	  IDLE_OF(sync, 8) "launches.syncs op=aten::_local_scalar_dense call=cudaStreamSynchronize "
			   "count=12 "
			   "total_ns=90000000\n"
			   "launches.syncs call=cudaDeviceSynchronize count=1 total_ns=1000000\n",
	  NULL,
	  "med: the device runs dry for 8.0 % of the step because the host waits for it "
	  "(cudaStreamSynchronize in aten::_local_scalar_dense waits "
	  "longest: 12 calls, 90.00 ms in the trace) [8000000 ns]" },
	/* A call that no operator makes. */
	{ "SYNC.BLOCKING", FIRES,
	  IDLE_OF(sync, 8) "launches.syncs call=cudaDeviceSynchronize count=2 total_ns=16000000\n",
	  NULL,
	  "med: the device runs dry for 8.0 % of the step because the host waits for it "
	  "(cudaDeviceSynchronize waits longest: 2 calls, 16.00 ms in the "
	  "trace) [8000000 ns]" },
	/* Whose line it is, where half of the time is one call's and half of these one line's. */
	{ "SYNC.BLOCKING", FIRES, IDLE_OF(sync, 8) ITEM(4000000) ITEM_IN("train.py", 0.5), NULL,
	  "med: the device runs dry for 8.0 % of the step because the host waits for it: .item() "
	  "in "
	  "train.py(12): step (in Net.Head; 4.0 % cudaStreamSynchronize in "
	  "aten::_local_scalar_dense) [8000000 ns]" },
	{ "SYNC.BLOCKING", FIRES, IDLE_OF(sync, 8) ITEM(4000000) ITEM_IN("train.py", 0.49), NULL,
	  "med: the device runs dry for 8.0 % of the step because the host waits for it (4.0 % "
	  "cudaStreamSynchronize in aten::_local_scalar_dense) [8000000 ns]" },
	{ "SYNC.BLOCKING", FIRES, IDLE_OF(sync, 8) ITEM(3999999) ITEM_IN("train.py", 0.5), NULL,
	  "med: the device runs dry for 8.0 % of the step because the host waits for it (4.0 % "
	  "cudaStreamSynchronize in aten::_local_scalar_dense) [8000000 ns]" },
	/* The calls that idleness comes from, which another may outlast while the device works. */
	{ "SYNC.BLOCKING", FIRES,
	  IDLE_OF(sync, 8) ITEM(
		  4000000) "launches.syncs call=cudaDeviceSynchronize count=2 "
			   "total_ns=90000000\n"
			   "launches.syncs op=aten::_local_scalar_dense call=cudaStreamSynchronize "
			   "count=60 total_ns=16000000\n",
	  NULL,
	  "med: the device runs dry for 8.0 % of the step because the host waits for it (4.0 % "
	  "cudaStreamSynchronize in aten::_local_scalar_dense; 60 such calls wait 16.00 ms in "
	  "total) [8000000 ns]" },
	/* One step in the trace that has the line, 8 in all traces of the rank. */
	{ "SYNC.BLOCKING", FIRES,
	  IDLE_OF(sync, 8) ITEM(4000000)
		  ITEM_IN("train.py", 0.5) "steps.count 1\n"
					   "budget.step_count 8\nbudget.wall_total_ns 800000000\n",
	  NULL,
	  "med: the device runs dry for 8.0 % of the step because the host waits for it: .item() "
	  "in "
	  "train.py(12): step (in Net.Head; the line is that of one trace of several; 4.0 % "
	  "cudaStreamSynchronize in aten::_local_scalar_dense) [8000000 ns]" },
	{ "SYNC.BLOCKING", QUIET, IDLE_OF(sync, 0), NULL, "" },
	{ "SYNC.BLOCKING", AT, IDLE_OF(sync, 5), NULL, "med: the device runs dry for 5.0 %" },
	{ "SYNC.BLOCKING", AT, STEPS "idle.sync_ns 4999999\n", NULL, "" },

	{ "COPY.BLOCKING", FIRES, IDLE_OF(blocking_copy, 8), NULL,
	  "med: the device runs dry for 8.0 % of the step because copies block the host "
	  "[8000000 ns]" },
	{ "COPY.BLOCKING", QUIET, IDLE_OF(blocking_copy, 0), NULL, "" },
	{ "COPY.BLOCKING", AT, IDLE_OF(blocking_copy, 3), NULL, "low" },
	{ "COPY.BLOCKING", AT, STEPS "idle.blocking_copy_ns 2999999\n", NULL, "" },

	/* 12 calls in 4 steps of 2 ms each are 6 ms a step; the device idles for 10. */
	{ "ALLOC.CUDA_MALLOC", FIRES, IDLE(10) MALLOCS(12, 24000000, 4), NULL,
	  "med: 4 of 4 later steps still call cudaMalloc or cudaFree, for 6.000 ms per step (12 "
	  "allocating and 0 freeing calls) [6000000 ns]" },
	/* 12 calls that free of 10 ms each are 30 ms more; the device idles for 10. */
	{ "ALLOC.CUDA_MALLOC", FIRES,
	  IDLE(10) MALLOCS(12, 24000000, 4) "launches.steady_free_count 12\n"
					    "launches.steady_free_ns 120000000\n",
	  NULL,
	  "med: 4 of 4 later steps still call cudaMalloc or cudaFree, for 36.00 ms per step (12 "
	  "allocating and 12 freeing calls; memory is returned to the driver: empty_cache() in the "
	  "loop, or the device is full) [10000000 ns]" },
	/*
	 * Of 30 ms 24 are of later steps: with 18 a line has half of these, whatever it has of the
	 * others. One that is the same in two operators and in freeing counts once; host memory
	 * and other modules do not.
	 */
	{ "ALLOC.CUDA_MALLOC", FIRES,
	  IDLE(10) MALLOCS(
		  12, 24000000,
		  4) "launches.malloc_ns 30000000\nlaunches.free_ns 0\n" CALLS("malloc",
									       "cudaMalloc",
									       "Net.Head", 10000000)
		  CALLS("malloc", "cudaMalloc", "Net.Head", 7000000)
			  CALLS("free", "cudaFree", "Net.Head", 1000000),
	  NULL,
	  "med: 4 of 4 later steps still call cudaMalloc or cudaFree, for 6.000 ms per step (12 "
	  "allocating and 0 freeing calls; most of this time in Net.Head, train.py(12): step) "
	  "[6000000 ns]" },
	{ "ALLOC.CUDA_MALLOC", FIRES,
	  IDLE(10) MALLOCS(
		  12, 24000000,
		  4) "launches.malloc_ns 30000000\nlaunches.free_ns 0\n" CALLS("malloc",
									       "cudaMalloc",
									       "Net.Head", 17999999)
		  CALLS("malloc", "cudaHostAlloc", "Net.Head", 1000000)
			  CALLS("memcpy", "cudaMemcpy", "Net.Head", 1000000)
				  CALLS("malloc", "cudaMalloc", "Net.Body", 1000000),
	  NULL,
	  "med: 4 of 4 later steps still call cudaMalloc or cudaFree, for 6.000 ms per step (12 "
	  "allocating and 0 freeing calls) [6000000 ns]" },
	{ "ALLOC.CUDA_MALLOC", QUIET, MALLOCS(0, 0, 0), NULL, "" },
	/* All in one step: a longest batch, an evaluation. */
	{ "ALLOC.CUDA_MALLOC", QUIET, IDLE(10) MALLOCS(40, 80000000, 1), NULL, "" },
	/* In half of the steps, and in three of many. */
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(10) MALLOCS(12, 24000000, 2), NULL, "med: 2 of 4" },
	{ "ALLOC.CUDA_MALLOC", AT,
	  IDLE(10) MALLOCS(20, 40000000, 3) "launches.steady_step_count 20\n", NULL,
	  "low: 3 of 20" },
	{ "ALLOC.CUDA_MALLOC", AT,
	  IDLE(10) MALLOCS(20, 40000000, 2) "launches.steady_step_count 20\n", NULL, "" },
	/* Once a step, in the mean. */
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(10) MALLOCS(4, 8000000, 3), NULL, "low" },
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(10) MALLOCS(3, 6000000, 3), NULL, "" },
	{ "ALLOC.CUDA_MALLOC", CHANGED, IDLE(10) MALLOCS(4, 8000000, 3),
	  "ALLOC.CUDA_MALLOC.threshold=1.1", "" },
	/* 10 ms of the 100 of a step; what little there is to win lowers the severity. */
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(20) MALLOCS(4, 80000000, 4), NULL, "high" },
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(20) MALLOCS(4, 79999996, 4), NULL, "med" },
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(10) MALLOCS(4, 4000000, 4), NULL, "low" },
	/* Every second tensor goes to the driver: one step is enough to see that. */
	{ "ALLOC.CUDA_MALLOC", AT,
	  "launches.malloc_count 500\nlaunches.malloc_ns 50000000\nlaunches.free_count 498\n"
	  "launches.free_ns 150000000\nlaunches.uncached_ratio 0.5\n"
	  "launches.steady_step_count 0\n",
	  NULL,
	  "med: the caching allocator is bypassed: 50 % of new tensors call cudaMalloc (500 "
	  "allocating and 498 freeing calls take 200.0 ms)" },
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(10) MALLOCS(0, 0, 0) "launches.uncached_ratio 0.4999\n",
	  NULL, "" },
	{ "ALLOC.CUDA_MALLOC", CHANGED, IDLE(10) MALLOCS(0, 0, 0) "launches.uncached_ratio 0.4\n",
	  "ALLOC.CUDA_MALLOC.bypass=0.4", "med: the caching allocator is bypassed: 40 %" },
	{ "ALLOC.CUDA_MALLOC", SKIPPED, "launches.malloc_count 1\nlaunches.steady_step_count 0\n",
	  NULL, "skipped: no launches.steady_malloc_count: it needs a trace with launch calls" },
	{ "ALLOC.CUDA_MALLOC", SKIPPED, MALLOCS(2, 4, 1) "launches.steady_step_count 1\n", NULL,
	  "skipped: 2 complete steps; it needs 3, since the first one fills the cache" },

	/* 0.3 of 10 s, so 3 ms a step; the device idles for 10. */
	{ "GC.PAUSE", FIRES,
	  IDLE(10) "python.gc_ratio 0.03\npython.gc_total_ns 300000000\n"
		   "python.gc_count 2\npython.gc_max_ns 160000000\n",
	  NULL,
	  "low: Python's garbage collector takes 3.0 % of the time (2 pauses, the longest 160.0 "
	  "ms) [3000000 ns]" },
	/* What the device waits for is known, and the pauses' share of the trace does not count. */
	{ "GC.PAUSE", FIRES, IDLE_OF(gc, 7) "python.gc_ratio 0.5\n", NULL,
	  "med: the device waits for Python's garbage collector for 7.0 % of the step [7000000 "
	  "ns]" },
	{ "GC.PAUSE", AT, IDLE_OF(gc, 1), NULL, "low: the device waits" },
	/* While the device never idles nothing can be won. */
	{ "GC.PAUSE", FIRES, IDLE(0) "python.gc_ratio 0.03\n", NULL,
	  "low: Python's garbage collector takes 3.0 % of the time (0 pauses, the longest 0 ns) [0 "
	  "ns]" },
	{ "GC.PAUSE", QUIET, "python.gc_ratio 0\n", NULL, "" },
	{ "GC.PAUSE", AT, "python.gc_ratio 0.01\n", NULL, "med" },
	{ "GC.PAUSE", AT, "python.gc_ratio 0.009\n", NULL, "" },
	{ "GC.PAUSE", AT, "python.gc_ratio 0.1\n", NULL, "high" },
	{ "GC.PAUSE", AT, "python.gc_ratio 0.099\n", NULL, "med" },
	/* Where the trace has no length there is no share of it, and nothing to judge. */
	{ "GC.PAUSE", SKIPPED, "python.gc_total_ns 0\n", NULL,
	  "skipped: no python.gc_ratio: it needs a trace of VizTracer, or --python and a trace "
	  "with "
	  "Python frames" },
};

TEST(rules_on_the_host)
{
	check_rule_cases(cases, TSI_COUNT_OF(cases));
}

/* The first finding of these facts: its rule and the beginning of its advice. */
static void check_first(const char *lines, const char *rule, const char *advice)
{
	struct tscope_analysis *facts = fact_values(lines);
	struct tscope_diagnosis *diagnosis;

	assert_int_equal(tscope_diagnose(&diagnosis, facts, NULL, NULL), TSCOPE_OK);
	assert_true(tscope_diagnosis_finding_count(diagnosis) > 0);
	struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, 0);
	assert_string_equal(finding.rule->id, rule);
	if (strncmp(finding.advice, advice, strlen(advice)) != 0)
		fail_msg("'%s' and not '%s'", finding.advice, advice);
	tscope_diagnosis_free(diagnosis);
}

#define SYNC_BY(op) IDLE_OF(sync, 8) "launches.syncs " op "count=1 total_ns=1\n"

#define COPY_BY(op)                                                                                \
	IDLE_OF(blocking_copy, 8)                                                                  \
	"idle.culprits cause=blocking_copy name='cudaMemcpyAsync in " op "' ns_per_step=8000000\n"

TEST(advice_is_for_who_waits)
{
	check_first(SYNC_BY("op=aten::_local_scalar_dense "), "SYNC.BLOCKING",
		    "the script reads a number from the device");
	check_first(SYNC_BY("op=aten::copy_ "), "SYNC.BLOCKING", "the script waits for a copy");
	check_first(SYNC_BY("op=aten::nonzero "), "SYNC.BLOCKING", "the size of a result");
	check_first(SYNC_BY("op=my::op "), "SYNC.BLOCKING", "find what waits");
	check_first(SYNC_BY(""), "SYNC.BLOCKING", "find what waits");
	check_first(COPY_BY("aten::_local_scalar_dense"), "COPY.BLOCKING",
		    "the script reads a number from the device");
	check_first(COPY_BY("aten::copy_"), "COPY.BLOCKING", "pin the memory");
}

#define UNRECORDED IDLE_OF(unrecorded, 40) "idle.edge_ns 0\n"

TEST(advice_mends_a_cut_file)
{
	check_first(UNRECORDED, "TRACE.UNRECORDED", "record whole steps");
	check_first(UNRECORDED "integrity.verdict damaged\n", "TRACE.UNRECORDED",
		    "the file ends early");
	check_first(UNRECORDED "integrity.verdict damaged\nsteps.boundary iteration\n",
		    "TRACE.UNRECORDED", "the file ends early");
}

#define COMPILE_AGAIN                                                                              \
	IDLE_OF(compile, 30)                                                                       \
	"steps.list mark= wall_ns=9\nsteps.list mark= wall_ns=9 compile_ns=9\n"

TEST(advice_fits_what_is_compiled_again)
{
	check_first(IDLE_OF(compile, 30), "HOST.COMPILE", "record after warm-up");
	check_first(COMPILE_AGAIN, "HOST.COMPILE", "TORCH_LOGS=recompiles");
	check_first(COMPILE_AGAIN "idle.culprits cause=compile name='cudaStreamBeginCapture' "
				  "ns_per_step=15000000\n",
		    "HOST.COMPILE", "capture graphs before the loop");
}

#define PIECE(name) "operators.by_name name='Torch-Compiled Region: " name "'\n"

TEST(graph_breaks_cut_a_compiled_model)
{
	check_first(LATE(12000000, 0, 0) PIECE("0/0") PIECE("0/1"), "HOST.LAUNCH_BOUND",
		    "use torch.compile");
	check_first(LATE(12000000, 0, 0) PIECE("1/0") PIECE("11/0"), "HOST.LAUNCH_BOUND",
		    "TORCH_LOGS=graph_breaks");
}

TEST(pieces_are_counted_up_to_a_limit)
{
	static char lines[65536]; /* each was compared with all before it: 60,000 took 33 s */
	size_t length = (size_t)snprintf(lines, sizeof(lines), "%s", LATE(12000000, 0, 0));
	struct tscope_diagnosis *diagnosis;

	for (int i = 0; i < 600; i++)
		length += (size_t)snprintf(lines + length, sizeof(lines) - length,
					   "operators.by_name name='Torch-Compiled Region: %d/0'\n",
					   i);
	assert_true(length < sizeof(lines));
	assert_int_equal(tscope_diagnose(&diagnosis, fact_values(lines), NULL, NULL), TSCOPE_OK);
	const char *detail = tscope_diagnosis_finding(diagnosis, 0).detail;
	assert_non_null(strstr(detail, "torch.compile left 500 pieces or more"));
	tscope_diagnosis_free(diagnosis);
}

#define CALLS_OF(kind) LATE(12000000, 0, 0) "launches.by_name name=n kind=" kind " count=9\n"

TEST(advice_fits_what_runs)
{
	check_first(
		CALLS_OF("launch"), "HOST.LAUNCH_BOUND",
		"use torch.compile(mode=\"reduce-overhead\") or torch.cuda.CUDAGraph to launch a "
		"whole step at once; optimizers with fused=True or foreach=True, larger batches");
	check_first(CALLS_OF("graph_launch"), "HOST.LAUNCH_BOUND",
		    "capture what is still launched");
	check_first(IDLE_OF(python, 12), "HOST.PYTHON", "record with_stack=True");
	check_first(
		IDLE_OF(python, 12) "idle.python_frame_count 7\n"
				    "idle.culprits cause=python name=collate ns_per_step=6000000\n",
		"HOST.PYTHON", "move preparation");
	check_first(
		IDLE_OF(python, 12) "idle.python_frame_count 7\n"
				    "idle.culprits cause=python name=forward ns_per_step=5999999\n",
		"HOST.PYTHON", "torch.compile removes");
	/* 12 ms in each of two steps: more than 12 of 24 ms in one gap, or just as much. */
	check_first(IDLE_OF(python, 12) "idle.gaps cause=python cause_ns=12000001\n", "HOST.PYTHON",
		    "most of it is one gap: with_stack=True shows");
	check_first(IDLE_OF(python, 12) "idle.gaps cause=python cause_ns=12000001\n"
					"steps.workload inference\n",
		    "HOST.PYTHON", "most of it is one gap: with_stack=True shows");
	check_first(IDLE_OF(python, 12) "idle.gaps cause=python cause_ns=12000001\n"
					"idle.python_frame_count 7\n",
		    "HOST.PYTHON", "most of it is one gap: move what the host does");
	check_first(IDLE_OF(python, 12) "idle.gaps cause=python cause_ns=12000000\n"
					"idle.gaps cause=data cause_ns=90000000\n",
		    "HOST.PYTHON", "record with_stack=True to see the source lines");
	/* 6 of the 12 ms of each step in one place: no graph replays that. */
	check_first(IDLE_OF(python, 12) "steps.workload inference\n"
					"idle.gaps cause=python cause_ns=6000000\n",
		    "HOST.PYTHON", "prepare the next request while the device computes; with");
	check_first(IDLE_OF(python, 12) "steps.workload inference\n"
					"idle.gaps cause=python cause_ns=5999999\n",
		    "HOST.PYTHON", "torch.compile(model, mode=\"reduce-overhead\")");
	check_first(IDLE_OF(python, 28) WAITS("20000000"), "HOST.PYTHON",
		    "find the thread or process that the host waits for");
	check_first(IDLE_OF(python, 28) WAITS("20000000") "steps.workload inference\n",
		    "HOST.PYTHON", "if these are waits for requests, record while there are some");
	check_first(IDLE_OF(python, 12)
			    CULPRIT("deepspeed/ops/adam/cpu_adam.py(9): step", "6000001"),
		    "HOST.PYTHON", "keep the optimizer's states on the device");
	check_first(IDLE_OF(python, 12) CULPRIT("Optimizer.step#AdamW.step", "6000001"),
		    "HOST.PYTHON", "fused=True or foreach=True");
	check_first(IDLE_OF(python, 12) "idle.culprits cause=python kind=wait "
					"name='<built-in function sleep> in a.py(1): f' "
					"ns_per_step=12000000\nsteps.workload inference\n",
		    "HOST.PYTHON", "take time.sleep() out of the step");
	check_first(IDLE_OF(gc, 12), "GC.PAUSE", "after setting up call gc.collect()");
	check_first(IDLE_OF(gc, 12) "idle.culprits cause=gc name='gc.collect' ns_per_step=1\n",
		    "GC.PAUSE", "the script calls gc.collect() itself");
	check_first(STEPS "python.gc_ratio 0.1\npython.gc_count 2\npython.gc_max_ns 160000000\n"
			  "python.by_cause cause=garbage_collection "
			  "function='<built-in function collect>'\n",
		    "GC.PAUSE", "the script calls gc.collect() itself");
}

/* The device idles because of late launches: the rule with more details speaks. */
TEST(one_cause_is_told_once)
{
	struct tscope_analysis *facts =
		fact_values(LATE(25000000, 0, 0) "idle.total_ns 25000000\n");
	struct tscope_diagnosis *diagnosis;

	assert_int_equal(tscope_diagnose(&diagnosis, facts, NULL, NULL), TSCOPE_OK);
	assert_int_equal(tscope_diagnosis_finding_count(diagnosis), 1);
	struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, 0);
	assert_string_equal(finding.rule->id, "HOST.LAUNCH_BOUND");
	assert_int_equal(finding.gain_ns, 25000000);
	assert_string_equal(finding.cause, "launch_overhead");
	assert_int_equal(finding.also_count, 1);
	assert_string_equal(finding.also[0]->id, "GPU.IDLE");
	tscope_diagnosis_free(diagnosis);
}

/* Of 55 ms idle 40 are pauses inside operators: the 12 of late launches do not speak for them. */
TEST(a_small_cause_does_not_speak_for_a_large_one)
{
	struct tscope_analysis *facts = fact_values(
		LATE(12000000, 0, 0) "idle.op_stall_ns 40000000\nidle.total_ns 55000000\n");
	struct tscope_diagnosis *diagnosis;

	assert_int_equal(tscope_diagnose(&diagnosis, facts, NULL, NULL), TSCOPE_OK);
	assert_int_equal(tscope_diagnosis_finding_count(diagnosis), 2);
	struct tscope_finding first = tscope_diagnosis_finding(diagnosis, 0);
	assert_string_equal(first.rule->id, "GPU.IDLE");
	assert_string_equal(first.cause, "cpu_only_work");
	assert_int_equal(first.gain_ns, 40000000);
	struct tscope_finding second = tscope_diagnosis_finding(diagnosis, 1);
	assert_string_equal(second.rule->id, "HOST.LAUNCH_BOUND");
	assert_int_equal(second.gain_ns, 12000000);
	tscope_diagnosis_free(diagnosis);
}
