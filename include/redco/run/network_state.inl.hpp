#pragma once

#include <redco/run/network_state.hpp>

#include <redco/update/gradient_norm.hpp>
#include <redco/update/parameter_settings.hpp>
#include <redco/update/segment.hpp>
#include <redco/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace redco::run {

REDCO_INLINE network_state::network_state(std::vector<shard::placed_parameter> const& placed,
                                          update::any_optimizer with, dtype compute, std::uint64_t seed, int rank,
                                          std::vector<std::string> const& frozen, at::Device device)
    : store(placed, rank, compute, seed, frozen, device), optimizer(std::move(with)), rank_(rank) {
  std::vector<update::parameter_settings> const all = update::settings_of(optimizer, placed);
  std::vector<update::parameter_settings> held;
  for (std::size_t i = 0; i < placed.size(); ++i)
    if (placed[i].plan.is_held_by(rank)) held.push_back(all[i]);
  add_segments(held);
  for (nn::stored_parameter const& s : store.parameters())
    if (s.trainable) add_norm_range(s);
}

REDCO_INLINE void network_state::set_values(std::vector<at::Tensor> const& parameters) {
  at::NoGradGuard const no_grad;
  std::vector<at::Tensor> const& own = network().parameters();
  if (parameters.size() != own.size())
    throw error(exit_code::internal, "the network takes " + std::to_string(own.size()) + " parameters and is given " +
                                         std::to_string(parameters.size()) + "; pass one for each of parameters()");
  for (std::size_t i = 0; i < own.size(); ++i) at::Tensor(own[i].detach()).copy_(parameters[i]);
  if (store.has_masters()) store.masters().copy_(store.values());
}

REDCO_INLINE std::vector<ckpt::state_part> network_state::parts() const {
  std::vector<ckpt::state_part> all;
  for (nn::stored_parameter const& s : store.parameters()) {
    all.push_back(part(name + s.name, s.plan, s.value));
    if (store.has_masters()) all.push_back(part("master." + name + s.name, s.plan, s.master));
    if (!s.trainable) continue;
    slot_location const& location = locations_[static_cast<std::size_t>(&s - store.parameters().data())];
    update::segment const& segment = segments[location.segment];
    optimizer::slot_list const slots = update::slots_of(optimizer, segment);
    for (int i = 0; i < slots.size(); ++i) {
      update::matrix const m =
          segment.matrices.empty() ? update::matrix{location.begin, s.plan, rank_} : segment.matrices[location.matrix];
      all.push_back(part("optimizer." + std::string(slots[i]) + "." + name + s.name, m.plan_of(slots.form(i)),
                         m.slot(segment.slots[static_cast<std::size_t>(i)], slots.form(i))));
    }
  }
  return all;
}

REDCO_INLINE std::vector<ckpt::state_part> network_state::master_parts() const {
  std::vector<ckpt::state_part> all;
  for (nn::stored_parameter const& s : store.parameters()) all.push_back(part(s.name, s.plan, s.master));
  return all;
}

REDCO_INLINE std::vector<ckpt::state_part> network_state::master_parts(bool of_adapters) const {
  std::vector<ckpt::state_part> all;
  for (nn::stored_parameter const& s : store.parameters())
    if (s.plan.fact.is_adapter() == of_adapters) all.push_back(part(s.name, s.plan, s.master));
  return all;
}

REDCO_INLINE void network_state::check_finite(std::int64_t step) const {
  update::norm_range const all{0, store.masters().numel(), 1};
  if (std::isfinite(update::squared_norm(store.masters(), {&all, 1}))) return;
  for (nn::stored_parameter const& s : store.parameters())
    if (!at::isfinite(s.master).all().item<bool>())
      throw error(exit_code::not_finite, "step " + std::to_string(step) + ": the parameter " + name + s.name +
                                             " is not finite; it is not saved. Lower the learning rate or the weight "
                                             "decay and resume from the checkpoint before");
}

/// Divides each trained region into segments: runs of adjacent parameters with equal settings.
REDCO_INLINE void network_state::add_segments(std::vector<update::parameter_settings> const& settings) {
  std::span<nn::stored_parameter const> const all = store.parameters();
  locations_.resize(all.size());
  for (shard::region const& region : store.regions()) {
    if (!region.trained) continue;
    std::int64_t begin = region.begin, end = region.begin;
    update::parameter_settings current;
    std::vector<update::matrix> matrices;
    auto const end_segment = [&] {
      add_segment({begin, end}, region.decay, current, std::exchange(matrices, {}));
      begin = end;
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].trainable || !region.is_like(shard::region_of(all[i].plan, true))) continue;
      if (settings[i] != current && end > begin) end_segment();
      current = settings[i];
      locations_[i] = {segments.size(), end - begin, matrices.size()};
      if (current.whole) matrices.push_back({end - begin, all[i].plan, rank_});
      end += all[i].master.numel();
    }
    end_segment();
  }
}

REDCO_INLINE void network_state::add_segment(element_range of, bool decay, update::parameter_settings const& settings,
                                             std::vector<update::matrix> matrices) {
  auto const part = [&](at::Tensor const& flat) { return flat.narrow(0, of.begin, of.end - of.begin); };
  segments.push_back(
      update::make_segment(optimizer, part(store.masters()), part(store.gradients()), decay || optimizer.decay_all,
                           store.has_masters() ? part(store.values()) : at::Tensor(), std::move(matrices)));
  segments.back().rate = settings.rate;
  segments.back().weight_decay = settings.weight_decay;
}

/// Adds a parameter's range of the flat gradient to `norm_ranges`. If n ranks of a replica hold
/// equal shards of the parameter, each shard gets the weight 1/n, so that the norm counts the shard
/// once.
REDCO_INLINE void network_state::add_norm_range(nn::stored_parameter const& s) {
  double const weight = 1.0 / s.plan.holders(shape::model_axes);
  std::int64_t const end = s.offset + s.master.numel();
  if (!norm_ranges.empty() && norm_ranges.back().weight == weight && norm_ranges.back().end == s.offset) {
    norm_ranges.back().end = end;
  } else {
    norm_ranges.push_back({s.offset, end, weight});
  }
}

REDCO_INLINE ckpt::state_part network_state::part(std::string full_name, shard::entry const& plan,
                                                  at::Tensor local) const {
  extents const &shape = plan.fact.shape, held = plan.logical(rank_), begin = plan.offset(rank_);
  auto const numbers = [](extents const& e) {
    return std::vector<std::int64_t>(e.size.begin(), e.size.begin() + e.rank);
  };
  ckpt::state_part p;
  p.name = std::move(full_name);
  p.shape = numbers(shape);
  p.local = std::move(local);
  p.box = {numbers(begin), numbers(held)};
  p.owner = plan.owns(rank_);
  return p;
}

}  // namespace redco::run
