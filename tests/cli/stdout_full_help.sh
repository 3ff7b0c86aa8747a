[ -e /dev/full ] || exit 77
tscope --help >/dev/full
