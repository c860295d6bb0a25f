#pragma once

#include <redco/shard/regions.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/extents.hpp>
#include <redco/shape/mesh.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace redco::shard {

/// A range [begin, end) of the flat buffers that is cut into `ranks` equal shares. The rank with
/// index r along the mesh axes `over` keeps share r.
struct shared_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  shape::axes over;
  int ranks = 1;
  /// Mesh axes whose ranks keep equal shares of the range, over which the sums of gradients of the
  /// share are summed further
  shape::axes copied_over = {};

  constexpr std::int64_t size() const { return end - begin; }
  /// Returns the number of elements of each share.
  constexpr std::int64_t share() const { return size() / ranks; }
  /// Returns the first element of share `index` in the flat buffers.
  constexpr std::int64_t share_begin(int index) const { return begin + index * share(); }

  friend constexpr bool operator==(shared_range const&, shared_range const&) = default;
};

/// Largest number of shares into which all ranges of one gradient sum are cut. It bounds the parts
/// of a tensor in a checkpoint.
inline constexpr std::int64_t most_shares = 1024;

/// Returns regions that hold the elements of `all` and padding, so that each range of regions that
/// is shared out (region::is_shared_with) divides into equal shares. The padding is at the end of
/// the range's last region. `over`: mesh axes over whose ranks state is shared out.
constexpr regions padded_for_shares(regions const& all, mesh const& on, shape::axes over = shape::token_axes) {
  regions result;
  std::int64_t in_sum = 0;
  for (region const* one = all.begin(); one != all.end(); ++one) {
    std::int64_t padding = 0;
    in_sum += one->size();
    if (one + 1 == all.end() || !one->is_shared_with(one[1])) {
      std::int64_t const ranks = on.size(one->summed_over & over);
      padding = (ranks - in_sum % ranks) % ranks;
      in_sum = 0;
    }
    result.add(*one, one->size() + padding);
  }
  return result;
}

/// Cuts `whole`, whose size is a multiple of whole.ranks, into ranges of about `most` elements (0:
/// one range), and adds them to `all`.
constexpr void add_ranges(std::vector<shared_range>& all, shared_range const& whole, std::int64_t most) {
  std::int64_t const ranges = std::max<std::int64_t>(1, most_shares / whole.ranks);
  std::int64_t each = most <= 0 ? whole.size() : std::max(most, (whole.size() + ranges - 1) / ranges);
  each = (each + whole.ranks - 1) / whole.ranks * whole.ranks;
  for (std::int64_t begin = whole.begin; begin < whole.end; begin += each) {
    all.push_back(whole);
    all.back().begin = begin;
    all.back().end = std::min(begin + each, whole.end);
  }
}

/// Returns the ranges of the flat buffers whose shares the ranks keep, in ascending order. They
/// cover all trained regions, and frozen ones if regions are by block. `padded`: regions with the
/// padding of padded_for_shares(). `most`: wanted number of elements of a range; 0 for one range
/// per gradient sum. `over`: mesh axes over whose ranks state is shared out.
constexpr std::vector<shared_range> shares_of(regions const& padded, mesh const& on, std::int64_t most = 0,
                                              shape::axes over = shape::token_axes) {
  std::vector<shared_range> all;
  for (region const& sum : padded.merged()) {
    if (sum.summed_over.bits == 0) continue;
    shape::axes const shared = sum.summed_over & over;
    add_ranges(all, {sum.begin, sum.end, shared, on.size(shared), sum.summed_over.without(over)}, most);
  }
  return all;
}

/// Returns the rank whose index along the mesh axes `over` is 0 and whose other coordinates are
/// those of `rank`.
constexpr int first_along(shape::axes over, int rank, mesh const& on) {
  int stride = on.ranks(), first = rank;
  for (shape::axis const a : shape::all_axes) {
    stride /= on[a];
    if (over.has(a)) first -= rank / stride % on[a] * stride;
  }
  return first;
}

/// A box of a tensor's elements: the index of its first element, and its extent in each dimension.
struct element_box {
  extents offset, size;

  friend constexpr bool operator==(element_box const&, element_box const&) = default;
};

/// Returns the elements [begin, end) of a tensor of the shape `shape`, counted in row-major order,
/// as boxes. The elements of each box are consecutive, and the boxes are in ascending order.
constexpr std::vector<element_box> boxes_of(extents const& shape, std::int64_t begin, std::int64_t end) {
  std::vector<element_box> all;
  while (begin < end) {
    element_box box{shape, shape};
    std::int64_t inner = shape.count(), rest = begin, taken = 1;
    bool cuts = false;  // true after the dimension that the box cuts
    for (int d = 0; d < shape.rank; ++d) {
      inner /= shape[d];
      box.offset[d] = rest / inner;
      rest %= inner;
      if (cuts) continue;
      box.size[d] = 1;
      if (rest != 0 || end - begin < inner) continue;
      box.size[d] = std::min(shape[d] - box.offset[d], (end - begin) / inner);
      taken = box.size[d] * inner;
      cuts = true;
    }
    begin += taken;
    all.push_back(box);
  }
  return all;
}

}  // namespace redco::shard
