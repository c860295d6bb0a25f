#pragma once

#include <redco/run/verify_records.hpp>

#include <redco/comm/group.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::run {

REDCO_INLINE void update_recorder::computed(terms const& loss) {
  for (terms::term const& one : loss.all)
    if (c10::elementSize(one.loss.sum.scalar_type()) < c10::elementSize(now_.loss_type))
      now_.loss_type = one.loss.sum.scalar_type();
}

REDCO_INLINE void update_recorder::begin(network_state const& state) {
  now_.parameters.clear();
  before_.clear();
  for (network_state::updated_part const& one : state.updated_parts()) {
    now_.parameters.push_back({one.name, one.master.box, {}, {}, {}});
    before_.push_back(held_copy(one.master));
  }
}

REDCO_INLINE void update_recorder::reduced(network_state const& state, double divisor) {
  begin(state);
  auto const parts = state.updated_parts();
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].gradient.local.defined()) now_.parameters[i].gradient = held_copy(parts[i].gradient).div_(divisor);
}

REDCO_INLINE void update_recorder::updated(network_state const& state) {
  auto const parts = state.updated_parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    updated_parameter& to = now_.parameters[i];
    to.update = held_copy(parts[i].master).sub_(before_[i]);
    for (ckpt::state_part const& slot : parts[i].slots) {
      to.slots.push_back(held_copy(slot));
      to.slot_boxes.push_back(slot.box);
    }
  }
}

REDCO_INLINE update_record update_recorder::take(step_result const& result) {
  update_record done = std::exchange(now_, {});
  done.result = result;
  before_.clear();
  return done;
}

REDCO_INLINE void activation_record::call(at::Tensor const& x, pass const& in) {
  path_.clear();
  if (stopped_) return;
  call_record one;
  one.sizes = x.sizes().vec();
  if (in.cp != nullptr) one.sizes[1] = in.tokens.all;
  one.first_example = in.first_example;
  one.examples = in.examples > 0 ? in.examples : x.size(0);
  one.number = in.calls;
  calls_.push_back(std::move(one));
  path_.assign(1, "");
  add("", false, {x});
}

REDCO_INLINE void activation_record::enter(std::string_view component, activation const& x) {
  if (path_.empty()) return;
  if (path_.size() == 1 && component == "encoder" && x.local.dim() > 1) calls_.back().source = x.local.size(1);
  path_.push_back(path_.back() + (path_.back().empty() ? "" : ".") + std::string(component));
  add(path_.back(), false, x);
}

REDCO_INLINE void activation_record::leave(activation const& y) {
  if (path_.empty()) return;
  add(path_.back(), true, y);
  path_.pop_back();
}

REDCO_INLINE void activation_record::add(std::string const& layer, bool is_output, activation const& x) {
  if (!keeps_) return;
  moment one{layer, is_output, x.local.defined() ? x.local.detach().clone() : at::Tensor(), nullptr};
  if (x.local.defined() && x.complete_gradient && x.local.requires_grad()) {
    one.gradient = std::make_shared<at::Tensor>();
    x.local.register_hook([kept = one.gradient](at::Tensor const& g) { *kept = g.detach().clone(); });
  }
  calls_.back().moments.push_back(std::move(one));
}

}  // namespace redco::run

