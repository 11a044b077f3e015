#!/usr/bin/env bash
# What `make network GAME=blockbattle` runs: it makes the shipped network of a game again, in runs/shipped/GAME, and
# compares the two. Steps that are done are not repeated, so that the same command continues after Ctrl-C.
set -euo pipefail
GO=${GO:-go} WORKERS=${WORKERS:-0}
game=${1:?usage: train/shipped.sh GAME}
out=runs/shipped/$game
mkdir -p "$out/bin"
"$GO" build -o "$out/bin/" ./train
train=$out/bin/train

# run NAME GATES FLAGS... trains in the folder NAME; net NAME GATE is the network of a gate.
run() {
  local dir=$out/$1 gates=$2 how=()
  shift 2
  [ -e "$(printf '%s/net-%03d.safetensors' "$dir" "$gates")" ] && return
  if [ -e "$dir/state.safetensors" ]; then how=(--resume); else how=(--gates "$gates" "$@"); fi
  "$train" selfplay "$game" "${how[@]}" --workers "$WORKERS" --out "$dir"
  [ -e "$(printf '%s/net-%03d.safetensors' "$dir" "$gates")" ] || exit 130 # stopped
}
net() { printf "$out/%s/net-%03d.safetensors" "$1" "$2"; }

# small NAME FLAGS... TEACHERS... makes one small network of several.
small() {
  local file=$out/$1.safetensors
  shift
  [ -e "$file" ] || "$train" distill "$game" --rate 0.002 --workers "$WORKERS" --out "$file" "$@"
}

# further NAME FROM SEED trains the network FROM further, in four ways, and makes one network of all five.
further() {
  local name=$1 from=$2 k=$3
  for seed in $k $((k + 1)); do
    run "$name-actor-$seed" 1 --from "$from" --hidden 64 --seed $seed --backup 0 --warm 0 --actor 1 --mean 100 \
      --iterations 1000 --actor-rate 0.0003 --actor-rate-end 0.00003 --late 0.12 --gate-pairs 1
  done
  for seed in $((k + 2)) $((k + 3)); do
    run "$name-backup-$seed" 1 --from "$from" --hidden 64 --seed $seed --backup 1 --within-decision --samples 8 \
      --iterations 240 --late 0.12 --gate-pairs 1
  done
  small "$name" --from "$from" --iterations 2400 "$from" "$(net "$name-actor-$k" 1)" "$(net "$name-actor-$((k + 1))" 1)" \
    "$(net "$name-backup-$((k + 2))" 1)" "$(net "$name-backup-$((k + 3))" 1)"
}

case $game in
blockbattle)
  run backup 8 --seed 1 --hidden 64 --iterations 2000 --backup 0.6 --late 0.12 --gate-pairs 100
  for seed in 2 3; do
    run long-$seed 16 --seed $seed --hidden 64 --iterations 4000 --backup 0.1875 --late 0.12 --gate-pairs 20 --mean 100 \
      --actor-rate-end 0.00003
  done
  small first --from "$(net long-2 16)" --iterations 3000 "$(net backup 3)" "$(net long-2 16)" "$(net long-3 16)"
  further second "$out/first.safetensors" 11
  made=$out/second.safetensors
  ;;
tetrisduel)
  run run 8 --seed 1 --hidden 64 --samples 8 --look 6 --iterations 800 --late 0.15 --gate-pairs 60
  made=$(net run 7)
  ;;
blocking)
  run run 6 --from-zero
  made=$(net run 5)
  ;;
wintetris)
  run run 10 --seed 3 --iterations 3000 --late 0.8 --longest 200 --gate-games 48 --gate-steps 5000
  made=$(net run 8)
  ;;
*)
  echo "train/shipped.sh: no recipe for $game: want blockbattle, tetrisduel, blocking or wintetris" >&2
  exit 2
  ;;
esac

# The notes in a file say how it was made. What merge writes of one network has the same notes for both.
"$train" merge "$game" "$made" --out "$out/made.safetensors" >/dev/null
"$train" merge "$game" learned --out "$out/shipped.safetensors" >/dev/null
if cmp -s "$out/made.safetensors" "$out/shipped.safetensors"; then
  echo "$made: the shipped network, bit for bit"
else
  echo "$made: its weights differ from the shipped ones, as on a machine without AVX2 and FMA" >&2
  exit 1
fi
