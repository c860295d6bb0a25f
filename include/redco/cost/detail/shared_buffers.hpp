#pragma once

#include <redco/cost/setup.hpp>
#include <redco/shard/entry.hpp>
#include <redco/shard/owners.hpp>
#include <redco/shard/regions.hpp>
#include <redco/shard/shares.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/zero.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco::cost::detail {

/// The flat buffers of the parameters of some equal blocks, or of the layers outside blocks, in a
/// run whose replicas keep shares (ZeRO).
struct shared_part {
  /// Index of the first of these blocks, counted over all outermost `repeat`s; -1: outside blocks
  std::int64_t first = -1;
  std::int64_t step = 1;    ///< Difference of the indices of two consecutive ones of these blocks
  std::int64_t blocks = 1;  ///< Number of these blocks; 1 outside blocks
  shard::regions regions;   ///< Regions of one of the blocks, in elements, with padding
  std::vector<shard::shared_range> shares;

  constexpr std::int64_t last() const { return first + (blocks - 1) * step; }
  constexpr bool is_trained(shard::shared_range const& one) const { return one.begin < trained(); }
  constexpr std::int64_t size() const { return regions.size(); }
  constexpr std::int64_t trained() const { return regions.trained(); }

  /// `kept` returns the number of elements of one block that the first rank keeps; no rank keeps
  /// more. `kept_trained` counts trained elements only.
  constexpr std::int64_t kept() const {
    std::int64_t sum = 0;
    for (shard::shared_range const& one : shares) sum += one.share();
    return sum;
  }
  constexpr std::int64_t kept_trained() const {
    std::int64_t sum = 0;
    for (shard::shared_range const& one : shares) sum += is_trained(one) ? one.share() : 0;
    return sum;
  }

  /// Returns an upper bound of the elements of the ranges that wait for their sum during backward,
  /// which computes gradients from the last parameter to the first. In each region, one range is
  /// filled at a time. A range with elements of several regions waits for all of them.
  constexpr std::int64_t most_waiting() const {
    std::int64_t all = 0;
    auto const is_in = [](shard::shared_range const& one, shard::region const& region) {
      return region.begin <= one.begin && one.end <= region.end;
    };
    for (shard::region const& region : regions) {
      std::int64_t most = 0;
      for (shard::shared_range const& one : shares)
        if (is_trained(one) && is_in(one, region)) most = std::max(most, one.size());
      all += most;
    }
    for (shard::shared_range const& one : shares)
      if (std::none_of(regions.begin(), regions.end(), [&](shard::region const& r) { return is_in(one, r); }))
        all += one.size();
    return all;
  }
};

/// The flat buffers of a rank in a run whose replicas keep shares (ZeRO).
struct shared_buffers {
  shape::zero zero;  ///< Level 0 if each replica keeps all
  /// Parts of the buffers: first the layers outside blocks, then one part for each kind of equal
  /// blocks. If the replicas keep all values, the first part has all parameters. Empty for level 0.
  std::vector<shared_part> parts;
  /// Places of the copies of each parameter, and elements that each replica keeps of each range of
  /// the only part, if matrices belong wholly to replicas; otherwise empty
  std::vector<std::vector<shard::owned_layout::place>> places;
  std::vector<std::vector<std::int64_t>> kept_elements;

  /// `owns_all`: shape::zero::owns_all
  template <class Parameters>
  constexpr shared_buffers(Parameters const& parameters, setup const& s, bool owns_all = false)
      : zero(shape::zero{.level = s.zero,
                         .bucket = s.gradient_bucket,
                         .overlaps = s.zero_overlaps,
                         .keep = s.zero_keep,
                         .shared_over = s.zero_within ? shape::axes(shape::axis::ep) : shape::token_axes,
                         .owner = s.zero_owner,
                         .owns_all = owns_all}
                 .on(s.mesh)) {
    if (zero.level == 0) return;
    parts.push_back({});
    if (zero.owner == shape::zero_owner::whole) {
      give_out(parameters, s);
      return;
    }
    for (fact::parameter_fact const& fact : parameters) {
      shard::entry const e{fact, s.mesh};
      shared_part& part = part_of(fact);
      part.regions.add(shard::region_of(e, fact.trained, zero.shares_values()),
                       e.local().count() * (fact.copies() / part.blocks));
    }
    for (shared_part& part : parts) {
      part.regions = shard::padded_for_shares(part.regions, s.mesh, zero.shared_over);
      part.shares =
          shard::shares_of(part.regions, s.mesh, zero.bytes_of_sum() / shape::size_of(s.compute), zero.shared_over);
    }
  }

