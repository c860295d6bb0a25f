#pragma once

#include <redco/run/loss_totals.hpp>

#include <redco/comm/collective_label.hpp>
#include <redco/config.hpp>

#include <cmath>

namespace redco {

REDCO_INLINE void run::loss_totals::check(terms const& loss) {
  if (loss.all.empty())
    throw error(exit_code::usage, "a loss of no terms: there is nothing to minimise; return at least one");
  if (loss.all.size() > most_terms)
    throw error(exit_code::usage, "a loss of " + std::to_string(loss.all.size()) + " terms: at most " +
                                      std::to_string(most_terms) + " are told apart; add some up");
}

REDCO_INLINE void run::loss_totals::add(terms const& loss) {
  check(loss);
  names_.clear();
  for (std::size_t i = 0; i < loss.all.size(); ++i) {
    auto const& [name, one, factor] = loss.all[i];
    double const sum = one.sum.template item<double>();
    sums_[3 * i] += sum * factor;
    sums_[3 * i + 1] += sum;
    sums_[3 * i + 2] += one.count;
    names_.push_back(name);
  }
}

REDCO_INLINE bool run::loss_totals::reduce(rank_context& rank, bool flag) {
  // Every shard of a replica holds the same: one of them speaks, the others only of what is not finite.
  if (rank.tp_index() != 0)
    for (double& sum : sums_) sum = std::isfinite(sum) ? 0 : sum;
  sums_.back() = flag ? 1 : 0;
  comm::collective_label const label("loss");
  rank.world.all_reduce(at::from_blob(sums_.data(), {static_cast<std::int64_t>(sums_.size())}, at::kDouble));
  return sums_.back() > 0;
}

REDCO_INLINE double run::loss_totals::loss() const {
  double all = 0;
  for (std::size_t i = 0; i < most_terms; ++i) all += average(i, 0);
  return all;
}

REDCO_INLINE double run::loss_totals::weight() const {
  double most = 0;
  for (std::size_t i = 0; i < most_terms; ++i) most = std::max(most, sums_[3 * i + 2]);
  return most;
}

REDCO_INLINE std::vector<std::pair<std::string, double>> run::loss_totals::by_name() const {
  std::vector<std::pair<std::string, double>> all;
  for (std::size_t i = 0; i < names_.size(); ++i) all.emplace_back(names_[i], average(i, 1));
  return all;
}

}  // namespace redco
