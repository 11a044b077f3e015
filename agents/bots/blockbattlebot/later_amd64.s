//go:build amd64 && !noasm

#include "go_asm.h"
#include "textflag.h"
#include "numbers_amd64.h"
#include "dig_amd64.h"

#define LATER(i) DIG(const_laterAt+i)

// LACKING counts the rows Y9 that lack few cells: those with digit n and without digit m.
#define LACKING(n, m, few, i) \
	VPANDN  n, m, Y7; \
	VPANDN  Y7, few, Y7; \
	VPAND   Y9, Y7, Y7; \
	POP(Y7); \
	VMOVDQU Y10, LATER(i)

// WITHOUT takes 1 off Y6 if column x lacks no cell in the rows Y9.
#define WITHOUT(x) \
	VMOVDQU  OPEN(x), Y10; \
	VPOR     HOLES(x), Y10, Y10; \
	VPAND    Y9, Y10, Y10; \
	VPCMPEQD Y5, Y10, Y10; \
	VPADDD   Y10, Y6, Y6

// CLEAR sets the open cells and holes of column x after the rows Y8 are cleared, and adds its holes to Y4. Y6 has the
// rows that count, Y7 the floor, Y9 ones.
#define CLEAR(x) \
	VMOVDQU OPEN(x), Y10; \
	VPOR    HOLES(x), Y10, Y10; \
	VPOR    Y8, Y10, Y10; \
	VPANDN  Y6, Y10, Y10; \
	VPOR    Y7, Y10, Y10; \
	VPSUBD  Y9, Y10, Y11; \
	VPANDN  Y11, Y10, Y11; \
	VMOVDQU Y11, OPEN(x); \
	VPOR    Y11, Y10, Y10; \
	VPOR    Y8, Y10, Y10; \
	VPANDN  Y6, Y10, Y10; \
	VMOVDQU Y10, HOLES(x); \
	VPOR    Y10, Y4, Y4

// CLEARS clears the rows Y8.
#define CLEARS \
	LOW((batch_floor/64), AX, $0, Y6, Y7); \
	VMOVDQU one<>(SB), Y9; \
	VPSLLVD Y6, Y9, Y7; \
	LOW(const_Peak, BX, $0, Y6, Y4); \
	VPSLLVD Y6, Y9, Y6; \
	VPSUBD  Y6, Y7, Y6; \
	VPXOR   Y4, Y4, Y4; \
	COLUMNS(CLEAR)

// COVER sets Y9 to the rows that cover the topmost row with a hole and are not cleared. Y6 is not in use.
#define COVER \
	FREE; \
	VPSUBD one<>(SB), Y7, Y7; \
	VPANDN Y7, Y9, Y9; \
	VPANDN Y9, Y8, Y9

// func later8(b *batch, work *uint64, side *int32)
TEXT ·later8(SB), NOSPLIT, $0-24
	MOVQ b+0(FP), AX
	MOVQ work+8(FP), BX
	MOVQ side+16(FP), DI

	POPS
	VPXOR   Y5, Y5, Y5
	VMOVDQU KEPT(0), Y0
	VMOVDQU KEPT(1), Y1
	VMOVDQU KEPT(2), Y2
	VMOVDQU KEPT(3), Y3
	VMOVDQU KEPT(4), Y4
	VMOVDQU KEPT(5), Y9

	// the rows of the first dig
	VPOR     Y3, Y2, Y8
	LACKING(Y0, Y1, Y8, 7)
	LACKING(Y1, Y0, Y8, 8)
	VPAND    Y0, Y1, Y6
	LACKING(Y6, Y8, Y8, 9)
	VMOVDQU  ten<>(SB), Y6
	COLUMNS(WITHOUT)
	VMOVDQU  Y6, LATER(10)
	POP(Y4)
	VMOVDQU  Y10, LATER(6)
	VPCMPEQD Y5, Y4, Y10
	VPADDD   one<>(SB), Y10, Y10
	VMOVDQU  Y10, LATER(0)
	VMOVDQU  Y9, Y8
	CLEARS
	POP(Y4)
	VMOVDQU  LATER(6), Y7
	VPSUBD   Y10, Y7, Y7
	VMOVDQU  Y7, LATER(6)

	// those of the second
	COVER
	VMOVDQU Y8, KEPT(4)
	VMOVDQU Y9, KEPT(5)
	COVERS(LATER(3), LATER(4), LATER(5))
	VMOVDQU KEPT(4), Y8
	VMOVDQU KEPT(5), Y9

more:
	VPTEST   Y4, Y4
	JZ       done
	VPCMPEQD Y5, Y4, Y10
	VPADDD   one<>(SB), Y10, Y10
	VPADDD   LATER(0), Y10, Y10
	VMOVDQU  Y10, LATER(0)
	VPOR     Y9, Y8, Y8
	CLEARS
	COVER
	JMP      more

done:
	POP(Y8)
	VMOVDQU Y10, LATER(1)
	GAPS(Y8)
	VMOVDQU Y6, LATER(2)
	VZEROUPPER
	RET
