"""A complete program for Dropblox: it tries every rotation and column and takes the place that leaves the best board.

The rules and the protocol are in env/dropblox/RULES.md; "§" below means a section of that page.
The host starts the program for every turn, with the state as JSON and the seconds that are left.
"""

import json
import re
import sys


class Game:
    """The state of §8.2: a bitmap, the score and the known blocks, the first of them in play."""

    def __init__(self, bitmap, score, blocks):
        self.bitmap, self.score, self.blocks = bitmap, score, blocks
        self.rows, self.columns = len(bitmap), len(bitmap[0])
        self.spawn()
        self.over = not all(self.free(i, j) for i, j in self.squares())  # §7

    def spawn(self):
        block = self.blocks[0]
        self.i, self.j = block["center"]["i"], block["center"]["j"]
        self.offsets = [(offset["i"], offset["j"]) for offset in block["offsets"]]

    def squares(self):
        return [(self.i + i, self.j + j) for i, j in self.offsets]

    def free(self, i, j):
        return 0 <= i < self.rows and 0 <= j < self.columns and self.bitmap[i][j] == 0

    def move(self, command):
        """Carries out a command; returns False, and changes nothing, if it is not legal (§4.2)."""
        before = self.i, self.j, self.offsets
        if command == "rotate":
            self.offsets = [(j, -i) for i, j in self.offsets]
        else:
            di, dj = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}[command]
            self.i, self.j = self.i + di, self.j + dj
        if all(self.free(i, j) for i, j in self.squares()):
            return True
        self.i, self.j, self.offsets = before
        return False

    def drop(self):
        """Returns the game after the drop (§5): full rows are gone and scored (§6), the next block is in play."""
        while self.move("down"):
            pass
        bitmap = [list(row) for row in self.bitmap]
        for i, j in self.squares():
            bitmap[i][j] = 1
        rest = [row for row in bitmap if 0 in row]
        removed = self.rows - len(rest)
        bitmap = [[0] * self.columns for _ in range(removed)] + rest
        return Game(bitmap, self.score + 2**removed - 1, self.blocks[1:])


def leftmost(game):
    """Returns the commands that move the block as far to the left as it goes."""
    commands = []
    while game.move("left"):
        commands.append("left")
    return commands


def rating(game):
    """How good a position is: points and low squares are good, empty cells directly below others are bad."""
    value = game.score - 1000000 * game.over
    for i, row in enumerate(game.bitmap):
        for j, cell in enumerate(row):
            if cell:
                value -= game.rows - i + 8 * game.free(i + 1, j)
    return value


def best(game):
    """Returns the commands of the best landing that turns in place, goes sideways and drops."""
    most, answer = None, []
    for turns in range(4):
        for side in ("left", "right"):
            for shifts in range(game.columns):
                game.spawn()
                commands = ["rotate"] * turns + [side] * shifts
                if all([game.move(command) for command in commands]):
                    value = rating(game.drop())
                    if most is None or value > most:
                        most, answer = value, commands
    return answer


# The last argument is the seconds that are left, the one before it is the state. "bot.py left" as the command puts a
# word before it.
player = leftmost if sys.argv[1] == "left" else best
# The example of the contest's introduction has commas too many and lacks one: both are mended.
text = re.sub(r"(,\s*)+([,\]}])", r"\2", re.sub(r'([\]}])\s*"', r'\1,"', sys.argv[-2]))
state = json.loads(text)
for command in player(Game(state["bitmap"], state["score"], [state["block"]] + state["preview"])):
    print(command, flush=True)
