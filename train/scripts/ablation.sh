#!/usr/bin/env bash
# What `make ablation` runs: what each part of Block Battle's recipe is worth. Every run changes one part of the recipe of two
# equal stages, from zero and with the same training seed, and its last network plays GAMES (2000) games against `hand`.
# Prints a row of Markdown for each: CPU seconds of training with its gates, and score. A run that is done is not repeated,
# and one that was stopped goes on. Budgets are numbers of iterations that took about the same CPU time.
set -euo pipefail
GO=${GO:-go} GAMES=${GAMES:-2000} SEED=${SEED:-1}
out=runs/ablation-$SEED
mkdir -p "$out/bin"
"$GO" build -o "$out/bin/" ./train ./agents

# part NAME FLAGS... trains a network with these flags and prints its row.
part() {
  local dir=$out/${1// /-} how=()
  if [ -e "$dir/state.safetensors" ]; then how=(--resume); else how=(--seed "$SEED" --gate-pairs 20 --iterations 800 --last-stage 1 "${@:2}"); fi
  if [ ! -e "$dir/seconds" ]; then
    TIMEFORMAT=%U
    { time "$out/bin/train" selfplay blockbattle "${how[@]}" --out "$dir" >"$dir.log" 2>&1; } 2>>"$dir.seconds" ||
      { echo "$0: the run ended early: see $dir.log; the same command continues it" >&2; exit 1; }
    awk '{ all += $1 } END { printf "%.0f\n", all }' "$dir.seconds" >"$dir/seconds"
  fi
  local net
  net=$(printf '%s\n' "$dir"/net-*.safetensors | tail -1)
  [ -e "$dir/score" ] || "$out/bin/agents" arena blockbattle --a "learned:weights=$net" --b hand --games "$GAMES" \
    --seed 9560001 --json | python3 -c 'import json, sys
s = json.load(sys.stdin)["meetings"][0]["score"]
print("{:.1f} % ({:.1f} to {:.1f})".format(*(100 * s[k] for k in ("value", "low", "high"))))' >"$dir/score"
  echo "| $1 | ${*:2} | $(<"$dir/seconds") s | $(<"$dir/score") |"
}

echo '| recipe | flags | CPU time | score |'
echo '|---|---|---|---|'
part 'two stages of siblings' --gates 4 --results 0.5
part 'without the features about digging' --gates 4 --results 0.5 --without 'own cover rows,own cover gap,own top hole,own least,own no holes,own bottom row' \
  --without 'own whole rows,own hole rows lacking,own runs,own split,own dig,own second dig,own rows opened'
part 'eight siblings' --gates 4 --results 0.5 --samples 8
part 'one stage of siblings' --gates 2 --results 0.5
part 'four stages of siblings' --gates 8 --results 0.5
part 'a quarter for results' --gates 4 --results 0.25
part 'results alone' --gates 4 --backup 0
