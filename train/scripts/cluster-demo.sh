#!/usr/bin/env bash
# What `make cluster-demo` runs: a learner and two workers train a Block Battle net on this machine. One worker is
# killed on the way and another one takes its place. At the end the learner prints who did what.
set -euo pipefail
GO=${GO:-go} OUT=${OUT:-demo-out} FOR=${FOR:-2m} KILL_AFTER=${KILL_AFTER:-30}
run=$OUT/cluster
mkdir -p "$OUT/bin"
"$GO" build -o "$OUT/bin/" ./train
rm -rf "$run"

"$OUT/bin/train" selfplay blockbattle --for "$FOR" --cluster --listen 127.0.0.1:0 --out "$run" >"$OUT/cluster.txt" &
learner=$!
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
until [ -s "$OUT/cluster.txt" ]; do
  kill -0 "$learner" || exit 1
  sleep 0.2
done
cat "$OUT/cluster.txt"
read -r -a join <<<"$(sed -n 's/.*: train join //p' "$OUT/cluster.txt")"
worker() { "$OUT/bin/train" join "${join[@]}" --name "$1" --workers 1 --log-level warn & }

worker first
worker second
second=$!
sleep "$KILL_AFTER"
echo "== worker second is killed; its tasks go to the others"
kill -9 "$second"
worker third
wait "$learner"
sed 1d "$OUT/cluster.txt"
