tscope trace --step-marker aten::linear data/two_steps.json
