/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_PYTHON_NAME_H
#define TSCOPE_MODEL_TRACE_PYTHON_NAME_H

#include "base/str.h"

/*
 * Parsed name of a span of class TSCOPE_SPAN_PYTHON: its function, and the purpose that such a
 * function has in training loops.
 */
struct python_name {
	struct str function; /* "Logger.info", "<module>", "time.sleep"; never empty in a name */
	struct str file;     /* its path as in the name, or "": C functions have none */
};

/* Parses "Logger.info (/usr/lib/…/__init__.py:9)", "logging/__init__.py(9): info", "time.sleep". */
struct python_name tsi_python_name(struct str name);

/* The module's name of "nn.Module: Linear_3", "Linear_3"; empty for other names. */
struct str tsi_module_name(struct str name);

/* Is it a line of a file that belongs neither to PyTorch, nor to Python, nor to its packages? */
bool tsi_is_user_frame(struct str name);

/* Place of a thread by its frame's name. */
enum frame_place { FRAME_NOWHERE, FRAME_MODULE, FRAME_USER };
enum frame_place tsi_frame_place(struct str name);

enum python_work {
	PYTHON_OTHER,
	/* Causes that keep a thread from the work itself; a step could do without most of them. */
	PYTHON_DATA,
	PYTHON_LOGGING,
	PYTHON_CHECKPOINT,
	PYTHON_SYNC, /* waits for the device */
	PYTHON_COMM, /* calls of torch.distributed */
	PYTHON_COMPILE,
	PYTHON_GC,
	PYTHON_WAITING, /* for time, a lock, a queue, a file: by tsi_is_idle_frame(), not here */
	PYTHON_STALL_COUNT,
	/* The work itself. */
	PYTHON_FORWARD = PYTHON_STALL_COUNT,
	PYTHON_BACKWARD,
	PYTHON_OPTIMIZER,
	PYTHON_OPTIMIZER_STEP, /* the one call that is made for each step */
};

/* By tables of files and functions of PyTorch and of what is used with it. */
enum python_work tsi_classify_python(struct str name);

/* Takes a name that is parsed already; pairs: of all of it. */
enum python_work tsi_python_work(const struct python_name *name, const struct letter_pairs *pairs);

#endif
