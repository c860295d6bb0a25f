#pragma once

#include <redco/shape/axis.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/meta/enum_texts.hpp>
#include <redco/schedule/step_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace redco::schedule {

/// A fault in the operations that ranks execute in an optimizer step: kind of fault, rank, and
/// position in the rank's list of operations.
struct step_fault {
  enum class kind : std::uint8_t {
    none,
    /// Fault: a receive has no matching send, or ranks wait for different operations.
    waits_forever,
    never_received,  ///< Fault: a send has no matching receive
    no_forward,      ///< Fault: a backward has no earlier forward of its micro-batch
    no_backward,     ///< Fault: a forward has no later backward of its micro-batch
    repeated,        ///< Fault: an operation other than send and receive occurs twice
    not_reduced,     ///< Fault: the update precedes the sum of some parameters' gradients
    not_updated,     ///< Fault: the update is missing, or an operation follows the update
  };

  kind cause = kind::none;
  int rank = -1;
  /// Index of the faulty operation in the rank's list, or the size of the list if the operation is
  /// missing.
  std::size_t index = 0;

  constexpr explicit operator bool() const { return cause != kind::none; }
  friend constexpr bool operator==(step_fault const&, step_fault const&) = default;
};

inline constexpr auto step_fault_texts = meta::enum_texts<step_fault::kind>({
    {step_fault::kind::none, "is sound"},
    {step_fault::kind::waits_forever, "waits forever"},
    {step_fault::kind::never_received, "is sent and never received"},
    {step_fault::kind::no_forward, "has no forward before it"},
    {step_fault::kind::no_backward, "has no backward after it"},
    {step_fault::kind::repeated, "is repeated"},
    {step_fault::kind::not_reduced, "comes before the gradients of all regions are summed"},
    {step_fault::kind::not_updated, "is not the update that ends a step"},
});

/// Returns a sentence that describes a fault in the operations of a step, for error messages.
inline std::string text_of(step_fault const& fault) {
  if (!fault) return "the step is sound";
  return "operation " + std::to_string(fault.index) + " of rank " + std::to_string(fault.rank) + " " +
         std::string(step_fault_texts.text_of(fault.cause));
}

/// A table of the operations (`step_op`) that all ranks of a mesh execute in one optimizer step.
/// The input of check_step().
struct step_table {
  mesh on;
  /// Mesh axes over which gradients are summed, indexed by the member `region` of a `reduce`
  /// operation.
  std::vector<shape::axes> sums;
  /// True if layers of the model communicate between replicas within a micro-batch, as batch norm
  /// does.
  bool meets_replicas = false;
  /// Operations in order of execution, one list per rank of the mesh.
  std::vector<std::vector<step_op>> of_rank;
  /// True if a replica without a micro-batch joins forward and backward of the others; see
  /// step_facts::joins_rounds().
  bool joins_rounds = false;
};

}  // namespace redco::schedule

namespace redco::schedule::detail {

/// A simulation that executes the operation lists of all ranks until no rank can continue. A send
/// completes at once. A receive waits for its send, and a sum waits for all ranks of its group.
class step_run {
 public:
  constexpr explicit step_run(step_table const& all) : all_(all), at_(all.of_rank.size(), std::size_t{0}) {}

  constexpr step_fault run() {
    while (true) {
      bool moved = false;
      for (std::size_t r = 0; r < at_.size(); ++r)
        while (advance(r)) moved = true;
      if (!moved) break;
    }
    for (std::size_t r = 0; r < at_.size(); ++r)
      if (!ended(r)) return {step_fault::kind::waits_forever, static_cast<int>(r), at_[r]};
    for (message const& one : sent_)
      if (!one.received) return {step_fault::kind::never_received, static_cast<int>(one.from), one.index};
    return {};
  }

 private:
  struct message {
    std::size_t from, to, index;
    step_op sent;
    bool received = false;
  };

  /// A collective that all ranks of a group execute together: the mesh axes of the group, the kind
  /// of operation, and the index of the micro-batch or region.
  struct meeting {
    shape::axes over;
    op kind;
    std::int32_t number;

    friend constexpr bool operator==(meeting const&, meeting const&) = default;
  };

  constexpr bool ended(std::size_t rank) const { return at_[rank] == all_.of_rank[rank].size(); }
  constexpr step_op const& next(std::size_t rank) const { return all_.of_rank[rank][at_[rank]]; }

  /// Returns the rank that holds `chunk` (consecutive blocks of the model) among the pipeline
  /// stages to which `rank` belongs.
  constexpr std::size_t holder(std::size_t rank, std::int16_t chunk) const {
    auto const stages = static_cast<std::size_t>(all_.on.pp), in_stage = at_.size() / stages;
    return rank % in_stage + static_cast<std::size_t>(chunk) % stages * in_stage;
  }

  /// Returns the collective to which the operation `one` belongs, in a model whose layers
  /// communicate between replicas. All operations of one round (one micro-batch per replica) belong
  /// to one collective. A replica can sit out a round only if the other replicas execute end_round.
  constexpr meeting round_of(std::size_t rank, step_op const& one) const {
    auto const& list = all_.of_rank[rank];
    bool const gaps = std::any_of(list.begin(), list.end(), [&](step_op const& other) {
      return other.micro == one.micro && (other.operation == op::end_round || other.operation == op::sit_out);
    });
    return {shape::batch_axes, gaps ? op::end_round : op::forward, one.micro};
  }

