// The body of the kernels that count what boards have. The file that includes it defines the registers V0 to V15, the
// instructions for their width, and constants. AX points to a batch, at the first board to measure, BX to the memory of
// the kernel, at the place of that board. T0 and T1 are for macros and short use.

	READ4(W0, W1, W2, W3)
	MOV      EACH, V10
	VPSLLVQ  FLOOR, V10, V9
	VPSUBQ   V10, V9, V8
	MOV      V8, ALL

	// open cells: V4 to V7
	OR       V9, V0, V4
	OR       V9, V1, V5
	OR       V9, V2, V6
	OR       V9, V3, V7
	VPSUBQ   V10, V4, T0
	VPSUBQ   V10, V5, T1
	ANDN     T0, V4, V4
	ANDN     T1, V5, V5
	VPSUBQ   V10, V6, T0
	VPSUBQ   V10, V7, T1
	ANDN     T0, V6, V6
	ANDN     T1, V7, V7
	MOV      V4, O0
	MOV      V5, O1
	MOV      V6, O2
	MOV      V7, O3

	COVERS(V0, V4, POP)
	COVERS(V1, V5, MORE)
	COVERS(V2, V6, MORE)
	COVERS(V3, V7, MORE)
	SUM(V10)
	MOV      V10, ROW(const_Covers)

	// cells, less those of the wall
	POP4(V0, V1, V2, V3)
	SUM(V10)
	VPSUBQ   FLOOR, V10, V10
	VPSUBQ   FLOOR, V10, V10
	MOV      V10, ROW(const_Cells)

	// holes: V0 to V3
	MOV      ALL, V8
	OR       V4, V0, V0
	OR       V5, V1, V1
	OR       V6, V2, V2
	OR       V7, V3, V3
	ALL4(ANDN, V8, V0, V1, V2, V3)
	POP4(V0, V1, V2, V3)
	SUM(V10)
	MOV      V10, ROW(const_Holes)
	OR4(V0, V1, V2, V3, V8)
	FOLD(V8)
	POP(V8, V10)
	SUM(V10)
	MOV      V10, ROW(const_HoleRows)

	// A column has an edge between its open cells and the first taken one or the floor, and two for each run of holes.
	BELOW(W0, V0, 0, POP)
	BELOW(W1, V1, 1, MORE)
	BELOW(W2, V2, 2, MORE)
	BELOW(W3, V3, 3, MORE)
	SUM(V10)
	VPADDQ   V10, V10, V10
	VPADDQ   TEN, V10, V10
	MOV      V10, ROW(const_ColEdges)

	// holes and open cells beside open ones
	VPSLLQ   $21, V7, V8
	OR       V5, V8, V8
	BESIDE(V4, V0, 0)
	OR       V4, V6, V8
	BESIDE(V5, V1, 1)
	OR       V5, V7, V8
	BESIDE(V6, V2, 2)
	VPSRLQ   $21, V4, V9
	OR       V6, V9, V8
	BESIDE(V7, V3, 3)
	POP4(V0, V1, V2, V3)
	SUM(V10)
	MOV      V10, ROW(const_Overhangs)

	// Steps between columns, in V10: open cells are runs from row 0 on, so a step is the rows that one of them is open in.
	XOR      V4, V5, V0
	XOR      V5, V6, V1
	AND      INNER, V1, V1
	XOR      V6, V7, V2
	XOR      V7, V9, V3
	POP4(V0, V1, V2, V3)

	// rows free everywhere, and in the spawn columns
	AND      V4, V5, V0
	AND      V6, V7, V1
	OR       OUTER, V1, V1
	AND      V0, V1, V1
	VPSRLQ   $21, V1, T0
	VPSRLQ   $42, V1, T1
	AND      T0, V1, V1
	AND      T1, V1, V1
	POP(V1, V2)
	SUM(V2)
	MOV      V2, ROW(const_Peak)
	AND      V6, V0, V0
	VPSRLQ   $21, V0, V0
	AND      V7, V0, V0
	AND      LOW, V0, V0
	POP(V0, V2)
	SUM(V2)
	MOV      V2, ROW(const_Spawn)

	// the depth of the lowest columns less 1: V1; their lowest open cells: V4 to V7
	OR4(V4, V5, V6, V7, V0)
	FOLD(V0)
	MOV      V0, SKY
	VPSRLQ   $1, V0, V2
	ANDN     V0, V2, V3
	MOV      V3, LAST
	POP(V2, V1)
	SUM(V1)
	SPREAD(V3)
	ALL4(AND, V3, V4, V5, V6, V7)

	// of the first lowest column alone
	OR4(V4, V5, V6, V7, V8)
	XOR      T0, T0, T0
	VPSUBQ   V8, T0, T0
	AND      T0, V8, V8
	AND      V8, V4, V0
	ANDN     V8, V4, V8
	AND      V8, V5, V2
	ANDN     V8, V5, V8
	AND      V8, V6, V3
	ANDN     V8, V6, V8

	// its cells below the columns beside: they do not count, nor as the steps back, of which a column at a wall has none
	VPSRLVQ  V1, V0, V4
	VPSRLVQ  V1, V2, V5
	VPSRLVQ  V1, V3, V6
	VPSRLVQ  V1, V8, V7
	VPADDQ   V0, V0, V0
	VPADDQ   V2, V2, V2
	VPADDQ   V3, V3, V3
	VPADDQ   V8, V8, V8
	VPSUBQ   V4, V0, V0
	VPSUBQ   V5, V2, V2
	VPSUBQ   V6, V3, V3
	VPSUBQ   V7, V8, V8
	AND      DEEP(0), V0, V0
	AND      DEEP(1), V2, V2
	AND      DEEP(2), V3, V3
	AND      DEEP(3), V8, V8
	OR       V0, V3, V3
	OR       V2, V8, V8
	OR       V3, V8, V8
	AND      LOW, V0, V0
	AND      OUTER, V2, V2
	OR       V2, V0, V0
	MORE(V0, V10)
	POP(V8, V9)
	SUM(V10)
	SUM(V9)
	VPSUBQ   V9, V10, V10
	VPSUBQ   V9, V10, V10
	MOV      V10, ROW(const_Bumps)

	// Changes along the rows: lane 0 of V4 is the wall on the left, lane 2 of V5 is column 0.
	READ4(W0, W1, W2, W3)
	VPSLLQ   $21, V3, V4
	VPSRLQ   $42, V3, T0
	OR       T0, V4, V4
	AND      ALL, V4, V4
	VPSRLQ   $21, V0, V5
	VPSLLQ   $42, V0, T0
	OR       T0, V5, V5
	AND      ALL, V5, V5
	XOR      V0, V1, V6
	XOR      V1, V2, V7
	XOR      V2, V3, V8
	XOR      V3, V5, V9
	POP4(V6, V7, V8, V9)
	SUM(V10)
	VPSUBQ   ROW(const_Peak), V10, V10
	VPSUBQ   ROW(const_Peak), V10, V10
	MOV      V10, ROW(const_RowEdges)

	// Wells: open cells between taken ones. Two columns side by side cannot both have some, so V8 has those of
	// words 0 and 1, V9 those of words 2 and 3.
	AND      V1, V4, V4
	AND      O0, V4, V4
	AND      V0, V2, V6
	AND      O1, V6, V6
	AND      V1, V3, V7
	AND      O2, V7, V7
	AND      V2, V5, V5
	AND      O3, V5, V5
	OR       V4, V6, V8
	OR       V7, V5, V9
	MOV      ALL, V10
	ALL4(VPSRLQ, $1, V4, V6, V7, V5)
	ALL4(AND, V10, V4, V6, V7, V5)
	MOV      V4, PIT(0)
	MOV      V6, PIT(1)
	MOV      V7, PIT(2)
	MOV      V5, PIT(3)
	POP(V8, V10)
	POP(V9, V7)

