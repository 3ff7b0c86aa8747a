tscope report --format json data/serving_capture
