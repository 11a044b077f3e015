#!/usr/bin/env bash
# What `make demo` runs: it trains a Python policy over the socket and a net by self-play in Go,
# exports that net as a contest bot, and plays the bot against the hand-tuned baseline through
# the contest protocol. All output goes to $OUT, that of the steps to $OUT/steps.
set -euo pipefail
export PY=${PY:-.venv/bin/python} GO=${GO:-go} OUT=${OUT:-demo-out}
export PYTHON_SECONDS=${PYTHON_SECONDS:-60} SELFPLAY=${SELFPLAY:-2m} GAMES=${GAMES:-10}
mkdir -p "$OUT/bin"

# step runs a function as a step: one line when it ends, or its output and what failed.
step() {
  local log=$OUT/steps/$1.log
  export -f "${1?}"
  .ci/part "$log" "$2" bash -euo pipefail -c "$1" || .ci/part --end 'make demo' "$log"
}

policy() {
  "$PY" rpc/python/examples/demo_policy.py --transport socket --seconds "$PYTHON_SECONDS" --out "$OUT/policy.npz"
}
selfplay() {
  "$GO" build -o "$OUT/bin/" ./agents ./train ./datasets
  rm -rf "$OUT/selfplay"
  "$OUT/bin/train" selfplay blockbattle --for "$SELFPLAY" --workers 0 --out "$OUT/selfplay"
}
export_bot() {
  "$OUT/bin/agents" bundle blockbattle --weights "$OUT/selfplay/best.safetensors" --out "$OUT/bot.go"
  alone=$(mktemp -d)
  trap 'rm -rf "$alone"' EXIT
  cp "$OUT/bot.go" "$alone/main.go"
  bot=$PWD/$OUT/bin/bot
  (cd "$alone" && printf 'module bot\n\ngo 1.17\n' >go.mod && GOFLAGS=-trimpath "$GO" build -o "$bot" .)
}
contest() {
  rm -f "$OUT/games.jsonl.gz"
  "$OUT/bin/agents" host blockbattle --bot "$OUT/bin/bot" --bot "$OUT/bin/agents bot blockbattle --agent hand" \
    --games "$GAMES" --seed 20260 --record "$OUT/games.jsonl.gz" --log "$OUT/logs" --json --quiet >"$OUT/contest.json"
  "$OUT/bin/datasets" check "$OUT/games.jsonl.gz"
}
arena() {
  "$OUT/bin/agents" arena blockbattle --a "learned:weights=$OUT/selfplay/best.safetensors" --b hand \
    --games 200 --seed 31337 --json >"$OUT/arena.json"
}

step policy "1 of 5: a policy in Python, on 1,024 games over a socket ($PYTHON_SECONDS s)"
step selfplay "2 of 5: self-play in Go, the net trained with gorgonia ($SELFPLAY)"
step export_bot "3 of 5: the net as a contest bot: one file, compiled on its own"
step contest "4 of 5: the bot against the hand-tuned baseline, through the contest protocol"
step arena "5 of 5: the net against the baseline in the arena"

"$PY" - "$OUT" <<'TABLE'
import json, sys
out = sys.argv[1]
arena, contest = (json.load(open(f"{out}/{name}.json"))["meetings"][0] for name in ("arena", "contest"))
rows = [("match", "games", "wins", "draws", "losses", "score"),
        ("contest: exported bot against hand", contest),
        ("arena: same net against hand", arena)]
for row in rows:
    if len(row) == 2:
        name, r = row
        counts = [r[k] for k in ("wins", "draws", "losses")]
        row = (name, sum(counts), *counts, f"{100 * r['score']['value']:.1f} %")
    print("{:<36}{:>7}{:>7}{:>7}{:>8}{:>9}".format(*map(str, row)))
print()
for what, path in (("Python policy", "policy.npz"), ("weights", "selfplay/best.safetensors"),
                   ("learning curve", "selfplay/curve.svg"), ("contest bot", "bot.go"),
                   ("recorded games", "games.jsonl.gz"), ("contest logs", "logs/")):
    print(f"{what:<20} {out}/{path}")
print(f"\nwatch a game:        go run ./datasets view {out}/games.jsonl.gz#1")
TABLE
