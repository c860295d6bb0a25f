#pragma once

#include <redco/comm/collective_label.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/cost/messages.hpp>
#include <redco/diag/error.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// The loss and its terms, added up over micro-batches and then over ranks; each term is divided by its own count.
class loss_totals {
 public:
  static constexpr std::size_t most_terms = most_loss_terms;

  /// Errors: exit code 64 for a loss without terms or with more than are told apart.
  static void check(terms const& loss) {
    if (loss.all.empty())
      throw error(exit_code::usage, "a loss of no terms: there is nothing to minimise; return at least one");
    if (loss.all.size() > most_terms)
      throw error(exit_code::usage, "a loss of " + std::to_string(loss.all.size()) + " terms: at most " +
                                        std::to_string(most_terms) + " are told apart; add some up");
  }

  /// Takes in one micro-batch's loss.
  void add(terms const& loss) {
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

  /// Adds up over all ranks, each of which calls it once, and tells whether some rank raised `flag`.
  bool reduce(rank_context& rank, bool flag = false) {
    if (rank.mp_index() != 0) sums_ = {};  // every shard of a replica holds the same: one of them speaks
    sums_.back() = flag ? 1 : 0;
    collective_label const label("loss");
    rank.world.all_reduce(at::from_blob(sums_.data(), {static_cast<std::int64_t>(sums_.size())}, at::kDouble));
    return sums_.back() > 0;
  }

  /// The mean over everything that counted, terms weighed by their factors.
  double loss() const {
    double all = 0;
    for (std::size_t i = 0; i < most_terms; ++i) all += average(i, 0);
    return all;
  }

  /// How much counted: tokens or examples.
  double weight() const {
    double most = 0;
    for (std::size_t i = 0; i < most_terms; ++i) most = std::max(most, sums_[3 * i + 2]);
    return most;
  }

  /// Each term without its factor, by name; only on ranks that had examples, as rank 0 always has.
  std::vector<std::pair<std::string, double>> by_name() const {
    std::vector<std::pair<std::string, double>> all;
    for (std::size_t i = 0; i < names_.size(); ++i) all.emplace_back(names_[i], average(i, 1));
    return all;
  }

 private:
  double average(std::size_t term, std::size_t column) const {
    double const count = sums_[3 * term + 2];
    return count > 0 ? sums_[3 * term + column] / count : 0;
  }

  std::array<double, loss_total_numbers> sums_{};  ///< per term: sum times factor, sum, count; then the flag
  std::vector<std::string> names_;
};

}  // namespace redco
