#pragma once

#include "stages.hpp"

#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/zero.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

// Runs whose replicas keep shares of the training state (ZeRO), for comparison with other runs.

namespace shares_test {

using namespace redco;

/// Levels of ZeRO
inline constexpr std::array levels{1, 2, 3};

/// The results of a fit, with the norm of each step's gradient.
struct outcome : run_test::outcome {
  std::vector<double> norms;
};

/// Six steps of five of 13 examples, or as `change(options)` sets. The third step of an epoch has
/// three examples.
template <class Model, class Pipeline, class Optimizer, class Change>
outcome trained(Model const& model, Pipeline const& pipeline, deployer_options where, Optimizer const& optimizer,
                Change const& change) {
  run_test::silence const quiet;
  temporary_folder const folder;
  if (where.workdir.empty()) where.workdir = folder.path;
  outcome found;
  run_test::options_of<Model, Pipeline> o;
  o.epochs = 7;
  o.max_steps = 6;
  o.global_batch = 5;
  o.save_last = false;
  o.save_argmin = {};
  o.on_step = [&](fit_event const& e) {
    found.losses.push_back(e.loss);
    found.norms.push_back(e.grad_norm);
  };
  change(o);
  try {
    deployer deployer(where);
    redco::trainer trainer(deployer, model, pipeline, optimizer);
    found.evaluation = trainer.fit(run_test::numbers(13), o).evaluation;
    found.state = run_test::whole_state(trainer.states());
  } catch (error const& e) {
    found.code = static_cast<int>(e.code());
    found.reason = e.what();
  } catch (std::exception const& e) {
    found.code = 70;
    found.reason = e.what();
  }
  found.log = quiet.text.str();
  return found;
}

inline deployer_options with_zero(deployer_options where, int level = 1,
                                  shape::zero_owner owner = shape::zero_owner::element) {
  where.zero = level;
  where.zero_owner = owner;
  return where;
}

inline void check_equal(outcome const& whole, outcome const& shares, std::size_t steps = 6) {
  INFO(whole.reason << shares.reason);
  REQUIRE(whole.losses.size() == steps);
  CHECK(run_test::difference(whole.losses, shares.losses) < 1e-10);
  CHECK(run_test::difference(whole.norms, shares.norms) < 1e-10);
  CHECK(stage_test::distance(whole.state, shares.state) < 1e-10);
}

inline void check_same_bits(outcome const& whole, outcome const& shares, std::size_t steps = 6) {
  INFO(whole.reason << shares.reason);
  REQUIRE(whole.losses.size() == steps);
  CHECK(whole.losses == shares.losses);
  CHECK(run_test::bit_equal(whole.state, shares.state));
}

/// A mesh, level and owner of a run that saves or loads a checkpoint.
struct layout {
  mesh on;
  int level = 0;
  shape::zero_owner owner = shape::zero_owner::element;
  std::string within = "run";
};

/// Two steps on each of `layouts`, whose checkpoint the layouts at the distances `next` load.
template <class Optimizer>
void check_checkpoints(std::vector<layout> const& layouts, Optimizer const& optimizer, dtype type,
                       std::vector<std::size_t> const& next) {
  auto const run = [&](layout const& of, std::filesystem::path const& to, char const* resume) {
    deployer_options where = with_zero(run_test::in(to, of.on), of.level, of.owner);
    where.zero_within = of.within;
    where.gradient_bucket = 0.25 / 1024;
    where.dtype = type;
    where.resume = resume;
    return trained(stage_test::tied, stage_test::language(), where, optimizer, [](auto& o) {
      o.max_steps = 2;
      o.save_last = true;
    });
  };
  auto const text = [](layout const& of) {
    return stage_test::name_of(of.on) + " level " + std::to_string(of.level) + " " +
           std::string(shape::name_of(of.owner)) + " within " + of.within;
  };
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    temporary_folder const folder;
    outcome const saved = run(layouts[i], folder.path, "none");
    INFO(optimizer.name << ", saved on " << text(layouts[i]) << ": " << saved.reason);
    REQUIRE(saved.losses.size() == 2);
    for (std::size_t const distance : next) {
      layout const& loading = layouts[(i + distance) % layouts.size()];
      outcome const loaded = run(loading, folder.path, "auto");
      INFO("loaded on " << text(loading) << ": " << loaded.reason);
      CHECK(loaded.losses.empty());
      CHECK(run_test::bit_equal(saved.state, loaded.state));
    }
  }
}

}  // namespace shares_test
