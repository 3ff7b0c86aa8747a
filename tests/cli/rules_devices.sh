tscope rules --devices
# No line is longer than a terminal is wide.
tscope rules --devices | awk 'length($0) > 80'
