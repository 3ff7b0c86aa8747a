/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_RUN_H
#define TSCOPE_SESSION_RUN_H

#include <tscope/hang.h>

#include "analyze/saved_report.h"
#include "comm/replay.h"
#include "run/group.h"
#include "session/session.h"

/*
 * The stages that make a run of files that were read, in the order in which open_run.c calls them.
 * Each returns its own part, made of what those before it returned. Where memory runs out, the
 * arena of the notes says so.
 */

/* ---- group: which rank and window each file is ---- */

/* A file that is not in the figures. */
struct run_other {
	struct tscope_run_other shown;
	const struct tscope_error *error; /* of one that was to be read; else NULL */
};

struct run_members {
	struct loaded **loaded; /* by run_item.file: in the order of the files */
	struct load **loads;    /* they are taken from, by the same index */
	struct run_item *items; /* in the order of rank and window */
	size_t read_count;      /* of all these */
	size_t item_count;      /* of the items, those that take part; the strays follow */
	size_t step_item_count; /* of these, those of ranks with steps; memory's and apart follow */
	struct run_other *others;
	size_t other_count;
};

/* TSCOPE_E_DAMAGED: two files claim one rank; the items are there all the same. */
TSI_MUST_CHECK
enum tscope_status tsi_group_members(struct run_members *ret, const struct run_sources *sources,
				     unsigned quorum_percent, struct run_notes *notes,
				     struct tscope_error *err);

static inline struct loaded *tsi_member(const struct run_members *members, size_t item)
{
	return members->loaded[members->items[item].file];
}

/* The item behind those of the rank of `first`, among the ones with steps. */
size_t tsi_end_of_rank(const struct run_members *members, size_t first);

/*
 * Which trace provides the steps where several profilers recorded a rank: the highest value. 0 for
 * what is none.
 */
enum trace_depth { DEPTH_PYTHON, DEPTH_COMPOSER, DEPTH_TORCH, DEPTH_COUNT };
unsigned char tsi_depth_of(const struct loaded *loaded);

/*
 * Finishes the names of metrics by their folders, marks values whose steps count something else
 * than the job's, and notes how many there are. Before metrics are compared.
 */
void tsi_prepare_metrics(const struct run_members *members, struct run_notes *notes);

/* ---- check: are they files of one job? ---- */

/* Two files that cannot be of one run, by their paths; NULL, NULL: there are none. */
struct run_conflict {
	const char *first, *second;
};

/*
 * Looks for members, grouped or not, that contradict each other by what they say, and lie in
 * different folders. Traces that overlap in time do not count.
 */
struct run_conflict tsi_find_conflict(const struct run_members *members, struct arena *arena);

/* TSCOPE_E_DAMAGED: members disagree on how many ranks there are. */
TSI_MUST_CHECK
enum tscope_status tsi_check_worlds(const struct run_members *members, struct tscope_error *err);

/* TSCOPE_E_DAMAGED: metrics contradict others, or step records. */
TSI_MUST_CHECK
enum tscope_status tsi_check_metrics(const struct run_members *members, struct arena *arena,
				     struct tscope_error *err);

/* ---- separate: which traces can be of one job? ---- */

#define RUN_OF_NONE UINT32_MAX

struct run_partition {
	uint32_t *run_of;     /* by index of members->loaded; RUN_OF_NONE: it may be of several */
	size_t count;         /* runs; 1: nothing speaks against one */
	const char **reasons; /* by run: why it is not one with an earlier run; NULL of the first */
	const char **notes;   /* what is taken for one run though it is not certain to be one */
	size_t note_count, note_capacity;
};

/*
 * Puts traces into one run only where nothing that they say of world, backend, device, process,
 * steps and time speaks against it; everything else goes with the traces of its folder. O(n log n)
 * for few runs; it stops at one more than open_runs.c opens, and the rest is of RUN_OF_NONE.
 * Where memory runs out the arena says so.
 */
void tsi_separate(struct run_partition *ret, const struct run_members *members,
		  struct arena *arena);

/* ---- join: one series of steps for each rank ---- */

