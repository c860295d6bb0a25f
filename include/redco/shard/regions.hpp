#pragma once

#include <redco/shard/entry.hpp>

#include <redco/shape/axis.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace redco::shard {

/// A range [begin, end) of elements in a rank's flat buffers whose parameters are treated alike.
struct region {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool trained = true;            ///< true if gradient and optimizer state cover the region
  bool decay = true;              ///< true if weight decay applies
  axes summed_over = batch_axes;  ///< axes over which gradients are summed after backward

  constexpr std::int64_t size() const { return end - begin; }
  constexpr bool is_like(region const& other) const {
    return trained == other.trained && decay == other.decay && summed_over == other.summed_over;
  }

  friend constexpr bool operator==(region const&, region const&) = default;
};

/// Returns an empty region for parameters like `e`. Gradients are summed over the axes that divide
/// the examples of a batch, except axes along which the ranks hold different parts. For example,
/// the gradient of an expert already includes the examples of all ranks along ep.
constexpr region region_of(entry const& e, bool trained) {
  if (!trained) return {0, 0, false, false, {}};
  axes over;
  for (axis const a : all_axes)
    if (batch_axes.has(a) && !e.is_split(a)) over = over | a;
  return {0, 0, true, e.fact.decay, over};
}

/// The flat buffers of a rank as a list of regions. Store, gradient buckets, norm, optimizer, cost
/// and checkpoints all use this list. All ranks have equal regions. Order: trained parameters by
/// the axes over which their gradients are summed, then frozen parameters. Within one set of axes,
/// regions with weight decay come first.
class regions {
 public:
  /// Adds `elements` elements to the region of a kind of parameters and shifts the regions after
  /// it.
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

  /// Returns the index of the region of a kind of parameters, which must exist.
  constexpr std::size_t index_of(region const& like) const {
    std::size_t at = 0;
    while (!all_.at(at).is_like(like)) ++at;
    return at;
  }

  /// Returns the index of the region that contains this element, which must exist.
  constexpr std::size_t index_at(std::int64_t element) const {
    std::size_t at = 0;
    while (all_.at(at).end <= element) ++at;
    return at;
  }

  /// Returns the number of elements of all regions; trained() counts only trained regions.
  constexpr std::int64_t size() const { return used_ == 0 ? 0 : all_[used_ - 1].end; }
  constexpr std::int64_t trained() const {
    std::int64_t last = 0;
    for (region const& one : *this)
      if (one.trained) last = one.end;
    return last;
  }

  /// Returns the trained regions, with adjacent regions merged if their gradients are summed over
  /// equal axes.
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
  /// Returns the sort key of a region. Regions with more axes have smaller keys.
  static constexpr int turn(region const& r) {
    return (r.trained ? 0 : 64) + 2 * (31 - r.summed_over.bits) + (r.decay ? 0 : 1);
  }
  static constexpr bool is_before(region const& a, region const& b) { return turn(a) < turn(b); }

  /// Capacity: with and without weight decay over each subset of two axes, plus frozen parameters.
  std::array<region, 9> all_{};
  std::size_t used_ = 0;
};

}  // namespace redco::shard
