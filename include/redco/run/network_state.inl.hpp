#pragma once

#include <redco/run/network_state.hpp>

#include <redco/update/gradient_norm.hpp>
#include <redco/update/parameter_settings.hpp>
#include <redco/update/segment.hpp>
#include <redco/comm/group.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace redco::run::detail {

/// Throws `error` with exit code 64 if the replicas cannot sum the gradients of all parameters
/// during each backward, as ZeRO does from level 2 on. Throws it also for biases that balance the
/// loads of experts if each replica keeps a share of the values, as from level 3 on.
inline void check_sums_in_backward(std::vector<shard::placed_parameter> const& all, int level) {
  for (shard::placed_parameter const& p : all) {
    bool const owned = p.plan.fact.start.draw == fact::initial::kind::own;
    if (level > 2 && p.plan.fact.why == fact::reason::router && !p.plan.fact.trained)
      throw error(exit_code::usage, "--zero " + std::to_string(level) + " and the parameter " + p.name +
                                        ": biases that balance the loads of experts change after a step, when no rank "
                                        "holds all values; give --zero 2, or balance by an auxiliary loss");
    if (!owned && p.plan.fact.why != fact::reason::statistics) continue;
    throw error(
        exit_code::usage,
        "--zero " + std::to_string(level) + " and the parameter " + p.name + ": " +
            (owned ? "a module that owns its tensors keeps their gradients"
                   : "batch norm communicates with the other replicas during backward, as sums of gradients do") +
            "; give --zero 1");
  }
}

