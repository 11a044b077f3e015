// A complete program for Dropblox: it tries every rotation and column and takes the lowest place with the fewest holes.
// The rules and the protocol are in env/dropblox/RULES.md; "§" below means a section of that page. The host starts the
// program for every turn, with the state as JSON and the seconds that are left.

import java.util.*;
import java.util.regex.*;

class Bot {
    List<List<Object>> bitmap; // rows
    int i, j; // row, from the top, and column of the block's centre
    int[][] offsets;

    static final Pattern TOKEN = Pattern.compile("[\\[{}\\]]|\"[^\"]*\"|[^\\s,:\\[{}\\]]+");
    // Reads a value of JSON from its tokens: an object as a Map, a list as a List, all others as a String.
    static Object parse(Matcher in) {
        in.find();
        String first = in.group();
        if (!first.equals("{") && !first.equals("[")) return first;
        Map<Object, Object> members = new HashMap<>();
        List<Object> items = new ArrayList<>();
        for (Object v = parse(in); !v.equals("}") && !v.equals("]"); v = parse(in)) {
            if (first.equals("[")) items.add(v);
            else members.put(((String) v).replace("\"", ""), parse(in));
        }
        return first.equals("{") ? members : items;
    }

    static int number(Object value, String... keys) {
        for (String key : keys) value = ((Map<?, ?>) value).get(key);
        return Integer.parseInt((String) value);
    }

    @SuppressWarnings("unchecked")
    Bot(String text) {
        Map<String, Object> state = (Map<String, Object>) parse(TOKEN.matcher(text));
        Map<String, Object> block = (Map<String, Object>) state.get("block");
        bitmap = (List<List<Object>>) state.get("bitmap");
        i = number(block, "center", "i"); j = number(block, "center", "j");
        List<Object> list = (List<Object>) block.get("offsets");
        offsets = list.stream().map(o -> new int[] {number(o, "i"), number(o, "j")}).toArray(int[][]::new);
    }

    boolean isFree(int i, int j) {
        return i >= 0 && i < bitmap.size() && j >= 0 && j < bitmap.get(i).size() && bitmap.get(i).get(j).equals("0");
    }

    // Carries out a command; returns false, and changes nothing, if it is not legal (§4.2).
    boolean move(String command) {
        int ni = i + (command.equals("down") ? 1 : command.equals("up") ? -1 : 0);
        int nj = j + (command.equals("right") ? 1 : command.equals("left") ? -1 : 0);
        int[][] turned = offsets.clone();
        if (command.equals("rotate")) Arrays.setAll(turned, k -> new int[] {offsets[k][1], -offsets[k][0]});
        for (int[] o : turned) if (!isFree(ni + o[0], nj + o[1])) return false;
        i = ni; j = nj; offsets = turned;
        return true;
    }

    // Moves the block down as far as it goes and returns how good that is: low is good, empty cells below it are bad.
    int drop() {
        while (move("down")) {}
        int sum = 0;
        for (int[] o : offsets) {
            boolean own = Arrays.stream(offsets).anyMatch(p -> p[0] == o[0] + 1 && p[1] == o[1]);
            sum += i + o[0] - (!own && isFree(i + o[0] + 1, j + o[1]) ? 8 : 0);
        }
        return sum;
    }

    // Returns the commands that move the block as far to the left as it goes.
    String leftmost() {
        String commands = "";
        while (move("left")) commands += "left\n";
        return commands;
    }

    // Returns the commands of the best landing that turns in place, goes sideways and drops.
    String lowest() {
        String answer = "", turned = "";
        int best = Integer.MIN_VALUE, top = i, middle = j;
        for (int turns = 0; turns == 0 || turns < 4 && move("rotate"); turns++, turned += "rotate\n") {
            for (String side : new String[] {"left", "right"}) {
                String commands = turned;
                for (boolean legal = true; legal; legal = move(side), commands += side + "\n") {
                    int value = drop();
                    i = top;
                    if (value > best) answer = commands;
                    best = Math.max(best, value);
                }
                j = middle;
            }
        }
        return answer;
    }

    // The state is the last argument but one. "java Bot left" as the command puts a word before it.
    public static void main(String[] args) {
        Bot game = new Bot(args[args.length - 2]);
        System.out.print(args[0].equals("left") ? game.leftmost() : game.lowest());
    }
}
