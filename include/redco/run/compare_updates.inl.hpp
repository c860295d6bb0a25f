#pragma once

#include <redco/run/compare_updates.hpp>

#include <redco/comm/group.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace redco::run::detail {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// Returns the largest absolute value of the elements of `x`: 0 if there are no elements, infinity
/// if an element is not finite.
inline double largest(at::Tensor const& x) {
  if (!x.defined() || x.numel() == 0) return 0;
  double const found = x.abs().max().item<double>();
  return std::isfinite(found) ? found : infinite;
}

/// Returns `difference` in units of the tolerance: divided by `scale * tolerance`. Returns infinity
/// if the scale is 0 or the difference is not finite.
inline double in_units(double difference, double scale, double tolerance) {
  if (difference == 0) return 0;
  if (!std::isfinite(difference) || scale == 0) return infinite;
  return difference / (scale * tolerance);
}

inline double relative(double own, double alone, double tolerance) {
  if (own == alone || (std::isnan(own) && std::isnan(alone))) return 0;
  return in_units(std::abs(own - alone), std::abs(alone), tolerance);
}

/// Returns the slice of the unsharded tensor `whole` that `box` (offsets and sizes) describes.
inline at::Tensor part_of(at::Tensor const& whole, safetensors::box const& box) {
  at::Tensor part = whole;
  for (std::size_t d = 0; d < box.shape.size(); ++d)
    part = part.narrow(static_cast<std::int64_t>(d), box.offset[d], box.shape[d]);
  return part;
}

/// Returns the largest absolute difference between a rank's shard `own` and the slice `box` of
/// the unsharded tensor `whole`. Ignores elements where the mask `where` is 0. Returns infinity if
/// only one of the two tensors is defined.
inline double difference(at::Tensor const& own, at::Tensor const& whole, safetensors::box const& box,
                         at::Tensor const& where = {}) {
  if (own.defined() != whole.defined()) return infinite;
  if (!own.defined()) return 0;
  at::Tensor const off = (own.to(at::kDouble) - part_of(whole, box).to(own.device(), at::kDouble)).abs_();
  return largest(where.defined() ? off.mul_(where) : off);
}

/// The largest absolute gradient, parameter change and optimizer-slot value in one update of a
/// whole network, computed on one rank.
struct scales {
  double gradient = 0, update = 0;
  std::vector<double> slots;

  explicit scales(update_record const& alone) {
    for (updated_parameter const& p : alone.parameters) {
      gradient = std::max(gradient, largest(p.gradient));
      update = std::max(update, largest(p.update));
      slots.resize(std::max(slots.size(), p.slots.size()), 0);
      for (std::size_t i = 0; i < p.slots.size(); ++i) slots[i] = std::max(slots[i], largest(p.slots[i]));
    }
  }
};

/// Indices of the numbers that compare one parameter. The ranks take the maximum of each number.
enum column : std::size_t { of_gradient, of_update, of_slots, has_gradient, is_updated, is_held, columns };

inline std::array<double, columns> compare_parameter(updated_parameter const& own, updated_parameter const& alone,
                                                     scales const& all, double lr, verify_tolerance const& t) {
  std::array<double, columns> found{};
  double const largest_gradient = largest(alone.gradient);
  at::Tensor where;
  if (t.least_gradient > 0 && alone.gradient.defined())
    where = part_of(alone.gradient, own.box).abs().ge(t.least_gradient * largest_gradient).to(own.update.device());
  auto const scale = [&](double of_tensor, double of_network) { return std::max(of_tensor, t.floor * of_network); };
  found[of_gradient] =
      in_units(difference(own.gradient, alone.gradient, own.box), scale(largest_gradient, all.gradient), t.gradient);
  found[of_update] = in_units(difference(own.update, alone.update, own.box, where), all.update, t.update);
  if (own.slots.size() != alone.slots.size()) found[of_slots] = infinite;
  for (std::size_t i = 0; i < std::min(own.slots.size(), alone.slots.size()); ++i) {
    // The mask is for elements of the parameter, and not for its rows or columns.
    at::Tensor const mask = own.slots[i].sizes() == own.update.sizes() ? where : at::Tensor();
    found[of_slots] =
        std::max(found[of_slots], in_units(difference(own.slots[i], alone.slots[i], own.slot_boxes[i], mask),
                                           scale(largest(alone.slots[i]), all.slots[i]), t.slot));
  }
  found[has_gradient] = lr > 0 && largest_gradient > 0 ? 1 : 0;
  found[is_updated] = largest(own.update) > 0 ? 1 : 0;
  found[is_held] = 1;
  return found;
}

