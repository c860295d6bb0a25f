#pragma once

#include <redco/fact/path.hpp>

#include <cstdint>

namespace redco::fact {

/// The equal blocks of a row of `times`: those numbered `first`, first + step, and so on. Where all blocks are equal they are
/// one slice; a cycle of n kinds of block is n slices of step n, or fewer where the row is shorter.
struct block_slice {
  std::int64_t times = 1, first = 0, step = 1;

  constexpr std::int64_t count() const { return (times - first + step - 1) / step; }

  constexpr bool has(std::int64_t block) const { return block % step == first; }
  /// Whether no slice of the row follows.
  constexpr bool is_last_slice() const { return first + 1 == (times < step ? times : step); }
  /// The block with which the last ones begin, one of each slice of the row.
  constexpr std::int64_t last_round() const { return times > step ? times - step : 0; }

  /// The place of its number in a name: "*", or as Python writes a slice, "1::2".
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
