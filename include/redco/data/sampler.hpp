#pragma once

#include <redco/random/philox.hpp>
#include <redco/random/stream.hpp>
#include <redco/diag/error.hpp>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace redco::data::detail {

/// A permutation of 0 ... size - 1 that a key determines, in constant memory (Black and Rogaway,
/// Ciphers with arbitrary finite domains, 2002). A Feistel network, with Philox as its round
/// function, permutes 0 ... n - 1, where n is the next power of two. An image >= size is permuted
/// again until it is smaller: less than twice on average.
class permutation {
 public:
  /// Makes the permutation that `key` determines. Requires 1 <= size < 2^62.
  constexpr permutation(std::int64_t size, random::stream key)
      : size_(static_cast<std::uint64_t>(size)),
        key_(key),
        low_((bits(size_ - 1) + 1) / 2),
        high_(bits(size_ - 1) - low_) {}

  /// Returns the image of `index` under the permutation. Requires 0 <= index < size.
  constexpr std::int64_t operator()(std::int64_t index) const {
    auto value = static_cast<std::uint64_t>(index);
    do value = scramble(value);
    while (value >= size_);
    return static_cast<std::int64_t>(value);
  }

 private:
  // An even number of rounds, so that both halves are rewritten equally often.
  static constexpr int rounds = 8;

  static constexpr int bits(std::uint64_t value) { return static_cast<int>(std::bit_width(value)); }
  static constexpr std::uint64_t mask(int width) { return (std::uint64_t{1} << width) - 1; }

  constexpr std::uint64_t round_function(std::uint64_t half, int round) const {
    auto const words = random::philox({static_cast<std::uint32_t>(half), static_cast<std::uint32_t>(half >> 32),
                                       static_cast<std::uint32_t>(round), 0u},
                                      key_);
    return (std::uint64_t{words[1]} << 32) | words[0];
  }

  constexpr std::uint64_t scramble(std::uint64_t value) const {
    std::uint64_t low = value & mask(low_);
    std::uint64_t high = value >> low_;
    for (int round = 0; round < rounds; round += 2) {
      high ^= round_function(low, round) & mask(high_);
      low ^= round_function(high, round + 1) & mask(low_);
    }
    return (high << low_) | low;
  }

  std::uint64_t size_;
  random::stream key_;
  int low_;
  int high_;
};

}  // namespace redco::data::detail

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
