#pragma once

#include <redco/fact/path.hpp>

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

}  // namespace redco::fact
