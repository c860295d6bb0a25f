#pragma once

#include <redco/shard/entry.hpp>
#include <redco/shard/regions.hpp>
#include <redco/shard/shares.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/zero.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string_view>
#include <vector>

namespace redco::shard {

/// Parameters of equal size and kind, such as a weight of each repeated block, that owned_layout
/// places in the flat buffers.
struct owned_parameter {
  region kind;                ///< Properties of the region of the parameters; its range is unused
  std::int64_t elements = 0;  ///< Elements of a rank's part of one parameter
  std::int64_t copies = 1;    ///< Number of parameters
  bool is_whole = false;      ///< True if each parameter belongs wholly to one replica
  /// True if each parameter belongs to the owner of the whole parameter before it in the region
  bool is_joined = false;
  std::string_view name = {};  ///< Declared name, which orders parameters of equal size
};

/// Returns the description of one parameter with the declaration `fact`, which must outlive the
/// result. `trained`: true if this run trains it. `block`: its block; -1 outside blocks.
constexpr owned_parameter owned_parameter_of(fact::parameter_fact const& fact, mesh const& on, bool trained,
                                             shape::zero const& zero, std::int64_t block = -1) {
  entry e{fact, on};
  e.block = block;
  bool const whole = zero.owner == shape::zero_owner::whole && trained && (zero.owns_all || fact.is_hidden_matrix());
  return {region_of(e, trained, zero), e.local().count(), 1, whole, fact.is_joined, fact.name.view()};
}

/// A layout of the flat buffers in which some parameters belong wholly to one replica each
/// (--zero-owner whole). A region begins with these parameters, ordered by owner. Longest first:
/// each goes to the replica with the fewest elements of the region so far. Each owner's run is
/// padded to the longest one, so that all shares are equal. Parameters that a layer reads as one
/// matrix are adjacent and have one owner. Blocks of one kind with regions of their own are laid
/// out alike, each for other replicas (first_owner). The replicas share the elements of the other
/// parameters, in ranges of about `most` elements (0: one range per region). `over`: mesh axes over
/// whose ranks state is shared out; ranks that differ only along other axes own equal parameters.
class owned_layout {
 public:
  /// Location of a parameter in the flat buffers.
  struct place {
    std::int64_t offset = 0;
    /// Index of the owner along the mesh axes of the shares; -1: the replicas share elements
    int owner = -1;

    friend constexpr bool operator==(place const&, place const&) = default;
  };

  /// Returns the replica, of `ranks`, that gets the first of the `owners` runs of parameters of a
  /// block. The next blocks begin with replicas that have none yet, as far as possible.
  static constexpr int first_owner(std::int64_t block, std::int64_t owners, int ranks) {
    std::int64_t const before = std::max<std::int64_t>(block, 0) * owners;
    return static_cast<int>((before + before / ranks) % ranks);
  }