  /// Returns the exchange of experts' rows in forward or backward (`of`) of a micro-batch.
  static constexpr meeting joint(step_op const& one, op of) {
    return {shape::axis::ep, of, one.micro * shape::stage_cuts::most_chunks + one.chunk};
  }

  constexpr std::optional<meeting> meeting_of(std::size_t rank) const {
    step_op const& one = next(rank);
    switch (one.operation) {
      case op::total: return meeting{shape::every_axis, op::total, 0};
      case op::reduce:
        return meeting{all_.sums.at(static_cast<std::size_t>(one.region)), op::reduce,
                       one.region + static_cast<std::int32_t>(all_.sums.size()) * (one.micro + 1)};
      case op::gather_forward:
      case op::gather_backward:
        return meeting{shape::batch_axes, one.operation, one.micro * shape::stage_cuts::most_chunks + one.chunk};
      case op::exchange_shared: return meeting{shape::axis::pp, op::exchange_shared, 0};
      case op::share_statistics: return meeting{shape::batch_axes, op::share_statistics, 0};
      case op::join_calls: return meeting{shape::axis::ep, op::join_calls, 0};
      case op::join_forward: return joint(one, op::forward);
      case op::join_backward: return joint(one, op::backward);
      case op::send:
      case op::receive:
      case op::update: return {};
      default: break;
    }
    if (all_.joins_rounds && (one.operation == op::forward || one.operation == op::backward))
      return joint(one, one.operation);
    if (all_.meets_replicas) return round_of(rank, one);
    if (one.operation == op::total_counts) return meeting{shape::batch_axes, op::total_counts, one.micro};
    return {};
  }

  /// Returns true if the next operation of every rank in the group of `rank` belongs to the
  /// collective `at`. In this case, moves all these ranks past the collective.
  constexpr bool meet(std::size_t rank, meeting const& at) {
    shape::axes apart;
    for (shape::axis const a : shape::all_axes)
      if (!at.over.has(a)) apart = apart | a;
    std::vector<std::size_t> group;
    for (std::size_t other = 0; other < at_.size(); ++other)
      if (all_.on.coordinate(static_cast<int>(other), apart) == all_.on.coordinate(static_cast<int>(rank), apart))
        group.push_back(other);
    for (std::size_t const other : group)
      if (ended(other) || meeting_of(other) != at) return false;
    for (std::size_t const other : group) {
      do ++at_[other];
      while (!ended(other) && meeting_of(other) == at);
    }
    return true;
  }

  constexpr bool advance(std::size_t rank) {
    if (ended(rank)) return false;
    step_op const& one = next(rank);
    if (auto const at = meeting_of(rank)) return meet(rank, *at);
    if (one.operation == op::send) {
      sent_.push_back({rank, holder(rank, one.other), at_[rank], one});
    } else if (one.operation == op::receive) {
      auto const from = holder(rank, one.other);
      auto const mine = std::find_if(sent_.begin(), sent_.end(), [&](message const& m) {
        return !m.received && m.from == from && m.to == rank && m.sent.micro == one.micro &&
               m.sent.chunk == one.other && m.sent.other == one.chunk;
      });
      if (mine == sent_.end()) return false;
      mine->received = true;
    }
    ++at_[rank];
    return true;
  }

  step_table const& all_;
  std::vector<std::size_t> at_;
  std::vector<message> sent_;
};

/// Returns the first fault that is visible in the operations of one rank alone, without the
/// operations of other ranks.
constexpr step_fault check_list(std::vector<step_op> const& list, std::size_t regions, int rank) {
  using kind = step_fault::kind;
  auto const count = [&](std::size_t until, auto const& f) {
    return std::count_if(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(until), f);
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    step_op const& one = list[i];
    auto const has = [&](std::size_t until, op wanted) {
      return count(until, [&](step_op const& o) {
               return o.operation == wanted && o.micro == one.micro && o.chunk == one.chunk && o.region == one.region;
             }) > 0;
    };
    bool const once = one.operation != op::send && one.operation != op::receive;
    if (once && has(i, one.operation)) return {kind::repeated, rank, i};
    if (one.operation == op::backward && !has(i, op::forward)) return {kind::no_forward, rank, i};
    if (one.operation == op::forward && !has(list.size(), op::backward)) return {kind::no_backward, rank, i};
    if (one.operation != op::update) continue;
    if (i + 1 != list.size()) return {kind::not_updated, rank, i + 1};
    auto const sums = static_cast<std::size_t>(count(i, [](step_op const& o) { return o.operation == op::reduce; }));
    if (sums < regions || (sums > 0 && sums % regions != 0)) return {kind::not_reduced, rank, i};
  }
  if (list.empty() || list.back().operation != op::update) return {kind::not_updated, rank, list.size()};
  return {};
}

}  // namespace redco::schedule::detail

namespace redco::schedule {

/// Returns the first fault in the operations of a step, or a `step_fault` without fault if all
/// rules hold:
/// - Each micro-batch has one forward and one backward.
/// - The gradients of each region of parameters are summed before the update: once, or once in each
///   round of micro-batches.
/// - The update is the last operation.
/// - All ranks reach the end of their lists, whatever time the operations take.
constexpr step_fault check_step(step_table const& all) {
  for (std::size_t r = 0; r < all.of_rank.size(); ++r)
    if (auto const fault = detail::check_list(all.of_rank[r], all.sums.size(), static_cast<int>(r))) return fault;
  return detail::step_run(all).run();
}

}  // namespace redco::schedule
