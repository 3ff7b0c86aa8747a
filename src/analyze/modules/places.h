/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MODULES_PLACES_H
#define TSCOPE_ANALYZE_MODULES_PLACES_H

#include "base/arena.h"
#include "base/pair_set.h"
#include "timeline/timeline.h"

struct graph_join; /* analyze/ops/graph_join.h */

/*
 * Where each thread of a trace is at each time: in which module, and in which function of the
 * user's code. Modules are the frames "nn.Module: X" of the profiler; the path of those that are
 * open at a time is a node of one tree. Without such frames they are what operators of TorchScript
 * say in "Module Hierarchy", else what FSDP and, where they are paths of modules, the user's own
 * annotations say: of these a path is a node, wherever it opens. A kernel of a graph that is
 * annotated with the path of a module is in that one. Functions are frames, or else those that
 * call stacks of operators name; a kernel that Inductor compiled of one function's code is of that
 * one. A node of the backward pass is in the place of the forward operator with its sequence
 * number, where that is known; forward code that runs again within it is in its own modules, as
 * part of the backward pass. Kernels of a replayed graph that was joined to its capture are where
 * they were launched then.
 */
struct place {
	uint32_t node;   /* index in places.nodes; 0: in no module */
	uint32_t source; /* name id of the innermost frame of the user's code, 0: in none */
	bool is_backward;
};

/* Sources of module information. */
enum module_source {
	MODULE_FRAMES = 1 << 0,
	MODULE_HIERARCHY = 1 << 1,
	MODULE_KERNELS = 1 << 2, /* annotations of graphs' kernels */
	MODULE_FSDP = 1 << 3,
	MODULE_ANNOTATIONS = 1 << 4, /* the user's */
};

/* A module as it was called below the modules around it. Parents come before their children. */
struct module_node {
	uint32_t parent; /* of a root, and of node 0: 0 */
	uint32_t depth;  /* of a root 1 */
	struct str text; /* "Linear_3", its class with a number; is_named: its name, "wq" or "3" */
	bool is_named;
	bool is_unit;  /* modules within it are not known, whatever it is */
	bool is_timed; /* its calls are known */
	/* Calls that began in the steps that count; of them those within the backward pass. */
	int64_t call_count, repeated_count;
};

/*
 * From a start on, up to the next one, the thread is in a place: points are many and places few, so
 * that a point has the number of its place.
 */
struct thread_places {
	int64_t *starts_ns; /* ascending; no two are equal */
	uint32_t *numbers;  /* for tsi_place_numbered() */
	size_t count;       /* of both */
	size_t start_capacity, number_capacity;
	bool has_modules, has_sources;
};

struct places {
	const struct tscope_timeline *timeline;
	struct module_node *nodes; /* [0] is outside of all modules */
	size_t node_count;
	unsigned sources;     /* enum module_source, those that say anything */
	uint32_t *path_nodes; /* by id of a text that says a path: node + 1; NULL: no such texts */
	struct pair_set numbered;      /* places of threads; 0 is nowhere */
	struct thread_places *threads; /* by host track */
	bool counts_all;               /* every step has a mark: then all count */
	const struct graph_join *join; /* or NULL */
	struct place *by_graph_node;   /* by node of join->set, of those that ran */
	bool has_kernel_sources;       /* kernels say whose code they are */
};

/*
 * NULL without memory, which the arena says, and where nothing says places. join: replays of
 * known graphs, which have places of their own; or NULL.
 */
const struct places *tsi_places_new(const struct tscope_timeline *timeline,
				    const struct graph_join *join, struct arena *arena);

static inline struct place tsi_place_numbered(const struct places *places, uint32_t number)
{
	const struct pair *pair = &places->numbered.pairs[number];

	return (struct place){ pair->second / 2, pair->first, pair->second % 2 };
}

/* Where the work of a device's row was launched, or captured; near: as for tsi_place_near(). */
struct place tsi_place_of_device(const struct places *places, uint32_t row, size_t *near);

/*
 * Where a thread is at a time; one that is no host thread is nowhere. O(1) soon behind the last
 * question for the thread: near, by host track, 0 at first.
 */
struct place tsi_place_near(const struct places *places, uint32_t track, int64_t t_ns,
			    size_t *near);

/* When it is somewhere else next, after t_ns; INT64_MAX: not any more. near: as above. */
int64_t tsi_place_next(const struct places *places, uint32_t track, int64_t t_ns, size_t *near);

/* Has every step a mark? Then all of them count. */
bool tsi_places_count_all(const struct tscope_timeline *timeline);

static inline bool tsi_place_step_counts(const struct places *places, uint32_t step)
{
	return places->counts_all || places->timeline->steps[step].mark == TSCOPE_STEP_COUNTED;
}

/* Does what began at a time count? step: of the last question, 0 at first. */
static inline bool tsi_place_time_counts(const struct places *places, int64_t t_ns, uint32_t *step)
{
	uint32_t found = tsi_timeline_step_near(places->timeline, t_ns, step);

	return found != NO_ROW && tsi_place_step_counts(places, found);
}

#endif