deeper:
	VPSRLQ   $1, V8, V4
	VPSRLQ   $1, V9, V5
	AND      V4, V8, V8
	AND      V5, V9, V9
	OR       V8, V9, V4
	NONE(V4, bottom)
	MORE(V8, V10)
	MORE(V9, V7)
	JMP      deeper

bottom:
	SUM(V10)
	SUM(V7)
	VPADDQ   V7, V10, V10
	MOV      V10, ROW(const_Wells)

	// How many cells each row lacks, as binary numbers: first in each lane, bits 0 to 2 in V7, V4, V6.
	MOV      ALL, V8
	ALL4(ANDN, V8, V0, V1, V2, V3)
	XOR      V0, V1, V4
	XOR      V4, V2, V5
	AND      V0, V1, V6
	AND      V4, V2, T0
	OR       T0, V6, V6
	XOR      V5, V3, V7
	AND      V5, V3, V5
	XOR      V6, V5, V4
	AND      V6, V5, V6

	// then over the lanes: bits 0 and 1 in V3 and V9, four or more in V8
	VPSRLQ   $21, V7, V0
	VPSRLQ   $42, V7, V1
	XOR      V7, V0, V2
	XOR      V2, V1, V3
	AND      V7, V0, V5
	AND      V2, V1, T0
	OR       T0, V5, V5
	VPSRLQ   $21, V4, V0
	VPSRLQ   $42, V4, V1
	XOR      V4, V0, V2
	XOR      V2, V1, V7
	AND      V4, V0, V8
	AND      V2, V1, T0
	OR       T0, V8, V8
	XOR      V7, V5, V9
	AND      V7, V5, V7
	VPSRLQ   $21, V6, T0
	VPSRLQ   $42, V6, T1
	OR       V7, V8, V8
	OR       V6, V8, V8
	OR       T0, V8, V8
	OR       T1, V8, V8

	// rows that lack one, V0, or three, V1
	OR       V9, V8, T0
	ANDN     V3, T0, V0
	AND      V3, V9, T0
	ANDN     T0, V8, V1
	OR       V3, V8, T0
	ANDN     V9, T0, T0
	MOV      T0, TWO
	AND      LOW, V0, V0
	AND      LOW, V1, V1
	MOV      SKY, V3
	AND      V3, V0, V2
	ANDN     V0, V3, V3
	POP(V2, V9)
	POP(V3, V10)
	SUM(V9)
	SUM(V10)
	MOV      V9, ROW(const_GapOpen)
	MOV      V10, ROW(const_GapClosed)
	AND      LAST, V0, V2
	VPSRLQ   $1, V2, V3
	AND      V0, V3, V3
	VPSRLQ   $1, V3, V4
	AND      V0, V4, V4
	VPSRLQ   $1, V4, V5
	AND      V0, V5, V5
	OR       V2, V3, V3
	OR       V4, V5, V5
	OR       V3, V5, V5
	POP(V5, V10)
	SUM(V10)
	MOV      V10, ROW(const_Ready)

	// Places for a T: in V8 and V4 those with neither shoulder covered, in V9 and V5 those with one.
	VPSRLQ   $1, V0, V6
	SPREAD(V6)
	SPREAD(V1)
	MOV      V1, V7
	READ4(O0, O1, O2, O3)
	VPSLLQ   $21, V3, V4
	MOV      UNDER(3), V5
	VPSLLQ   $21, V5, V5
	AND      V4, V1, V8
	AND      PIT(0), V8, V8
	AND      V5, V1, V9
	AND      UNDER(1), V4, T0
	OR       T0, V9, V9
	AND      PIT(0), V9, V9
	AND      V0, V2, T0
	AND      PIT(1), T0, T0
	OR       T0, V8, V8
	AND      UNDER(0), V2, T0
	AND      UNDER(2), V0, T1
	OR       T1, T0, T0
	AND      PIT(1), T0, T0
	OR       T0, V9, V9
	AND      V1, V3, V4
	AND      PIT(2), V4, V4
	AND      UNDER(1), V3, V5
	AND      UNDER(3), V1, T0
	OR       T0, V5, V5
	AND      PIT(2), V5, V5
	VPSRLQ   $21, V0, V0
	AND      V0, V2, T0
	AND      PIT(3), T0, T0
	OR       T0, V4, V4
	MOV      UNDER(0), T0
	VPSRLQ   $21, T0, T0
	AND      V2, T0, T0
	AND      UNDER(2), V0, T1
	OR       T1, T0, T0
	AND      PIT(3), T0, T0
	OR       T0, V5, V5

	POP(V8, V10)
	MORE(V4, V10)
	AND      V6, V8, V8
	AND      V6, V4, V4
	POP(V8, V3)
	MORE(V4, V3)
	SUM(V10)
	SUM(V3)
	MOV      V10, ROW(const_Notches)
	MOV      V3, ROW(const_Halves)
	OR       V9, V5, V10
	XOR      V1, V1, V1
	XOR      V2, V2, V2
	NONE(V10, slots)
	AND      V6, V7, V1
	XOR      V6, V7, V2
	AND      V1, V9, V3
	AND      V1, V5, V4
	POP(V3, V1)
	MORE(V4, V1)
	AND      V2, V9, V3
	AND      V2, V5, V4
	POP(V3, V2)
	MORE(V4, V2)
	POP(V9, V10)
	MORE(V5, V10)
	SUM(V1)
	SUM(V2)
	SUM(V10)

slots:
	MOV      V1, ROW(const_Doubles)
	MOV      V2, ROW(const_Singles)
	MOV      V10, ROW(const_Slots)
