tscope report data/serving_capture
tscope report --show graphs,roofline data/serving_capture
