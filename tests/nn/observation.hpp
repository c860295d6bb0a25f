#pragma once

// Compares the tensors that a network saves for backward, its messages and its memory with its
// facts.

#include "torch_catch.hpp"

#include <redco/nn/check_saved.hpp>
#include <redco/nn/nn.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/shard/plan.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace saved_test {

template <redco::meta::fixed_string Name, class L>
using n = redco::named<Name, L>;

/// A dtype and the code path that multiplies in it. Every machine tests all of them.
struct product_case {
  redco::dtype compute;
  redco::tensors::bf16_path path;

  std::string name() const { return std::string(name_of(compute)) + " " + std::string(name_of(path)); }
};
inline constexpr product_case product_cases[] = {{redco::dtype::f32, redco::tensors::bf16_path::blas},
                                                 {redco::dtype::bf16, redco::tensors::bf16_path::onednn},
                                                 {redco::dtype::bf16, redco::tensors::bf16_path::packed},
                                                 {redco::dtype::bf16, redco::tensors::bf16_path::blas}};

struct observation {
  std::int64_t saved = 0;     ///< bytes that autograd saved, without parameters and the batch
  std::int64_t declared = 0;  ///< bytes that the facts state
  std::string refused;        ///< error of --check-saved, which names the wrong slots
  std::int64_t peak = 0;      ///< measured bytes
  std::int64_t library = 0;   ///< additional bytes that oneDNN held during a call
  redco::cost::rank_cost planned;
  redco::shape::traffic traffic;
};

inline std::int64_t declared_bytes(redco::fact::program const& facts, redco::cost::setup const& s) {
  redco::cost::simulation const run(facts, s);
  return run.activations() + redco::cost::memory_of(run, 0).loss;
}

/// Runs one micro-batch on every rank. Observes the tensors that autograd saves in forward, the
/// peak of a second forward and backward, and the messages.
template <class Model, class Batch, class Loss>
std::vector<observation> observe(Model const& model, redco::cost::setup const& s, Batch const& batch,
                                 Loss const& loss) {
  std::vector<observation> all(static_cast<std::size_t>(s.mesh.ranks()));
  auto const p = redco::plan_of(model, s.mesh);
  redco::comm::run_ranks(s.mesh, {.threads = 1}, [&](redco::rank_context& rank) {
    observation& o = all[static_cast<std::size_t>(rank.rank)];
    redco::nn::parameter_store const store(redco::shard::placed_parameters(p), rank.rank, s.compute, 7);
    auto const net = std::make_shared<redco::nn::network<Model> const>(model, store, rank.rank, s.mesh);
    auto const mine = batch();
    redco::pass in = redco::nn::training_pass(rank, 0, 0, {.recompute = s.recompute}).with_examples(0, s.load.batch);
    auto const forward = [&] { return loss(redco::bound_network<Model>(net, in), mine); };
    {
      redco::tensors::saved_watch watch;
      at::Tensor const sum = forward();
      watch.leave_out(store.values());
      for (at::Tensor const& x : mine) watch.leave_out(x);
      o.saved = watch.bytes();
    }
    in.check_saved = true;
    in.calls = 0;
    try {
      forward();
    } catch (redco::error const& e) {
      o.refused = e.what();
    }
    in.check_saved = false;
    rank.tp.reset_counters();
    rank.memory->reset_peak();
    redco::tensors::library_memory()->reset_peak();
    forward().backward();
    o.peak = rank.memory->peak();
    o.library = redco::tensors::library_memory()->peak();
    o.traffic = rank.tp.counters();
    o.declared = declared_bytes(redco::shard::facts_of(model, s.load), s);
    o.planned = redco::cost::cost_of(model, redco::sgd{}, s);
  });
  return all;
}

/// Observes a network of floating input: values from -1 to 2 in the compute dtype. The loss is the
/// sum of its output.
template <class Model>
std::vector<observation> observe_floats(Model const& model, redco::cost::setup s,
                                        std::vector<std::int64_t> const& sizes) {
  s.prefetch = 0;
  return observe(
      model, s,
      [&] {
        at::Tensor const x = at::linspace(-1, 2, c10::multiply_integers(sizes)).view(sizes);
        return std::vector<at::Tensor>{x.to(redco::tensors::scalar_type_of(s.compute))};
      },
      [](auto const& net, std::vector<at::Tensor> const& b) { return net(b[0]).sum(); });
}

inline void check_saved_and_sent(std::vector<observation> const& all) {
  for (observation const& o : all) {
    CHECK(o.saved == o.declared);
    CHECK(o.refused == "");
    using redco::cost::messages;
    using redco::shape::collective;
    redco::shape::traffic planned;
    for (redco::cost::message_total const& one : o.planned.messages) {
      if (!(one.over == redco::shape::axes(redco::shape::axis::tp))) continue;
      planned[one.collective] += one;
    }
    for (auto const kind : {redco::shape::collective::all_reduce, redco::shape::collective::all_gather,
                            redco::shape::collective::reduce_scatter}) {
      INFO(static_cast<int>(kind));
      CHECK(o.traffic[kind].calls == planned[kind].calls);
      CHECK(o.traffic[kind].payload_bytes == planned[kind].payload_bytes);
      CHECK(o.traffic[kind].wire_bytes == planned[kind].wire_bytes);
    }
    CHECK(o.traffic.total().calls == planned.total().calls);
  }
}

inline void check_peak(std::vector<observation> const& all) {
  for (observation const& o : all) {
    auto const planned = static_cast<double>(o.planned.memory.peak()), measured = static_cast<double>(o.peak);
    UNSCOPED_INFO("planned " << planned << " measured " << measured << " ratio " << planned / measured);
    CHECK(std::abs(planned / measured - 1) < 0.05);
    CHECK(o.library < (std::int64_t{4} << 20));
  }
}

}  // namespace saved_test