/// Returns the ZeRO of a network with the optimizer `with`.
inline shape::zero zero_for(update::any_optimizer const& with, shape::zero zero) {
  zero.owns_all = with.factors_matrices;
  return zero;
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE network_state::network_state(std::vector<shard::placed_parameter> const& placed,
                                          update::any_optimizer with, dtype compute, std::uint64_t seed, int rank,
                                          std::vector<std::string> const& frozen, at::Device device,
                                          shape::zero const& zero)
    : store(placed, rank, compute, seed, frozen, device, detail::zero_for(with, zero)),
      optimizer(std::move(with)),
      rank_(rank) {
  bool const shares_elements = !store.shares().empty() && zero.owner == shape::zero_owner::element;
  if (shares_elements && (optimizer.updates_matrices || optimizer.factors_matrices))
    throw error(exit_code::usage, "--zero " + std::to_string(zero.level) + " and the optimizer " + optimizer.name +
                                      ": it updates whole matrices, and each replica would keep a share of their "
                                      "elements; give --zero-owner whole, or another optimizer");
  if (store.has_cut_gradients() || store.shares_values()) detail::check_sums_in_backward(placed, zero.level);
  std::vector<update::parameter_settings> const all = update::settings_of(optimizer, placed);
  std::vector<update::parameter_settings> held;
  for (std::size_t i = 0; i < placed.size(); ++i)
    if (placed[i].plan.is_held_by(rank)) held.push_back(all[i]);
  add_segments(held);
  add_pieces();
  for (nn::stored_parameter const& s : store.parameters())
    for (piece const& of : pieces_[index_of(s)])
      if (s.trainable) add_norm_range(s, of);
}

REDCO_INLINE void network_state::set_values(std::vector<at::Tensor> const& parameters) {
  at::NoGradGuard const no_grad;
  std::vector<at::Tensor> const& own = network().parameters();
  if (store.shares_values())
    throw error(exit_code::usage,
                "new values for a network with --zero 3: the rank has only a share of each parameter; give --zero 2");
  if (parameters.size() != own.size())
    throw error(exit_code::internal, "the network takes " + std::to_string(own.size()) + " parameters and is given " +
                                         std::to_string(parameters.size()) + "; pass one for each of parameters()");
  for (std::size_t i = 0; i < own.size(); ++i) at::Tensor(own[i].detach()).copy_(parameters[i]);
  if (!store.has_masters()) return;
  for (update::segment const& s : segments) at::Tensor(s.param).copy_(s.compute);
  for (nn::stored_parameter const& s : store.parameters())
    if (!s.trainable) at::Tensor(s.master).copy_(s.value);
}

REDCO_INLINE void network_state::gather_values(rank_context const& rank) const {
  if (store.shares_values()) return;
  comm::collective_label const label("parameters");
  gather_shares(rank, [&](auto begin, auto count) { return store.values_at(begin, count); });
}

REDCO_INLINE void network_state::gather_shares(
    rank_context const& rank, tensors::function_ref<at::Tensor(std::int64_t, std::int64_t)> range) const {
  for (shard::shared_range const& one : store.shares())
    rank.group(one.over).all_gather_in_place(range(one.begin, one.size()));
}

REDCO_INLINE std::vector<ckpt::state_part> network_state::parts() const {
  std::vector<ckpt::state_part> all;
  for (nn::stored_parameter const& s : store.parameters()) {
    bool const whole_values = !store.shares_values();
    bool const whole_masters = whole_values && !(s.trainable && store.kept_masters().defined());
    if (whole_values) all.push_back(part(name + s.name, s.plan, s.value));
    if (store.has_masters() && whole_masters) all.push_back(part("master." + name + s.name, s.plan, s.master));
    each_box(s, [&](piece const& of, shard::element_box const& box) {
      if (!whole_values) all.push_back(boxed_part(name + s.name, s, box, store.kept_values(), of.packed));
      if (store.has_masters() && !whole_masters)
        all.push_back(boxed_part("master." + name + s.name, s, box, store.kept_masters(), of.packed));
      if (!s.trainable) return;
      for (ckpt::state_part& slot : slot_parts(s, of, box)) all.push_back(std::move(slot));
    });
  }
  return all;
}

/// Returns the parts of the optimizer slots of one box of a parameter.
REDCO_INLINE std::vector<ckpt::state_part> network_state::slot_parts(nn::stored_parameter const& s, piece const& of,
                                                                     shard::element_box const& box) const {
  std::vector<ckpt::state_part> all;
  update::segment const& segment = segments[of.segment];
  optimizer::slot_list const slots = update::slots_of(optimizer, segment);
  for (int i = 0; i < slots.size(); ++i) {
    std::string const full_name = "optimizer." + std::string(slots[i]) + "." + name + s.name;
    at::Tensor const& flat = segment.slots[static_cast<std::size_t>(i)];
    if (!store.shares().empty() && s.owner < 0) {
      all.push_back(boxed_part(full_name, s, box, flat, of.begin));
      continue;
    }
    update::matrix const m =
        segment.matrices.empty() ? update::matrix{of.begin, s.plan, rank_} : segment.matrices[of.matrix];
    shard::entry const plan = m.plan_of(slots.form(i));
    all.push_back(part(full_name, plan, m.slot(flat, slots.form(i))));
    if (s.owner >= 0) all.back().owner = plan.owns(first_replica(s));
  }
  return all;
}

REDCO_INLINE std::vector<ckpt::state_part> network_state::master_parts() const { return master_parts(std::nullopt); }

REDCO_INLINE std::vector<ckpt::state_part> network_state::master_parts(std::optional<bool> of_adapters) const {
  if (store.has_cut_masters())
    throw error(exit_code::internal,
                "each rank has a share of the master parameters only, and all are needed: hold a whole_masters");
  std::vector<ckpt::state_part> all;
  for (nn::stored_parameter const& s : store.parameters())
    if (!of_adapters || s.plan.fact.is_adapter() == *of_adapters) all.push_back(part(s.name, s.plan, s.master));
  return all;
}

REDCO_INLINE std::vector<network_state::updated_part> network_state::updated_parts() const {
  std::vector<updated_part> all;
  for (nn::stored_parameter const& s : store.parameters()) {
    bool const whole = !s.trainable && !store.shares_values();
    if (whole) all.push_back({s.name, {}, part(s.name, s.plan, s.master), {}});
    each_box(s, [&](piece const& of, shard::element_box const& box) {
      if (!s.trainable) {
        all.push_back({s.name, {}, boxed_part(s.name, s, box, store.kept_masters(), of.packed), {}});
        return;
      }
      update::segment const& segment = segments[of.segment];
      all.push_back({s.name, boxed_part(s.name, s, box, segment.grad, of.begin),
                     boxed_part(s.name, s, box, segment.param, of.begin), slot_parts(s, of, box)});
    });
  }
  return all;
}

REDCO_INLINE void network_state::check_finite(std::int64_t step) const {
  auto const check = [&](std::string const& parameter, at::Tensor const& master) {
    if (!at::isfinite(master).all().item<bool>())
      throw error(exit_code::not_finite, "step " + std::to_string(step) + ": the parameter " + name + parameter +
                                             " is not finite; it is not saved. Lower the learning rate or the weight "
                                             "decay and resume from the checkpoint before");
  };
  if (store.has_cut_masters()) {
    for (updated_part const& one : updated_parts()) check(one.name, one.master.local);
    return;
  }
  update::norm_range const all{0, store.masters().numel(), 1};
  if (std::isfinite(update::squared_norm(store.masters(), {&all, 1}))) return;
  for (nn::stored_parameter const& s : store.parameters()) check(s.name, s.master);
}

/// Divides each trained region into segments: runs of adjacent parameters with equal settings. If
/// the rank keeps shares, its segments are the parts of the runs in its shares. Parameters that
/// belong wholly to other replicas are in none.
REDCO_INLINE void network_state::add_segments(std::vector<update::parameter_settings> const& settings) {
  std::span<nn::stored_parameter const> const all = store.parameters();
  pieces_.resize(all.size());
  std::vector<element_range> const whole{{0, store.regions().trained(), 0}};
  std::vector<element_range> const& kept = store.shares().empty() ? whole : store.kept();
  for (shard::region const& region : store.regions()) {
    if (!region.trained) continue;
    std::int64_t begin = region.begin, end = region.begin;
    int owner = -1;
    update::parameter_settings current;
    std::vector<update::matrix> matrices;
    auto const end_segment = [&] {
      std::size_t const before = segments.size();
      for (element_range const& one : kept) {
        std::int64_t const first = std::max(begin, one.begin), last = std::min(end, one.end);
        if (first >= last) continue;
        add_segment({first, last, one.packed + first - one.begin}, region.decay, current, std::exchange(matrices, {}));
      }
      // Parameters without elements have a segment, too.
      if (segments.size() == before) add_segment({begin, begin, 0}, region.decay, current, std::exchange(matrices, {}));
      begin = end;
    };
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < all.size(); ++i) {
      shard::region const of = store.region_of(all[i]);
      int const index = all[i].plan.mesh.coordinate(rank_, of.summed_over & store.zero().shared_over);
      bool const is_here = all[i].owner < 0 || all[i].owner == index;
      if (region.is_like(of) && is_here) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return all[a].offset < all[b].offset; });
    for (std::size_t const i : order) {
      bool const differs = settings[i] != current || all[i].owner != owner;
      if (differs && (end > begin || !matrices.empty())) end_segment();
      if (end == begin) begin = end = all[i].offset;
      current = settings[i];
      owner = all[i].owner;
      pieces_[i] = {{segments.size(), end - begin, 0, all[i].master.numel(), matrices.size()}};
      if (current.whole) matrices.push_back({end - begin, all[i].plan, rank_});
      end += all[i].master.numel();
    }
    end_segment();
  }
}

