# The beginning of every script of a trial: . "$(dirname "$0")/../Harness/trial.sh"
#
#     prepare NAME…        what .ci/prepare installs by these names
#     packages NAME…       packages of PyPI, in the versions of Tests/Harness/packages, beside the protobuf of the harness
#     perch debug|release  sets PERCH to a program that is there: the caller's, or one that is built
#     workspace            sets WORK to a directory that is gone at the end, or to KEEP
#     python SCRIPT…       runs a script of this folder with the harness on its path; `|| ended` shows the end of $WORK/server.log
#
# Its scripts read PERCH and WORK: see trial.py.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export PYTHONPATH=$root/Tests/Harness:$root/Tests/Interop:$here PYTHONDONTWRITEBYTECODE=1

fail() {
    echo "$(basename "$here"): $*" >&2
    exit 1
}

prepare() { "$root/.ci/prepare" "$@"; }

packages() {
    local each wanted=()
    # The harness itself reads frames of perch/1 with protobuf.
    for each in protobuf "$@"; do
        wanted+=("$(grep "^$each==" "$root/Tests/Harness/packages")") || fail "Tests/Harness/packages has no $each"
    done
    "$root/.ci/python" "${wanted[@]}"
}

# The path of a program of the debug build, which is built if it is not there.
program() {
    local path
    path=$(cd "$root" && swift build --show-bin-path)/$1
    [ -x "$path" ] || (cd "$root" && swift build --product "$1") >&2
    echo "$path"
}

perch() {
    if [ -z "${PERCH:-}" ] && [ "$1" = debug ]; then
        PERCH=$(program perch)
    elif [ -z "${PERCH:-}" ]; then
        (cd "$root" && PERCH_PROFILE=on swift build -c release --product perch) >&2
        PERCH=$root/.build/release/perch
    fi
    [ -x "$PERCH" ] || fail "$PERCH is not there or cannot be run"
    PERCH=$(realpath "$PERCH")
    export PERCH
}

workspace() {
    WORK=${KEEP:-}
    if [ -z "$WORK" ]; then
        WORK=$(mktemp -d)
        # What still ends, such as a process of a killed database, may write meanwhile: that is no failure of the trial.
        trap 'rm -rf "$WORK" || true' EXIT
    fi
    mkdir -p "$WORK"
    WORK=$(realpath "$WORK")
    export WORK
}

python() {
    local script=$1
    shift
    "$root/.build/venv/bin/python" "$here/$script" "$@"
}

# Shows the end of the server's log, and fails: python … || ended
ended() {
    echo "$(basename "$here"): the last lines of the server:" >&2
    tail -n 15 "$WORK/server.log" >&2 || true
    exit 1
}

# Compiles Tests/Harness/machine.c, by which a process gets another clock, a full disk or failing syncs.
machine() {
    "$(dirname "$(readlink -f "$(command -v swift)")")/clang" -O1 -Wall -Werror -shared -fPIC -o "$WORK/machine.so" \
        "$root/Tests/Harness/machine.c" -ldl
    chmod 755 "$WORK" "$WORK/machine.so"
}
