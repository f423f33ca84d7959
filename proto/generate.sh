#!/bin/sh
# Writes Sources/CPerchProto anew from the contract: a .c file under perch/, its header under include/perch/.
#
#     proto/generate.sh            writes what changed, and takes away what the contract no longer has
#     proto/generate.sh --check    writes nothing; fails, naming the files, where the two differ
#
# The generated C is committed so that a clean clone builds without a generator. `make lint` runs the check.
set -eu
cd "${0%/*}/.."
target=Sources/CPerchProto

case "$*" in
'') check=false ;;
--check) check=true ;;
*)
    echo "usage: proto/generate.sh [--check]" >&2
    exit 2
    ;;
esac

.ci/prepare proto
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
(
    cd proto
    find perch -name '*.proto' | LC_ALL=C sort | xargs protoc-c --c_out="$fresh" -I.
)
(
    cd "$fresh"
    find perch -name '*.pb-c.h' | while IFS= read -r header; do
        mkdir -p "include/${header%/*}"
        mv "$header" "include/$header"
    done
)

# Paths, relative to the target, of what is missing, changed, or no longer in the contract.
mkdir -p $target
different=$(
    { (cd "$fresh" && find . -type f) && (cd $target && find . -type f); } | LC_ALL=C sort -u | while IFS= read -r file; do
        cmp -s "$fresh/$file" "$target/$file" || printf '%s\n' "${file#./}"
    done
)

if [ -z "$different" ]; then
    echo "proto/generate.sh: $target agrees with the contract."
elif $check; then
    echo "$different" | sed "s|^|proto/generate.sh: differs from the contract: $target/|" >&2
    echo "proto/generate.sh: run make proto and commit what it writes. Each version of the generator writes another" \
        "header; here it is $(protoc-c --version | head -n 1), and Debian 12 has protobuf-c 1.4.1." >&2
    exit 1
else
    # What did not change keeps its time, so that little is compiled again.
    echo "$different" | while IFS= read -r file; do
        if [ -e "$fresh/$file" ]; then
            mkdir -p "$target/$(dirname "$file")"
            cp "$fresh/$file" "$target/$file"
            echo "proto/generate.sh: wrote $target/$file"
        else
            rm "$target/$file"
            echo "proto/generate.sh: removed $target/$file, which the contract no longer has"
        fi
    done
fi