/* By kind of file about memory: the one that speaks for a rank or a run, or NULL. */
struct run_memory {
	const struct tscope_analysis *by_kind[TSCOPE_MEMORY_KIND_COUNT];
};

struct run_rank {
	struct loaded *trace;    /* its longest window, or NULL */
	struct loaded **windows; /* all traces that its steps are made of, in order */
	size_t window_count;
	const struct tscope_analysis **analyses; /* of them, once somebody asks for `analysis` */
	/* By depth, the longest of the traces that the steps are not made of; or NULL. */
	struct loaded *secondary[DEPTH_COUNT];
	struct run_memory memory;
	struct tscope_analysis *analysis; /* NULL: nobody has asked for it */
};

struct run_ranks {
	struct step_series *series; /* ascending by rank */
	struct run_rank *ranks;     /* likewise */
	size_t count;
	int64_t *left_out; /* numbers of further ranks that were read, ascending */
	size_t left_out_count;
	struct run_memory memory;     /* of the run */
	struct tscope_error *failure; /* what kept facts of a rank from being made; _OK: nothing */
};

/* Counts the steps of windows on, where no mark numbers them; before ranks are joined. */
void tsi_count_steps(const struct run_members *members, struct run_notes *notes);

/* Takes the steps from the members. On failure ret is to be deinited, too. */
TSI_MUST_CHECK
enum tscope_status tsi_join_ranks(struct run_ranks *ret, const struct run_members *members,
				  struct run_notes *notes, struct tscope_error *err);
void tsi_run_ranks_deinit(struct run_ranks *ranks);

/*
 * Leaves ranks out whose trace breaks off, while two or more, and most, are whole; and those that
 * lack half or more of the steps that a quorum of the ranks has: of few ranks (under 100, unless
 * quorum_percent says otherwise) none of these. Their files become others of the members.
 */
TSI_MUST_CHECK
enum tscope_status tsi_leave_ranks_out(struct run_ranks *ranks, struct run_members *members,
				       unsigned quorum_percent, struct arena *arena,
				       struct tscope_error *err);

/* Joins the files of metrics at [first, end) of the items to the steps of their rank. */
void tsi_join_metrics(struct step_series *steps, const struct run_members *members, size_t first,
		      size_t end);

/* Gives each role to one metric of a rank, once all of its steps are there. */
TSI_MUST_CHECK
enum tscope_status tsi_settle_metrics(const struct run_ranks *ranks,
				      const struct run_members *members,
				      const struct tscope_run_options *options,
				      struct run_notes *notes, struct tscope_error *err);

/* Keeps a trace that the steps of its rank are not made of. */
void tsi_keep_secondary(struct run_rank *rank, struct loaded *loaded);

/* Lets the secondary traces answer where the analysis of the rank has nothing to say. */
void tsi_attach_secondary(const struct run_rank *rank);

/*
 * Lets a file speak for its kind if none does yet, or if it is more specific than the one that
 * does: it has an OOM, else a higher peak. It must outlive memory.
 */
void tsi_run_memory_offer(struct run_memory *memory, const struct loaded *loaded);

/* Lets the files answer for what the analysis of a rank or run has no figures of. */
void tsi_run_memory_put(const struct run_memory *memory, struct tscope_analysis *analysis);

/* Is it a snapshot in which a request for memory failed? */
bool tsi_has_failed_request(const struct loaded *loaded);

/* Says so where steps were read and every one is left out of the figures. */
void tsi_note_no_step(const struct run_ranks *ranks, struct run_notes *notes);

/* Notes which files about memory and of metrics a joined run has that its report does not show. */
void tsi_note_files(const struct run_members *members, const struct run_ranks *ranks,
		    struct run_notes *notes);

/* ---- world: what the traces of all ranks say together ---- */

struct run_world {
	struct rank_log *logs; /* by rank; empty where it has no trace. NULL of a single rank */
	struct world *world;   /* of ranks with traces, where two or more communicate; or NULL */
	struct replay_graph *replay_graph; /* of it, where anything matches; or NULL */
};

/*
 * Joins the logs of the ranks' traces to a world, if two or more communicate, writes into the
 * ranks' budgets what part of communication is waiting, and makes the graph of replays. On failure
 * ret is to be deinited, too.
 */
