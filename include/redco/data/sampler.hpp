#pragma once

#include <redco/data/detail/permutation.hpp>

#include <redco/random/stream.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::data {

/// The order in which an epoch visits the examples. It depends only on (size, seed, epoch), so it
/// is equal on every rank, mesh, compiler and machine. Each lookup takes constant time and memory.
/// A checkpoint therefore needs only the position in the epoch.
class sampler {
 public:
  /// Makes an order of `size` examples that `seed` determines, different in each epoch. Without
  /// `shuffle`, each epoch is 0, 1, ..., size - 1. Throws `error` with exit code 65 if there are no
  /// examples.
  constexpr explicit sampler(std::int64_t size, std::uint64_t seed = 0, bool shuffle = true)
      : size_(size), seed_(seed), shuffle_(shuffle) {
    if (size < 1)
      throw error(exit_code::data, "the data set has " + std::to_string(size) +
                                       " examples: an epoch needs at least one; check what was given as examples");
  }

  constexpr std::int64_t size() const { return size_; }

  /// Returns the index in the data set of the example at `position` of the epoch. Requires 0 <=
  /// position < size().
  constexpr std::int64_t at(std::int64_t epoch, std::int64_t position) const {
    return shuffle_ ? permutation(epoch)(position) : position;
  }

  /// Returns the indices of all examples in the order of the epoch; each index occurs exactly once.
  std::vector<std::int64_t> order(std::int64_t epoch) const {
    std::vector<std::int64_t> result(static_cast<std::size_t>(size_));
    for (std::int64_t i = 0; i < size_; ++i) result[static_cast<std::size_t>(i)] = at(epoch, i);
    return result;
  }

 private:
  // "data" in ASCII. A model's sites count from 0, so the values do not collide.
  static constexpr std::uint32_t site = 0x64617461u;

  constexpr detail::permutation permutation(std::int64_t epoch) const {
    return {size_, random::make_stream(seed_, site, static_cast<std::uint64_t>(epoch), 0)};
  }

  std::int64_t size_;
  std::uint64_t seed_;
  bool shuffle_;
};

}  // namespace redco::data
