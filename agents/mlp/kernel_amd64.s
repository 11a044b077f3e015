//go:build amd64 && !noasm

#include "textflag.h"

// The macros take the sums of 32 or 64 outputs, or part of them, in Y0 to Y7, and an input in Y8. MOVE, MUL and ADD are
// the instructions for float32 or for int32, at is a number of bytes.

#define READ32(MOVE, at, from, a, b, c, d) \
	MOVE at+0(from), a; \
	MOVE at+32(from), b; \
	MOVE at+64(from), c; \
	MOVE at+96(from), d

#define WRITE32(MOVE, at, to, a, b, c, d) \
	MOVE a, at+0(to); \
	MOVE b, at+32(to); \
	MOVE c, at+64(to); \
	MOVE d, at+96(to)

#define READ64(MOVE, from) \
	READ32(MOVE, 0, from, Y0, Y1, Y2, Y3); \
	READ32(MOVE, 128, from, Y4, Y5, Y6, Y7)

#define WRITE64(MOVE, to) \
	WRITE32(MOVE, 0, to, Y0, Y1, Y2, Y3); \
	WRITE32(MOVE, 128, to, Y4, Y5, Y6, Y7)

// ADD32 adds the products of an input and 32 of its weights.
#define ADD32(MUL, ADD, at, w, a, b, c, d) \
	MUL at+0(w), Y8, Y9; \
	MUL at+32(w), Y8, Y10; \
	MUL at+64(w), Y8, Y11; \
	MUL at+96(w), Y8, Y12; \
	ADD Y9, a, a; \
	ADD Y10, b, b; \
	ADD Y11, c, c; \
	ADD Y12, d, d

#define ADD64(MUL, ADD, w) \
	ADD32(MUL, ADD, 0, w, Y0, Y1, Y2, Y3); \
	ADD32(MUL, ADD, 128, w, Y4, Y5, Y6, Y7)

// ADD2X16 adds the products of 16 weights and an input of each of two rows, Y8 and Y9.
#define ADD2X16(at, a, b, c, d) \
	VMOVUPS at+0(CX), Y10; \
	VMOVUPS at+32(CX), Y11; \
	VMULPS Y10, Y8, Y12; \
	VMULPS Y11, Y8, Y13; \
	VMULPS Y10, Y9, Y14; \
	VMULPS Y11, Y9, Y15; \
	VADDPS Y12, a, a; \
	VADDPS Y13, b, b; \
	VADDPS Y14, c, c; \
	VADDPS Y15, d, d

// NONZERO64 sets a bit of R9 for each of the next 64 inputs, of the DX that are left, that is not 0. Y15 is 0.
#define NONZERO64(look8, look1, found) \
	XORQ R9, R9; \
	XORQ CX, CX; \
look8: \
	CMPQ DX, $8; \
	JLT look1; \
	VCMPPS $4, (AX)(CX*4), Y15, Y8; \
	VMOVMSKPS Y8, R10; \
	SHLQ CX, R10; \
	ORQ R10, R9; \
	ADDQ $8, CX; \
	SUBQ $8, DX; \
	CMPQ CX, $64; \
	JLT look8; \
	JMP found; \
look1: \
	TESTQ DX, DX; \
	JZ found; \
	MOVL (AX)(CX*4), R10; \
	ADDL R10, R10; \
	SETNE R10; \
	MOVBLZX R10, R10; \
	SHLQ CX, R10; \
	ORQ R10, R9; \
	INCQ CX; \
	DECQ DX; \
	JMP look1

// EACH64 adds the products of the inputs with a bit in R9 and of their weights, which begin at BX. LOAD reads an input
// from its place there, and OP makes of its number how far its weights are.
#define EACH64(LOAD, inputs, MUL, ADD, OP, by, each, next) \
	TESTQ R9, R9; \
	JZ next; \
each: \
	TZCNTQ R9, R10; \
	LEAQ -1(R9), R11; \
	LOAD (inputs)(R10*4), Y8; \
	OP by, R10; \
	ADDQ BX, R10; \
	ADD64(MUL, ADD, R10); \
	ANDQ R11, R9; \
	JNZ each

