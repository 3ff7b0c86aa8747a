/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_STACK_SITE_H
#define TSCOPE_MODEL_MEMORY_STACK_SITE_H

#include "base/arena.h"
#include "base/intern.h"
#include "model/memory/snapshot.h"

enum { LATEST_SITE_BITS = 10 };

/*
 * Where an allocation comes from, in words: the site of a stack is its innermost frame of
 * the user's own code, "train.py:41:step" with the file's whole path, and with more depth the
 * frames of the user that called it, "… < model.py:12:forward". Frames of torch itself, of
 * Triton, of the import machinery and of generated code are folded. Where no frame is the
 * user's, the innermost of Python (with more depth, those of Python that called it), else one
 * frame of autograd's nodes (…Backward, AccumulateGrad), of operators (at::_ops::…), of what is
 * not the allocator's own, or of all. "" without frames.
 * Each text, frame and stack is looked at once, and most stacks not even that: a pickle repeats
 * them, and they share their frames with the first.
 */
struct stack_sites {
	const struct snapshot *snapshot;
	unsigned depth;      /* frames in a site */
	struct str filter;   /* a stack without this text in a file or name is "(other)"; "": all */
	struct intern texts; /* of sites */
	size_t text_bytes;   /* of them; sites beyond a limit are "(other)", too */
	struct plain_pick frame_pick;
	uint32_t *text_marks;  /* by text: what it means as a file or a name; 0: not yet known */
	unsigned char *frames; /* by object: what it is as a frame; 0: not yet known */
	unsigned char *roles;  /* by object: role of the stack + 1; 0: not yet known */
	uint32_t *sites;       /* by object: id + 1; 0: not yet known */
	/* By a hash of it: memory that holds frames, and the site of the stacks that share it. */
	struct latest_site {
		uint32_t items_id, site;
	} latest[1 << LATEST_SITE_BITS];
	bool has_checkpoint; /* a frame that was met runs activation checkpointing */
	char *text;          /* room for a site */
	struct arena *arena;
};

/* Frames in a site at most; longer names and files are cut, see stack_site.c. */
enum { SITE_DEPTH_MAX = 64 };

/*
 * depth 0: 1. snapshot and filter are borrowed. All but texts lies in the arena, which remembers
 * where memory ran out: then nothing but deinit may be called.
 */
void tsi_stack_sites_init(struct stack_sites *sites, const struct snapshot *snapshot,
			  unsigned depth, struct str filter, struct arena *arena);
void tsi_stack_sites_deinit(struct stack_sites *sites);

/* The id of a stack's site in texts; 0, which is that of "", without memory. */
uint32_t tsi_stack_site(struct stack_sites *sites, struct plain_value stack);

/* Its text; lives as long as sites. */
struct str tsi_stack_site_text(const struct stack_sites *sites, uint32_t site);

/*
 * Why memory was taken, judged by the frames of the stack alone: a copy kept by a hook may be
 * taken for something else.
 */
enum stack_role {
	STACK_UNKNOWN,       /* no frames */
	STACK_PARAMETER,     /* a module being built, loaded or moved */
	STACK_OPTIMIZER,     /* within an optimizer's step: its state, mostly */
	STACK_BACKWARD,      /* within backward: gradients, mostly */
	STACK_FORWARD,       /* within the call of a module: activations, temporaries */
	STACK_KV_CACHE,      /* where an inference engine or transformers allocates it */
	STACK_COMMUNICATION, /* buffers of DDP's and FSDP's collectives */
	STACK_OTHER, /* frames, none of which says why: inputs, losses, a user's own tensors */
	STACK_ROLE_COUNT,
};

/* "unknown", "parameter", "kv_cache" … Never NULL. */
const char *tsi_stack_role_name(enum stack_role role);

/*
 * A frame of an optimizer, of autograd's engine, of a function named backward, of a key-value cache
 * or of what makes buffers of collectives decides, the innermost of them; not an optimizer's around
 * a call of a module, which runs a closure. Else one that builds, loads or moves modules or their
 * parameters, else a call of a module. The filter changes nothing.
 */
enum stack_role tsi_stack_role(struct stack_sites *sites, struct plain_value stack);

/* Room that texts are written to one after another. */
struct text_room {
	struct arena *arena;
	char *text;
	size_t capacity;
};

/* The part of a path behind the last slash, of either kind. */
struct str tsi_stack_file_name(struct str path);

/*
 * Writes a stack collapsed: outermost first, "file:line:name" with the file's own name alone,
 * joined by ";" (";" within becomes ":"), as torch's _memory_viz.memory() does. Controls and line
 * breaks become blanks. Valid until the next one; "" without memory.
 */
struct str tsi_stack_collapse(struct text_room *room, const struct snapshot *snapshot,
			      struct plain_value stack);

#endif
