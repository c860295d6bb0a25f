#pragma once

#include <redco/data/example_range.hpp>
#include <redco/data/gathered.hpp>

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
    using held = std::remove_cvref_t<Range>;
    std::shared_ptr<held const> kept;
    if constexpr (std::is_lvalue_reference_v<Range>) {
      kept = std::shared_ptr<held const>(std::shared_ptr<void>(), &range);
    } else {
      kept = std::make_shared<held const>(std::move(range));
    }
    size_ = static_cast<std::int64_t>(ranges::size(*kept));
    gather_ = [kept](std::span<std::int64_t const> indices) { return data::gathered<Example>(*kept, indices); };
  }

  std::int64_t size() const { return size_; }

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
  std::function<data::gathered<Example>(std::span<std::int64_t const>)> gather_;
};

}  // namespace redco

namespace redco::data {

/// A user's function that returns the length of an example. With it, collate can pad to the longest
/// example of the global batch.
template <class Example>
using length_of = std::function<std::int64_t(Example const&)>;

}  // namespace redco::data
