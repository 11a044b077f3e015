//go:build amd64 && !noasm

#include "go_asm.h"
#include "textflag.h"
#include "numbers_amd64.h"

CONSTANT(column, $0x001fffff001fffff)
CONSTANT(bias, $0x0000007f0000007f)
CONSTANT(n0, $0x0000000000000000)
CONSTANT(n1, $0x0000000100000001)
CONSTANT(n2, $0x0000000200000002)
CONSTANT(n4, $0x0000000400000004)
CONSTANT(n6, $0x0000000600000006)
CONSTANT(n15, $0x0000000f0000000f)
CONSTANT(n16, $0x0000001000000010)
CONSTANT(m1, $0xffffffffffffffff)
CONSTANT(m2, $0xfffffffefffffffe)
CONSTANT(m6, $0xfffffffafffffffa)
CONSTANT(m16, $0xfffffff0fffffff0)

// ROW is a row of counts, TERM a row of terms, REST and EXTRA the rows of counts after those of the columns.
#define ROW(r) (32*(r))(DI)
#define TERM(r) (32*(r))(SI)
#define REST(r) ROW(const_restAt+r)
#define EXTRA(r) ROW(const_halfLen+r)

// PACK sets y to the lower halves of a row of the memory of count4.
#define PACK(r, y) \
	VMOVDQU (64*(r))(BX), y; \
	VSHUFPS $0x88, (64*(r)+32)(BX), y, y; \
	VPERMQ  $0xd8, y, y

#define COPY(from, to) \
	VMOVDQU from, Y10; \
	VMOVDQU Y10, to

// HEIGHT sets y to the open cells of a column of word k, whose bits are in shift and up, and writes its height. Open
// cells are n bits from bit 0 on; the exponent of these bits plus 1 is n.
#define HEIGHT(x, k, shift, y) \
	VMOVDQU   (64*(const_Terms+k))(BX), y; \
	VMOVDQU   (64*(const_Terms+k)+32)(BX), Y11; \
	VPSRLQ    shift, y, y; \
	VPSRLQ    shift, Y11, Y11; \
	VSHUFPS   $0x88, Y11, y, y; \
	VPERMQ    $0xd8, y, y; \
	VPAND     Y12, y, y; \
	VPADDD    Y13, y, y; \
	VCVTDQ2PS y, y; \
	VPSRLD    $23, y, y; \
	VPSUBD    Y14, y, y; \
	VPSUBD    y, Y10, Y11; \
	VMOVDQU   Y11, ROW(x)

// TWO updates the greatest and second greatest numbers, Y11 and Y12.
#define TWO(y) \
	VPMINSD y, Y11, Y13; \
	VPMAXSD y, Y11, Y11; \
	VPMAXSD Y13, Y12, Y12

// STEP writes the step from the column before to column x, and its size.
#define STEP(x, before, y) \
	VPSUBD  y, before, Y10; \
	VPMINSD Y11, Y10, Y10; \
	VPMAXSD Y12, Y10, Y10; \
	VMOVDQU Y10, ROW(const_columns+x-1); \
	VPABSD  Y10, Y10; \
	VMOVDQU Y10, ROW(2*const_columns+x-2)

// TALLY adds 1 to acc where x is n.
#define TALLY(x, n, acc) \
	VPCMPEQD n<>(SB), x, Y15; \
	VPSUBD   Y15, acc, acc

#define ONE(x) \
	TALLY(x, n0, Y0); \
	TALLY(x, n1, Y1); \
	TALLY(x, m1, Y2); \
	TALLY(x, n2, Y3); \
	TALLY(x, m2, Y4)

// PAIR takes step x, which is in this, and the next one, which it sets next to.
#define PAIR(x, this, next) \
	ONE(this); \
	VMOVDQU ROW(const_columns+x+1), next; \
	VPSLLD  $4, next, Y14; \
	VPADDD  this, Y14, Y14; \
	TALLY(Y14, n0, Y5); \
	TALLY(Y14, n16, Y6); \
	TALLY(Y14, m1, Y7); \
	TALLY(Y14, n15, Y8); \
	TALLY(Y14, m16, Y9); \
	TALLY(Y14, n1, Y10)

// THREE is PAIR for a step that two follow.
#define THREE(x, this, next) \
	PAIR(x, this, next); \
	VPOR ROW(const_columns+x+2), Y14, Y14; \
	TALLY(Y14, n0, Y11)

// FITS writes the two counts of a number of places.
#define FITS(y, i) \
	VPCMPEQD n0<>(SB), y, Y15; \
	VPSRLD   $31, Y15, Y15; \
	VMOVDQU  Y15, ROW(const_fitsAt+6+i); \
	VPMINSD  n4<>(SB), y, y; \
	VMOVDQU  y, ROW(const_fitsAt+i)