  /// Returns true if copies of the parameter with index `i` belong wholly to replicas.
  constexpr bool is_owned(std::size_t i) const {
    return i < places.size() && !places[i].empty() && places[i].front().owner >= 0;
  }

  /// Returns the number of copies of the parameter with index `i` that the replica with index
  /// `replica` owns, or of all copies if they have no owners. `fact`: the parameter's declaration.
  constexpr std::int64_t copies_of(std::size_t i, fact::parameter_fact const& fact, int replica) const {
    if (!is_owned(i)) return fact.copies();
    return std::count_if(places[i].begin(), places[i].end(), [&](auto const& one) { return one.owner == replica; });
  }

  /// `size` returns the number of elements of all parts, and `trained` of trained ones only. `kept`
  /// and `kept_trained` return the numbers that the first rank keeps.
  constexpr std::int64_t size() const { return sum(&shared_part::size); }
  constexpr std::int64_t trained() const { return sum(&shared_part::trained); }
  constexpr std::int64_t kept() const { return sum(&shared_part::kept); }
  constexpr std::int64_t kept_trained() const { return sum(&shared_part::kept_trained); }

  /// Returns the largest number of elements of a share of which other ranks keep others.
  constexpr std::int64_t largest_share() const {
    std::int64_t most = 0;
    for (shared_part const& part : parts)
      for (shard::shared_range const& one : part.shares)
        if (one.ranks > 1) most = std::max(most, one.share());
    return most;
  }

  /// Returns the elements of the largest gradient sum that runs while backward fills the next
  /// bucket; 0 if sums do not overlap with computation.
  constexpr std::int64_t most_in_flight() const {
    std::int64_t most = 0;
    for (shared_part const& part : parts)
      for (shard::shared_range const& one : part.shares)
        if (zero.overlaps && zero.sums_in_backward() && part.is_trained(one)) most = std::max(most, one.size());
    return most;
  }

  /// Returns the number of blocks of the model, without blocks at its end that have no parameters.
  constexpr std::int64_t blocks() const {
    std::int64_t most = 0;
    for (shared_part const& part : parts) most = std::max(most, part.last() + 1);
    return most;
  }

  /// Returns how many times a step without pipeline stages gathers the values of one element of the
  /// part, summed over its blocks. `rounds`: number of micro-batches.
  constexpr std::int64_t gathers_of(shared_part const& part, std::int64_t rounds) const {
    std::int64_t times = 0;
    for (std::int64_t block = part.first; block <= part.last(); block += part.step)
      times += gathers_of_block(block, rounds);
    return times;
  }

 private:
  template <class Parameters>
  constexpr void give_out(Parameters const& parameters, setup const& s) {
    std::vector<shard::owned_parameter> all;
    for (fact::parameter_fact const& fact : parameters) {
      all.push_back(shard::owned_parameter_of(fact, s.mesh, fact.trained, zero));
      all.back().copies = fact.copies();
    }
    shard::owned_layout layout(all, s.mesh);
    parts[0].regions = layout.regions;
    parts[0].shares = std::move(layout.shares);
    places = std::move(layout.places);
    kept_elements = std::move(layout.kept);
  }

  /// Returns how many times a step gathers the values of a block (-1: of layers outside blocks).
  /// Backward of a block follows its forward at the end of the model, and precedes it at the begin.
  constexpr std::int64_t gathers_of_block(std::int64_t block, std::int64_t rounds) const {
    std::int64_t const last = blocks() - 1;
    if (!zero.shares_values() || block < zero.keep || last == 0) return 1;
    if (block == last) return rounds;
    return block == 0 ? rounds + 1 : 2 * rounds;
  }

  constexpr std::int64_t sum(std::int64_t (shared_part::*count)() const) const {
    std::int64_t all = 0;
    for (shared_part const& part : parts) all += part.blocks * (part.*count)();
    return all;
  }

  constexpr shared_part& part_of(fact::parameter_fact const& fact) {
    if (!zero.shares_values() || fact.blocks.depth == 0) return parts[0];
    fact::block_slice const& slice = fact.blocks[0];
    std::int64_t const first = fact.blocks_before + slice.base + slice.first;
    for (shared_part& part : parts)
      if (part.first == first) return part;
    parts.push_back({first, slice.step, slice.count(), {}, {}});
    return parts.back();
  }
};

}  // namespace redco::cost::detail
