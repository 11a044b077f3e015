// wintetris.hpp - the solver's historical C++ signature over the flat C interface. Header
// only, C++11; the host links a solver's library or resolves the wt_ functions itself.
#ifndef WINTETRIS_HPP
#define WINTETRIS_HPP

#include <array>
#include <cstdint>
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

} // namespace wintetris

#endif
