#pragma once

#include <redco/shape/bytes.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>

namespace redco {

/// The shape of a tensor with at most six dimensions, as a structural type: a value may be a
/// template argument.
struct extents {
  static constexpr int max_rank = 6;

  std::array<std::int64_t, max_rank> size{};
  int rank = 0;

  constexpr extents() = default;
  /// Creates a shape of these `sizes`, at most six.
  constexpr extents(std::initializer_list<std::int64_t> sizes) {
    for (std::int64_t const s : sizes) push(s);
  }

  /// Appends a dimension of size `extent`. Requires that the shape has at most five dimensions
  /// before the call.
  constexpr void push(std::int64_t extent) { size.at(static_cast<std::size_t>(rank++)) = extent; }

  constexpr std::int64_t operator[](int dim) const {
    return size[static_cast<std::size_t>(dim < 0 ? rank + dim : dim)];
  }
  constexpr std::int64_t& operator[](int dim) { return size[static_cast<std::size_t>(dim < 0 ? rank + dim : dim)]; }

  /// Returns the number of elements of the tensor; 1 for a scalar. The result is at most
  /// `saturated`, even if the product overflows. Requires sizes >= 0.
  constexpr std::int64_t count() const {
    std::int64_t product = 1;
    for (int d = 0; d < rank; ++d) product = shape::saturating_multiply(product, size[static_cast<std::size_t>(d)]);
    return product;
  }

  friend constexpr bool operator==(extents const&, extents const&) = default;
};

}  // namespace redco
