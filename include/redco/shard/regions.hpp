#pragma once

#include <redco/shard/entry.hpp>

#include <redco/shape/axis.hpp>
#include <redco/shape/zero.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::shard {

/// A region: a range [begin, end) of elements in a rank's flat buffers whose parameters are trained
/// alike (trained or frozen, weight decay, axes of gradient sums). With zero::is_by_block(), the
/// parameters of a region are also in one block.
struct region {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  /// True if the parameters are trained, so that gradients and optimizer state exist for the region
  bool trained = true;
  bool decay = true;  ///< True if weight decay applies to the region's parameters
  /// Mesh axes over whose ranks the region's gradients are summed after backward
  shape::axes summed_over = shape::token_axes;
  /// Block of the region's parameters with zero::is_by_block(); otherwise, and outside blocks, -1
  std::int64_t block = -1;

  constexpr std::int64_t size() const { return end - begin; }
  constexpr bool is_like(region const& other) const {
    return trained == other.trained && block == other.block && summed_over == other.summed_over && decay == other.decay;
  }
  /// Returns true if the region `next` continues the range of equal shares that has this region.
  constexpr bool is_shared_with(region const& next) const {
    return trained == next.trained && block == next.block && summed_over == next.summed_over;
  }
  /// Returns true if the region is before `other` in the flat buffers. Trained regions come before
  /// frozen ones. Among these, blocks have their order in the model; then come regions whose
  /// gradients are summed over more mesh axes, and then regions with weight decay.
  constexpr bool is_before(region const& other) const {
    if (trained != other.trained) return trained;
    if (block != other.block) return block < other.block;
    if (summed_over != other.summed_over) return summed_over.bits > other.summed_over.bits;
    return decay && !other.decay;
  }

  friend constexpr bool operator==(region const&, region const&) = default;
};

/// Returns an empty region with the properties of the parameter `e`: trained or not, weight decay,
/// and mesh axes of the gradient sum. Gradients are summed over the axes that divide the tokens
/// (dp, ds, ep, cp), except axes that split the parameter. For example, the gradient of an expert
/// already includes the examples of all ranks along ep. `zero`: state that the replicas share out.
/// If they keep shares of the values, a frozen parameter has the axes of the replicas that hold
/// equal values.
constexpr region region_of(entry const& e, bool trained, shape::zero const& zero = {}) {
  if (!trained && !zero.shares_values()) return {0, 0, false, false, {}};
  shape::axes over;
  for (shape::axis const a : shape::all_axes)
    if (shape::token_axes.has(a) && !e.is_split(a)) over = over | a;
  return {0, 0, trained, trained && e.fact.decay, over, zero.is_by_block() ? e.block : -1};
}

/// A list of the regions of a rank's flat buffers (ranges of parameters that are trained alike).
/// Parameter store, gradient buckets, gradient norm, optimizer, cost and checkpoints use this list;
/// it is equal on all ranks. Regions are in the order of region::is_before(), so frozen ones are
/// last.
class regions {
 public:
  /// Adds `elements` elements to the region with the properties of `like`. Creates this region if
  /// it does not exist. Shifts all regions after it.
  constexpr void add(region const& like, std::int64_t elements) {
    std::size_t at = all_.size();
    while (at > 0 && !all_[at - 1].is_before(like)) --at;
    if (at == all_.size() || !all_[at].is_like(like)) {
      all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(at), like);
      all_[at].begin = all_[at].end = at == 0 ? 0 : all_[at - 1].end;
    }
    all_[at].end += elements;
    for (std::size_t i = at + 1; i < all_.size(); ++i) all_[i].begin += elements, all_[i].end += elements;
  }

  constexpr region const* begin() const { return all_.data(); }
  constexpr region const* end() const { return all_.data() + all_.size(); }

  /// Returns the index of the region with the properties of `like` (trained, weight decay, axes of
  /// gradient sums, block). The region must exist.
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
  constexpr std::int64_t size() const { return all_.empty() ? 0 : all_.back().end; }
  constexpr std::int64_t trained() const {
    std::int64_t last = 0;
    for (region const& one : all_)
      if (one.trained) last = one.end;
    return last;
  }

  /// Returns the regions after merging adjacent ones whose ranges of equal shares are one
  /// (region::is_shared_with). `sums` returns the trained ones only: each of their gradients is
  /// summed over equal mesh axes.
  constexpr regions merged() const {
    regions all;
    for (region const& one : all_) {
      if (!all.all_.empty() && all.all_.back().is_shared_with(one)) all.all_.back().end = one.end;
      else all.all_.push_back(one);
    }
    return all;
  }
  constexpr regions sums() const {
    regions all = merged();
    while (!all.all_.empty() && !all.all_.back().trained) all.all_.pop_back();
    return all;
  }

  friend constexpr bool operator==(regions const&, regions const&) = default;

 private:
  std::vector<region> all_;
};

}  // namespace redco::shard