TSI_MUST_CHECK
enum tscope_status tsi_join_world(struct run_world *ret, const struct run_members *members,
				  const struct run_ranks *ranks, struct arena *arena,
				  struct tscope_error *err);
void tsi_run_world_deinit(struct run_world *world, size_t rank_count);

/* Texts of tscope_run_missing_ranks(), _alone() and _incomplete(), or NULL. */
const char *tsi_missing_ranks(const struct run_ranks *ranks, struct arena *arena);
const char *tsi_lone_rank(const struct run_ranks *ranks, struct arena *arena);
const char *tsi_incomplete(const struct run_members *members, struct arena *arena);

/* ---- hang: what flight-recorder dumps beside say ---- */

/* Reads and judges dumps; path: for messages. As tscope_hang_open(). */
TSI_MUST_CHECK
enum tscope_status tsi_hang_open(struct tscope_hang **ret, const struct run_files *dumps,
				 const char *path, const struct tscope_trace_options *options,
				 struct tscope_error *err);

/* The dumps among a run's files. */
struct run_hang {
	struct tscope_hang *hang; /* NULL: there are none */
	struct tscope_analysis *analysis;
	struct tscope_run_input *inputs; /* those that were read */
	size_t input_count;
};

/*
 * Opens the dumps among the files; what cannot be read goes to the other files of the members. ret
 * is to be deinited on failure, too.
 */
TSI_MUST_CHECK
enum tscope_status tsi_join_hang(struct run_hang *ret, const struct run_files *files,
				 struct run_members *members,
				 const struct tscope_run_options *options, struct run_notes *notes,
				 struct tscope_error *err);
void tsi_run_hang_deinit(struct run_hang *hang);

/* Reads the culprit's trace again, if it lasts as long as others wait, for what it does then. */
TSI_MUST_CHECK
enum tscope_status tsi_look_into_trace(struct tscope_hang *hang, const struct run_members *members,
				       const struct tscope_run_options *options,
				       struct tscope_error *err);

/* ---- the run ---- */

/* A report that was saved, in the place of files. */
struct run_saved {
	struct saved_report report;
	struct tscope_run_input input;
	struct tscope_error damage;
};

struct tscope_run {
	struct arena paths; /* what was found, where the run does not share it with others */
	struct run_paths sources;
	struct arena arena;
	struct run_notes notes;
	struct run_members members;
	struct run_ranks ranks;
	struct run_world world;
	struct run_hang hang;
	struct step_series slowest; /* of several ranks */
	/* As tscope_run_missing_ranks() and so on. */
	const char *missing_ranks, *incomplete, *alone, *unsaved_ranks;
	const char *apart;       /* as tscope_run_apart() */
	struct run_saved *saved; /* NULL: it was opened of files */
	struct tscope_analysis *analysis;
	struct tscope_analysis_options analysis_options;
	bool is_named;    /* as tscope_run_is_named() */
	bool owns_loaded; /* members.loaded; else they are the session's */
	/* Facts of the trace that is still open, some to be computed when asked for; or NULL. */
	const struct tscope_analysis *waiting;
};

void tsi_saved_run_free(struct tscope_run *run); /* what it has of a saved report */

/* The files that a run is made of. */
struct run_request {
	struct run_files files; /* of the session; its arena stays there */
	const char *path;       /* that was asked for, for messages; the first of path_count */
	size_t path_count;
	const char *apart; /* as tscope_run_apart() */
};

/* Finds the files. The caller frees session->found.arena, on failure, too. */
TSI_MUST_CHECK
enum tscope_status tsi_session_open(struct session *session, const char *const *paths, size_t count,
				    const struct tscope_run_options *options,
				    struct tscope_error *err);

/*
 * Makes a run of files. The session may go then, but not what it found. *ret is what there is of
 * the run on failure, too: the caller frees it; NULL: no memory.
 */
TSI_MUST_CHECK
enum tscope_status tsi_run_open(struct tscope_run **ret, struct session *session,
				const struct run_request *request, struct tscope_error *err);

#endif
