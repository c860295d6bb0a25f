#pragma once

#include <redco/fact/path.hpp>

#include <cstdint>

namespace redco::fact {

/// The equal blocks of a row of `times`: those numbered `first`, first + step, and so on. Where all blocks are equal they are
/// one slice; a cycle of n kinds of block is n slices of step n, or fewer where the row is shorter. A row may be a part of the
/// blocks of a `repeat`; it counts its own from 0.
struct block_slice {
  std::int64_t times = 1, first = 0, step = 1;
  std::int64_t base = 0;  ///< number in the `repeat` of the row's first block
  bool is_part = false;   ///< other rows hold the other blocks of the `repeat`

  constexpr std::int64_t count() const { return (times - first + step - 1) / step; }

  constexpr bool has(std::int64_t block) const { return block % step == first; }
  /// Whether no slice of the row follows.
  constexpr bool is_last_slice() const { return first + 1 == (times < step ? times : step); }
  /// The block with which the last ones begin, one of each slice of the row.
  constexpr std::int64_t last_round() const { return times > step ? times - step : 0; }

  /// Returns what stands in a name for the numbers of the blocks: "*", or as Python writes a slice, "1::2" of a whole
  /// `repeat` and "3:7" or "4:7:2" of a part.
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
