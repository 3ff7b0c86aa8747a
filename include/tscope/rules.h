/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_H
#define TSCOPE_RULES_H

#include <tscope/analysis.h>

/*
 * Rules read facts and say what is wrong and what to do. A rule that fires gives
 * a finding; findings of related causes are merged, and ranked by the time that
 * each wins back, weighted by how certain it is.
 */
enum tscope_severity {
	TSCOPE_SEVERITY_LOW,
	TSCOPE_SEVERITY_MED,
	TSCOPE_SEVERITY_HIGH,
};

/* "low", "med", "high": never NULL. */
const char *tscope_severity_name(enum tscope_severity severity);

/* How certain the cause and the gain of a finding are. */
enum tscope_confidence {
	TSCOPE_CONFIDENCE_LOW,
	TSCOPE_CONFIDENCE_MED,
	TSCOPE_CONFIDENCE_HIGH,
};

/* "low", "med", "high": never NULL. */
const char *tscope_confidence_name(enum tscope_confidence confidence);

/* Where the gain of a finding comes from. */
enum tscope_gain_basis {
	TSCOPE_GAIN_MEASURED,  /* time that was lost */
	TSCOPE_GAIN_SIMULATED, /* the run without the loss, replayed */
	TSCOPE_GAIN_BOUND,     /* no more than this */
};

/* "measured", "simulated", "bound": never NULL. */
const char *tscope_gain_basis_name(enum tscope_gain_basis basis);

/* A number of a rule that the user may change: "threshold" first, "high" … */
struct tscope_rule_parameter {
	const char *name; /* NULL: the list ends here */
	double value;
	const char *meaning; /* "share of the step at which it fires" */
};

enum { TSCOPE_RULE_MAX_PARAMETERS = 4, TSCOPE_RULE_MAX_FACTS = 6 };

struct tscope_rule_def {
	const char *id;      /* "TIMING.DATALOADER_BOUND" */
	const char *summary; /* one line: "the step waits for the data loader" */
	const char *trigger; /* when it fires and how severe it is then, with parameters in words */
	const char *meaning; /* why it matters */
	const char *advice;  /* what to do tomorrow */
	/* In its place for an inference engine's users, and for inference without one; or NULL. */
	const char *serving_advice, *inference_advice;
	const char *example; /* a case with numbers, and what the rule says of it */
	struct tscope_rule_parameter parameters[TSCOPE_RULE_MAX_PARAMETERS];
	/* Ids of the facts that it cannot do without, and that must be reliable. */
	const char *facts[TSCOPE_RULE_MAX_FACTS];
};

size_t tscope_rule_count(void);
const struct tscope_rule_def *tscope_rule(size_t index);
/* The rule with this id, upper or lower case, or NULL. */
const struct tscope_rule_def *tscope_rule_find(const char *id);

/* Changes to the rules, as the user wrote them: "ID=off|low|med|high", "ID.threshold=0.3". */
struct tscope_rule_options {
	const char *const *changes;
	size_t change_count;
};

/* Checks a change for tscope_diagnose(). TSCOPE_E_FORMAT: what is wrong with it. */
enum tscope_status tscope_rule_change_check(const char *change, struct tscope_error *err);

/*
 * A parameter of a rule as these changes leave it, or its default; options may
 * be NULL. NaN where there is no such rule or parameter.
 */
double tscope_rule_value(const struct tscope_rule_options *options, const char *id,
			 const char *parameter);

struct tscope_diagnosis;

/*
 * Evaluates all rules on an analysis, which must outlive the diagnosis. options
 * may be NULL. TSCOPE_E_FORMAT: a change that tscope_rule_change_check() does not take.
 */
enum tscope_status tscope_diagnose(struct tscope_diagnosis **ret,
				   const struct tscope_analysis *analysis,
				   const struct tscope_rule_options *options,
				   struct tscope_error *err);
void tscope_diagnosis_free(struct tscope_diagnosis *diagnosis);

/* A fact that a finding rests on. */
struct tscope_evidence {
	const char *fact; /* id */
	struct tscope_value value;
	enum tscope_unit unit;
};

/* Subject of a finding. NULL and -1: it concerns none of these, or nothing names it. */
struct tscope_subject {
	int64_t rank, device, step;
	const char *op, *kernel, *call; /* operator, kernel, call of the driver or runtime */
	const char *module, *source;    /* "GPT/Block.3", "train.py(41): step" */
};

/* A place to look at in a viewer: as the file has it, in ns where the file has µs. */
struct tscope_place {
	const char *file; /* "" where it is not known */
	int64_t start_ns, duration_ns;
};

enum { TSCOPE_MAX_PLACES = 5 };

/* Strings live as long as the diagnosis. */
struct tscope_finding {
	const struct tscope_rule_def *rule;
	const char *cause; /* "data_loader": one of a closed list (tscope-rules(7)) */
	enum tscope_severity severity;
	enum tscope_confidence confidence;
	const char *title;  /* "waiting for data takes 41.2 % of the step" */
	const char *detail; /* further figures in words, or "" */
	const char *advice;
	bool is_gain_in_title; /* nothing need repeat it beside the title */
	bool has_gain;
	bool is_tentative; /* too few kernels and copies were recorded: no more than low */
	/* A step's time won back by this finding alone: gains of all findings add up to no more
	 * than the step. */
	int64_t gain_ns;
	enum tscope_gain_basis gain_basis;
	struct tscope_subject subject;
	const struct tscope_place *places; /* the worst first */
	size_t place_count;                /* up to TSCOPE_MAX_PLACES */
	const struct tscope_evidence *evidence;
	size_t evidence_count;
	/* Rules that fired for the same cause and were merged into this finding. */
	const struct tscope_rule_def *const *also;
	size_t also_count;
};

size_t tscope_diagnosis_finding_count(const struct tscope_diagnosis *diagnosis);
struct tscope_finding tscope_diagnosis_finding(const struct tscope_diagnosis *diagnosis,
					       size_t index);

/*
 * Fewer kernels and copies were recorded than any step of a model has: then no finding on
 * performance is above low.
 */
bool tscope_diagnosis_is_tentative(const struct tscope_diagnosis *diagnosis);

/* Whether the rule fired, even if merged into another finding. */
bool tscope_diagnosis_fired(const struct tscope_diagnosis *diagnosis,
			    const struct tscope_rule_def *rule);

/* A rule that could not be evaluated, or was switched off. */
struct tscope_not_evaluated {
	const struct tscope_rule_def *rule;
	const char *reason; /* "no overlap.exposed_ns: no trace was read" */
	const char *fact;   /* its id where one is absent or in doubt, else NULL */
	bool is_undecided;  /* the facts exist but are undecided: too few steps, or in doubt */
	bool is_suspected;  /* so few as they are, they look as if it should fire */
	enum tscope_severity worst; /* that its finding could have */
};

size_t tscope_diagnosis_not_evaluated_count(const struct tscope_diagnosis *diagnosis);
struct tscope_not_evaluated tscope_diagnosis_not_evaluated(const struct tscope_diagnosis *diagnosis,
							   size_t index);

#endif
