#pragma once

#include <redco/fact/path.hpp>

#include <cstdint>

namespace redco::fact {

/// A slice of equal blocks in a row of `times` blocks: `first`, first + step, and so on. If all
/// blocks are equal, they are one slice. A cycle of n block types gives n slices of step n, or
/// fewer if the row is shorter.
struct block_slice {
  std::int64_t times = 1, first = 0, step = 1;

  constexpr std::int64_t count() const { return (times - first + step - 1) / step; }

  constexpr bool has(std::int64_t block) const { return block % step == first; }
  /// Returns true if this is the last slice of the row.
  constexpr bool is_last_slice() const { return first + 1 == (times < step ? times : step); }
  /// Returns the index of the first block of the last round (one block of each slice).
  constexpr std::int64_t last_round() const { return times > step ? times - step : 0; }

  /// Returns the text that replaces a block's index in names: "*" for all blocks, or a Python slice
  /// such as "1::2".
  constexpr path number() const {
    path text;
    if (step == 1) {
      text.push("*");
    } else {
      write(first, text);
      text.text[text.size++] = ':';
      text.text[text.size++] = ':';
      write(step, text);
    }
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
