# SPDX-License-Identifier: MIT
# For the sessions beside this file, each run as "SESSION.sh TSCOPE TESTDATA":
#
#   ask STATUS 'COMMAND'   what the user types, with tscope on the PATH and data/ = testdata/
#   says 'PATTERN'         a line of the answer, standard error included, matches (grep -E)
#   keeps_quiet_about 'PATTERN'
#   fits LINES COLUMNS     so large is the answer at most

set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
ln -s "$(realpath "$1")" "$folder/tscope"
ln -s "$(realpath "$2")" "$folder/data"
cd "$folder" || exit 1
PATH=$folder:$PATH
export LC_ALL=C.UTF-8 COLUMNS=80
failures=0

complain() {
	echo "after \"$question\": $1"
	cat answer
	failures=$((failures + 1))
}

ask() {
	question=$2
	sh -c "$question" >answer 2>&1 </dev/null
	status=$?
	[ "$status" -eq "$1" ] || complain "exit status $status, expected $1"
}

says() {
	grep -Eq -- "$1" answer || complain "no line matches \"$1\""
}

keeps_quiet_about() {
	if grep -Eq -- "$1" answer; then complain "a line matches \"$1\""; fi
}

fits() {
	[ "$(wc -l <answer)" -le "$1" ] || complain "more than $1 lines"
	[ "$(wc -L <answer)" -le "$2" ] || complain "more than $2 columns"
}

# Skips the session where the program was built without a library.
needs() {
	tscope --version | grep -q "^$1 [0-9]" || exit 77
}

# Ends the session.
leave() {
	exit $((failures > 0))
}
