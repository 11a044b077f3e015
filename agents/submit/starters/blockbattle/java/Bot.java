// A complete Block Battle bot: it tries every rotation and column and takes a landing that is low and makes few holes.
// The rules and the protocol are in env/blockbattle/RULES.md; "§" below means a section of that page.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;

class Bot {
    // The cells (column, row) of each piece in its box, in orientation 0, and the side of the box (§3).
    static final String NAMES = "IJLOSTZ";
    static final int[] SIDES = {4, 3, 3, 2, 3, 3, 3};
    static final int[][][] CELLS = {
        {{0, 1}, {1, 1}, {2, 1}, {3, 1}}, {{0, 0}, {0, 1}, {1, 1}, {2, 1}}, {{2, 0}, {0, 1}, {1, 1}, {2, 1}},
        {{0, 0}, {1, 0}, {0, 1}, {1, 1}}, {{1, 0}, {2, 0}, {0, 1}, {1, 1}}, {{1, 0}, {0, 1}, {1, 1}, {2, 1}},
        {{0, 0}, {1, 0}, {1, 1}, {2, 1}}};

    static boolean[][] field; // field[row][column]: the cell is taken

    // Whether (x, y) is inside the walls, and empty or above the board (§4.1).
    static boolean isFree(int x, int y) {
        return x >= 0 && x < field[0].length && y < field.length && (y < 0 || !field[y][x]);
    }

    static boolean isFree(int[][] cells, int left, int top) {
        for (int[] c : cells) {
            if (!isFree(left + c[0], top + c[1])) return false;
        }
        return true;
    }

    // How good it is to lock the piece there: low is good, holes are bad, above the board loses.
    static int rating(int[][] cells, int left, int top) {
        int sum = 0;
        for (int[] c : cells) {
            boolean own = false;
            for (int[] d : cells) own |= d[0] == c[0] && d[1] == c[1] + 1;
            if (!own && isFree(left + c[0], top + c[1] + 1)) sum -= 8;
            sum += top + c[1] < 0 ? -1000 : top + c[1];
        }
        return sum;
    }

    // Returns the answer for a piece whose box has its top left corner at (left, top).
    static String choose(int piece, int left, int top) {
        int[][] cells = CELLS[piece];
        String answer = "drop", turned = "";
        int best = Integer.MIN_VALUE;
        for (int turns = 0; turns < 4; turns++, turned += "turnright,") {
            if (!isFree(cells, left, top)) break; // this turn would not happen, and so neither would the next
            for (int step = -1; step <= 1; step += 2) {
                String keys = turned;
                // A blocked shift would become "down" (§4.2), so stop before it.
                for (int x = left; isFree(cells, x, top); x += step) {
                    int y = top;
                    while (isFree(cells, x, y + 1)) y++;
                    int value = rating(cells, x, y);
                    if (value > best) {
                        best = value;
                        answer = keys + "drop";
                    }
                    keys += step < 0 ? "left," : "right,";
                }
            }
            int[][] next = new int[4][];
            for (int k = 0; k < 4; k++) next[k] = new int[] {SIDES[piece] - 1 - cells[k][1], cells[k][0]};
            cells = next;
        }
        return answer;
    }

    public static void main(String[] args) throws IOException {
        Map<String, String> settings = new HashMap<>(), state = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.trim().split(" ");
            if (words.length == 3 && words[0].equals("settings")) {
                settings.put(words[1], words[2]);
            } else if (words.length == 4 && words[0].equals("update")) {
                state.put(words[1] + " " + words[2], words[3]); // such as state.get("game this_piece_type")
            } else if (words[0].equals("action")) {
                String[] rows = state.get(settings.get("your_bot") + " field").split(";");
                field = new boolean[rows.length][];
                for (int y = 0; y < rows.length; y++) {
                    String[] row = rows[y].split(",");
                    field[y] = new boolean[row.length];
                    for (int x = 0; x < row.length; x++) field[y][x] = row[x].compareTo("2") >= 0; // 1 is the piece
                }
                String[] at = state.get("game this_piece_position").split(",");
                int piece = NAMES.indexOf(state.get("game this_piece_type"));
                System.out.println(choose(piece, Integer.parseInt(at[0]), Integer.parseInt(at[1])));
                System.out.flush();
            }
        }
    }
}
