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

# (dx, dy) of the cells of every block, 1 to 7, and direction, in the order in
# which the original lists them.
OFFSETS = (
    (),
    (((-1, 0), (0, 0), (1, 0), (2, 0)), ((0, 0), (0, 1), (0, -1), (0, 2)),
     ((-1, 0), (0, 0), (1, 0), (-2, 0)), ((0, 0), (0, 1), (0, -2), (0, -1))),
    (((-1, 0), (0, 0), (-1, -1), (1, 0)), ((0, 0), (0, -1), (0, 1), (1, -1)),
     ((-1, 0), (0, 0), (1, 0), (1, 1)), ((0, 0), (0, -1), (0, 1), (-1, 1))),
    (((-1, 0), (0, 0), (1, 0), (1, -1)), ((0, 0), (0, -1), (0, 1), (1, 1)),
     ((-1, 0), (-1, 1), (1, 0), (0, 0)), ((0, 0), (0, -1), (0, 1), (-1, -1))),
    (((0, 0), (1, 0), (0, -1), (1, -1)), ((0, 0), (1, 0), (1, 1), (0, 1)),
     ((0, 0), (-1, 0), (-1, 1), (0, 1)), ((0, 0), (-1, 0), (-1, -1), (0, -1))),
    (((0, 0), (0, -1), (1, -1), (-1, 0)), ((0, 0), (1, 0), (1, 1), (0, -1)),
     ((1, 0), (0, 0), (0, 1), (-1, 1)), ((0, 0), (0, 1), (-1, 0), (-1, -1))),
    (((0, 0), (1, 0), (-1, 0), (0, -1)), ((0, 0), (0, 1), (0, -1), (1, 0)),
     ((-1, 0), (0, 0), (1, 0), (0, 1)), ((0, 0), (0, -1), (0, 1), (-1, 0))),
    (((1, 0), (0, 0), (0, -1), (-1, -1)), ((0, 0), (0, 1), (1, 0), (1, -1)),
     ((-1, 0), (0, 0), (0, 1), (1, 1)), ((0, 0), (0, -1), (-1, 1), (-1, 0))),
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


class Pack:
    """The blocks of a game, numbered from 1; list[0] is a dummy."""

    def __init__(self, blocks):
        self.list = [0] + list(blocks)

    def get(self, number):
        return self.list[number]


class MatchData:
    """What a bot is shown, all in its own frame: one object per game, whose
    attributes are those of the original engine."""

    def __init__(self):
        self.isFirst = self.time = self.board = self.pack = self.block = None
        self.time1 = self.time2 = self.point1 = self.point2 = None
        self.combo = self.removeline = self.action = None

    def update(self, numbers, last, board):
        """Takes over a request. Of the opponent's time nothing is known, so
        it is shown as ours."""
        self.time, _, self.block, mine, opponent, self.combo, flag, left = numbers
        self.time1 = self.time2 = left / 1000.0
        self.point1, self.point2 = (mine, opponent) if self.isFirst else (opponent, mine)
        self.removeline, self.action, self.board = bool(flag), last, board

    def getBoard(self):
        return [row[:] for row in self.board]

    def getCurrentBlock(self):
        return self.pack.get(self.time)

    def getBlockList(self):
        return self.pack.list

    def getBlock(self, round, isFirst):
        return self.pack.get(2 * round - isFirst)

    def getCurrentRound(self):
        return (self.time + 1) // 2

    def getMyPoint(self):
        return self.point1 if self.isFirst else self.point2

    def getOpponentPoint(self):
        return self.point2 if self.isFirst else self.point1

    def getCombo(self):
        return self.combo

    def getRemoveLineInBattle(self):
        return self.removeline

    def getTimeLeft(self):
        return self.time1 if self.isFirst else self.time2

    def getLastAction(self):
        return self.action

    def getValidAction(self):
        return self.getAllValidAction(self.block, self.board)

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

    def modifyBlock(self, type, action, board, value):
        for y, x in cells_of(type, action):
            board[y][x] = value
        return board

    def putBlock(self, type, action, board):
        return self.modifyBlock(type, action, board, 1)

    def delBlock(self, type, action, board):
        return self.modifyBlock(type, action, board, 0)

    def removeLines(self, board):
        full = [y for y in range(REACH) if all(board[y])]
        battle = sum(1 for y in full if y >= PEACE)
        gone = set(full)
        if battle:
            gone.update(y for y in range(REACH) if not any(board[y]))
        keep = [board[y] for y in range(REACH) if y not in gone]  # the same rows, as in the original
        top = [[0] * WIDTH for _ in range(REACH - len(keep))]
        return top + keep + board[REACH:], len(full) - battle, battle

    def getReverseBoard(self, board):
        for row in board:
            row.reverse()
        board.reverse()
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

    player, data = None, MatchData()
    kind = load(path)
    while True:
        word, _, rest = read().partition(" ")
        if word == "seat":
            data.isFirst = int(rest) == 1
        elif word == "blocks":
            data.pack = Pack(int(c) for c in rest)
            player = kind(data.isFirst)
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
            data.update(numbers, last, board)
            say(answer(player.output(data)))


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
