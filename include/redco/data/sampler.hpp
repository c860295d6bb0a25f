#pragma once

#include <redco/data/detail/permutation.hpp>

#include <redco/random/stream.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco {

/// The order in which an epoch visits the examples: a pure function of (size, seed, epoch), the same on every rank,
/// mesh, compiler and machine, found for any place in constant time and memory. Nothing but the position need be saved.
class sampler {
 public:
  /// Shuffles `size` examples by `seed`, anew in each epoch; with `shuffle` false each epoch is 0, 1, ..., size - 1.
  /// Throws error 65 when there is no example.
  constexpr explicit sampler(std::int64_t size, std::uint64_t seed = 0, bool shuffle = true)
      : size_(size), seed_(seed), shuffle_(shuffle) {
    if (size < 1)
      throw error(exit_code::data, "the data set has " + std::to_string(size) +
                                       " examples: an epoch needs at least one; check what was given as examples");
  }

  constexpr std::int64_t size() const { return size_; }

  /// The index of the example at place `position` of the epoch. Requires 0 <= position < size().
  constexpr std::int64_t at(std::int64_t epoch, std::int64_t position) const {
    return shuffle_ ? permutation(epoch)(position) : position;
  }

  /// The whole epoch: every index exactly once.
  std::vector<std::int64_t> order(std::int64_t epoch) const {
    std::vector<std::int64_t> result(static_cast<std::size_t>(size_));
    for (std::int64_t i = 0; i < size_; ++i) result[static_cast<std::size_t>(i)] = at(epoch, i);
    return result;
  }

 private:
  static constexpr std::uint32_t site = 0x64617461u;  // "data": far from the sites of a model, which count from 0

  constexpr detail::permutation permutation(std::int64_t epoch) const {
    return {size_, random::make_stream(seed_, site, static_cast<std::uint64_t>(epoch), 0)};
  }

  std::int64_t size_;
  std::uint64_t seed_;
  bool shuffle_;
};

}  // namespace redco
