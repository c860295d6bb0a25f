#pragma once

#include <redco/cost/detail/shared_part.hpp>
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

/// The flat buffers of a rank in a run whose replicas keep shares (ZeRO).
struct shared_buffers {
  shape::zero zero;  ///< Level 0 if each replica keeps all
  /// Parts of the buffers: first the layers outside blocks, then one part for each kind of equal
  /// blocks. If the replicas keep all values, the first part has all parameters. Empty for level 0.
  std::vector<shared_part> parts;
  /// Elements that a replica keeps of all blocks.
  struct kept_elements {
    std::int64_t trained = 0, frozen = 0;
  };
  /// Places of the copies of each parameter, and elements that each replica keeps, if matrices
  /// belong wholly to replicas; otherwise empty
  std::vector<std::vector<shard::owned_layout::place>> places;
  std::vector<kept_elements> kept_by_replica;
  /// Mesh of one stage and one shard of each replica, whose rank numbers are indices of replicas
  redco::mesh replicas;

  template <class Parameters>
  constexpr shared_buffers(Parameters const& parameters, setup const& s) : zero(s.zero.on(s.mesh)) {
    if (zero.level == 0) return;
    parts.push_back({});
    if (zero.owner == shape::zero_owner::whole) {
      give_out(parameters, s);
      return;
    }
    for (fact::parameter_fact const& fact : parameters) {
      shard::entry const e{fact, s.mesh};
      shared_part& part = part_of(fact);
      part.regions.add(shard::region_of(e, fact.trained, zero), e.local().count() * (fact.copies() / part.blocks));
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
    int const index =
        replicas.coordinate(replica, shard::region_of({fact, replicas}, true).summed_over & zero.shared_over);
    return std::count_if(places[i].begin(), places[i].end(), [&](auto const& one) { return one.owner == index; });
  }

  /// Returns the number of trained elements that the first replica keeps.
  constexpr std::int64_t kept_by_first() const {
    return kept_by_replica.empty() ? kept_trained() : kept_by_replica.front().trained;
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

  /// Returns an upper bound of the elements of gradients that wait for their sum during backward.
  /// They are of layers outside blocks, and of one block.
  constexpr std::int64_t most_waiting() const {
    std::int64_t most = 0;
    for (std::size_t i = 1; i < parts.size(); ++i) most = std::max(most, parts[i].most_waiting());
    return parts[0].most_waiting() + most;
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
    std::vector<shard::owned_parameter> all;  // of the first block of each kind
    for (fact::parameter_fact const& fact : parameters) {
      shared_part const& part = part_of(fact);
      all.push_back(shard::owned_parameter_of(fact, s.mesh, fact.trained, zero, part.first));
      all.back().copies = fact.copies() / part.blocks;
    }
    std::int64_t const most = zero.sums_in_backward() ? zero.bytes_of_sum() / shape::size_of(s.compute) : 0;
    auto layout = shard::owned_layout(all, s.mesh, most, zero.shared_over);
    replicas = s.mesh;
    replicas.pp = replicas.tp = 1;
    kept_by_replica.resize(static_cast<std::size_t>(replicas.ranks()));
    for (shared_part& part : parts) take_part(part, layout);
    places = std::move(layout.places);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].is_whole) continue;
      int const ranks = s.mesh.size(all[i].kind.summed_over & zero.shared_over);
      add_blocks(places[i], part_of(parameters[i]), layout.owners_of(all[i].kind), ranks);
    }
  }

  /// Returns the difference of the owners' indices between the block with index `turn` among those
  /// of a part and the first of them.
  static constexpr int turned(shared_part const& part, std::int64_t turn, std::int64_t owners, int ranks) {
    auto const first = [&](std::int64_t block) { return shard::owned_layout::first_owner(block, owners, ranks); };
    return (first(part.first + turn * part.step) - first(part.first) + ranks) % ranks;
  }

  /// Adds the places of a parameter in the other blocks of its part, with their owners.
  static constexpr void add_blocks(std::vector<shard::owned_layout::place>& all, shared_part const& part,
                                   std::int64_t owners, int ranks) {
    std::size_t const copies = all.size();
    for (std::int64_t turn = 1; turn < part.blocks; ++turn)
      for (std::size_t copy = 0; copy < copies; ++copy) {
        all.push_back(all[copy]);
        all.back().owner = (all[copy].owner + turned(part, turn, owners, ranks)) % ranks;
      }
  }

  /// Sets the buffers of a part to those of its first block in a layout. Adds what the replicas
  /// keep of all its blocks.
  constexpr void take_part(shared_part& part, shard::owned_layout const& layout) {
    part.has_owners = true;
    for (shard::region const& one : layout.regions) {
      if (one.block != part.first) continue;
      std::int64_t const shift = part.size() - one.begin;
      part.regions.add(one, one.size());
      for (std::size_t i = 0; i < layout.shares.size(); ++i) {
        shard::shared_range range = layout.shares[i];
        if (range.begin < one.begin || one.end < range.end) continue;
        for (std::int64_t turn = 0; turn < part.blocks; ++turn) {
          int const shift_of_owners = turned(part, turn, layout.owners[i], range.ranks);
          for (std::size_t replica = 0; replica < kept_by_replica.size(); ++replica) {
            int const index = replicas.coordinate(static_cast<int>(replica), range.over);
            auto const first = static_cast<std::size_t>((index + range.ranks - shift_of_owners) % range.ranks);
            kept_elements& kept = kept_by_replica[replica];
            (one.trained ? kept.trained : kept.frozen) += layout.kept[i][first];
          }
        }
        range.begin += shift;
        range.end += shift;
        part.shares.push_back(range);
      }
    }
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
    if (!zero.is_by_block() || fact.blocks.depth == 0) return parts[0];
    fact::block_slice const& slice = fact.blocks[0];
    std::int64_t const first = fact.blocks_before + slice.base + slice.first;
    for (shared_part& part : parts)
      if (part.first == first) return part;
    parts.push_back({first, slice.step, slice.count(), {}, {}});
    return parts.back();
  }
};

}  // namespace redco::cost::detail