// func surface8(b *batch, work *uint64, terms, side *int32, threat int)
TEXT ·surface8(SB), NOSPLIT, $0-40
	MOVQ b+0(FP), AX
	MOVQ work+8(FP), BX
	MOVQ terms+16(FP), SI
	MOVQ side+24(FP), DI

	COPY(TERM(const_Holes), REST(0))
	COPY(TERM(const_Covers), REST(1))
	COPY(TERM(const_HoleRows), REST(2))
	COPY(TERM(const_Overhangs), REST(3))
	COPY(TERM(const_RowEdges), REST(4))
	COPY(TERM(const_ColEdges), REST(5))
	COPY(TERM(const_Wells), REST(6))
	COPY(TERM(const_Cells), REST(8))
	COPY(TERM(const_GapOpen), REST(13))
	COPY(TERM(const_GapClosed), REST(14))
	COPY(TERM(const_Ready), REST(16))
	COPY(TERM(const_Slots), REST(18))
	COPY(TERM(const_Singles), REST(19))
	COPY(TERM(const_Notches), REST(21))
	COPY(TERM(const_Halves), REST(22))
	COPY(TERM(const_Bumps), EXTRA(5))
	COPY(TERM(const_Peak), EXTRA(6))
	COPY(TERM(const_Spawn), EXTRA(7))
	COPY(TERM(const_Quad), EXTRA(8))
	COPY(TERM(const_Doubles), EXTRA(9))
	COPY(TERM(const_Exposed), EXTRA(12))
	PACK(const_Doubles, Y0)
	VMOVDQU Y0, REST(20)

	// room in the spawn columns
	PACK(const_Spawn, Y0)
	VMOVDQU  Y0, REST(10)
	VMOVDQU  n4<>(SB), Y1
	VPCMPGTD Y0, Y1, Y1
	VPSRLD   $31, Y1, Y1
	VMOVDQU  Y1, REST(11)
	VMOVDQU  n2<>(SB), Y1
	VPCMPGTD Y0, Y1, Y1
	VPSRLD   $31, Y1, Y1
	VMOVDQU  Y1, REST(12)

	// rows that lack two cells
	PACK(const_Terms+4+3, Y0)
	VPAND      column<>(SB), Y0, Y0
	VMOVDQU    ones<>(SB), Y2
	VPAND      nibble<>(SB), Y0, Y1
	VPSRLW     $4, Y0, Y0
	VPAND      nibble<>(SB), Y0, Y0
	VPSHUFB    Y1, Y2, Y1
	VPSHUFB    Y0, Y2, Y0
	VPADDB     Y1, Y0, Y0
	VPMADDUBSW bytes<>(SB), Y0, Y0
	VPMADDWD   words<>(SB), Y0, Y0
	VMOVDQU    Y0, REST(15)

	// room everywhere
	VMOVDQU batch_floor(AX), Y10
	VSHUFPS $0x88, (batch_floor+32)(AX), Y10, Y10
	VPERMQ  $0xd8, Y10, Y10
	PACK(const_Peak, Y0)
	VMOVDQU Y0, REST(9)
	VPSUBD  Y0, Y10, Y1
	VMOVDQU Y1, REST(7)
	VPBROADCASTD threat+32(FP), Y2
	VPSUBD   Y2, Y0, Y1
	VMOVDQU  Y1, EXTRA(3)
	VPCMPGTD Y0, Y2, Y1
	VPSRLD   $31, Y1, Y1
	VMOVDQU  Y1, EXTRA(4)

	VMOVDQU column<>(SB), Y12
	VMOVDQU n1<>(SB), Y13
	VMOVDQU bias<>(SB), Y14
	HEIGHT(0, 0, $0, Y0)
	HEIGHT(1, 1, $0, Y1)
	HEIGHT(2, 2, $0, Y2)
	HEIGHT(3, 3, $0, Y3)
	HEIGHT(4, 0, $21, Y4)
	HEIGHT(5, 1, $21, Y5)
	HEIGHT(6, 2, $21, Y6)
	HEIGHT(7, 3, $21, Y7)
	HEIGHT(8, 0, $42, Y8)
	HEIGHT(9, 1, $42, Y9)

	VMOVDQU Y0, Y11
	VPXOR   Y12, Y12, Y12
	TWO(Y1)
	TWO(Y2)
	TWO(Y3)
	TWO(Y4)
	TWO(Y5)
	TWO(Y6)
	TWO(Y7)
	TWO(Y8)
	TWO(Y9)
	VPSUBD  Y12, Y11, Y11
	VMOVDQU Y11, REST(17)

	VMOVDQU n6<>(SB), Y11
	VMOVDQU m6<>(SB), Y12
	STEP(1, Y0, Y1)
	STEP(2, Y1, Y2)
	STEP(3, Y2, Y3)
	STEP(4, Y3, Y4)
	STEP(5, Y4, Y5)
	STEP(6, Y5, Y6)
	STEP(7, Y6, Y7)
	STEP(8, Y7, Y8)
	STEP(9, Y8, Y9)

	// Single steps: flat, up, down, two up, two down in Y0 to Y4. Pairs, the second times 16: flat and flat, flat and
	// up, down and flat, down and up, flat and down, up and flat in Y5 to Y10. Three flat ones: Y11.
	ZERO4(Y0, Y1, Y2, Y3)
	ZERO4(Y4, Y5, Y6, Y7)
	ZERO4(Y8, Y9, Y10, Y11)
	VMOVDQU ROW(const_columns), Y12
	THREE(0, Y12, Y13)
	THREE(1, Y13, Y12)
	THREE(2, Y12, Y13)
	THREE(3, Y13, Y12)
	THREE(4, Y12, Y13)
	THREE(5, Y13, Y12)
	THREE(6, Y12, Y13)
	PAIR(7, Y13, Y12)
	ONE(Y12)

	VPADDD Y2, Y6, Y6
	VPADDD Y1, Y7, Y7
	VPADDD Y5, Y8, Y8
	VPADDD Y1, Y8, Y8
	VPADDD Y2, Y8, Y8
	VPADDD Y5, Y9, Y9
	VPADDD Y0, Y9, Y9
	VPADDD Y3, Y9, Y9
	VPADDD Y5, Y10, Y10
	VPADDD Y0, Y10, Y10
	VPADDD Y4, Y10, Y10
	FITS(Y0, 1)
	FITS(Y6, 2)
	FITS(Y7, 3)
	FITS(Y8, 4)
	FITS(Y9, 5)
	FITS(Y10, 6)
	VPMINSD n4<>(SB), Y11, Y11
	VMOVDQU Y11, ROW(const_fitsAt)
	VZEROUPPER
	RET

