#pragma once

// Runs a training in a folder and collects its results, for the tests of whole runs.

#include "torch_catch.hpp"

#include "temporary_folder.hpp"

#include <redco/run/trainer.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace run_test {

// Restores the default action of signals, which the test library handles, during its lifetime.
struct plain_signals {
  struct sigaction before {};
  plain_signals() {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGTERM, &standard, &before);
  }
  plain_signals(plain_signals const&) = delete;
  plain_signals& operator=(plain_signals const&) = delete;
  ~plain_signals() { ::sigaction(SIGTERM, &before, nullptr); }
};

/// Captures the output of runs, so that the test's report does not show it.
struct silence {
  std::ostringstream text;
  std::streambuf* before = std::cout.rdbuf(text.rdbuf());
  std::streambuf* error_before = std::cerr.rdbuf(text.rdbuf());
  silence() = default;
  silence(silence const&) = delete;
  silence& operator=(silence const&) = delete;
  ~silence() {
    std::cout.rdbuf(before);
    std::cerr.rdbuf(error_before);
  }
};

/// Returns the exit code of the error that `f` throws, 0 if it throws none.
template <class F>
int code_of(F&& f) {
  try {
    f();
    return 0;
  } catch (redco::error const& e) {
    return static_cast<int>(e.code());
  }
}

using tensors = std::map<std::string, at::Tensor>;

/// Adds the parts of one rank to the unsharded tensors of a run's state.
inline void add_state(tensors& all, std::vector<redco::ckpt::state_part> const& parts) {
  for (redco::ckpt::state_part const& part : parts) {
    auto const [at, made] = all.try_emplace(part.name);
    if (made) at->second = at::full(part.shape, std::nan(""), part.local.options());
    at::Tensor to = at->second, from = part.local;
    for (std::size_t d = 0; d < part.shape.size(); ++d) {
      auto const dim = static_cast<std::int64_t>(d);
      to = to.narrow(dim, part.box.offset[d], part.box.shape[d]);
      from = from.narrow(dim, 0, part.box.shape[d]);
    }
    to.copy_(from);
  }
}

/// Returns the unsharded tensors of the states of all ranks.
template <class States>
tensors whole_state(States const& states) {
  tensors all;
  for (auto const& state : states) add_state(all, state->parts());
  return all;
}

inline bool bit_equal(tensors const& a, tensors const& b) {
  if (a.size() != b.size() || a.empty()) return false;
  for (auto const& [name, tensor] : a)
    if (!b.contains(name) || !at::equal(tensor, b.at(name))) return false;
  return true;
}

/// Returns the largest difference of two curves, relative to the first curve.
inline double difference(std::vector<double> const& a, std::vector<double> const& b) {
  if (a.size() != b.size() || a.empty()) return HUGE_VAL;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    double const here = std::abs(a[i] - b[i]) / std::abs(a[i]);
    if (!(here <= worst)) worst = here;
  }
  return worst;
}

inline std::vector<std::int64_t> numbers(std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The results of a run.
struct outcome {
  int code = 0;
  std::string reason;
  std::vector<double> losses;  ///< loss of each step
  redco::options::metric_map evaluation;
  tensors state;
  std::int64_t warnings = 0;
  std::string log;
};

inline bool mentions(outcome const& run, std::string const& part) { return run.reason.find(part) != std::string::npos; }

template <class Model, class Pipeline>
using trainer_of = redco::trainer<Model, Pipeline>;
template <class Model, class Pipeline>
using options_of = typename trainer_of<Model, Pipeline>::template options_for<std::int64_t>;

/// Returns options of a deployer in f64 that neither resumes nor waits for room on the disk.
inline redco::deployer_options in(std::filesystem::path const& workdir, redco::mesh mesh = {.dp = 1}) {
  redco::deployer_options o;
  o.mesh = mesh;
  o.workdir = workdir;
  o.resume = "none";
  o.dtype = redco::dtype::f64;
  o.threads = 1;
  o.quiet = true;
  o.save_patience = 0;
  return o;
}

/// Fits `model` to `data`, a range of numbers, once. Also calls the hook of `options`.
template <class Model, class Pipeline, class Data = std::vector<std::int64_t>>
outcome fit(redco::deployer_options const& where, Model const& model, Pipeline const& pipeline, Data const& data,
            options_of<Model, Pipeline> options, redco::adamw const& optimizer = {.lr = 0.02}) {
  silence const quiet;
  redco::deployer deployer(where);
  outcome run;
  auto const hook = options.on_step;
  options.on_step = [&](redco::fit_event const& e) {
    run.losses.push_back(e.loss);
    if (hook) hook(e);
  };
  try {
    trainer_of<Model, Pipeline> trainer(deployer, model, pipeline, optimizer);
    run.evaluation = trainer.fit(data, options).evaluation;
    run.state = whole_state(trainer.states());
  } catch (redco::error const& e) {
    run.code = static_cast<int>(e.code());
    run.reason = e.what();
  }
  run.warnings = deployer.log().warnings();
  redco::run::tell_end(static_cast<redco::exit_code>(run.code));
  run.log = quiet.text.str();
  return run;
}

}  // namespace run_test
