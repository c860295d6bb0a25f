#pragma once

#include <redco/nn/network.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/update/make_segment.hpp>
#include <redco/update/norm_range.hpp>
#include <redco/update/segment.hpp>
#include <redco/update/squared_norm.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/device.hpp>
#include <redco/shard/placed.hpp>
#include <redco/optimizer/optimizer_description.hpp>
#include <redco/optimizer/state_slots.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace redco::run {

/// What one rank holds of a training run: its part of the parameters, the modules over them, the optimizer's state.
template <model M, class Optimizer>
class rank_state {
 public:
  rank_state(M const& m, dynamic_plan const& p, Optimizer const& optimizer, dtype compute, std::uint64_t seed, int rank,
             std::vector<std::string> const& frozen, at::Device device = host_device())
      : rank_(rank),
        store(shard::placed_parameters(p), rank, compute, seed, frozen, device),
        net(std::make_shared<network<M> const>(m, store, rank, p.mesh)),
        slots_(state_slots(optimizer)) {
    add_segment(optimizer, 0, store.decayed(), true);
    add_segment(optimizer, store.decayed(), store.trainable(), decay_all(optimizer));
    for (stored_parameter const& s : store.parameters())
      if (s.trainable) add_norm_range(s);
  }

  /// The state that a checkpoint holds: parameters, masters where they differ, optimizer slots.
  std::vector<ckpt::state_part> parts() const {
    std::vector<ckpt::state_part> all;
    for (stored_parameter const& s : store.parameters()) {
      all.push_back(part(s.name, s, s.value));
      if (store.has_masters()) all.push_back(part("master." + s.name, s, s.master));
      if (!s.trainable) continue;
      std::size_t const at = s.offset < store.decayed() ? 0 : 1;
      std::int64_t const begin = at == 0 ? 0 : store.decayed();
      for (int i = 0; i < slots_.size(); ++i) {
        at::Tensor const slot = segments[at]
                                    .slots[static_cast<std::size_t>(i)]
                                    .narrow(0, s.offset - begin, s.master.numel())
                                    .view(s.master.sizes());
        all.push_back(part("optimizer." + std::string(slots_[i]) + "." + s.name, s, slot));
      }
    }
    return all;
  }

  /// Errors: exit code 79 with the name of a parameter that is not finite, after `step` updates. One pass over memory.
  void check_finite(std::int64_t step) const {
    update::norm_range const all{0, store.masters().numel(), 1};
    if (std::isfinite(update::squared_norm(store.masters(), {&all, 1}))) return;
    for (stored_parameter const& s : store.parameters())
      if (!at::isfinite(s.master).all().item<bool>())
        throw error(exit_code::not_finite, "step " + std::to_string(step) + ": the parameter " + s.name +
                                               " is not finite; it is not saved. Lower the learning rate or the weight "
                                               "decay and resume from the checkpoint before");
  }

  /// The parameters alone, in the precision in which they are updated.
  std::vector<ckpt::state_part> master_parts() const {
    std::vector<ckpt::state_part> all;
    for (stored_parameter const& s : store.parameters()) all.push_back(part(s.name, s, s.master));
    return all;
  }

 private:
  int rank_;

 public:
  parameter_store store;
  std::shared_ptr<network<M> const> net;
  std::vector<update::segment> segments;        ///< with weight decay, without
  std::vector<update::norm_range> norm_ranges;  ///< over the flat gradient

 private:
  void add_segment(Optimizer const& optimizer, std::int64_t begin, std::int64_t end, bool decay) {
    at::Tensor const values = store.values().narrow(0, begin, end - begin);
    segments.push_back(update::make_segment(optimizer, store.masters().narrow(0, begin, end - begin),
                                            store.gradients().narrow(0, begin, end - begin), decay,
                                            store.has_masters() ? values : at::Tensor()));
  }

  /// A part that n ranks of the group that sums the norm hold alike counts 1/n in it.
  void add_norm_range(stored_parameter const& s) {
    double const weight = 1.0 / s.plan.holders(model_axes);
    std::int64_t const end = s.offset + s.master.numel();
    if (!norm_ranges.empty() && norm_ranges.back().weight == weight && norm_ranges.back().end == s.offset) {
      norm_ranges.back().end = end;
    } else {
      norm_ranges.push_back({s.offset, end, weight});
    }
  }

  ckpt::state_part part(std::string name, stored_parameter const& s, at::Tensor local) const {
    extents const &shape = s.plan.fact.shape, held = s.plan.logical(rank_), begin = s.plan.offset(rank_);
    auto const numbers = [](extents const& e) {
      return std::vector<std::int64_t>(e.size.begin(), e.size.begin() + e.rank);
    };
    ckpt::state_part p;
    p.name = std::move(name);
    p.shape = numbers(shape);
    p.local = std::move(local);
    p.place = {numbers(begin), numbers(held)};
    p.owner = s.plan.owns(rank_);
    return p;
  }

  slot_list slots_;
};

}  // namespace redco::run