#define NEXT (4*const_padLen) // bytes from one position to the next

// func turn8(side, rows *int32)
//
// It takes eight rows at a time.
TEXT ·turn8(SB), NOSPLIT, $0-16
	MOVQ side+0(FP), SI
	MOVQ rows+8(FP), DI
	MOVQ $(const_padLen/8), CX

loop:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	VMOVDQU 64(SI), Y2
	VMOVDQU 96(SI), Y3
	VMOVDQU 128(SI), Y4
	VMOVDQU 160(SI), Y5
	VMOVDQU 192(SI), Y6
	VMOVDQU 224(SI), Y7

	// pairs of rows, then four, in both halves
	VPUNPCKLDQ Y1, Y0, Y8
	VPUNPCKHDQ Y1, Y0, Y9
	VPUNPCKLDQ Y3, Y2, Y10
	VPUNPCKHDQ Y3, Y2, Y11
	VPUNPCKLDQ Y5, Y4, Y12
	VPUNPCKHDQ Y5, Y4, Y13
	VPUNPCKLDQ Y7, Y6, Y14
	VPUNPCKHDQ Y7, Y6, Y15
	VPUNPCKLQDQ Y10, Y8, Y0
	VPUNPCKHQDQ Y10, Y8, Y1
	VPUNPCKLQDQ Y11, Y9, Y2
	VPUNPCKHQDQ Y11, Y9, Y3
	VPUNPCKLQDQ Y14, Y12, Y4
	VPUNPCKHQDQ Y14, Y12, Y5
	VPUNPCKLQDQ Y15, Y13, Y6
	VPUNPCKHQDQ Y15, Y13, Y7

	VPERM2I128 $0x20, Y4, Y0, Y8
	VPERM2I128 $0x20, Y5, Y1, Y9
	VPERM2I128 $0x20, Y6, Y2, Y10
	VPERM2I128 $0x20, Y7, Y3, Y11
	VPERM2I128 $0x31, Y4, Y0, Y12
	VPERM2I128 $0x31, Y5, Y1, Y13
	VPERM2I128 $0x31, Y6, Y2, Y14
	VPERM2I128 $0x31, Y7, Y3, Y15
	VMOVDQU Y8, (0*NEXT)(DI)
	VMOVDQU Y9, (1*NEXT)(DI)
	VMOVDQU Y10, (2*NEXT)(DI)
	VMOVDQU Y11, (3*NEXT)(DI)
	VMOVDQU Y12, (4*NEXT)(DI)
	VMOVDQU Y13, (5*NEXT)(DI)
	VMOVDQU Y14, (6*NEXT)(DI)
	VMOVDQU Y15, (7*NEXT)(DI)
	ADDQ $256, SI
	ADDQ $32, DI
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET
