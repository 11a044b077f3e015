"""A complete bot of the Tetris duel: of the legal placements, it takes one that lies low and makes few holes.

The rules and the protocol are in env/tetrisduel/RULES.md; "§" below means a section of that page.
"""

import sys

# The cells (row, column) of blocks 1 to 7 around their centre, in direction 0 (§3).
BLOCKS = {
    1: [(0, -1), (0, 0), (0, 1), (0, 2)],
    2: [(-1, -1), (0, -1), (0, 0), (0, 1)],
    3: [(-1, 1), (0, -1), (0, 0), (0, 1)],
    4: [(-1, 0), (-1, 1), (0, 0), (0, 1)],
    5: [(-1, 0), (-1, 1), (0, -1), (0, 0)],
    6: [(-1, 0), (0, -1), (0, 0), (0, 1)],
    7: [(-1, -1), (-1, 0), (0, 0), (0, 1)],
}
FLOOR = 15  # blocks stay above this row of our frame


def covered(block, y, x, direction):
    """Returns the cells that a placement covers."""
    cells = BLOCKS[block]
    for _ in range(direction):  # a quarter turn clockwise about the centre
        cells = [(column, -row) for row, column in cells]
    return [(y + row, x + column) for row, column in cells]


def rating(board, block, y, x, direction):
    """How good a placement is: low is good, empty cells directly below it are bad."""
    cells = covered(block, y, x, direction)
    holes = sum(r + 1 < FLOOR and board[r + 1][c] == "." and (r + 1, c) not in cells for r, c in cells)
    return sum(r for r, _ in cells) - 8 * holes


def main():
    read = lambda: sys.stdin.readline().split()
    while words := read():  # an empty list: the host has closed the pipe
        if words[0] == "blocks":  # the last line of the start; words[1] is the whole sequence
            print("ready", flush=True)
        elif words[0] == "turn":  # §8.2: half-turn, round, block, my points, others', combo, flag, milliseconds
            block = int(words[3])
            read()  # the opponent's last placement, which is on the board already
            board = [read()[0] for _ in range(25)]
            moves = [tuple(map(int, read())) for _ in range(int(read()[1]))]
            print(*max(moves, key=lambda move: rating(board, block, *move)), flush=True)
        elif words[0] == "end":
            return


main()
