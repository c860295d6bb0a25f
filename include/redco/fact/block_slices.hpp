#pragma once

#include <redco/fact/path.hpp>
#include <redco/shape/bytes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace redco::fact {

/// A slice of a stack of `times` repeated blocks: the equal blocks `first`, first + step, first + 2
/// step, and so on. A stack of n alternating block types has n slices of step n, or fewer if the
/// stack is shorter. If all blocks are equal, one slice has all of them. The stack may be a range
/// of a `repeat`'s blocks; its own indices begin at 0.
struct block_slice {
  std::int64_t times = 1, first = 0, step = 1;
  std::int64_t base = 0;  ///< Index in the `repeat` of the stack's first block
  bool is_part = false;   ///< True if the stack has only some of the `repeat`'s blocks

  constexpr std::int64_t count() const { return (times - first + step - 1) / step; }

  constexpr bool has(std::int64_t block) const { return block % step == first; }
  /// Returns true if this slice is the last slice of its stack.
  constexpr bool is_last_slice() const { return first + 1 == (times < step ? times : step); }
  /// Returns the index of the first of the last `step` blocks of the stack. These blocks contain
  /// one block of each slice.
  constexpr std::int64_t last_round() const { return times > step ? times - step : 0; }

  /// Returns the path component that replaces the index of a block in parameter names. It is "*" if
  /// the slice has all blocks, or a Python slice such as "1::2" (blocks 1, 3, 5 ...) or "3:7".
  constexpr path number() const {
    path text;
    if (!is_part && step == 1) {
      text.push("*");
      return text;
    }
    write(base + first, text);
    text.text[text.size++] = ':';
    if (is_part) write(base + times, text);
    if (step == 1) return text;
    text.text[text.size++] = ':';
    write(step, text);
    return text;
  }

  friend constexpr bool operator==(block_slice const&, block_slice const&) = default;

 private:
  static constexpr void write(std::int64_t number, path& to) {
    if (number > 9) write(number / 10, to);
    to.text[to.size++] = static_cast<char>('0' + number % 10);
  }
};

/// A list of the nested `repeat`s that enclose a parameter or layer, the outermost first. Each
/// entry is the slice (set of equal blocks) that contains the parameter or layer. There are at most
/// `capacity` entries.
struct block_slices {
  static constexpr std::size_t capacity = 6;

  std::array<block_slice, capacity> slices{};
  std::size_t depth = 0;

  /// Pushes the slice of a further nested `repeat`. Returns false and pushes nothing if the stack
  /// is full.
  [[nodiscard]] constexpr bool push(block_slice one) {
    if (depth == capacity) return false;
    slices[depth++] = one;
    return true;
  }
  constexpr block_slice const& operator[](std::size_t level) const { return slices[level]; }

  /// Returns the number of repetitions: the product of the block counts of all nested repeats. The
  /// result is 1 outside all repeats and at most `saturated`.
  constexpr std::int64_t count() const {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < depth; ++i) product = shape::saturating_multiply(product, slices[i].count());
    return product;
  }

  friend constexpr bool operator==(block_slices const&, block_slices const&) = default;
};

}  // namespace redco::fact
