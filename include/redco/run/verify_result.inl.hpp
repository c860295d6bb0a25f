#pragma once

#include <redco/run/verify_result.hpp>

#include <redco/options/value_text.hpp>
#include <redco/log/text.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>

namespace redco::run::detail {

/// Formats a table as text, one line per row; each column is as wide as its widest cell.
inline std::string aligned(std::vector<std::vector<std::string>> const& rows) {
  std::vector<std::size_t> widths;
  for (auto const& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (widths.size() <= c) widths.push_back(0);
      widths[c] = std::max(widths[c], log::columns(row[c]));
    }
  std::string text;
  for (auto const& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c)
      line += row[c] + (c + 1 < row.size() ? std::string(widths[c] + 2 - log::columns(row[c]), ' ') : "");
    text += line + "\n";
  }
  return text;
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE double verify_tolerance::rounding_of(at::ScalarType type) {
  return type == at::kDouble ? 0x1p-52 : type == at::kFloat ? 0x1p-23 : type == at::kHalf ? 0x1p-10 : 0x1p-7;
}

REDCO_INLINE verify_tolerance verify_tolerance::of(at::ScalarType computed) {
  // In f64 there is room for a floor that is far above rounding and far below a mistake.
  if (computed == at::kDouble) return {1e-10, 1e-9, 1e-8, 1e-6, 1e-7, 1e-6, 1e-13, 1e-8, 0};
  double const few = 2 * rounding_of(computed);
  // An optimizer that divides a gradient by its size turns noise of the gradient into a change of
  // the update.
  return {few, few, few, 1.0 / 16, few, 1.0 / 16, few / 4, computed == at::kFloat ? 1e-3 : 0.2, 0.02};
}

REDCO_INLINE std::string verify_messages::difference() const {
  return "the messages of a step over " + over + ": " + std::to_string(counted_calls) + " calls with " +
         std::to_string(counted_bytes) + " bytes, planned are " + std::to_string(planned_calls) + " with " +
         std::to_string(planned_bytes) + "; the loss or a layer sends what no fact states";
}

REDCO_INLINE std::string verify_result::verdict() const {
  std::string const compared = options::to_text(mesh) + " and one rank";
  if (ok()) {
    double worst = 0;
    for (verify_step const& one : steps) worst = std::max({worst, one.loss, one.norm});
    for (verify_row const& row : rows) worst = std::max(worst, row.worst());
    auto const counted = [](std::size_t number, char const* one) {
      return std::to_string(number) + " " + one + (number == 1 ? "" : "s");
    };
    std::size_t updates = 0;
    for (verify_step const& one : steps) updates += one.computed == steps.back().computed ? 1 : 0;
    return "verify: " + compared + " agree in " + (updates == 0 ? "all changes" : counted(updates, "update")) + " of " +
           counted(rows.size(), "parameter") + "; the largest difference is " + log::scientific_text(worst) +
           " of the tolerance";
  }
  return "verify: " + compared + " differ; first difference: " + first +
         (layer.empty()     ? ""
          : forward_differs ? "; the first layer that computes otherwise is " + layer
                            : "; the layer that passes a wrong gradient on is " + layer);
}

REDCO_INLINE std::string verify_result::text(std::size_t most) const {
  using log::scientific_text;
  std::string all = "verify: one rank against mesh " + options::to_text(mesh) + ", computed in " + computed +
                    ". Differences are in units of the tolerance: above 1 they are mistakes\ntolerance: " +
                    log::short_text(verify_tolerance::noise, 3) + " times the noise measured on one rank, plus loss " +
                    log::scientific_text(tolerance.loss) + ", gradient norm " + log::scientific_text(tolerance.norm) +
                    ", gradient " + log::scientific_text(tolerance.gradient) + " of the tensor's largest, update " +
                    log::scientific_text(tolerance.update) + " of the largest, slots " +
                    log::scientific_text(tolerance.slot) + " of the tensor's largest; floor " +
                    log::scientific_text(tolerance.floor) + " of the network's largest\n";
  if (replayed > 0)
    all += "experts with tied scores are chosen as on one rank: " + std::to_string(replayed) + " choices\n";
  std::size_t unmeasured = 0;
  for (verify_step const& one : steps) unmeasured += one.is_measured ? 0 : 1;
  if (unmeasured > 0)
    all += "not compared, because one rank takes other steps after slight changes: " + std::to_string(unmeasured) +
           " updates in " + steps.back().computed + "\n";
  std::vector<std::vector<std::string>> lines{
      {"update", "loss, one rank", "loss, mesh", "difference", "norm, one rank", "norm, mesh", "difference"}};
  for (verify_step const& one : steps)
    lines.push_back({one.name, log::short_text(one.loss_alone, 7), log::short_text(one.loss_here, 7),
                     log::scientific_text(one.loss), log::short_text(one.norm_alone, 7),
                     log::short_text(one.norm_here, 7), log::scientific_text(one.norm)});
  all += detail::aligned(lines);
  lines = {{"parameter", "layer", "gradient", "update", "slots"}};
  for (verify_row const& row : rows) {
    if (lines.size() > most) break;
    lines.push_back({row.parameter, row.layer, row.trained ? log::scientific_text(row.gradient) : "frozen",
                     !row.held             ? "not held"
                     : row.never_updated() ? "never"
                                           : log::scientific_text(row.update),
                     log::scientific_text(row.slots)});
  }
  all += detail::aligned(lines);
  if (rows.size() > most) all += "and " + std::to_string(rows.size() - most) + " more, none of them worse\n";
  if (!messages.empty()) {
    lines = {{"messages of a step over", "calls planned", "counted", "bytes planned", "counted"}};
    for (verify_messages const& one : messages)
      lines.push_back({one.over, std::to_string(one.planned_calls), std::to_string(one.counted_calls),
                       std::to_string(one.planned_bytes), std::to_string(one.counted_bytes)});
    all += detail::aligned(lines);
  }
  if (!messages_remark.empty()) all += "messages: " + messages_remark + "\n";
  return all;
}

}  // namespace redco::run