// SUM8 sets X0 to the sum of the eight numbers in y, of which x is the lower half: by halves of 8, of 4, of 2.
#define SUM8(y, x) \
	VEXTRACTF128 $1, y, X1; \
	VADDPS X1, x, X0; \
	VPERMILPS $0x0e, X0, X1; \
	VADDPS X1, X0, X0; \
	VPERMILPS $0x01, X0, X1; \
	VADDSS X1, X0, X0

// DOT8 sets X0 to the sum of CX products of weights at BX and leaked numbers at AX, which MOVE reads as float32.
#define DOT8(MOVE, next) \
	VBROADCASTSS slope8<>(SB), Y7; \
	VXORPS Y0, Y0, Y0; \
next: \
	MOVE (AX), Y1; \
	VMULPS Y7, Y1, Y2; \
	VMAXPS Y1, Y2, Y1; \
	VMULPS (BX), Y1, Y1; \
	VADDPS Y1, Y0, Y0; \
	ADDQ $32, AX; \
	ADDQ $32, BX; \
	SUBQ $8, CX; \
	JNZ next; \
	SUM8(Y0, X0)

// ADDLEAKED adds to Y15 the products of eight leaked sums and their weights. Y14 is the slope.
#define ADDLEAKED(at, y) \
	VMULPS Y14, y, Y9; \
	VMAXPS y, Y9, y; \
	VMULPS at(SI), y, y; \
	VADDPS y, Y15, Y15

// ROW1 reads the arguments of the kernels that add the products of one row. R8 is how many bytes weights of an input have.
#define ROW1(W) \
	MOVQ dst+0(FP), DI; \
	MOVQ x+8(FP), AX; \
	MOVQ w+16(FP), W; \
	MOVQ in+24(FP), DX; \
	MOVQ wide+32(FP), R8; \
	SHLQ $2, R8

// func add2x32(dst0, dst1, x0, x1, w *float32, in, wide int)
TEXT ·add2x32(SB), NOSPLIT, $0-56
	MOVQ dst0+0(FP), DI
	MOVQ dst1+8(FP), SI
	MOVQ x0+16(FP), AX
	MOVQ x1+24(FP), BX
	MOVQ w+32(FP), CX
	MOVQ in+40(FP), DX
	MOVQ wide+48(FP), R8
	SHLQ $2, R8
	READ32(VMOVUPS, 0, DI, Y0, Y1, Y2, Y3)
	READ32(VMOVUPS, 0, SI, Y4, Y5, Y6, Y7)

loop2:
	VBROADCASTSS (AX), Y8
	VBROADCASTSS (BX), Y9
	ADD2X16(0, Y0, Y1, Y4, Y5)
	ADD2X16(64, Y2, Y3, Y6, Y7)
	ADDQ $4, AX
	ADDQ $4, BX
	ADDQ R8, CX
	DECQ DX
	JNZ loop2

	WRITE32(VMOVUPS, 0, DI, Y0, Y1, Y2, Y3)
	WRITE32(VMOVUPS, 0, SI, Y4, Y5, Y6, Y7)
	VZEROUPPER
	RET

// func add1x64(dst, x, w *float32, in, wide int)
//
// It takes the inputs 64 at a time. R9 has a bit for each of them that is not 0.
TEXT ·add1x64(SB), NOSPLIT, $0-40
	ROW1(BX)
	READ64(VMOVUPS, DI)
	VXORPS Y15, Y15, Y15

some:
	NONZERO64(look8, look1, found)

found:
	EACH64(VBROADCASTSS, AX, VMULPS, VADDPS, IMULQ, R8, each, next)

next:
	TESTQ DX, DX
	JZ done
	ADDQ $256, AX
	MOVQ R8, R10
	SHLQ $6, R10
	ADDQ R10, BX
	JMP some

done:
	WRITE64(VMOVUPS, DI)
	VZEROUPPER
	RET

// func add1x32(dst, x, w *float32, in, wide int)
TEXT ·add1x32(SB), NOSPLIT, $0-40
	ROW1(CX)
	READ32(VMOVUPS, 0, DI, Y0, Y1, Y2, Y3)