  constexpr owned_layout(std::vector<owned_parameter> const& all, mesh const& on, std::int64_t most = 0,
                         shape::axes over = shape::token_axes)
      : places(all.size()), over_(over) {
    for (owned_parameter const& p : all) plain_.add(p.kind, p.elements * p.copies);
    for (region const& one : plain_)
      runs_.emplace_back(static_cast<std::size_t>(on.size(one.summed_over & over)), std::int64_t{0});
    assign_owners(all);
    for (std::size_t k = 0; k < runs_.size(); ++k) {
      std::size_t const ranks = runs_[k].size();
      used_.push_back(std::ssize(runs_[k]) - std::count(runs_[k].begin(), runs_[k].end(), 0));
      int const first = first_owner(plain_.begin()[k].block, used_[k], static_cast<int>(ranks));
      std::rotate(runs_[k].begin(), runs_[k].end() - first, runs_[k].end());
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].is_whole && plain_.index_of(all[i].kind) == k)
          for (place& one : places[i]) one.owner = (one.owner + first) % static_cast<int>(ranks);
    }
    for (std::size_t k = 0; k < runs_.size(); ++k) add_region(k, most);
    std::vector<std::int64_t> next;  // first free element for parameters without owner, by region
    for (std::size_t k = 0; k < runs_.size(); ++k) next.push_back(regions.begin()[k].begin + owned_size(k));
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::size_t const k = plain_.index_of(all[i].kind);
      for (place& one : places[i]) one.offset += regions.begin()[k].begin + one.owner * longest(k);
      if (!all[i].is_whole) places[i].push_back({next[k]}), next[k] += all[i].elements * all[i].copies;
    }
  }

  /// Returns the number of replicas that own parameters of the region that is like `like`.
  constexpr std::int64_t owners_of(region const& like) const { return used_[plain_.index_of(like)]; }

  shard::regions regions;  ///< Regions with padding
  /// Ranges of which each replica keeps a share, in ascending order
  std::vector<shared_range> shares;
  /// Elements of each share without padding, by range and by index of the replica
  std::vector<std::vector<std::int64_t>> kept;
  /// Numbers of replicas that own parameters in each range; 0 for ranges of other parameters
  std::vector<std::int64_t> owners;
  /// Places of the copies of each parameter; if the replicas share its elements, one for all copies
  std::vector<std::vector<place>> places;

 private:
  /// Parameters that belong to one replica together.
  struct unit {
    std::size_t kind = 0;       ///< Index of their region
    std::int64_t elements = 0;  ///< Elements of one copy
    std::vector<std::size_t> parameters = {};
  };

  /// Returns the units of whole parameters: large ones first, then by name.
  constexpr std::vector<unit> sorted_units(std::vector<owned_parameter> const& all) const {
    std::vector<unit> units;
    // Number of the last unit of each region, from 1 on
    std::vector<std::size_t> last(runs_.size(), 0);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].is_whole) continue;
      std::size_t const k = plain_.index_of(all[i].kind);
      if (!all[i].is_joined || last[k] == 0) units.push_back({k}), last[k] = units.size();
      unit& one = units[last[k] - 1];
      one.elements += all[i].elements;
      one.parameters.push_back(i);
    }
    std::sort(units.begin(), units.end(), [&](unit const& a, unit const& b) {
      std::size_t const first = a.parameters.front(), other = b.parameters.front();
      if (a.elements != b.elements) return a.elements > b.elements;
      return all[first].name != all[other].name ? all[first].name < all[other].name : first < other;
    });
    return units;
  }

  /// Gives each unit to a replica. The offsets in `places` count from the begin of the owner's run.
  constexpr void assign_owners(std::vector<owned_parameter> const& all) {
    // Among replicas with equal loads in a region, the one with fewer elements in all regions that
    // are summed over equal axes. Only regions of all blocks count, because blocks of one kind have
    // equal loads.
    std::vector<std::vector<std::int64_t>> totals_over(shape::axis_sets);
    for (unit const& one : sorted_units(all))
      for (std::int64_t copy = 0; copy < all[one.parameters.front()].copies; ++copy) {
        std::vector<std::int64_t>& runs = runs_[one.kind];
        std::vector<std::int64_t>& totals = totals_over[plain_.begin()[one.kind].summed_over.bits];
        if (totals.empty()) totals = std::vector<std::int64_t>(runs.size(), 0);
        bool const counts = plain_.begin()[one.kind].block < 0;
        std::size_t owner = 0;
        for (std::size_t r = 1; r < runs.size(); ++r)
          if (runs[r] < runs[owner] || (counts && runs[r] == runs[owner] && totals[r] < totals[owner])) owner = r;
        for (std::size_t const i : one.parameters) {
          places[i].push_back({runs[owner], static_cast<int>(owner)});
          runs[owner] += all[i].elements;
        }
        if (counts) totals[owner] += one.elements;
      }
  }

  /// Adds a region with its padding, and its ranges: whole parameters, then all others.
  constexpr void add_region(std::size_t k, std::int64_t most) {
    region const& one = plain_.begin()[k];
    std::vector<std::int64_t> const& runs = runs_[k];
    std::int64_t const ranks = std::ssize(runs),
                       others = one.size() - std::accumulate(runs.begin(), runs.end(), std::int64_t{0});
    std::int64_t const share = (others + ranks - 1) / ranks, begin = regions.size(), middle = begin + owned_size(k);
    bool const is_shared = !one.summed_over.empty();
    regions.add(one, is_shared ? owned_size(k) + share * ranks : others);
    if (!is_shared) return;
    shared_range cut{begin, middle, one.summed_over & over_, static_cast<int>(ranks), one.summed_over.without(over_)};
    if (cut.size() > 0) {
      shares.push_back(cut);
      kept.push_back(runs);
      owners.push_back(used_[k]);
    }
    cut.begin = middle;
    cut.end = middle + share * ranks;
    add_ranges(shares, cut, most);
    while (kept.size() < shares.size()) {
      shared_range const& range = shares[kept.size()];
      kept.emplace_back();
      owners.push_back(0);
      for (int r = 0; r < range.ranks; ++r)
        kept.back().push_back(std::clamp<std::int64_t>(middle + others - range.share_begin(r), 0, range.share()));
    }
  }

  constexpr std::int64_t longest(std::size_t k) const { return *std::max_element(runs_[k].begin(), runs_[k].end()); }
  /// Returns the elements of the whole parameters of a region, with padding.
  constexpr std::int64_t owned_size(std::size_t k) const { return longest(k) * std::ssize(runs_[k]); }

  shape::axes over_;
  shard::regions plain_;  ///< Regions without padding
  /// Elements of whole parameters, by region and owner
  std::vector<std::vector<std::int64_t>> runs_;
  std::vector<std::int64_t> used_;  ///< Number of owners in each region
};

}  // namespace redco::shard
