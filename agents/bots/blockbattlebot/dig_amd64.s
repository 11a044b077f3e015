//go:build amd64 && !noasm

#include "go_asm.h"
#include "textflag.h"
#include "numbers_amd64.h"
#include "dig_amd64.h"

CONSTANT(fifteen, $0x0000000f0000000f)

// COLUMN reads a column: rows that lack 1, 2, 4 and 8 cells in Y0 to Y3, rows with holes in Y4, rows in which missing
// cells begin once in Y5 and twice in Y6, the missing cells in Y7. Y8 has the rows that count.
#define COLUMN(x, k, shift) \
	LOW(k, AX, shift, Y9, Y10); \
	VPANDN  Y8, Y9, Y9; \
	LOW(const_Terms+k, BX, shift, Y10, Y11); \
	VMOVDQU Y10, OPEN(x); \
	VPANDN  Y9, Y10, Y10; \
	VMOVDQU Y10, HOLES(x); \
	VPOR    Y10, Y4, Y4; \
	VPANDN  Y9, Y7, Y10; \
	VPAND   Y5, Y10, Y11; \
	VPOR    Y11, Y6, Y6; \
	VPOR    Y10, Y5, Y5; \
	VMOVDQU Y9, Y7; \
	VPAND   Y0, Y9, Y10; \
	VPXOR   Y9, Y0, Y0; \
	VPAND   Y1, Y10, Y11; \
	VPXOR   Y10, Y1, Y1; \
	VPAND   Y2, Y11, Y10; \
	VPXOR   Y11, Y2, Y2; \
	VPXOR   Y10, Y3, Y3

// LACK counts the rows in Y9, that lack n cells, without holes and with: Y5 has the rows without. It leaves those
// without in Y7, and their number in DIG.
#define LACK(n) \
	VPAND   Y4, Y9, Y7; \
	POP(Y7); \
	VMOVDQU Y10, DIG(const_holedAt+n-1); \
	VPAND   Y5, Y9, Y7; \
	POP(Y7); \
	VMOVDQU Y10, DIG(const_wholeAt+n-1)

// SPLIT tells apart those of LACK by whether the cells they lack are side by side.
#define SPLIT(n) \
	VPAND   Y6, Y7, Y7; \
	VMOVDQU Y10, Y9; \
	POP(Y7); \
	VMOVDQU Y10, DIG(const_splitAt+n-2); \
	VPSUBD  Y10, Y9, Y9; \
	VMOVDQU Y9, DIG(const_runsAt+n-2)

// LOWEST adds to Y9 the digit n, worth a power of 2, of what the lowest row lacks; TOPMOST leaves it in Y6 for row Y7.
#define LOWEST(n, power) \
	VPSRLVD Y10, n, Y6; \
	VPAND   Y11, Y6, Y6; \
	VPSLLD  power, Y6, Y6; \
	VPADDD  Y6, Y9, Y9

#define TOPMOST(n, power) \
	VPAND    Y7, n, Y10; \
	VPCMPEQD Y5, Y10, Y10; \
	VPSLLD   power, Y10, Y10; \
	VPADDD   Y10, Y6, Y6

// func dig8(b *batch, work *uint64, side *int32)
TEXT ·dig8(SB), NOSPLIT, $0-24
	MOVQ b+0(FP), AX
	MOVQ work+8(FP), BX
	MOVQ side+16(FP), DI

	POPS
	VMOVDQU one<>(SB), Y11
	LOW((batch_floor/64), AX, $0, Y8, Y0)
	LOW(const_Peak, BX, $0, Y1, Y0)
	VPSLLVD Y8, Y11, Y8
	VPSLLVD Y1, Y11, Y1
	VPSUBD  Y1, Y8, Y8
	ZERO4(Y0, Y1, Y2, Y3)
	ZERO4(Y4, Y5, Y6, Y7)
	COLUMN(0, 0, $0)
	COLUMN(1, 1, $0)
	COLUMN(2, 2, $0)
	COLUMN(3, 3, $0)
	COLUMN(4, 0, $21)
	COLUMN(5, 1, $21)
	COLUMN(6, 2, $21)
	COLUMN(7, 3, $21)
	COLUMN(8, 0, $42)
	COLUMN(9, 1, $42)

	VPANDN Y8, Y4, Y5
	VPOR   Y3, Y2, Y11
	VPOR   Y1, Y11, Y10
	VPANDN Y0, Y10, Y9
	LACK(1)
	VPOR   Y3, Y2, Y11
	VPOR   Y0, Y11, Y10
	VPANDN Y1, Y10, Y9
	LACK(2)
	SPLIT(2)
	VPOR   Y3, Y2, Y11
	VPAND  Y0, Y1, Y10
	VPANDN Y10, Y11, Y9
	LACK(3)
	SPLIT(3)
	VPOR   Y3, Y1, Y11
	VPOR   Y0, Y11, Y10
	VPANDN Y2, Y10, Y9
	LACK(4)
	SPLIT(4)
	VPOR   Y3, Y1, Y11
	VPAND  Y0, Y2, Y10
	VPANDN Y10, Y11, Y9
	LACK(5)
	VPAND  Y1, Y2, Y9
	VPOR   Y3, Y9, Y9
	LACK(6)

	// what the lowest row lacks: all, if no row counts
	LOW((batch_floor/64), AX, $0, Y9, Y10)
	VMOVDQU  one<>(SB), Y11
	VPSUBD   Y11, Y9, Y10
	VPXOR    Y5, Y5, Y5
	VPCMPGTD Y5, Y9, Y9
	VPCMPEQD Y5, Y8, Y8
	VPAND    Y8, Y9, Y9
	VPAND    ten<>(SB), Y9, Y9
	VPSRLVD  Y10, Y0, Y6
	VPAND    Y11, Y6, Y6
	VPADDD   Y6, Y9, Y9
	LOWEST(Y1, $1)
	LOWEST(Y2, $2)
	LOWEST(Y3, $3)
	VMOVDQU  Y9, DIG(7)

	// the topmost row with a hole
	VPCMPEQD Y5, Y4, Y10
	VPSRLD   $31, Y10, Y10
	VMOVDQU  Y10, DIG(6)
	VMOVDQU  ten<>(SB), Y6
	FREE
	VMOVDQU  Y6, DIG(2)
	VMOVDQU  fifteen<>(SB), Y6
	VPAND    Y7, Y0, Y10
	VPCMPEQD Y5, Y10, Y10
	VPADDD   Y10, Y6, Y6
	TOPMOST(Y1, $1)
	TOPMOST(Y2, $2)
	TOPMOST(Y3, $3)
	VMOVDQU  Y6, DIG(3)
	VMOVDQU  one<>(SB), Y11
	VPSUBD   Y11, Y7, Y7
	VPANDN   Y7, Y9, Y9
	LOW((batch_floor/64), AX, $0, Y8, Y10)
	VPSLLVD  Y8, Y11, Y8
	VPSUBD   Y11, Y8, Y8
	VPANDN   Y8, Y7, Y8
	POP(Y8)
	VMOVDQU  Y10, DIG(4)

	// the rows that cover it, in Y9
	VMOVDQU Y0, KEPT(0)
	VMOVDQU Y1, KEPT(1)
	VMOVDQU Y2, KEPT(2)
	VMOVDQU Y3, KEPT(3)
	VMOVDQU Y4, KEPT(4)
	VMOVDQU Y9, KEPT(5)
	COVERS(DIG(0), DIG(1), DIG(5))
	VZEROUPPER
	RET
