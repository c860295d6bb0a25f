#pragma once

#include <redco/run/loss_totals.hpp>

#include <redco/comm/group.hpp>
#include <redco/tensor/device.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cmath>
#include <cstddef>
#include <string>

namespace redco::run {

REDCO_INLINE void loss_totals::check(terms const& loss) {
  if (loss.all.empty())
    throw error(exit_code::usage, "a loss of no terms: there is nothing to minimise; return at least one");
  if (loss.all.size() > most_terms)
    throw error(exit_code::usage, "a loss of " + std::to_string(loss.all.size()) + " terms: at most " +
                                      std::to_string(most_terms) + " are supported; add some of them");
}

REDCO_INLINE void loss_totals::add(terms const& loss) {
  check(loss);
  names_.clear();
  for (std::size_t i = 0; i < loss.all.size(); ++i) {
    auto const& [name, one, factor] = loss.all[i];
    if (tensors::in_cpu_memory(one.sum)) add_sum(i, one.sum.template item<double>(), factor);
    else on_device_.push_back({one.sum.detach(), i, factor});
    sums_[3 * i + 2] += one.count;
    names_.push_back(name);
  }
}

REDCO_INLINE void loss_totals::read_devices() {
  if (on_device_.empty()) return;
  std::vector<at::Tensor> all;
  for (unread const& one : on_device_) all.push_back(one.sum.to(at::kDouble));
  at::Tensor const sums = tensors::to_cpu(at::stack(all));
  for (std::size_t i = 0; i < all.size(); ++i)
    add_sum(on_device_[i].term, sums.const_data_ptr<double>()[i], on_device_[i].factor);
  on_device_.clear();
}

REDCO_INLINE bool loss_totals::reduce(rank_context& rank, bool flag) {
  read_devices();
  // All ranks of the last pipeline stage of a replica hold equal sums, so only one contributes. The
  // other ranks contribute values that are not finite, so that no rank's failure is lost.
  if (rank.coordinate(shape::axis::cp | shape::axis::tp) != 0 || rank.coordinate(shape::axis::pp) + 1 != rank.mesh.pp)
    for (double& sum : sums_) sum = std::isfinite(sum) ? 0 : sum;
  if (rank.world.size() == 1) return flag;
  if (flag) sums_.back() += flag_value;
  comm::collective_label const label("loss");
  rank.world.all_reduce(at::from_blob(sums_.data(), {static_cast<std::int64_t>(sums_.size())}, at::kDouble));
  bool const any = sums_.back() >= flag_value;
  sums_.back() = std::fmod(sums_.back(), flag_value);
  return any;
}

REDCO_INLINE double loss_totals::loss() const {
  if (weight() == 0) return std::numeric_limits<double>::quiet_NaN();
  double all = 0;
  for (std::size_t i = 0; i < most_terms; ++i)
    if (count(i) > 0) all += average(i, 0);
  return all;
}

REDCO_INLINE double loss_totals::weight() const {
  double most = 0;
  for (std::size_t i = 0; i < most_terms; ++i) most = std::max(most, count(i));
  return most;
}

REDCO_INLINE std::vector<std::pair<std::string, double>> loss_totals::by_name() const {
  std::vector<std::pair<std::string, double>> all;
  for (std::size_t i = 0; i < names_.size(); ++i) all.emplace_back(names_[i], average(i, 1));
  return all;
}

REDCO_INLINE options::metric_map loss_totals::metrics() const {
  options::metric_map all;
  for (auto const& [name, value] : by_name()) all[name] = value;
  all["loss"] = loss();
  return all;
}

REDCO_INLINE void add_gradient(network_state const& state, at::Tensor const& sum) {
  if (sum.defined()) {
    if (!sum.requires_grad())
      throw error(
          exit_code::internal,
          "the loss has no gradient: no trained parameter has a part in it, or it was detached (item(), detach(), "
          "NoGradGuard, whole-number types); compute it from what the network returns");
    sum.backward();
  }
  check_gradients(state);
}

REDCO_INLINE void check_gradients(network_state const& state) {
  // A user's backward(create_graph=true) replaces `.grad`, and the flat gradient would stay zero.
  for (at::Tensor const& leaf : state.network().parameters()) {
    if (!leaf.requires_grad()) continue;
    bool const is_summed = state.store.has_cut_gradients() && !leaf.grad().defined();
    if (!is_summed && (!leaf.grad().defined() || !leaf.grad().is_alias_of(state.store.gradients())))
      throw error(exit_code::internal,
                  "a parameter's gradient is no longer in the flat buffer: in loss functions use autograd::grad with "
                  "create_graph, never backward");
  }
}

}  // namespace redco::run
