#pragma once

#include <redco/shard/entry.hpp>

#include <redco/shape/axis.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace redco::shard {

/// A region: a range [begin, end) of elements in a rank's flat buffers whose parameters are trained
/// alike (trained or frozen, weight decay, axes of gradient sums).
struct region {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  /// True if the parameters are trained, so that gradients and optimizer state exist for the region
  bool trained = true;
  bool decay = true;  ///< True if weight decay applies to the region's parameters
  /// Mesh axes over whose ranks the region's gradients are summed after backward
  shape::axes summed_over = shape::batch_axes;

  constexpr std::int64_t size() const { return end - begin; }
  constexpr bool is_like(region const& other) const {
    return trained == other.trained && decay == other.decay && summed_over == other.summed_over;
  }

  friend constexpr bool operator==(region const&, region const&) = default;
};

/// Returns an empty region with the properties of the parameter `e`: trained or not, weight decay,
/// and mesh axes of the gradient sum. Gradients are summed over the axes that divide the batch (dp,
/// ep), except axes that split the parameter. For example, the gradient of an expert already
/// includes the examples of all ranks along ep.
constexpr region region_of(entry const& e, bool trained) {
  if (!trained) return {0, 0, false, false, {}};
  shape::axes over;
  for (shape::axis const a : shape::all_axes)
    if (shape::batch_axes.has(a) && !e.is_split(a)) over = over | a;
  return {0, 0, true, e.fact.decay, over};
}

/// A list of the regions of a rank's flat buffers (ranges of parameters that are trained alike).
/// Parameter store, gradient buckets, gradient norm, optimizer, cost and checkpoints use this list;
/// it is equal on all ranks. Trained regions are sorted by the axes of their gradient sums, and
/// regions with weight decay come first. Frozen parameters are last.
class regions {
 public:
  /// Adds `elements` elements to the region with the properties of `like`. Creates this region if
  /// it does not exist. Shifts all regions after it.
  constexpr void add(region const& like, std::int64_t elements) {
    std::size_t at = 0;
    while (at < used_ && is_before(all_[at], like)) ++at;
    if (at == used_ || !all_[at].is_like(like)) {
      for (std::size_t i = used_++; i > at; --i) all_[i] = all_[i - 1];
      all_[at] = like;
      all_[at].begin = all_[at].end = at == 0 ? 0 : all_[at - 1].end;
    }
    all_[at].end += elements;
    for (std::size_t i = at + 1; i < used_; ++i) all_[i].begin += elements, all_[i].end += elements;
  }

  constexpr region const* begin() const { return all_.data(); }
  constexpr region const* end() const { return all_.data() + used_; }

  /// Returns the index of the region with the properties of `like` (trained, weight decay, axes of
  /// gradient sums). The region must exist.
  constexpr std::size_t index_of(region const& like) const {
    std::size_t at = 0;
    while (!all_.at(at).is_like(like)) ++at;
    return at;
  }

  /// Returns the index of the region that contains element `element` of the flat buffer. The region
  /// must exist.
  constexpr std::size_t index_at(std::int64_t element) const {
    std::size_t at = 0;
    while (all_.at(at).end <= element) ++at;
    return at;
  }

  /// `size` returns the number of elements of all regions. `trained` returns the number of elements
  /// of trained regions only.
  constexpr std::int64_t size() const { return used_ == 0 ? 0 : all_[used_ - 1].end; }
  constexpr std::int64_t trained() const {
    std::int64_t last = 0;
    for (region const& one : *this)
      if (one.trained) last = one.end;
    return last;
  }

  /// Returns the trained regions, after merging adjacent regions whose gradients are summed over
  /// equal mesh axes.
  constexpr regions sums() const {
    regions merged;
    for (region const& one : *this) {
      if (!one.trained) continue;
      if (merged.used_ > 0 && merged.all_[merged.used_ - 1].summed_over == one.summed_over)
        merged.all_[merged.used_ - 1].end = one.end;
      else merged.all_[merged.used_++] = one;
    }
    return merged;
  }

  friend constexpr bool operator==(regions const&, regions const&) = default;

 private:
  /// Returns a region's sort key; regions are stored in ascending order. Trained regions come
  /// before frozen ones. Among these, regions whose gradients are summed over more mesh axes come
  /// first, then regions with weight decay.
  static constexpr int sort_key(region const& r) {
    return (r.trained ? 0 : 64) + 2 * (31 - r.summed_over.bits) + (r.decay ? 0 : 1);
  }
  static constexpr bool is_before(region const& a, region const& b) { return sort_key(a) < sort_key(b); }

  /// Regions in their order, of which the first `used_` exist. The capacity is enough for regions
  /// with and without weight decay for each subset of two mesh axes, plus frozen parameters.
  std::array<region, 9> all_{};
  std::size_t used_ = 0;
};

}  // namespace redco::shard
