#pragma once

#include <redco/run/compare_updates.hpp>

#include <redco/comm/group.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/safetensors/xxh64.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace redco::run::detail {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// Returns `difference` in units of the allowed difference `most`. Returns infinity if nothing is
/// allowed or the difference is not finite.
inline double in_units(double difference, double most) {
  if (difference == 0) return 0;
  if (!std::isfinite(difference) || most == 0) return infinite;
  return difference / most;
}

/// Returns the difference of two numbers in units of the tolerance: `tolerance` times the size of
/// the number on one rank, plus the allowed multiple of its `noise`.
inline double relative(double own, double alone, double tolerance, double noise) {
  if (own == alone || (std::isnan(own) && std::isnan(alone))) return 0;
  return in_units(std::abs(own - alone), std::abs(alone) * tolerance + verify_tolerance::noise * noise);
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
enum column : std::size_t { of_gradient, of_update, of_slots, has_gradient, is_updated, columns };

inline std::array<double, columns> compare_parameter(updated_parameter const& own, updated_parameter const& alone,
                                                     scales const& all, double lr, verify_tolerance const& t,
                                                     update_noise::of_parameter const& noise) {
  std::array<double, columns> found{};
  double const largest_gradient = largest(alone.gradient);
  auto const most = [&](double tolerance, double of_tensor, double of_network, double measured) {
    return tolerance * std::max(of_tensor, t.floor * of_network) + verify_tolerance::noise * measured;
  };
  found[of_gradient] = in_units(difference(own.gradient, alone.gradient, own.box),
                                most(t.gradient, largest_gradient, all.gradient, noise.gradient));
  found[of_update] = in_units(difference(own.update, alone.update, own.box, noise.noisy, t.strays),
                              most(t.update, all.update, 0, noise.update));
  if (own.slots.size() != alone.slots.size()) found[of_slots] = infinite;
  for (std::size_t i = 0; i < std::min(own.slots.size(), alone.slots.size()); ++i) {
    // The mask is for elements of the parameter, and not for its rows or columns.
    at::Tensor const mask = alone.slots[i].sizes() == alone.update.sizes() ? noise.noisy : at::Tensor();
    found[of_slots] =
        std::max(found[of_slots], in_units(difference(own.slots[i], alone.slots[i], own.slot_boxes[i], mask, t.strays),
                                           most(t.slot, largest(alone.slots[i]), all.slots[i], noise.slots[i])));
  }
  // In f64 no update is too small to change its parameter.
  bool const exact = alone.update.scalar_type() == at::kDouble;
  bool const is_noise =
      largest_gradient <= std::max(verify_tolerance::noise * noise.gradient, t.least_gradient * all.gradient);
  found[has_gradient] = exact && lr > 0 && !is_noise ? 1 : 0;
  found[is_updated] = exact && largest(own.update) > 0 ? 1 : 0;
  return found;
}

/// Returns a digest of the bits of `x`.
inline std::uint64_t digest_of(at::Tensor const& x) {
  if (!x.defined()) return 0;
  at::Tensor const here = tensors::to_cpu(x).contiguous();
  return safetensors::xxh64::of(std::string_view(static_cast<char const*>(here.data_ptr()), here.nbytes()));
}

/// The ranges of parameters that the ranks of a mesh hold. For each parameter, `whole` is true if
/// the ranges cover the parameter. `equal` is true if ranks with equal ranges have updated them to
/// equal bits.
struct held_ranges {
  std::vector<bool> whole, equal;

  /// All ranks call it. Compares bits only on CPUs, where all ranks compute alike.
  held_ranges(rank_context& rank, update_record const& own, update_record const& alone)
      : whole(alone.parameters.size(), false), equal(alone.parameters.size(), true) {
    // First numbers of a range; sizes follow the offsets. Numbers below 0 end the list of a rank.
    enum : std::int64_t { index, bits, dimensions, offsets };
    std::vector<std::int64_t> ranges;
    for (updated_parameter const& mine : own.parameters)
      for (std::size_t i = 0; i < alone.parameters.size(); ++i) {
        if (alone.parameters[i].name != mine.name) continue;
        std::uint64_t digest = 0;
        if (tensors::in_cpu_memory(mine.update)) {
          digest = digest_of(mine.update);
          for (at::Tensor const& slot : mine.slots) digest = digest * 31 + digest_of(slot);
        }
        ranges.insert(ranges.end(),
                      {static_cast<std::int64_t>(i), static_cast<std::int64_t>(digest), std::ssize(mine.box.shape)});
        ranges.insert(ranges.end(), mine.box.offset.begin(), mine.box.offset.end());
        ranges.insert(ranges.end(), mine.box.shape.begin(), mine.box.shape.end());
      }
    at::Tensor const most = at::full({1}, std::ssize(ranges), at::kLong);
    rank.world.all_reduce(most, comm::reduce_op::max);
    ranges.resize(static_cast<std::size_t>(most.item<std::int64_t>()), -1);
    if (ranges.empty()) return;
    at::Tensor const all = rank.world.all_gather(at::tensor(ranges, at::kLong), 0);
    // Digests of the ranges of each parameter, by offsets and sizes
    std::vector<std::map<std::vector<std::int64_t>, std::int64_t>> of(whole.size());
    std::int64_t const* one = all.const_data_ptr<std::int64_t>();
    std::int64_t const* const end = one + all.numel();
    while (one < end) {
      if (one[index] < 0) {
        ++one;
        continue;
      }
      auto const i = static_cast<std::size_t>(one[index]);
      std::int64_t const* const next = one + offsets + 2 * one[dimensions];
      auto const [at, fresh] = of[i].try_emplace(std::vector<std::int64_t>(one + offsets, next), one[bits]);
      if (!fresh && at->second != one[bits]) equal[i] = false;
      one = next;
    }
    // Ranges may overlap: the replicas of two pipeline stages divide a tied parameter differently.
    for (std::size_t i = 0; i < of.size(); ++i) {
      at::Tensor const covered = at::zeros(alone.parameters[i].update.sizes(), at::kBool);
      for (auto const& [range, digest] : of[i]) {
        auto const sizes = range.begin() + std::ssize(range) / 2;
        part_of(covered, {{range.begin(), sizes}, {sizes, range.end()}}).fill_(true);
      }
      whole[i] = !of[i].empty() && covered.all().item<bool>();
    }
  }
};

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
  for (verify_row const& row : one.rows)
    if (!row.held) return one.step.name + ", no rank holds all of " + row.parameter + " (layer " + row.layer + ")";
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
                                             update_record const& alone, update_noise const& noise, dtype compute) {
  using namespace detail;
  at::NoGradGuard const no_grad;
  verify_tolerance const tolerance = verify_tolerance::of(narrowest_of(compute, alone));
  auto const refuse = [&](std::size_t parameters) {
    throw error(exit_code::internal, name + ": the mesh updates other parameters than one rank does (" +
                                         std::to_string(parameters) + " of \"" + own.network + "\", " +
                                         std::to_string(alone.parameters.size()) + " of \"" + alone.network +
                                         "\"): take the same steps on every mesh");
  };
  if (own.network != alone.network) refuse(own.parameters.size());
  step_result const &here = own.result, &there = alone.result;
  std::vector<double> numbers{relative(here.loss, there.loss, tolerance.loss, noise.loss),
                              relative(here.grad_norm, there.grad_norm, tolerance.norm, noise.norm),
                              relative(here.weight, there.weight, verify_tolerance::count, noise.count),
                              own.parameters.empty() ? 0.0 : 1.0};
  std::map<std::string, double> const terms(there.terms.begin(), there.terms.end());
  for (auto const& [term, value] : here.terms)
    if (auto const at = terms.find(term); at != terms.end()) {
      auto const measured = noise.terms.find(term);
      numbers[0] = std::max(numbers[0], relative(value, at->second, tolerance.loss,
                                                 measured == noise.terms.end() ? noise.loss : measured->second));
    }
  std::size_t const of_step = numbers.size();
  scales const all(alone);
  std::size_t held = 0;
  for (std::size_t i = 0; i < alone.parameters.size(); ++i) {
    // A rank of another pipeline stage has no record of the parameter.
    std::array<double, columns> found{};
    for (updated_parameter const& mine : own.parameters) {
      if (mine.name != alone.parameters[i].name) continue;
      auto const of_part = compare_parameter(mine, alone.parameters[i], all, here.lr, tolerance, noise.parameters[i]);
      for (std::size_t c = 0; c < columns; ++c) found[c] = std::max(found[c], of_part[c]);
      ++held;
    }
    numbers.insert(numbers.end(), found.begin(), found.end());
  }
  if (!alone.parameters.empty() && held != own.parameters.size()) refuse(own.parameters.size());
  comm::collective_label const label("verification");
  rank.world.all_reduce(at::from_blob(numbers.data(), {static_cast<std::int64_t>(numbers.size())}, at::kDouble),
                        comm::reduce_op::max);
  held_ranges const ranges(rank, own, alone);
  // An update in which nothing counted (all labels masked) has no recorded parameters on any rank.
  bool const updates = numbers[3] > 0 && !alone.parameters.empty();
  compared_update result{{}, tolerance, {}};
  result.step = {name,
                 std::string(name_of(compute)),
                 numbers[0],
                 numbers[1],
                 numbers[2],
                 there.loss,
                 here.loss,
                 there.grad_norm,
                 here.grad_norm,
                 there.weight != 0,
                 noise.is_measured()};
  for (std::size_t i = 0; updates && i < alone.parameters.size(); ++i) {
    double const* const of = numbers.data() + of_step + i * columns;
    std::string const& parameter = alone.parameters[i].name;
    std::size_t const dot = parameter.rfind('.');
    verify_row row{(own.network.empty() ? "" : own.network + ".") + parameter,
                   dot == std::string::npos ? "the model itself" : parameter.substr(0, dot)};
    row.gradient = of[of_gradient];
    row.update = ranges.equal[i] ? of[of_update] : infinite;
    row.slots = of[of_slots];
    row.gradients = static_cast<std::int64_t>(of[has_gradient]);
    row.updates = static_cast<std::int64_t>(of[is_updated]);
    row.trained = alone.parameters[i].gradient.defined();
    row.held = ranges.whole[i];
    result.rows.push_back(std::move(row));
  }
  return result;
}

REDCO_INLINE verify_result verify_result_of(std::vector<compared_update> const& updates, mesh const& on, dtype compute,
                                            bool whole) {
  verify_result all;
  all.mesh = on;
  all.computed = name_of(compute);
  if (compute != dtype::f64) all.computed += " and f64";
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
      worst.held = worst.held && row.held;
    }
  }
  if (narrower) all.computed += " with a loss in a narrower type, which sets the tolerance";
  for (verify_row const& row : all.rows)
    if (whole && all.first.empty() && row.never_updated())
      all.first = row.parameter + " (layer " + row.layer + ") has a gradient and is never updated";
  std::stable_sort(all.rows.begin(), all.rows.end(), [](verify_row const& a, verify_row const& b) {
    return std::tuple(!a.held, a.never_updated(), a.worst()) > std::tuple(!b.held, b.never_updated(), b.worst());
  });
  return all;
}

}  // namespace redco::run
