/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_MODULE_PATH_H
#define TSCOPE_MODEL_TRACE_MODULE_PATH_H

#include "base/str.h"

/*
 * Paths of modules by the names that their parents have for them, "layers.3.attention.wq", as
 * annotations and arguments of events say them. Nothing here is copied: all texts are parts of
 * those given.
 */

enum module_edge {
	EDGE_NONE,  /* the annotation is around all that it is about */
	EDGE_BEGIN, /* ... or around the hook before the module's code, that after it is an END */
	EDGE_END,
	EDGE_HOOK, /* ... or around some hook of the module: the module is not called in it */
};

enum mark_kind {
	MARK_NONE,
	MARK_FSDP_MODULE, /* "FSDP::pre_forward (layers.3)" */
	MARK_FSDP_UNIT,   /* "FullyShardedDataParallel.forward": a module without a name */
	MARK_PATH,        /* a user's annotation that is such a path: "layers.3.attention" */
};

struct module_mark {
	enum mark_kind kind;
	enum module_edge edge;
	struct str path; /* of MARK_FSDP_MODULE and MARK_PATH */
};

/* The module mark in an annotation's name. O(length). */
struct module_mark tsi_module_mark(struct str annotation);

/* Is it names with dots between them? "fc" is one. */
bool tsi_is_module_path(struct str text);

/* Takes the first name off a path. False: there is no more. */
bool tsi_path_next(struct str *path, struct str *name);

/*
 * For a TorchScript hierarchy "TOP(Net)::forward.fc(Linear)::forward": first the class of the
 * outermost module, "Net", then the names of those in it. Functions are left out.
 */
bool tsi_hierarchy_next(struct str *hierarchy, struct str *name);

/* Is it a number, as modules in lists have it for a name? */
bool tsi_is_module_number(struct str name);

/*
 * From an operator's call stack, "a.py(3): f;b.py(7): g": the innermost frame of the user's code;
 * empty if there is none. The line is the one that was running.
 */
struct str tsi_user_frame(struct str call_stack);

/*
 * Writes the innermost frame of the user's code in a traceback, whose last line is the innermost:
 * '  File "/job/net.py", line 7, in forward' as "/job/net.py(7): forward". Returns its length, 0:
 * there is none. out has room for traceback.length bytes.
 */
size_t tsi_traceback_frame(struct str traceback, char *out);

#endif
