// Constants and macros of the kernels that count what boards have, of which each defines the registers V0 to V10, T0 and
// T1, the instructions for their width, and the macros MOV to PACK.

CONSTANT(each, $0x0000040000200001)
CONSTANT(low, $0x00000000001fffff)
CONSTANT(inner, $0x000003ffffffffff)
CONSTANT(outer, $0x3ffffc0000000000)
CONSTANT(ten, $10)
CONSTANT(one, $0x0000000100000001)
CONSTANT(four, $0x0000000400000004)
CONSTANT(ten32, $0x0000000a0000000a)

#define EACH each<>(SB)
#define LOW low<>(SB)
#define INNER inner<>(SB)
#define OUTER outer<>(SB)
#define TEN ten<>(SB)

#define W0 batch_w+0(AX)
#define W1 batch_w+64(AX)
#define W2 batch_w+128(AX)
#define W3 batch_w+192(AX)
#define FLOOR batch_floor(AX)
#define O0 (64*(const_Terms+0))(BX)
#define O1 (64*(const_Terms+1))(BX)
#define O2 (64*(const_Terms+2))(BX)
#define O3 (64*(const_Terms+3))(BX)
#define ROW(r) (64*(r))(BX) // the sums of a term
#define TEMP(r) (64*(const_Terms+4+r))(BX)
#define ALL TEMP(0)
#define SKY TEMP(1)  // rows that some column is open in
#define LAST TEMP(2) // the lowest of them
#define TWO TEMP(3)  // rows that lack two cells
#define UNDER(i) TEMP(4+i) // holes right below a taken cell
#define DEEP(i) TEMP(8+i)  // open cells below those of the columns beside
#define PIT(i) TEMP(12+i)  // rows above a well

// FOLD sets x to the rows taken in any lane of x.
#define FOLD(x) \
	VPSRLQ $21, x, T0; \
	VPSRLQ $42, x, T1; \
	OR     T0, x, x; \
	OR     T1, x, x; \
	AND    LOW, x, x

// SPREAD sets all lanes of x to lane 0, the only one that is taken.
#define SPREAD(x) \
	VPSLLQ $21, x, T0; \
	VPSLLQ $42, x, T1; \
	OR     T0, x, x; \
	OR     T1, x, x

// COVERS adds the taken cells above the topmost hole of each lane to V10. The first run of taken cells in a lane with
// a hole is cleared by the carry of an addition at its top; in a lane without one, the carry reaches the guard.
#define COVERS(w, o, POP) \
	VPADDQ   EACH, o, T0; \
	VPADDQ   w, T0, T0; \
	AND      V9, T0, T1; \
	ANDN     w, T0, T0; \
	VPSRLVQ  FLOOR, T1, V8; \
	VPSUBQ   V8, T1, T1; \
	ANDN     T0, T1, V8; \
	POP(V8, V10)

// READ4 sets V0 to V3.
#define READ4(a, b, c, d) \
	MOV a, V0; \
	MOV b, V1; \
	MOV c, V2; \
	MOV d, V3

// ALL4 applies an instruction with operand x to each of four registers.
#define ALL4(OP, x, a, b, c, d) \
	OP x, a, a; \
	OP x, b, b; \
	OP x, c, c; \
	OP x, d, d

#define OR4(a, b, c, d, to) \
	OR a, b, to; \
	OR c, to, to; \
	OR d, to, to

// POP4 sets V10 to the numbers of bits of four registers.
#define POP4(a, b, c, d) \
	POP(a, V10); \
	MORE(b, V10); \
	MORE(c, V10); \
	MORE(d, V10)

// BELOW writes and counts the holes right below a taken cell of word i, w, which has the holes v.
#define BELOW(w, v, i, POP) \
	MOV    w, V8; \
	VPSLLQ $1, V8, V8; \
	AND    v, V8, V8; \
	MOV    V8, UNDER(i); \
	POP(V8, V10)

// BESIDE leaves the holes of word i that are beside open cells, V8, and writes its open cells that are beside none.
#define BESIDE(open, holes, i) \
	AND  V8, holes, holes; \
	ANDN open, V8, V8; \
	MOV  V8, DEEP(i)

// WRITE writes a row of the numbers of eight boards. PACK sets a register to them.
#define ZERO Y13
#define WRITE(r) \
	PACK(r, Y0); \
	VMOVDQU Y0, (32*r)(SI)

// SQUARE writes the square of how much the numbers y are below those of limit.
#define SQUARE(limit, y, r) \
	VPSUBD  y, limit, Y2; \
	VPMAXSD ZERO, Y2, Y2; \
	VPMULLD Y2, Y2, Y2; \
	VMOVDQU Y2, (32*r)(SI)

// TERMS writes the terms that come from boards, given their sums.
#define TERMS \
	MOVQ    terms+16(FP), SI; \
	WRITE(const_Holes); \
	WRITE(const_Covers); \
	WRITE(const_HoleRows); \
	WRITE(const_Overhangs); \
	WRITE(const_RowEdges); \
	WRITE(const_ColEdges); \
	WRITE(const_Wells); \
	WRITE(const_Bumps); \
	WRITE(const_Cells); \
	WRITE(const_GapOpen); \
	WRITE(const_GapClosed); \
	WRITE(const_Ready); \
	VPCMPEQD four<>(SB), Y0, Y0; \
	VPSRLD  $31, Y0, Y0; \
	VMOVDQU Y0, (32*const_Quad)(SI); \
	WRITE(const_Slots); \
	WRITE(const_Singles); \
	PACK(const_Doubles, Y0); \
	VPMINSD one<>(SB), Y0, Y0; \
	VMOVDQU Y0, (32*const_Doubles)(SI); \
	WRITE(const_Notches); \
	WRITE(const_Halves); \
	PACK(const_Spawn, Y0); \
	VMOVDQU four<>(SB), Y1; \
	SQUARE(Y1, Y0, const_Spawn); \
	PACK(const_Peak, Y0); \
	VMOVDQU ten32<>(SB), Y1; \
	SQUARE(Y1, Y0, const_Peak); \
	VPBROADCASTD least+24(FP), Y1; \
	SQUARE(Y1, Y0, const_Exposed)