REDCO_INLINE void network_state::add_segment(element_range const& of, bool decay,
                                             update::parameter_settings const& settings,
                                             std::vector<update::matrix> matrices) {
  std::int64_t const size = of.end - of.begin;
  auto const part = [&](at::Tensor const& flat) { return flat.narrow(0, of.begin, size); };
  at::Tensor const& packed = store.kept_masters();
  at::Tensor compute;
  if (store.has_masters())
    compute = store.shares_values() ? store.kept_values().narrow(0, of.packed, size) : part(store.values());
  segments.push_back(update::make_segment(
      optimizer, packed.defined() ? packed.narrow(0, of.packed, size) : part(store.masters()),
      store.has_cut_gradients() ? store.gradients().narrow(0, of.packed, size) : part(store.gradients()),
      decay || optimizer.decay_all, compute, std::move(matrices)));
  segments.back().rate = settings.rate;
  segments.back().weight_decay = settings.weight_decay;
  ranges_.push_back(of);
}

/// If the rank keeps shares, replaces the piece of each parameter by its pieces in the rank's
/// segments. A parameter without elements keeps an empty piece, and a parameter that belongs wholly
/// to a replica keeps its piece.
REDCO_INLINE void network_state::add_pieces() {
  if (store.shares().empty()) return;
  for (nn::stored_parameter const& s : store.parameters()) {
    std::vector<piece>& all = pieces_[index_of(s)];
    if (s.owner >= 0) {
      for (piece& one : all) one.packed = ranges_[one.segment].packed + one.begin;
      continue;
    }
    std::int64_t const count = s.master.numel(), end = s.offset + count;
    if (!s.trainable && store.shares_values()) {
      if (count == 0) all.emplace_back();
      for (element_range const& one : store.kept()) {
        std::int64_t const first = std::max(s.offset, one.begin), last = std::min(end, one.end);
        if (first < last) all.push_back({0, 0, first - s.offset, last - first, 0, one.packed + first - one.begin});
      }
    }
    if (!s.trainable) continue;
    if (count > 0) all.clear();
    else all.front().begin = 0;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      std::int64_t const first = std::max(s.offset, ranges_[i].begin), last = std::min(end, ranges_[i].end);
      if (first < last)
        all.push_back({i, first - ranges_[i].begin, first - s.offset, last - first, 0,
                       ranges_[i].packed + first - ranges_[i].begin});
    }
  }
}

