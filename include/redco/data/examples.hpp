#pragma once

#include <range/v3/range/access.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/primitives.hpp>
#include <range/v3/range/traits.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::data {

/// Concept of a range of examples that a trainer accepts: with a size, random access and copyable
/// elements, such as a vector, span or computed view. Several rank threads read it concurrently, so
/// const access must be thread-safe.
template <class Range>
concept example_range = ranges::random_access_range<Range const> && ranges::sized_range<Range const> &&
    std::copyable<ranges::range_value_t<Range const>> && !std::same_as<ranges::range_value_t<Range const>, bool>;

/// The type of the examples in a range.
template <example_range Range>
using example_of = ranges::range_value_t<Range const>;

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

/// A guard that sets the epoch for which the calling thread reads examples, during its lifetime.
/// Views with keyed randomness such as augment() use the epoch. It is 0 outside of training.
class reading_epoch {
 public:
  explicit reading_epoch(std::int64_t epoch) : before_(std::exchange(current_, epoch)) {}
  reading_epoch(reading_epoch const&) = delete;
  reading_epoch& operator=(reading_epoch const&) = delete;
  ~reading_epoch() { current_ = before_; }

  /// Returns the epoch for which the calling thread reads examples.
  static std::int64_t current() { return current_; }

 private:
  static inline thread_local std::int64_t current_ = 0;

  std::int64_t before_;
};

}  // namespace redco::data

namespace redco::data::detail {

/// Returns a pointer to an lvalue range, which must outlive the pointer, or keeps an rvalue range.
template <class Range>
std::shared_ptr<std::remove_cvref_t<Range> const> kept(Range&& range) {
  using held = std::remove_cvref_t<Range>;
  if constexpr (std::is_lvalue_reference_v<Range>) {
    return std::shared_ptr<held const>(std::shared_ptr<void>(), &range);
  } else {
    return std::make_shared<held const>(std::move(range));
  }
}

/// Returns an example of a range. Requires 0 <= index < size of the range.
template <example_range Range>
decltype(auto) example_at(Range const& range, std::int64_t index) {
  return ranges::begin(range)[static_cast<ranges::range_difference_t<Range const>>(index)];
}

template <example_range Range>
std::int64_t count_of(Range const& range) {
  return static_cast<std::int64_t>(ranges::size(range));
}

}  // namespace redco::data::detail

namespace redco {

/// A random-access range of examples with its type erased; fit() and predict() take one. Refers to
/// an lvalue, which must outlive the call; keeps an rvalue. All ranks read it concurrently, so
/// const access must be thread-safe.
template <class Example>
class examples {
 public:
  examples() = default;

  template <class Range>
    requires(!std::same_as<std::remove_cvref_t<Range>, examples> && data::example_range<std::remove_cvref_t<Range>> &&
             std::convertible_to<data::example_of<std::remove_cvref_t<Range>>, Example>)
  examples(Range&& range) {
    auto const kept = data::detail::kept(std::forward<Range>(range));
    size_ = data::detail::count_of(*kept);
    in_memory_ = ranges::contiguous_range<std::remove_cvref_t<Range> const> &&
                 std::same_as<data::example_of<std::remove_cvref_t<Range>>, Example>;
    gather_ = [kept](std::span<std::int64_t const> indices) { return data::gathered<Example>(*kept, indices); };
  }

  std::int64_t size() const { return size_; }

  /// Returns true if the examples are consecutive in memory, so that reading them computes nothing.
  bool in_memory() const { return in_memory_; }

  /// Returns the first `count` examples. They are valid as long as this object.
  data::gathered<Example> first(std::int64_t count) const {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
    std::iota(indices.begin(), indices.end(), 0);
    return gather_(indices);
  }

  /// Returns the examples at `indices`, in this order. They are valid as long as this object.
  data::gathered<Example> operator[](std::span<std::int64_t const> indices) const { return gather_(indices); }

 private:
  std::int64_t size_ = 0;
  bool in_memory_ = false;
  std::function<data::gathered<Example>(std::span<std::int64_t const>)> gather_;
};

}  // namespace redco

namespace redco::data {

/// A user's function that returns the length of an example. With it, collate can pad to the longest
/// example of the global batch.
template <class Example>
using length_of = std::function<std::int64_t(Example const&)>;

}  // namespace redco::data
