//go:build amd64 && !noasm

#include "textflag.h"
#include "tile_amd64.h"

// READ3X16 reads three rows of the tile, the first of which is at row; WRITE3X16 writes them.
#define READ3X16(row, a, b, c, d, e, f) \
	VMOVUPS (row), a; \
	VMOVUPS 32(row), b; \
	VMOVUPS (row)(R11*1), c; \
	VMOVUPS 32(row)(R11*1), d; \
	VMOVUPS (row)(R11*2), e; \
	VMOVUPS 32(row)(R11*2), f

#define WRITE3X16(row, a, b, c, d, e, f) \
	VMOVUPS a, (row); \
	VMOVUPS b, 32(row); \
	VMOVUPS c, (row)(R11*1); \
	VMOVUPS d, 32(row)(R11*1); \
	VMOVUPS e, (row)(R11*2); \
	VMOVUPS f, 32(row)(R11*2)

// ADD2X16 adds the products of a number of each of two rows of A and the panel's row, Y12 and Y13.
#define ADD2X16(first, second, a, b, c, d) \
	VBROADCASTSS first, Y14; \
	VBROADCASTSS second, Y15; \
	VFMADD231PS Y12, Y14, a; \
	VFMADD231PS Y13, Y14, b; \
	VFMADD231PS Y12, Y15, c; \
	VFMADD231PS Y13, Y15, d

// func tile6x16(tile, a, panel *float32, ldc, rs, cs, k int, more bool)
TEXT ·tile6x16(SB), NOSPLIT, $0-57
	TILE
	LEAQ (R8)(R8*2), R10
	ADDQ AX, R10              // row 3 of A
	LEAQ (R11)(R11*2), R12
	ADDQ DI, R12              // row 3 of the tile
	TESTL DX, DX
	JZ   zero6
	READ3X16(DI, Y0, Y1, Y2, Y3, Y4, Y5)
	READ3X16(R12, Y6, Y7, Y8, Y9, Y10, Y11)
	JMP  loop6

zero6:
	ZERO6(Y0, Y1, Y2, Y3, Y4, Y5)
	ZERO6(Y6, Y7, Y8, Y9, Y10, Y11)

loop6:
	VMOVUPS (BX), Y12
	VMOVUPS 32(BX), Y13
	ADD2X16((AX), (AX)(R8*1), Y0, Y1, Y2, Y3)
	ADD2X16((AX)(R8*2), (R10), Y4, Y5, Y6, Y7)
	ADD2X16((R10)(R8*1), (R10)(R8*2), Y8, Y9, Y10, Y11)
	ADDQ $64, BX
	ADDQ R9, AX
	ADDQ R9, R10
	DECQ CX
	JNZ  loop6

	WRITE3X16(DI, Y0, Y1, Y2, Y3, Y4, Y5)
	WRITE3X16(R12, Y6, Y7, Y8, Y9, Y10, Y11)
	VZEROUPPER
	RET

// func tile1x16(tile, a, panel *float32, cs, k int, more bool)
TEXT ·tile1x16(SB), NOSPLIT, $0-41
	MOVQ tile+0(FP), DI
	MOVQ a+8(FP), AX
	MOVQ panel+16(FP), BX
	MOVQ cs+24(FP), R9
	MOVQ k+32(FP), CX
	MOVBLZX more+40(FP), DX
	SHLQ $2, R9
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	TESTL DX, DX
	JZ   loop1
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1

loop1:
	VBROADCASTSS (AX), Y10
	VFMADD231PS (BX), Y10, Y0
	VFMADD231PS 32(BX), Y10, Y1
	ADDQ $64, BX
	ADDQ R9, AX
	DECQ CX
	JNZ  loop1

	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VZEROUPPER
	RET

// NEXT8 goes on with the next eight of CX floats, AX of which are done, and returns after the last.
#define NEXT8(loop) \
	ADDQ $8, AX; \
	CMPQ AX, CX; \
	JLT  loop; \
	VZEROUPPER; \
	RET

