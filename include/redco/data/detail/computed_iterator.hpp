#pragma once

#include <compare>
#include <cstddef>
#include <iterator>

namespace redco::data::detail {

/// A random-access iterator of a range that computes its elements. Dereferencing returns
/// `range[index]`, a value. Valid as long as the range.
template <class Range, class Value>
class computed_iterator {
 public:
  using iterator_concept = std::random_access_iterator_tag;
  // Other categories of C++17 demand that `reference` is a reference.
  using iterator_category = std::input_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using reference = Value;
  using pointer = void;

  constexpr computed_iterator() = default;
  constexpr computed_iterator(Range const& range, difference_type index) : range_(&range), index_(index) {}

  constexpr Value operator*() const { return (*range_)[index_]; }
  constexpr Value operator[](difference_type offset) const { return (*range_)[index_ + offset]; }

  constexpr computed_iterator& operator+=(difference_type offset) {
    index_ += offset;
    return *this;
  }
  constexpr computed_iterator& operator-=(difference_type offset) { return *this += -offset; }
  constexpr computed_iterator& operator++() { return *this += 1; }
  constexpr computed_iterator& operator--() { return *this += -1; }
  constexpr computed_iterator operator++(int) {
    computed_iterator const before = *this;
    ++*this;
    return before;
  }
  constexpr computed_iterator operator--(int) {
    computed_iterator const before = *this;
    --*this;
    return before;
  }

  friend constexpr computed_iterator operator+(computed_iterator at, difference_type offset) { return at += offset; }
  friend constexpr computed_iterator operator+(difference_type offset, computed_iterator at) { return at += offset; }
  friend constexpr computed_iterator operator-(computed_iterator at, difference_type offset) { return at -= offset; }
  friend constexpr difference_type operator-(computed_iterator const& a, computed_iterator const& b) {
    return a.index_ - b.index_;
  }
  friend constexpr bool operator==(computed_iterator const& a, computed_iterator const& b) {
    return a.index_ == b.index_;
  }
  friend constexpr std::strong_ordering operator<=>(computed_iterator const& a, computed_iterator const& b) {
    return a.index_ <=> b.index_;
  }

 private:
  Range const* range_ = nullptr;
  difference_type index_ = 0;
};

}  // namespace redco::data::detail
