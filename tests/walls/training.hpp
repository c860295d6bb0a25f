#pragma once

// A hand-written training loop over the parts that the trainer uses, so that each test can have its
// own step.

#include "nn/sharded.hpp"

#include <redco/run/trained_network.hpp>
#include <redco/run/training_step.hpp>
#include <redco/nn/network.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/shard/plan.hpp>
#include <redco/options/value_text.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace walls {

using namespace redco;

/// The meshes on which every wall is tested, and compared with one rank.
inline std::vector<mesh> const meshes{{.dp = 2}, {.tp = 2}};

inline std::string name_of(mesh const& m) { return options::to_text(m); }

/// The examples [begin, end) of a global batch that a rank computes.
struct share {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};
inline share share_of(std::int64_t examples, rank_context const& rank) {
  int const replicas = rank.mesh.size(redco::shape::batch_axes), replica = rank.coordinate(redco::shape::batch_axes);
  return {examples * replica / replicas, examples * (replica + 1) / replicas};
}

inline pass pass_of(rank_context& rank, share const& mine, std::int64_t step, bool training = true) {
  pass const of_step = training ? redco::nn::training_pass(rank, 11, step) : redco::nn::evaluation_pass(rank, 11, step);
  return of_step.with_examples(mine.begin, mine.size());
}

/// The results of a training, which are equal on every mesh except for rounding.
struct course {
  std::vector<double> losses, norms;
  sharded::tensor_map parameters;
};

/// Collects the unsharded parameters of a replica, from its first copy.
template <class State>
void collect(sharded::whole_tensors& to, rank_context const& rank, State const& state) {
  if (rank.dp_index() > 0) return;
  for (auto const& p : state.store.parameters()) to.add(p, p.value.clone(), rank.coordinate(redco::shape::model_axes));
}

struct task {
  int steps = 6;
  std::int64_t examples = 5;  ///< uneven over two replicas
  std::vector<std::string> frozen = {};
};

/// Trains with loss(net, share, step), which returns a mean over the share's examples.
template <class M, class Optimizer, class Loss>
course trained(M const& m, Optimizer const& optimizer, mesh const& on, task const& work, Loss const& loss) {
  course result;
  sharded::whole_tensors whole;
  redco::comm::run_ranks(on, {}, [&](rank_context& rank) {
    redco::run::trained_network<M> state(m, plan_of(m, on), optimizer, dtype::f64, 5, rank.rank, work.frozen);
    share const mine = share_of(work.examples, rank);
    for (int step = 0; step < work.steps; ++step) {
      pass const in = pass_of(rank, mine, step);
      redco::run::training_step update(state, rank);
      update.add(loss(bound_network<M>(state.net, in), mine, step));
      redco::run::step_result const done = update.finish(step, work.steps, false);
      if (rank.rank == 0) result.losses.push_back(done.loss), result.norms.push_back(done.grad_norm);
    }
    collect(whole, rank, state);
  });
  result.parameters = whole.all();
  return result;
}

inline void check_equal(course const& found, course const& expected, double tolerance = 1e-10) {
  REQUIRE(found.losses.size() == expected.losses.size());
  for (std::size_t i = 0; i < expected.losses.size(); ++i) {
    INFO("step " << i);
    CHECK(found.losses[i] == Approx(expected.losses[i]).epsilon(tolerance).margin(1e-13));
    if (i < expected.norms.size()) CHECK(found.norms[i] == Approx(expected.norms[i]).epsilon(tolerance).margin(1e-13));
  }
  REQUIRE(found.parameters.size() == expected.parameters.size());
  for (auto const& [name, value] : found.parameters) {
    INFO(name);
    CHECK(sharded::distance(value, expected.parameters.at(name)) < 1e-8);
  }
}

/// Trains on one rank and on `on`, and compares the results. Returns those of one rank.
template <class M, class Optimizer, class Loss>
course check_meshes(M const& m, Optimizer const& optimizer, task const& work, Loss const& loss,
                    std::vector<mesh> const& on = meshes) {
  course const one = trained(m, optimizer, {.dp = 1}, work, loss);
  for (mesh const& shape : on) {
    INFO("mesh " << name_of(shape));
    check_equal(trained(m, optimizer, shape, work, loss), one);
  }
  return one;
}

}  // namespace walls
