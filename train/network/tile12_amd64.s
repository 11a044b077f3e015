//go:build amd64 && !noasm

#include "textflag.h"
#include "tile_amd64.h"

// READ3 reads three rows of the tile, the first of which is at row; WRITE3 writes them. ADD3 adds the products of as many
// rows of A and the panel's row, Z12.
#define READ3(row, a, b, c) \
	VMOVUPS (row), a; \
	VMOVUPS (row)(R11*1), b; \
	VMOVUPS (row)(R11*2), c

#define WRITE3(row, a, b, c) \
	VMOVUPS a, (row); \
	VMOVUPS b, (row)(R11*1); \
	VMOVUPS c, (row)(R11*2)

#define ADD3(row, a, b, c) \
	VFMADD231PS.BCST (row), Z12, a; \
	VFMADD231PS.BCST (row)(R8*1), Z12, b; \
	VFMADD231PS.BCST (row)(R8*2), Z12, c

// func tile12x16(tile, a, panel *float32, ldc, rs, cs, k int, more bool)
TEXT ·tile12x16(SB), NOSPLIT, $0-57
	TILE
	LEAQ (R8)(R8*2), R10
	LEAQ (AX)(R10*2), R13 // row 6 of A
	LEAQ (R13)(R10*1), SI // row 9
	ADDQ AX, R10          // row 3
	LEAQ (R11)(R11*2), R12
	LEAQ (DI)(R12*1), R15 // row 3 of the tile
	TESTL DX, DX
	JZ   zero12
	READ3(DI, Z0, Z1, Z2)
	READ3(R15, Z3, Z4, Z5)
	LEAQ (DI)(R12*2), DX  // row 6 of the tile
	READ3(DX, Z6, Z7, Z8)
	ADDQ R12, DX          // row 9
	READ3(DX, Z9, Z10, Z11)
	JMP  loop12

zero12:
	ZERO6(Z0, Z1, Z2, Z3, Z4, Z5)
	ZERO6(Z6, Z7, Z8, Z9, Z10, Z11)

loop12:
	VMOVUPS (BX), Z12
	ADD3(AX, Z0, Z1, Z2)
	ADD3(R10, Z3, Z4, Z5)
	ADD3(R13, Z6, Z7, Z8)
	ADD3(SI, Z9, Z10, Z11)
	ADDQ $64, BX
	ADDQ R9, AX
	ADDQ R9, R10
	ADDQ R9, R13
	ADDQ R9, SI
	DECQ CX
	JNZ  loop12

	WRITE3(DI, Z0, Z1, Z2)
	WRITE3(R15, Z3, Z4, Z5)
	LEAQ (DI)(R12*2), DX
	WRITE3(DX, Z6, Z7, Z8)
	ADDQ R12, DX
	WRITE3(DX, Z9, Z10, Z11)
	VZEROUPPER
	RET
