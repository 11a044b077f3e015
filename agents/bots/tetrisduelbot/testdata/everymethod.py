"""A bot in the style of the original contest that uses every method it is
offered and checks what they tell against each other."""

import random

# The order of the cells of every block and direction, from 0 for the uppermost and leftmost, as the original lists them.
ORDER = (
    "0123 1203 1230 2301",
    "1203 2031 0123 1032",
    "1230 1023 0321 2130",
    "2301 0132 1023 3201",
    "3012 1230 1032 2310",
    "2310 1302 0123 2031",
    "3210 1320 0123 2031",
)


class Player:
    def __init__(self, isFirst):
        self.isFirst = isFirst
        self.random = random.Random(4)
        self.turns = 0
        self.mine = None  # what the board should be after our placement, turned
        self.points = 0

    def output(self, matchData):
        self.turns += 1
        self.check(matchData)
        if self.turns == 1:
            print("this must not disturb the dialogue")
        board = matchData.getBoard()
        kind = matchData.getCurrentBlock()
        round_ = matchData.getCurrentRound()
        assert len(board) == 25 and all(len(row) == 10 for row in board)
        assert round_ == self.turns
        blocks = matchData.getBlockList()
        assert len(blocks) == 561 and blocks[0] == 0
        assert blocks[2 * round_ - (1 if self.isFirst else 0)] == kind
        assert matchData.getBlock(round_, self.isFirst) == kind
        assert matchData.getBlock(1, True) == blocks[1]
        assert matchData.getBlock(280, False) == blocks[560]
        assert matchData.getMyPoint() >= self.points
        self.points = matchData.getMyPoint()
        assert matchData.getOpponentPoint() >= 0
        assert matchData.getCombo() >= 0
        assert matchData.getRemoveLineInBattle() in (True, False)
        assert not (self.isFirst and matchData.getRemoveLineInBattle())
        assert 0 < matchData.getTimeLeft() <= 600
        last = matchData.getLastAction()
        assert (last is None) == (self.isFirst and self.turns == 1)

        board[3][3] = 1 - board[3][3]  # a copy: nobody else sees it
        assert matchData.getBoard()[3][3] == 1 - board[3][3]
        board = matchData.getBoard()
        if last is not None and self.mine is not None:
            self.replay(matchData, blocks, last, board)

        valid = matchData.getValidAction()
        assert valid == matchData.getAllValidAction(kind, board)
        assert valid == matchData.getValidActionSlow()
        assert valid == matchData.getAllValidActionSlow(kind, board)
        repeating = matchData.getAllValidActionRepeating(kind, board)
        assert repeating == matchData.getAllValidActionRepeatingSlow(kind, board)
        assert set(valid) <= set(repeating)
        assert {frozenset(matchData.getCells(kind, a)) for a in repeating} == \
            {frozenset(matchData.getCells(kind, a)) for a in valid}

        best = max(valid, key=lambda a: (self.value(matchData, kind, a), self.random.random()))
        after = matchData.getBoard()
        matchData.putBlock(kind, best, after)
        assert all(after[y][x] == 1 for y, x in matchData.getCells(kind, best))
        matchData.delBlock(kind, best, after)
        assert after == board
        matchData.putBlock(kind, best, after)
        after, _, _ = matchData.removeLines(after)
        self.mine = matchData.copyReversedBoard(after)
        matchData.getReverseBoard(after)
        assert after == self.mine
        return best

    def check(self, matchData):
        """The attributes, the results and what changes in place are those of the original."""
        self.first = getattr(self, "first", matchData)
        assert matchData is self.first, "one object per game"
        assert matchData.isFirst == self.isFirst
        assert matchData.time == 2 * self.turns - self.isFirst
        assert matchData.pack.get(matchData.time) == matchData.block == matchData.getCurrentBlock()
        assert matchData.pack.list is matchData.getBlockList()
        assert matchData.board == matchData.getBoard() and matchData.board is not matchData.getBoard()
        points = (matchData.getMyPoint(), matchData.getOpponentPoint())
        assert (matchData.point1, matchData.point2) == (points if self.isFirst else points[::-1])
        assert matchData.getTimeLeft() == (matchData.time1 if self.isFirst else matchData.time2)
        assert matchData.combo == matchData.getCombo() and matchData.action == matchData.getLastAction()
        assert matchData.removeline == matchData.getRemoveLineInBattle()
        board, action = matchData.getBoard(), (5, 5, 0)
        for changed in (
            matchData.putBlock(matchData.block, action, board),
            matchData.delBlock(matchData.block, action, board),
            matchData.modifyBlock(matchData.block, action, board, 7),
        ):
            assert changed is board, "the board itself is returned"
        assert all(board[y][x] == 7 for y, x in matchData.getCells(matchData.block, action))
        for kind, order in enumerate(ORDER, 1):
            cells = [matchData.getCells(kind, (5, 5, direction)) for direction in range(4)]
            assert " ".join("".join(str(sorted(c).index(cell)) for cell in c) for c in cells) == order
        rows = list(board)
        assert matchData.getReverseBoard(board) is board and board[0] is rows[-1]
        board = [[int(y == 12)] * 10 for y in range(25)]
        board[14][0] = 1
        after, peace, battle = matchData.removeLines(board)
        assert (peace, battle) == (0, 1) and after[14] is board[14] and after[15] is board[15]
        assert sum(map(sum, after)) == 1

    def replay(self, matchData, blocks, last, board):
        """The opponent's placement on our last board gives the board."""
        number = 2 * matchData.getCurrentRound() - (2 if self.isFirst else 1)
        before = [row[:] for row in self.mine]
        matchData.putBlock(blocks[number], last, before)
        before, _, _ = matchData.removeLines(before)
        matchData.getReverseBoard(before)
        assert before == board

    def value(self, matchData, kind, action):
        board = matchData.getBoard()
        matchData.putBlock(kind, action, board)
        board, peace, battle = matchData.removeLines(board)
        holes = height = 0
        for x in range(10):
            seen = False
            for y in range(15):
                if board[y][x]:
                    height += 0 if seen else (15 - y) ** 2
                    seen = True
                elif seen:
                    holes += 1
        return 30 * battle + 10 * peace - 12 * holes - height
