"""A complete program for Dropblox: it tries every rotation and column and takes the lowest place with the fewest holes.

The rules and the protocol are in env/dropblox/RULES.md; "§" below means a section of that page.
The host starts the program for every turn, with the state as JSON and the seconds that are left.
"""

import json
import sys


class Game:
    """The state of §8.2: a bitmap and the block in play, with the moves of §4."""

    def __init__(self, state):
        self.bitmap = state["bitmap"]
        self.rows, self.columns = len(self.bitmap), len(self.bitmap[0])
        self.take(state["block"])

    def take(self, block):
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
        """Moves the block down as far as it goes and returns its squares."""
        while self.move("down"):
            pass
        return self.squares()


def leftmost(state):
    """Returns the commands that move the block as far to the left as it goes."""
    game, commands = Game(state), []
    while game.move("left"):
        commands.append("left")
    return commands


def rating(game, squares):
    """How good it is to leave the block there: low is good, empty cells directly below it are bad."""
    holes = sum(game.free(i + 1, j) and (i + 1, j) not in squares for i, j in squares)
    return sum(i for i, _ in squares) - 8 * holes


def lowest(state):
    """Returns the commands of the best landing that turns in place, goes sideways and drops."""
    game, best, answer = Game(state), None, []
    for turns in range(4):
        for side in ("left", "right"):
            for shifts in range(game.columns):
                game.take(state["block"])
                commands = ["rotate"] * turns + [side] * shifts
                if all([game.move(command) for command in commands]):
                    value = rating(game, game.drop())
                    if best is None or value > best:
                        best, answer = value, commands
    return answer


# The last argument is the seconds that are left, the one before it is the state. "bot.py left" as the command puts a
# word before it.
player = leftmost if sys.argv[1] == "left" else lowest
for command in player(json.loads(sys.argv[-2])):
    print(command, flush=True)
