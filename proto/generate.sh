#!/bin/sh
# Writes what is generated from the contract: C (protoc-c) and Swift (proto/generator) under Sources/, and Python (proto/generator)
# under proto/clients/.
#
#     proto/generate.sh            writes the files that changed, and removes those that the contract no longer has
#     proto/generate.sh --check    writes nothing; fails and names the files that differ
#     proto/generate.sh --count    writes nothing; counts the hand-written lines that name a field of the contract
#
# The generated files are committed, so a clean clone builds without a generator. `make lint` runs the check.
set -eu
cd "${0%/*}/.."

count=false
case "$*" in
'') check=false ;;
--check) check=true ;;
--count) check=true count=true ;;
*)
    echo "usage: proto/generate.sh [--check | --count]" >&2
    exit 2
    ;;
esac

.ci/prepare proto python
.ci/python protobuf==7.36.2
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
mkdir -p "$fresh/out/Sources/CPerchProto"
(
    cd proto
    files=$(find perch -name '*.proto' | LC_ALL=C sort)
    # shellcheck disable=SC2086  # The names are words.
    protoc-c --c_out="$fresh/out/Sources/CPerchProto" -I. $files
    # shellcheck disable=SC2086
    protoc --include_imports --include_source_info -o "$fresh/contract.binpb" -I. $files
)
if $count; then
    .build/venv/bin/python proto/generator/count_transcription.py "$fresh/contract.binpb" proto/swift.map
    exit
fi
(
    cd "$fresh/out/Sources/CPerchProto"
    find perch -name '*.pb-c.h' | while IFS= read -r header; do
        mkdir -p "include/${header%/*}"
        mv "$header" "include/$header"
    done
)
.build/venv/bin/python proto/generator "$fresh/contract.binpb" proto/swift.map "$fresh/out"

# Files that are missing, changed, or no longer in the contract.
different=$(
    {
        (cd "$fresh/out" && find . -type f)
        for folder in CPerchProto PerchWire/Generated PerchIdentity/Generated PerchStore/Generated PerchCore/Generated \
            Checks/PerchTesting/Generated; do
            find "./Sources/$folder" -type f 2>/dev/null
        done
        find ./proto/clients -path '*/_generated/*' -name '*.py' -type f 2>/dev/null
    } | LC_ALL=C sort -u | while IFS= read -r file; do
        cmp -s "$fresh/out/$file" "$file" || printf '%s\n' "${file#./}"
    done
)

if [ -z "$different" ]; then
    echo "proto/generate.sh: the generated files agree with the contract."
elif $check; then
    echo "$different" | sed "s|^|proto/generate.sh: differs from the contract: |" >&2
    echo "proto/generate.sh: run make proto and commit what it writes. Each version of protoc-c writes another header;" \
        "here it is $(protoc-c --version | head -n 1), and Debian 12 has protobuf-c 1.4.1." >&2
    exit 1
else
    # An unchanged file keeps its time, so that little is compiled again.
    echo "$different" | while IFS= read -r file; do
        if [ -e "$fresh/out/$file" ]; then
            mkdir -p "$(dirname "$file")"
            cp "$fresh/out/$file" "$file"
            echo "proto/generate.sh: wrote $file"
        else
            rm "$file"
            echo "proto/generate.sh: removed $file, which the contract no longer has"
        fi
    done
fi
