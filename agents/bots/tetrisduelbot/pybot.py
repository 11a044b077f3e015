#!/usr/bin/env python3
"""Runs an original Python bot of the Tetris duel as a program.

    python3 pybot.py BOT.py

BOT.py defines `class Player` with `__init__(self, isFirst)` and
`output(self, matchData)`, which returns a tuple (y, x, direction). It runs
unchanged; matchData offers every method the original engine offered. The
dialogue with the host runs over standard input and output; whatever the bot
prints goes to standard error. An exception of the bot ends the program.
"""

import importlib.util
import os
import sys
import traceback

WIDTH, HEIGHT, REACH, PEACE = 10, 25, 15, 10
INSIDE = (1 << REACH) - 1
ABOVE = 2  # rows above row 0 that a cell can be in

# (dx, dy) of the cells of every block, 1 to 7, and direction.
OFFSETS = (
    (),
    (((-1, 0), (0, 0), (1, 0), (2, 0)), ((0, -1), (0, 0), (0, 1), (0, 2)),
     ((-2, 0), (-1, 0), (0, 0), (1, 0)), ((0, -2), (0, -1), (0, 0), (0, 1))),
    (((-1, -1), (-1, 0), (0, 0), (1, 0)), ((0, -1), (1, -1), (0, 0), (0, 1)),
     ((-1, 0), (0, 0), (1, 0), (1, 1)), ((0, -1), (0, 0), (-1, 1), (0, 1))),
    (((1, -1), (-1, 0), (0, 0), (1, 0)), ((0, -1), (0, 0), (0, 1), (1, 1)),
     ((-1, 0), (0, 0), (1, 0), (-1, 1)), ((-1, -1), (0, -1), (0, 0), (0, 1))),
    (((0, -1), (1, -1), (0, 0), (1, 0)), ((0, 0), (1, 0), (0, 1), (1, 1)),
     ((-1, 0), (0, 0), (-1, 1), (0, 1)), ((-1, -1), (0, -1), (-1, 0), (0, 0))),
    (((0, -1), (1, -1), (-1, 0), (0, 0)), ((0, -1), (0, 0), (1, 0), (1, 1)),
     ((0, 0), (1, 0), (-1, 1), (0, 1)), ((-1, -1), (-1, 0), (0, 0), (0, 1))),
    (((0, -1), (-1, 0), (0, 0), (1, 0)), ((0, -1), (0, 0), (1, 0), (0, 1)),
     ((-1, 0), (0, 0), (1, 0), (0, 1)), ((0, -1), (-1, 0), (0, 0), (0, 1))),
    (((-1, -1), (0, -1), (0, 0), (1, 0)), ((1, -1), (0, 0), (1, 0), (0, 1)),
     ((-1, 0), (0, 0), (0, 1), (1, 1)), ((0, -1), (-1, 0), (0, 0), (-1, 1))),
)


def placements(kind, board):
    """All resting places of a block on a board of its own frame, in the order
    of the contest: y descending, x ascending, direction ascending."""
    taken = []  # per column: bit y + ABOVE is the cell in row y, the floor included
    for x in range(WIDTH):
        column = ~INSIDE
        for y in range(REACH):
            if board[y][x]:
                column |= 1 << y
        taken.append(column << ABOVE)
    fit = [[0] * WIDTH for _ in range(4)]
    reach = [[0] * WIDTH for _ in range(4)]
    for d, cells in enumerate(OFFSETS[kind]):
        low, high = min(c[0] for c in cells), max(c[0] for c in cells)
        for x in range(-low, WIDTH - high):
            hit = 0
            for dx, dy in cells:
                hit |= taken[x + dx] >> (dy + ABOVE)
            free = ~hit & INSIDE
            fit[d][x] = free
            reach[d][x] = _fall(free & 1, free)
    changed = True
    while changed:
        changed = False
        for order, step in ((range(WIDTH), -1), (range(WIDTH - 1, -1, -1), 1)):
            for x in order:
                turned = reach[0][x] | reach[1][x] | reach[2][x] | reach[3][x]
                for d in range(4):
                    new = turned
                    if 0 <= x + step < WIDTH:
                        new |= reach[d][x + step]
                    new &= fit[d][x] & ~reach[d][x]
                    if new:
                        reach[d][x] = _fall(reach[d][x] | new, fit[d][x])
                        changed = True
    rest = [[0] * WIDTH for _ in range(4)]
    for d, cells in enumerate(OFFSETS[kind]):
        up = max(0, -min(c[1] for c in cells))
        for x in range(WIDTH):
            rest[d][x] = reach[d][x] & ~(fit[d][x] >> 1) & (-1 << up)
    return [(y, x, d) for y in range(REACH - 1, -1, -1) for x in range(WIDTH)
            for d in range(4) if rest[d][x] >> y & 1]


