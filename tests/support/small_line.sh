#!/bin/sh
# From small artifacts to a sealed set in a channel, with nothing but the program: on old systems and behind filters.
#   small_line.sh PROGRAM ARTIFACTS DIRECTORY
set -eu
quarry=$1 artifacts=$2
mkdir -p "$3"
cd "$3"
"$quarry" artifact pack "$artifacts" --output-dir packed
"$quarry" artifact fetch --from file:packed --output-dir fetched
"$quarry" artifact fetch --from file:packed --output-dir flat --flatten
"$quarry" sdk build --artifact-dir fetched --dest-dir out --version 1.0 --profile ci
"$quarry" wheel verify out/dist
"$quarry" publish out --store file:store --run-id 1 --platform linux --channel staging
"$quarry" set verify run:1 --store file:store
"$quarry" index check store/channels/staging/simple
