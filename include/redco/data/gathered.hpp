#pragma once

#include <redco/data/example_range.hpp>

#include <range/v3/range/access.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/primitives.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

namespace redco::data {

/// The examples of a micro-batch as one span, which collate takes; valid as long as the data set.
/// The span views the data set if the examples are consecutive in memory, as in evaluation;
/// otherwise it views copies.
template <class Example>
class gathered {
 public:
  /// Gathers the examples at `indices`. Requires 0 <= index < size of the range for each index.
  template <example_range Range>
    requires std::convertible_to<example_of<Range>, Example> gathered(Range const& examples,
                                                                      std::span<std::int64_t const> indices) {
      if constexpr (ranges::contiguous_range<Range const> && std::same_as<example_of<Range>, Example>) {
        if (consecutive(indices)) {
          window_ = {ranges::data(examples) + indices.front(), indices.size()};
          return;
        }
      }
      copies_.reserve(indices.size());
      for (std::int64_t const i : indices)
        copies_.push_back(ranges::begin(examples)[static_cast<ranges::range_difference_t<Range const>>(i)]);
      window_ = copies_;
    }

  gathered(gathered&&) noexcept = default;
  gathered& operator=(gathered&&) noexcept = default;
  // A copy's span would still view the original's copies of the examples.
  gathered(gathered const&) = delete;
  gathered& operator=(gathered const&) = delete;
  ~gathered() = default;

  std::span<Example const> span() const { return window_; }

 private:
  static bool consecutive(std::span<std::int64_t const> indices) {
    for (std::size_t i = 1; i < indices.size(); ++i)
      if (indices[i] != indices[i - 1] + 1) return false;
    return !indices.empty();
  }

  std::vector<Example> copies_;
  std::span<Example const> window_;
};

template <example_range Range>
gathered(Range const&, std::span<std::int64_t const>) -> gathered<example_of<Range>>;

}  // namespace redco::data
