tscope trace --full --step-marker aten::linear data/two_steps.json
