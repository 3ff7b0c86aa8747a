# What Hugging Face's Trainer leaves: its last state, and one in a checkpoint, which says the same; the same as lines.
tscope report --full data/run_trainer
python3 -c 'import json
for record in json.load(open("data/run_trainer/trainer_state.json"))["log_history"]:
    print(json.dumps(record))' >metrics.jsonl
tscope diff data/run_trainer metrics.jsonl
tscope trace data/run_trainer/trainer_state.json
