#!/usr/bin/env bash
# What `make network GAME=blockbattle` runs: it makes the shipped network of a game again, in runs/shipped/GAME, and
# compares the two. Steps that are done are not repeated, so that the same command continues after Ctrl-C.
set -euo pipefail
GO=${GO:-go} WORKERS=${WORKERS:-0}
game=${1:?usage: train/scripts/shipped.sh GAME}
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

case $game in
blockbattle)
  run run 4 --seed 1 --iterations 800 --results 0.5 --last-stage 1
  run longer 1 --seed 2 --from "$(net run 4)" --results 0 --iterations 400
  made=$(net longer 1)
  ;;
tetrisduel | blocking)
  run run 6
  made=$(net run 6)
  ;;
wintetris)
  run run 10 --seed 3 --gate-games 48
  made=$(net run 8)
  ;;
dropblox)
  run imitation 1 --gate-games 4 --warm 1 --discount 1 --iterations 100 --rate 0.002 --rate-end 0.0001 --mean 10
  run narrow 1 --gate-games 4 --from "$(net imitation 1)" --explore 0 --discount 1 --iterations 240 --rate-end 0.00005
  run run 1 --gate-games 4 --from "$(net narrow 1)" --explore 0 --seed 2 --iterations 300 --rate 0.0007 --rate-end 0.00001 \
    --mean 60
  made=$(net run 1)
  ;;
*)
  echo "train/scripts/shipped.sh: no recipe for $game: want blockbattle, tetrisduel, blocking, wintetris or dropblox" >&2
  exit 2
  ;;
esac

# tensors FILE prints the tensors of a safetensors file: what follows the head, which has notes on how it was made. The
# first 8 bytes are the length of the head.
tensors() { tail -c +$((9 + $(od -An -t u8 -N 8 "$1"))) "$1"; }

shipped=$(ls agents/bots/*/weights/"$game.safetensors")
if cmp -s <(tensors "$made") <(tensors "$shipped"); then
  echo "$made: the shipped network, bit for bit"
else
  echo "$made: its weights differ from the shipped ones, as on a machine without AVX2 and FMA" >&2
  exit 1
fi