// func activate8(y, bias *float32, slope float32, n int)
TEXT ·activate8(SB), NOSPLIT, $0-32
	MOVQ y+0(FP), DI
	MOVQ bias+8(FP), SI
	VBROADCASTSS slope+16(FP), Y2
	MOVQ n+24(FP), CX
	XORQ AX, AX

activate:
	VMOVUPS (DI)(AX*4), Y0
	VADDPS (SI)(AX*4), Y0, Y0
	VMULPS Y0, Y2, Y1
	VBLENDVPS Y0, Y1, Y0, Y0 // by the sign of the sum
	VMOVUPS Y0, (DI)(AX*4)
	NEXT8(activate)

// func backward8(dz, y, dy *float32, slope float32, n int)
TEXT ·backward8(SB), NOSPLIT, $0-40
	MOVQ dz+0(FP), DI
	MOVQ y+8(FP), SI
	MOVQ dy+16(FP), DX
	VBROADCASTSS slope+24(FP), Y2
	MOVQ n+32(FP), CX
	XORQ AX, AX

backward:
	VMOVUPS (SI)(AX*4), Y3
	VMOVUPS (DX)(AX*4), Y0
	VMULPS Y0, Y2, Y1
	VBLENDVPS Y3, Y1, Y0, Y0
	VMOVUPS Y0, (DI)(AX*4)
	NEXT8(backward)

// func add8(sum, x *float32, n int)
TEXT ·add8(SB), NOSPLIT, $0-24
	MOVQ sum+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	XORQ AX, AX

add:
	VMOVUPS (DI)(AX*4), Y0
	VADDPS (SI)(AX*4), Y0, Y0
	VMOVUPS Y0, (DI)(AX*4)
	NEXT8(add)

DATA adam<>+0(SB)/4, $0.1   // 1 - beta1
DATA adam<>+4(SB)/4, $0.001 // 1 - beta2
DATA adam<>+8(SB)/4, $0.00000001  // epsilon
GLOBL adam<>(SB), RODATA|NOPTR, $12

// func adam8(w, grad, m, v *float32, rate, c2 float32, n int)
TEXT ·adam8(SB), NOSPLIT, $0-48
	MOVQ w+0(FP), DI
	MOVQ grad+8(FP), SI
	MOVQ m+16(FP), R8
	MOVQ v+24(FP), R9
	VBROADCASTSS rate+32(FP), Y8
	VBROADCASTSS c2+36(FP), Y9
	MOVQ n+40(FP), CX
	VBROADCASTSS adam<>+0(SB), Y10
	VBROADCASTSS adam<>+4(SB), Y11
	VBROADCASTSS adam<>+8(SB), Y12
	VXORPS Y13, Y13, Y13
	XORQ AX, AX

move:
	VMOVUPS (SI)(AX*4), Y0   // g
	VMOVUPS (R8)(AX*4), Y1   // m
	VMOVUPS (R9)(AX*4), Y2   // v
	VSUBPS Y1, Y0, Y3
	VMULPS Y3, Y10, Y3
	VADDPS Y3, Y1, Y1        // m += (1 - beta1) * (g - m)
	VMULPS Y0, Y0, Y4
	VSUBPS Y2, Y4, Y4
	VMULPS Y4, Y11, Y4
	VADDPS Y4, Y2, Y2        // v += (1 - beta2) * (g*g - v)
	VMULPS Y2, Y9, Y5
	VSQRTPS Y5, Y5
	VADDPS Y12, Y5, Y5
	VMULPS Y1, Y8, Y6
	VDIVPS Y5, Y6, Y6
	VMOVUPS (DI)(AX*4), Y7
	VSUBPS Y6, Y7, Y7        // w -= rate*m / (sqrt(v*c2) + epsilon)
	VMOVUPS Y7, (DI)(AX*4)
	VMOVUPS Y1, (R8)(AX*4)
	VMOVUPS Y2, (R9)(AX*4)
	VMOVUPS Y13, (SI)(AX*4)
	NEXT8(move)
