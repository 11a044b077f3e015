// Macros of the kernels that compute tiles.

// TILE reads the arguments: the tile, A and the panel in DI, AX and BX; how many bytes rows of the tile (R11), rows of A
// (R8) and its elements (R9) lie apart; how many elements in CX, and more in DX.
#define TILE \
	MOVQ tile+0(FP), DI; \
	MOVQ a+8(FP), AX; \
	MOVQ panel+16(FP), BX; \
	MOVQ ldc+24(FP), R11; \
	MOVQ rs+32(FP), R8; \
	MOVQ cs+40(FP), R9; \
	MOVQ k+48(FP), CX; \
	MOVBLZX more+56(FP), DX; \
	SHLQ $2, R8; \
	SHLQ $2, R9; \
	SHLQ $2, R11

#define ZERO6(a, b, c, d, e, f) \
	VXORPS a, a, a; \
	VXORPS b, b, b; \
	VXORPS c, c, c; \
	VXORPS d, d, d; \
	VXORPS e, e, e; \
	VXORPS f, f, f