loop32:
	VBROADCASTSS (AX), Y8
	ADD32(VMULPS, VADDPS, 0, CX, Y0, Y1, Y2, Y3)
	ADDQ $4, AX
	ADDQ R8, CX
	DECQ DX
	JNZ loop32

	WRITE32(VMOVUPS, 0, DI, Y0, Y1, Y2, Y3)
	VZEROUPPER
	RET

// func add1x8(dst, x, w *float32, in, wide int)
TEXT ·add1x8(SB), NOSPLIT, $0-40
	ROW1(CX)
	VMOVUPS (DI), Y0

loop1:
	VBROADCASTSS (AX), Y8
	VMULPS (CX), Y8, Y12
	VADDPS Y12, Y0, Y0
	ADDQ $4, AX
	ADDQ R8, CX
	DECQ DX
	JNZ loop1

	VMOVUPS Y0, (DI)
	VZEROUPPER
	RET

DATA slope8<>+0(SB)/4, $0x3c23d70a
GLOBL slope8<>(SB), RODATA, $4

// func dot8(h, w *float32, n int) float32
TEXT ·dot8(SB), NOSPLIT, $0-28
	MOVQ h+0(FP), AX
	MOVQ w+8(FP), BX
	MOVQ n+16(FP), CX
	DOT8(VMOVUPS, loopd)
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func pair64(acc, x, w, v *float32, in int) float32
//
// The sums stay in registers from the first layer, as in add1x64, to the second, as in dot8.
TEXT ·pair64(SB), NOSPLIT, $0-44
	MOVQ acc+0(FP), DI
	MOVQ x+8(FP), AX
	MOVQ w+16(FP), BX
	MOVQ v+24(FP), SI
	MOVQ in+32(FP), DX
	READ64(VMOVUPS, DI)
	VXORPS Y15, Y15, Y15

pairSome:
	NONZERO64(pairLook8, pairLook1, pairFound)

pairFound:
	EACH64(VBROADCASTSS, AX, VMULPS, VADDPS, SHLQ, $8, pairEach, pairNext)

pairNext:
	TESTQ DX, DX
	JZ pairDone
	ADDQ $256, AX
	ADDQ $16384, BX
	JMP pairSome

pairDone:
	VBROADCASTSS slope8<>(SB), Y14
	ADDLEAKED(0, Y0)
	ADDLEAKED(32, Y1)
	ADDLEAKED(64, Y2)
	ADDLEAKED(96, Y3)
	ADDLEAKED(128, Y4)
	ADDLEAKED(160, Y5)
	ADDLEAKED(192, Y6)
	ADDLEAKED(224, Y7)
	SUM8(Y15, X15)
	VMOVSS X0, ret+40(FP)
	VZEROUPPER
	RET

DATA low16<>+0(SB)/4, $0x0000ffff
GLOBL low16<>(SB), RODATA, $4

DATA most<>+0(SB)/4, $255
GLOBL most<>(SB), RODATA, $4

// func change64(dst, from, x, last, split *int32, in, wide int) int32
//
// It takes the counts 64 at a time. R9 has a bit for each of them that differs, the stack its difference d, at most
// mostChange, in both halves of a word: d in the lower one, d<<splitBits in the upper one, so that VPMADDWD makes the
// product with a split weight.
TEXT ·change64(SB), NOSPLIT, $256-60
	MOVQ from+8(FP), DI
	MOVQ x+16(FP), AX
	MOVQ last+24(FP), SI
	MOVQ split+32(FP), BX
	MOVQ in+40(FP), DX
	MOVQ wide+48(FP), R8
	SHLQ $2, R8
	LEAQ 0(SP), R12
	READ64(VMOVDQU, DI)
	VPBROADCASTD low16<>(SB), Y13
	VPXOR Y14, Y14, Y14
	VPXOR Y15, Y15, Y15

changeSome:
	VPBROADCASTD most<>(SB), Y11
	VPSUBD Y11, Y15, Y12
	XORQ R9, R9
	XORQ CX, CX