def _fall(reached, free):
    """Adds what is straight below: the carry of an addition runs down."""
    return (free & ~(free + reached)) | reached


def cells_of(kind, action):
    y, x, d = action
    return [(y + dy, x + dx) for dx, dy in OFFSETS[kind][d]]


class MatchData:
    """What a bot is shown at its half-turn; all in its own frame."""

    def __init__(self, blocks, numbers, last, board):
        (self._turn, self._round, self._block, self._mine, self._opponent,
         self._combo, flag, left) = numbers
        self._blocks, self._last, self._board = blocks, last, board
        self._flag, self._left = bool(flag), left / 1000.0

    def getBoard(self):
        return [row[:] for row in self._board]

    def getCurrentBlock(self):
        return self._block

    def getBlockList(self):
        return [0] + list(self._blocks)

    def getBlock(self, round, isFirst):
        return self._blocks[2 * round - 2 if isFirst else 2 * round - 1]

    def getCurrentRound(self):
        return self._round

    def getMyPoint(self):
        return self._mine

    def getOpponentPoint(self):
        return self._opponent

    def getCombo(self):
        return self._combo

    def getRemoveLineInBattle(self):
        return self._flag

    def getTimeLeft(self):
        return self._left

    def getLastAction(self):
        return self._last

    def getValidAction(self):
        return self.getAllValidAction(self._block, self._board)

    def getAllValidAction(self, type, board):
        best = {}
        for action in placements(type, board):
            key = frozenset(cells_of(type, action))
            if key not in best or action[2] < best[key][2]:
                best[key] = action
        return sorted(best.values(), key=lambda a: (-a[0], a[1], a[2]))

    def getAllValidActionRepeating(self, type, board):
        return placements(type, board)

    # The original's slow fallback was to give the same lists.
    getValidActionSlow = getValidAction
    getAllValidActionSlow = getAllValidAction
    getAllValidActionRepeatingSlow = getAllValidActionRepeating

    def getCells(self, type, action):
        return cells_of(type, action)

    def putBlock(self, type, action, board):
        for y, x in cells_of(type, action):
            board[y][x] = 1

    def delBlock(self, type, action, board):
        for y, x in cells_of(type, action):
            board[y][x] = 0

    def removeLines(self, board):
        full = [y for y in range(REACH) if all(board[y])]
        battle = sum(1 for y in full if y >= PEACE)
        gone = set(full)
        if battle:
            gone.update(y for y in range(REACH) if not any(board[y]))
        keep = [board[y][:] for y in range(REACH) if y not in gone]
        top = [[0] * WIDTH for _ in range(REACH - len(keep))]
        below = [row[:] for row in board[REACH:]]
        return top + keep + below, len(full) - battle, battle

    def getReverseBoard(self, board):
        board[:] = self.copyReversedBoard(board)
        return board

    def copyReversedBoard(self, board):
        return [row[::-1] for row in board[::-1]]


def load(path):
    """The class Player of the file at path."""
    path = os.path.abspath(path)
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("duel_bot", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["duel_bot"] = module
    spec.loader.exec_module(module)
    return module.Player


def answer(value):
    """The line for what a bot returned: three integers for a tuple of such,
    and for anything else a line that is none."""
    if isinstance(value, tuple) and len(value) == 3:
        try:
            numbers = [int(v) for v in value]
            if all(n == v for n, v in zip(numbers, value)):
                return "%d %d %d" % tuple(numbers)
        except (TypeError, ValueError, OverflowError):
            pass
    text = " ".join(repr(value).split())
    return "not a placement: " + text[:200]


def main(path):
    lines, out = sys.stdin, sys.stdout
    sys.stdout = sys.stderr

    def say(line):
        out.write(line + "\n")
        out.flush()

    def read():
        line = lines.readline()
        if not line:
            sys.exit(0)
        return line.rstrip("\r\n")

    player, seat, blocks = None, 1, ()
    kind = load(path)
    while True:
        word, _, rest = read().partition(" ")
        if word == "seat":
            seat = int(rest)
        elif word == "blocks":
            blocks = tuple(int(c) for c in rest)
            player = kind(seat == 1)
            say("ready")
        elif word == "end":
            return
        elif word == "turn":
            numbers = [int(n) for n in rest.split()]
            last = read().split()[1:]
            last = tuple(int(n) for n in last) if len(last) == 3 else None
            board = [[int(c == "#") for c in read()] for _ in range(HEIGHT)]
            for _ in range(int(read().split()[1])):
                read()
            say(answer(player.output(MatchData(blocks, numbers, last, board))))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except (Exception, SystemExit) as stop:
        if isinstance(stop, SystemExit) and not stop.code:
            raise
        traceback.print_exc()
        sys.exit(1)
