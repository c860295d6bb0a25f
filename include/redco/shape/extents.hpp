#pragma once

#include <redco/shape/saturating.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>

namespace redco {

/// A tensor's shape as a structural value: usable as a template argument, comparable, at most six
/// dimensions.
struct extents {
  static constexpr int max_rank = 6;

  std::array<std::int64_t, max_rank> size{};
  int rank = 0;

  constexpr extents() = default;
  constexpr extents(std::initializer_list<std::int64_t> sizes) {
    for (std::int64_t const s : sizes) push(s);
  }

  /// Appends a dimension of this extent. At most six dimensions fit.
  constexpr void push(std::int64_t extent) { size.at(static_cast<std::size_t>(rank++)) = extent; }

  constexpr std::int64_t operator[](int dim) const {
    return size[static_cast<std::size_t>(dim < 0 ? rank + dim : dim)];
  }
  constexpr std::int64_t& operator[](int dim) { return size[static_cast<std::size_t>(dim < 0 ? rank + dim : dim)]; }

  /// Returns the number of elements, at most `saturated`; 1 for a scalar. Requires extents >= 0.
  constexpr std::int64_t count() const {
    std::int64_t product = 1;
    for (int d = 0; d < rank; ++d) product = saturating_multiply(product, size[static_cast<std::size_t>(d)]);
    return product;
  }

  friend constexpr bool operator==(extents const&, extents const&) = default;
};

}  // namespace redco