namespace redco::run::detail {

/// Returns a pair of tensors that must be equal: this rank's activation `own` without padding, and
/// its slice of `whole`, the activation computed on one rank. Returns undefined tensors if the two
/// cannot be compared. `tokens`: number of tokens of the rank's call.
inline std::pair<at::Tensor, at::Tensor> matched(at::Tensor own, at::Tensor whole, std::int64_t tokens,
                                                 rank_context const& rank) {
  if (own.dim() != whole.dim()) return {};
  for (std::int64_t d = 1; d < own.dim(); ++d) {
    std::int64_t const part = own.size(d), all = whole.size(d);
    if (part == all) continue;
    bool const of_sequence = d == 1 && rank.mesh.cp > 1 && part == tokens;
    comm::group const& ranks = of_sequence ? rank.group(shape::axis::cp) : rank.tp;
    if (part > all || part * ranks.size() < all) return {};
    std::int64_t const sharers = of_sequence ? 1 : std::max<std::int64_t>(1, part * ranks.size() / all);
    std::int64_t const begin = std::min(all, ranks.rank() / sharers * part), size = std::min(part, all - begin);
    own = own.narrow(d, 0, size);
    whole = whole.narrow(d, begin, size);
  }
  return {own, whole};
}

/// Returns true if a rank's activation `own` differs from the activation `whole` of the same
/// examples that one rank computed. Returns false if the two cannot be compared. The allowed
/// difference is `tolerance` times the largest element of `whole`.
inline bool differs(at::Tensor const& own, activation_record::call_record const& of, at::Tensor const& whole,
                    activation_record::call_record const& in, rank_context const& rank, double tolerance) {
  std::int64_t const first = std::max(of.first_example, in.first_example),
                     last = std::min(of.first_example + of.examples, in.first_example + in.examples);
  if (first >= last || !own.defined() || !whole.defined() || own.dim() == 0 || !own.is_floating_point()) return false;
  std::int64_t const each = own.size(0) / of.examples;
  if (each * of.examples != own.size(0) || each * in.examples != whole.size(0)) return false;
  auto const rows = [&](at::Tensor const& x, std::int64_t begin) {
    return x.narrow(0, (first - begin) * each, (last - first) * each).to(at::kDouble);
  };
  std::int64_t const tokens =
      of.sizes.size() > 1 ? shape::sequence_part{0, rank.mesh.cp, of.sizes[1]}.count() : std::int64_t{1};
  auto const [here, there] =
      matched(rows(own, of.first_example), rows(whole, in.first_example).to(own.device()), tokens, rank);
  if (!here.defined() || here.numel() == 0) return false;
  double const off = (here - there).abs().max().item<double>(), largest = whole.abs().max().item<double>();
  return !(off <= tolerance * largest);
}

/// Returns pairs of indices of the moments that two calls of a network have in common: the inputs
/// and outputs of equal layers. A pipeline stage has the moments of its own layers only; its first
/// input is not the network's.
inline std::vector<std::pair<std::size_t, std::size_t>> common_moments(
    std::vector<activation_record::moment> const& own, std::vector<activation_record::moment> const& alone) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::size_t next = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].layer.empty() && own.size() != alone.size()) continue;
    auto const is_same = [&](activation_record::moment const& one) {
      return one.layer == own[i].layer && one.is_output == own[i].is_output;
    };
    auto const found = std::find_if(alone.begin() + static_cast<std::ptrdiff_t>(next), alone.end(), is_same);
    if (found == alone.end()) continue;
    next = static_cast<std::size_t>(found - alone.begin());
    pairs.emplace_back(i, next++);
  }
  return pairs;
}

/// Returns the path of the layer that gave the recorded value with index `at`. If the value is a
/// layer's input, this is the layer with the last output before it. Returns "the input of the
/// network" if there is no such output.
inline std::string producer_path(std::vector<activation_record::moment> const& moments, std::size_t at) {
  if (moments[at].is_output && !moments[at].layer.empty()) return moments[at].layer;
  for (std::size_t i = at; i-- > 0;)
    if (moments[i].is_output) return moments[i].layer;
  return "the input of the network";
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE std::string differing_layer(rank_context& rank, activation_record const& own,
                                         activation_record const& alone, bool forward, double tolerance,
                                         bool in_order) {
  at::NoGradGuard const no_grad;
  double const none = -1e9;
  // Negated index of the first moment whose value differs, and index of the last moment whose
  // gradient differs. The first index is negated because the ranks take the maximum.
  double found[] = {none, none};
  for (auto const& one : own.calls())
    for (auto const& other : alone.calls()) {
      if (one.number != other.number || (in_order && &one - own.calls().data() != &other - alone.calls().data()))
        continue;
      for (auto const& [here_index, there_index] : detail::common_moments(one.moments, other.moments)) {
        auto const &here = one.moments[here_index], &there = other.moments[there_index];
        auto const index = static_cast<double>(there_index);
        if (detail::differs(here.value, one, there.value, other, rank, tolerance))
          found[0] = std::max(found[0], -index);
        if (here.gradient && there.gradient &&
            detail::differs(*here.gradient, one, *there.gradient, other, rank, tolerance))
          found[1] = std::max(found[1], index);
      }
    }
  comm::collective_label const label("verification");
  rank.world.all_reduce(at::from_blob(found, {2}, at::kDouble), comm::reduce_op::max);
  if (alone.calls().empty() || alone.calls().front().moments.empty()) return "";
  auto const& moments = alone.calls().front().moments;
  if (found[0] > none) return detail::producer_path(moments, static_cast<std::size_t>(-found[0]));
  if (!forward && found[1] > none) return moments[static_cast<std::size_t>(found[1])].layer;
  if (!forward) return "";
  return moments.back().value.defined() ? "the loss function" : "the last layer or the loss function";
}

}  // namespace redco::run
