# Traces of all ranks of a pipeline with one stage that has more to do, and of a mixture of experts of
# which one rank's receive most; of the pipeline the budget, too: nobody divides its sends.
tscope --version | grep -q '^zlib [0-9]' || exit 77
for set in ranks_pipeline ranks_experts; do
	tscope report data/$set | sed -n "/^  [A-Z]/,/^  where/p"
done
tscope report --full data/ranks_pipeline | sed -n "/^● BUDGET/,/^$/p"
