# A trace without an event.
tscope trace data/empty_window.json