changeLook:
	VMOVDQU (AX)(CX*4), Y8
	VPSUBD (SI)(CX*4), Y8, Y8
	VPCMPEQD Y15, Y8, Y9
	VMOVMSKPS Y9, R10
	XORL $0xff, R10
	SHLQ CX, R10
	ORQ R10, R9
	VPABSD Y8, Y9
	VPMAXSD Y9, Y14, Y14
	VPMINSD Y11, Y8, Y8
	VPMAXSD Y12, Y8, Y8
	VPAND Y13, Y8, Y9
	VPSLLD $23, Y8, Y8
	VPOR Y9, Y8, Y8
	VMOVDQU Y8, (R12)(CX*4)
	ADDQ $8, CX
	SUBQ $8, DX
	JZ changeFound
	CMPQ CX, $64
	JLT changeLook

changeFound:
	EACH64(VPBROADCASTD, R12, VPMADDWD, VPADDD, IMULQ, R8, changeEach, changeNext)

changeNext:
	ADDQ $256, AX
	ADDQ $256, SI
	MOVQ R8, R10
	SHLQ $6, R10
	ADDQ R10, BX
	TESTQ DX, DX
	JNZ changeSome

	MOVQ dst+0(FP), DI
	WRITE64(VMOVDQU, DI)

	// the greatest of 8, of 4, of 2
	VEXTRACTI128 $1, Y14, X1
	VPMAXSD X1, X14, X0
	VPSHUFD $0x0e, X0, X1
	VPMAXSD X1, X0, X0
	VPSHUFD $0x01, X0, X1
	VPMAXSD X1, X0, X0
	VMOVD X0, R10
	MOVL R10, ret+56(FP)
	VZEROUPPER
	RET

// func whole8(h *int32, w *float32, n int) float32
TEXT ·whole8(SB), NOSPLIT, $0-28
	MOVQ h+0(FP), AX
	MOVQ w+8(FP), BX
	MOVQ n+16(FP), CX
	DOT8(VCVTDQ2PS, loopw)
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func leak8(dst *float32, h *int32, part float32, n int)
TEXT ·leak8(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ h+8(FP), AX
	VBROADCASTSS part+16(FP), Y6
	MOVQ n+24(FP), CX
	VBROADCASTSS slope8<>(SB), Y7

loopl:
	VCVTDQ2PS (AX), Y1
	VMULPS Y6, Y1, Y1
	VMULPS Y7, Y1, Y2
	VMAXPS Y1, Y2, Y1
	VMOVUPS Y1, (DI)
	ADDQ $32, AX
	ADDQ $32, DI
	SUBQ $8, CX
	JNZ loopl

	VZEROUPPER
	RET

// func sum8(terms *int32, w, out *float32, n int)
TEXT ·sum8(SB), NOSPLIT, $0-32
	MOVQ terms+0(FP), AX
	MOVQ w+8(FP), BX
	MOVQ out+16(FP), DI
	MOVQ n+24(FP), CX
	VXORPS Y0, Y0, Y0

loops:
	VCVTDQ2PS (AX), Y1
	VBROADCASTSS (BX), Y2
	VMULPS Y2, Y1, Y1
	VADDPS Y1, Y0, Y0
	ADDQ $32, AX
	ADDQ $4, BX
	DECQ CX
	JNZ loops

	VMOVUPS Y0, (DI)
	VZEROUPPER
	RET

// func scale16(counts *int16, units, out *float32, rows, padded, in int)
TEXT ·scale16(SB), NOSPLIT, $0-48
	MOVQ counts+0(FP), AX
	MOVQ units+8(FP), BX
	MOVQ out+16(FP), DI
	MOVQ rows+24(FP), DX
	MOVQ padded+32(FP), R8
	MOVQ in+40(FP), R9

scaleRow:
	XORQ CX, CX

scale8:
	VPMOVSXWD (AX)(CX*2), Y0
	VCVTDQ2PS Y0, Y0
	VMULPS (BX)(CX*4), Y0, Y0
	VMOVUPS Y0, (DI)(CX*4)
	ADDQ $8, CX
	CMPQ CX, R8
	JLT scale8
	LEAQ (AX)(R8*2), AX
	LEAQ (DI)(R9*4), DI
	DECQ DX
	JNZ scaleRow

	VZEROUPPER
	RET