/// Returns a phrase that names the first difference in an update; empty if nothing differs. If only
/// gradients differ, names the last parameter with a wrong gradient, because backward runs from the
/// last layer to the first. If the loss differs, too, names the first parameter with a wrong
/// gradient.
inline std::string first_difference(compared_update const& one) {
  std::size_t trained = 0;
  for (verify_row const& row : one.rows) trained += row.trained ? 1 : 0;
  auto const first = [&](char const* quantity, double verify_row::*column, bool backward) {
    std::string found;
    std::size_t wrong = 0;
    for (verify_row const& row : one.rows) {
      if (!(row.*column > 1)) continue;
      if (++wrong == 1 || backward)
        found = std::string(quantity) + " of " + row.parameter + " (layer " + row.layer + ")";
    }
    return found + (wrong == trained && wrong > 1 ? " and of all other trained parameters" : "");
  };
  std::string const gradient = first("gradient", &verify_row::gradient, one.step.loss <= 1 && one.step.count <= 1);
  std::string found;
  if (one.step.loss > 1) found = "the loss";
  else if (one.step.count > 1) found = "the weight of the loss";
  if (!gradient.empty()) found += (found.empty() ? "" : ", then ") + gradient;
  if (found.empty() && one.step.norm > 1) found = "the gradient norm";
  if (found.empty()) found = first("update", &verify_row::update, false);
  if (found.empty()) found = first("optimizer state", &verify_row::slots, false);
  return found.empty() ? "" : one.step.name + ", " + found;
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE compared_update compare_updates(rank_context& rank, std::string const& name, update_record const& own,
                                             update_record const& alone, dtype compute) {
  using namespace detail;
  at::NoGradGuard const no_grad;
  at::ScalarType const computed = tensors::scalar_type_of(compute);
  verify_tolerance const tolerance =
      verify_tolerance::of(c10::elementSize(alone.loss_type) < c10::elementSize(computed) ? alone.loss_type : computed);
  auto const refuse = [&](std::size_t parameters) {
    throw error(exit_code::internal, name + ": the mesh updates other parameters than one rank does (" +
                                         std::to_string(parameters) + " of \"" + own.network + "\", " +
                                         std::to_string(alone.parameters.size()) + " of \"" + alone.network +
                                         "\"): take the same steps on every mesh");
  };
  if (own.network != alone.network) refuse(own.parameters.size());
  step_result const &here = own.result, &there = alone.result;
  std::vector<double> numbers{detail::relative(here.loss, there.loss, tolerance.loss),
                              detail::relative(here.grad_norm, there.grad_norm, tolerance.norm),
                              detail::relative(here.weight, there.weight, tolerance.loss),
                              own.parameters.empty() ? 0.0 : 1.0};
  std::map<std::string, double> const terms(there.terms.begin(), there.terms.end());
  for (auto const& [term, value] : here.terms)
    if (auto const at = terms.find(term); at != terms.end())
      numbers[0] = std::max(numbers[0], detail::relative(value, at->second, tolerance.loss));
  std::size_t const of_step = numbers.size();
  detail::scales const all(alone);
  std::size_t held = 0;
  for (std::size_t i = 0; i < alone.parameters.size(); ++i) {
    // A rank of another pipeline stage has no record of the parameter.
    std::array<double, columns> found{};
    for (updated_parameter const& mine : own.parameters) {
      if (mine.name != alone.parameters[i].name) continue;
      auto const of_part = detail::compare_parameter(mine, alone.parameters[i], all, here.lr, tolerance);
      for (std::size_t c = 0; c < columns; ++c) found[c] = std::max(found[c], of_part[c]);
      ++held;
    }
    numbers.insert(numbers.end(), found.begin(), found.end());
  }
  if (!alone.parameters.empty() && held != own.parameters.size()) refuse(own.parameters.size());
  comm::collective_label const label("verification");
  rank.world.all_reduce(at::from_blob(numbers.data(), {static_cast<std::int64_t>(numbers.size())}, at::kDouble),
                        comm::reduce_op::max);
  // An update in which nothing counted (all labels masked) has no recorded parameters on any rank.
  bool const updates = numbers[3] > 0 && !alone.parameters.empty();
  compared_update result{{}, tolerance, {}};
  result.step = {name,      numbers[0],      numbers[1],     numbers[2],       there.loss,
                 here.loss, there.grad_norm, here.grad_norm, there.weight != 0};
  held = 0;
  for (std::size_t i = 0; updates && i < alone.parameters.size(); ++i)
    held += numbers[of_step + i * columns + is_held] > 0 ? 1 : 0;
  if (updates && held != alone.parameters.size()) refuse(held);
  for (std::size_t i = 0; updates && i < alone.parameters.size(); ++i) {
    double const* const of = numbers.data() + of_step + i * columns;
    std::string const& parameter = alone.parameters[i].name;
    std::size_t const dot = parameter.rfind('.');
    verify_row row{(own.network.empty() ? "" : own.network + ".") + parameter,
                   dot == std::string::npos ? "the model itself" : parameter.substr(0, dot)};
    row.gradient = of[of_gradient];
    row.update = of[of_update];
    row.slots = of[of_slots];
    row.gradients = static_cast<std::int64_t>(of[has_gradient]);
    row.updates = static_cast<std::int64_t>(of[is_updated]);
    row.trained = alone.parameters[i].gradient.defined();
    result.rows.push_back(std::move(row));
  }
  return result;
}

REDCO_INLINE verify_result verify_result_of(std::vector<compared_update> const& updates, mesh const& on, dtype compute,
                                            bool whole) {
  verify_result all;
  all.mesh = on;
  all.computed = name_of(compute);
  all.tolerance = verify_tolerance::of(tensors::scalar_type_of(compute));
  bool narrower = false;
  std::map<std::string, std::size_t> row_indices;
  for (compared_update const& one : updates) {
    if (one.step.has_loss) all.steps.push_back(one.step);
    bool const wider = one.tolerance.loss > all.tolerance.loss;
    if (wider) all.tolerance = one.tolerance;
    narrower = narrower || wider;
    if (all.first.empty()) all.first = detail::first_difference(one);
    for (verify_row const& row : one.rows) {
      auto const [at, fresh] = row_indices.try_emplace(row.parameter, all.rows.size());
      if (fresh) {
        all.rows.push_back(row);
        continue;
      }
      verify_row& worst = all.rows[at->second];
      worst.gradient = std::max(worst.gradient, row.gradient);
      worst.update = std::max(worst.update, row.update);
      worst.slots = std::max(worst.slots, row.slots);
      worst.gradients += row.gradients;
      worst.updates += row.updates;
      worst.trained = worst.trained || row.trained;
    }
  }
  if (narrower) all.computed += " with a loss in a narrower type, which sets the tolerance";
  for (verify_row const& row : all.rows)
    if (whole && all.first.empty() && row.never_updated())
      all.first = row.parameter + " (layer " + row.layer + ") has a gradient and is never updated";
  std::stable_sort(all.rows.begin(), all.rows.end(), [](verify_row const& a, verify_row const& b) {
    return std::pair(a.never_updated(), a.worst()) > std::pair(b.never_updated(), b.worst());
  });
  return all;
}

}  // namespace redco::run
