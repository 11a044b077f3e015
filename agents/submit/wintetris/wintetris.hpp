// wintetris.hpp - the solver's historical C++ signature over the flat C interface. Header
// only, C++11.
//
// A host calls wintetris::update, or has a Solver of its own; it links a solver's library or
// resolves the wt_ functions itself.
//
// A solver defines WINTETRIS_SOLVER before including this file, in one source file, and writes
//
//	int update(const Field &field, const Block &current, const Block &next, bool newPiece)
//
// Compiled as a shared library, it then exports the wt_ functions.
#ifndef WINTETRIS_HPP
#define WINTETRIS_HPP

#ifdef WINTETRIS_SOLVER
#define WT_BUILD
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "wintetris.h"

namespace wintetris {

// A Field is 10 columns by 20 rows, row 0 on top; 0 is an empty cell.
class Field {
public:
	static constexpr int Width = 10, Height = 20;

	std::uint8_t get(int column, int row) const { return cells_[index(column, row)]; }
	void set(int column, int row, std::uint8_t colour) { cells_[index(column, row)] = colour; }
	const std::uint8_t *data() const { return cells_.data(); }

private:
	static std::size_t index(int column, int row) {
		if (column < 0 || column >= Width || row < 0 || row >= Height)
			throw std::out_of_range("wintetris::Field: no such cell");
		return static_cast<std::size_t>(row * Width + column);
	}

	std::array<std::uint8_t, Width * Height> cells_{};
};

// A Block is a piece in a rotation, with its box's left column and top row.
struct Block {
	int kind, rotation, x, y;
};

#ifndef WINTETRIS_SOLVER

// A Solver owns one solver of the library.
class Solver {
public:
	explicit Solver(const std::string &options = std::string()) : handle_(wt_open(options.c_str())) {
		if (handle_ == 0)
			throw std::runtime_error("wintetris: " + error_of(0));
	}
	~Solver() {
		if (handle_ != 0)
			wt_close(handle_);
	}
	Solver(Solver &&other) noexcept : handle_(other.handle_) { other.handle_ = 0; }
	Solver &operator=(Solver &&other) noexcept {
		std::int64_t mine = handle_;
		handle_ = other.handle_;
		other.handle_ = mine;
		return *this;
	}
	Solver(const Solver &) = delete;
	Solver &operator=(const Solver &) = delete;

	// update returns the bits to press; after a failure none, and error() says what it was.
	int update(const Field &field, const Block &current, const Block &next, bool new_piece) {
		const wt_field f = {sizeof f, Field::Width, Field::Height, field.data()};
		const wt_block c = flat(current), n = flat(next);
		const int bits = wt_update(handle_, &f, &c, &n, new_piece ? 1 : 0);
		return bits < 0 ? 0 : bits;
	}

	// error is what went wrong last, empty if nothing did.
	std::string error() const { return error_of(handle_); }

private:
	static wt_block flat(const Block &b) {
		const wt_block w = {sizeof w, b.kind, b.rotation, b.x, b.y};
		return w;
	}

	static std::string error_of(std::int64_t handle) {
		const std::int32_t length = wt_last_error(handle, nullptr, 0);
		if (length <= 0)
			return std::string();
		std::vector<char> text(static_cast<std::size_t>(length) + 1);
		wt_last_error(handle, text.data(), length + 1);
		return std::string(text.data());
	}

	std::int64_t handle_;
};

// update is the signature of old: one solver with default options for the whole program,
// opened by the first call.
inline int update(const Field &field, const Block &current, const Block &next, bool new_piece) {
	static Solver solver;
	return solver.update(field, current, next, new_piece);
}

#endif // WINTETRIS_SOLVER

} // namespace wintetris

#ifdef WINTETRIS_SOLVER

using wintetris::Block;
using wintetris::Field;

// update is the solver: the bits to press in this tick. The library's solver is this one function, with what it
// remembers, so a host can open one at a time. An exception is a failure of the tick.
int update(const Field &field, const Block &current, const Block &next, bool newPiece);

namespace wintetris {

struct Exported { // what the functions below remember
	bool open;
	std::string opening, failure; // texts of wt_last_error for 0 and for the solver
};

inline Exported &exported() {
	static Exported e;
	return e;
}

inline bool valid(const wt_block *b) {
	return b != nullptr && b->size >= sizeof *b && b->kind >= 0 && b->kind <= 6 && b->rotation >= 0 && b->rotation <= 3;
}

inline Block block(const wt_block &b) {
	Block out = {b.kind, b.rotation, b.x, b.y};
	return out;
}

} // namespace wintetris

extern "C" {

int32_t wt_abi_version(void) { return WT_ABI; }

int64_t wt_open(const char *options) {
	wintetris::Exported &e = wintetris::exported();
	if (options != nullptr && options[0] != 0)
		e.opening = std::string("there are no options, not even ") + options;
	else if (e.open)
		e.opening = "the solver is one function and already open: close it first";
	else {
		e = wintetris::Exported();
		e.open = true;
		return 1;
	}
	return 0;
}

int32_t wt_update(int64_t solver, const wt_field *field, const wt_block *current, const wt_block *next,
                  int32_t new_piece) {
	wintetris::Exported &e = wintetris::exported();
	if (solver != 1 || !e.open)
		return WT_BADHANDLE;
	if (field == nullptr || field->size < sizeof *field || field->cells == nullptr || field->width != Field::Width ||
	    field->height != Field::Height || !wintetris::valid(current) || !wintetris::valid(next)) {
		e.failure = "a null pointer, a wrong size, or a field or block that is not supported";
		return WT_BADARGUMENT;
	}
	try {
		Field f;
		for (int row = 0; row < Field::Height; row++)
			for (int column = 0; column < Field::Width; column++)
				f.set(column, row, field->cells[row * Field::Width + column]);
		return update(f, wintetris::block(*current), wintetris::block(*next), new_piece != 0);
	} catch (const std::exception &problem) {
		e.failure = problem.what();
	} catch (...) {
		e.failure = "update threw what is no std::exception";
	}
	return WT_INTERNAL;
}

int32_t wt_close(int64_t solver) {
	if (solver != 1 || !wintetris::exported().open)
		return WT_BADHANDLE;
	wintetris::exported().open = false;
	return 0;
}

int32_t wt_last_error(int64_t solver, char *buf, int32_t len) {
	const wintetris::Exported &e = wintetris::exported();
	if (solver < 0 || solver > 1)
		return WT_BADHANDLE;
	if (len < 0 || (buf == nullptr && len > 0))
		return WT_BADARGUMENT;
	const std::string &text = solver == 0 ? e.opening : e.failure;
	if (len > 0) {
		const std::size_t n = std::min(text.size(), static_cast<std::size_t>(len) - 1);
		std::copy(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(n), buf);
		buf[n] = 0;
	}
	return static_cast<int32_t>(text.size());
}

} // extern "C"

#endif // WINTETRIS_SOLVER

#endif
