#pragma once

#include <array>
#include <cstdint>

namespace redco::shape {

/// The tokens of a sequence that one of several ranks computes. The sequence is cut into 2 * ranks
/// equal runs of tokens; rank r computes run r and run 2 * ranks - 1 - r, so that causal
/// attention has equal work on all ranks. Padding follows the last token.
struct sequence_part {
  int rank = 0;
  int ranks = 1;
  std::int64_t all = 0;  ///< Number of tokens of the sequence, without padding

  /// Returns the number of tokens of a run, and of the two runs of a rank, with padding.
  constexpr std::int64_t of_run() const { return (all + 2 * ranks - 1) / (2 * ranks); }
  constexpr std::int64_t count() const { return 2 * of_run(); }

  /// A run of consecutive tokens: index of the first in the sequence, and number of those that are
  /// not padding.
  struct run {
    std::int64_t first = 0;
    std::int64_t real = 0;
  };
  constexpr run run_at(int index) const {
    std::int64_t const first = index * of_run(), rest = all - first;
    return {first, rest < 0 ? 0 : rest < of_run() ? rest : of_run()};
  }
  /// Returns the two runs of this rank, in the order of the sequence.
  constexpr std::array<run, 2> runs() const { return {run_at(rank), run_at(2 * ranks - 1 - rank)}; }

  friend constexpr bool operator==(sequence_part const&, sequence_part const&) = default;
};

}  // namespace redco::shape
