// Compares predicted with measured step times: one GPT-2, one global batch, and the plans that
// redco-plan --search would compare on one, two and four ranks. Prints a table and the rank
// correlation. Exit code 1 if the correlation is below 0.9.
// - `search --machine redco_machine.json`: the file that redco-calibrate wrote on this machine

#include "plan_steps.hpp"
#include "temporary_folder.hpp"
#include "timing.hpp"

#include <redco/run/main_of.hpp>
#include <redco/cost/machine_file.hpp>
#include <redco/cost/search.hpp>
#include <redco/options/value_text.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/json/parse.hpp>
#include <redco/meta/fields.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace {

using plan_steps::load, plan_steps::model;

constexpr double least_correlation = 0.9;
// plans take turns, so that a disturbance of the machine affects all of them
constexpr int rounds = 3;

struct search_options {
  std::filesystem::path machine;

  static constexpr auto fields() {
    return redco::fields(redco::required_field<"machine">(&search_options::machine,
                                                          "file of the machine's speeds, from redco-calibrate"));
  }
};

struct row {
  redco::cost::found_plan plan;
  std::vector<double> seconds{};  ///< of the steps after the warm-up

  double measured() const { return median(seconds); }
};

/// Returns the plans to measure, with micro-batches of one and of four examples.
std::vector<row> rows(redco::cost::machine const& machine) {
  std::vector<row> all;
  for (int const ranks : {1, 2, 4})
    for (redco::cost::found_plan const& plan :
         redco::cost::search_both_forms(model, redco::adamw{}, {.load = load, .ranks = ranks}, machine).plans)
      if (plan.run.load.batch == 1 || plan.run.load.batch == 4) all.push_back({plan});
  return all;
}

/// Returns the index of each value in ascending order. Equal values share the mean of their
/// indices.
std::vector<double> ranks_of(std::vector<double> const& x) {
  std::vector<double> ranks;
  for (double const one : x) {
    auto const below = std::count_if(x.begin(), x.end(), [&](double other) { return other < one; });
    auto const equal = std::count(x.begin(), x.end(), one);
    ranks.push_back(static_cast<double>(below) + static_cast<double>(equal - 1) / 2);
  }
  return ranks;
}

/// Returns Spearman's rank correlation of x and y.
double rank_correlation(std::vector<double> const& x, std::vector<double> const& y) {
  auto const a = ranks_of(x), b = ranks_of(y);
  double const middle = static_cast<double>(a.size() - 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - middle) * (b[i] - middle);
    aa += (a[i] - middle) * (a[i] - middle);
    bb += (b[i] - middle) * (b[i] - middle);
  }
  return ab / std::sqrt(aa * bb);
}

void print(row const& r, std::ostream& out) {
  char text[128];
  double const predicted = r.plan.time.total(), measured = r.measured();
  std::snprintf(text, sizeof text, "| %s | %d | %s | %s | %s | %.1f | %.1f | %+.0f %% |",
                redco::options::to_text(r.plan.run.mesh).c_str(), static_cast<int>(r.plan.run.load.batch),
                std::string(name_of(r.plan.run.compute)).c_str(), redco::options::to_text(r.plan.run.recompute).c_str(),
                r.plan.sequence_parallel ? "split" : "whole", 1e3 * predicted, 1e3 * measured,
                100 * (predicted / measured - 1));
  out << text << std::endl;
}

int run(search_options const& o) {
  std::vector<row> all = rows(redco::cost::read_machine(redco::json::read_json(o.machine), o.machine.string()));
  std::ostream out(std::cout.rdbuf(std::cerr.rdbuf()));  // messages of the library go to stderr
  for (int round = 0; round < rounds; ++round)
    for (row& r : all) {
      temporary_folder const folder;
      for (double const one : plan_steps::seconds_of(r.plan, folder.path)) r.seconds.push_back(one);
    }
  std::sort(all.begin(), all.end(), [](row const& a, row const& b) { return a.measured() < b.measured(); });
  out << "| mesh | micro-batch | dtype | recomputed | tokens | predicted ms | measured ms | error "
         "|\n|---|---|---|---|---|---|---|---|\n";
  std::vector<double> predicted, measured;
  for (row const& r : all) {
    print(r, out);
    predicted.push_back(r.plan.time.total());
    measured.push_back(r.measured());
  }
  double const correlation = rank_correlation(predicted, measured);
  out << "\nrank correlation of " << all.size() << " plans: " << correlation << std::endl;
  std::cout.rdbuf(out.rdbuf());
  return correlation >= least_correlation ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<search_options>(argc, argv, "Compares predicted with measured step times of 72 plans.", run);
}
