/* SPDX-License-Identifier: MIT */
/* Flight-recorder dumps beside the traces of a run: the hang they show is the run's. */
#include "session/run.h"

#include "hang/hang_file.h"

static void add_other(struct run_members *members, const struct tscope_hang_input *input)
{
	members->others[members->other_count++] = (struct run_other){
		.shown = { .path = input->path,
			   .reason = input->failure->message,
			   .is_problem = true,
			   .is_named = input->is_named },
		.error = input->failure,
	};
}

static void list_inputs(struct run_hang *ret, struct run_members *members)
{
	const struct tscope_hang *hang = ret->hang;

	for (size_t i = 0; i < hang->input_count; i++) {
		const struct tscope_hang_input *input = &hang->inputs[i];

		if (input->failure) {
			add_other(members, input);
			continue;
		}
		ret->inputs[ret->input_count++] = (struct tscope_run_input){
			.kind = TSCOPE_INPUT_DUMP,
			.path = input->path,
			.format = "flight_recorder",
			.compression = input->compression,
			.source_bytes = input->source_bytes,
			.bytes = input->bytes,
			.event_count = input->entry_count,
			.dropped_count = input->dropped_count,
			.rank = input->rank,
			.note = input->is_superseded ? "another dump of this rank counts" : "",
		};
	}
}

enum tscope_status tsi_join_hang(struct run_hang *ret, const struct run_files *files,
				 struct run_members *members,
				 const struct tscope_run_options *options, struct run_notes *notes,
				 struct tscope_error *err)
{
	struct arena *arena = notes->arena;
	struct run_files dumps = { .items = tsi_arena_new(arena, files->count,
							  sizeof(*dumps.items)) };
	enum tscope_status status;

	for (size_t i = 0; dumps.items && i < files->count; i++)
		if (files->items[i].kind == RUN_FILE_DUMP)
			dumps.items[dumps.count++] = files->items[i];
	if (dumps.count == 0)
		return tsi_arena_status(arena, err);
	status = tsi_hang_open(&ret->hang, &dumps, dumps.items[0].path, &options->trace, err);
	if (status != TSCOPE_OK)
		return status;
	ret->inputs = tsi_arena_new(arena, ret->hang->input_count, sizeof(*ret->inputs));
	if (!ret->inputs)
		return tsi_arena_status(arena, err);
	list_inputs(ret, members);
	if (ret->hang->model.dump_count == 0)
		return TSCOPE_OK;
	if (ret->hang->verdict.kind == HANG_UNDECIDED)
		tsi_run_note(notes, "ranks wait in a collective, and these dumps do not show why: "
				    "collect those of all ranks (`tscope hang` shows more)");
	status = tsi_look_into_trace(ret->hang, members, options, err);
	if (status != TSCOPE_OK)
		return status;
	return tscope_hang_analyze(&ret->analysis, ret->hang, &options->analysis, err);
}

void tsi_run_hang_deinit(struct run_hang *hang)
{
	tscope_analysis_free(hang->analysis);
	tscope_hang_free(hang->hang);
}