/// Adds a piece of a parameter to `norm_ranges`. If the norm adds up the squares of n ranks that
/// hold equal pieces, each piece gets the weight 1/n.
REDCO_INLINE void network_state::add_norm_range(nn::stored_parameter const& s, piece const& of) {
  shape::axes const copied_over = shard::region_of(s.plan, true).summed_over.without(store.zero().shared_over);
  int const holders = store.shares().empty()
                          ? s.plan.holders(shape::model_axes)
                          : s.plan.holders(shape::axis::pp | shape::axis::tp) * s.plan.mesh.size(copied_over);
  double const weight = 1.0 / holders;
  std::int64_t const begin = store.has_cut_gradients() ? ranges_[of.segment].packed + of.begin : s.offset + of.first;
  std::int64_t const end = begin + of.elements;
  if (!norm_ranges.empty() && norm_ranges.back().weight == weight && norm_ranges.back().end == begin) {
    norm_ranges.back().end = end;
  } else {
    norm_ranges.push_back({begin, end, weight});
  }
}

/// Calls visit(piece, box) for each box of a trained parameter that this rank updates. Without
/// shares, this is one box. The elements of the box begin at `piece.begin` of the segment.
template <class Visit>
void network_state::each_box(nn::stored_parameter const& s, Visit const& visit) const {
  extents const local = s.plan.local();
  extents none = local;
  for (int d = 0; d < none.rank; ++d) none[d] = 0;
  for (piece of : pieces_[index_of(s)]) {
    if (store.shares().empty() || of.elements == 0) {
      visit(of, shard::element_box{none, local});
      continue;
    }
    for (shard::element_box const& box : shard::boxes_of(local, of.first, of.first + of.elements)) {
      visit(of, box);
      of.begin += box.size.count();
      of.packed += box.size.count();
    }
  }
}

/// Returns the part of a tensor with the shape and split of the parameter `s` that has the elements
/// of `box`, which begin at `begin` of the tensor `flat`.
REDCO_INLINE ckpt::state_part network_state::boxed_part(std::string full_name, nn::stored_parameter const& s,
                                                        shard::element_box const& box, at::Tensor const& flat,
                                                        std::int64_t begin) const {
  at::IntArrayRef const sizes(box.size.size.data(), static_cast<std::size_t>(box.size.rank));
  ckpt::state_part p = part(std::move(full_name), s.plan, flat.narrow(0, begin, box.size.count()).view(sizes));
  extents const held = s.plan.logical(rank_);
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::int64_t const offset = box.offset.size[d];
    p.box.offset[d] = std::min(p.box.offset[d] + offset, p.shape[d]);
    p.box.shape[d] = std::clamp<std::int64_t>(held.size[d] - offset, 0, box.size.size[d]);
  }
  p.owner = s.plan.owns(first_replica(s));
  return p;
}

/// Returns the rank that holds the part of a trained parameter that this rank holds, in the first
/// replica.
REDCO_INLINE int network_state::first_replica(nn::stored_parameter const& s) const {
  shape::axes const over = shard::region_of(s.plan, true).summed_over & store.zero().shared_over;
  return shard::first_along(over, rank_, s.plan.mesh);
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
