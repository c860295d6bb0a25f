#include "mlp.hpp"

#include <redco/run/worker.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/device_graph.hpp>
#include <redco/layer/dropout.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace run_test;

/// A graph that repeats CPU calls in place of device work. The calls record into an unused
/// recording, because the replay of a real graph runs no CPU code. The recorded calls have been
/// computed, so the first replay does nothing.
class cpu_graph final : public redco::tensors::device_graph {
 public:
  explicit cpu_graph(std::atomic<int>& replays) : replays_(replays) {}
  void record(std::function<void()> f) override {
    f();
    work_ = std::move(f);
  }
  void replay() override {
    replaying = true;
    redco::tensors::graph_recording unread;
    redco::tensors::graph_recording::scope const here(&unread);
    if (++here_ > 1) work_();
    replaying = false;
    ++replays_;
  }

  /// True while this thread repeats calls of CPU code, which the graph of a device would not make.
  static thread_local bool replaying;

 private:
  std::function<void()> work_;
  int here_ = 0;
  std::atomic<int>& replays_;
};

thread_local bool cpu_graph::replaying = false;

struct cpu_graphs final : redco::tensors::device_graph::maker {
  mutable std::atomic<int> made = 0, replays = 0;
  bool serves(at::Device) const override { return true; }
  std::unique_ptr<redco::tensors::device_graph> make(at::Device) const override {
    ++made;
    return std::make_unique<cpu_graph>(replays);
  }
};

struct graph_behaviour {
  bool look = false, count_of_rows = false, made_anew = false;
  double times = 1;
};

/// Returns a job that ignores the label of every fifth example, so that batches of one shape have
/// different counts.
auto ignoring_pipeline(graph_behaviour b = {}) {
  return redco::collate([](std::span<std::int64_t const> ids, redco::pipelines::collate_info const&) {
           mlp_batch made = mlp_batch_of(ids);
           made.labels = at::where(made.ids.remainder(5).eq(1), -100, made.labels);
           return made;
         }) |
         redco::loss([b](auto const& net, mlp_batch const& batch) {
           redco::mean const made = redco::cross_entropy(net(batch.x), batch.labels);
           if (b.look) redco::tensors::to_cpu(batch.labels);
           if (b.made_anew) return redco::mean{made.sum * 2, made.count * b.times};
           if (b.count_of_rows) return redco::mean{made.sum, static_cast<double>(batch.x.size(0))};
           return made;
         });
}

struct dropping_config {
  std::int64_t hidden = 12;
  double dropped = 0.25;
};
struct dropping {
  static constexpr auto hidden = &dropping_config::hidden;
  static constexpr auto dropped = &dropping_config::dropped;
  using net = redco::sequential<redco::named<"up", redco::linear<5, hidden>>, redco::dropout<dropped>,
                                redco::named<"down", redco::linear<hidden, 3>>>;
  dropping_config config;
};

template <class Model>
outcome recorded(redco::deployer_options where, Model const& model, graph_behaviour b = {}, bool graph = true) {
  where.cuda_graph = graph;
  using options = options_of<Model, decltype(ignoring_pipeline())>;
  return fit(where, model, ignoring_pipeline(b), numbers(23), options{.epochs = 4, .global_batch = 4});
}

}  // namespace

TEST_CASE("recorded steps train like eager steps, for batches of several shapes and counts") {
  temporary_folder const folder;
  for (redco::mesh const mesh : {redco::mesh{}, redco::mesh{.dp = 2}}) {
    INFO(mesh.dp << " replicas");
    outcome const plain = recorded(in(folder.path, mesh), mlp{}, {}, false);
    cpu_graphs const graphs;
    redco::tensors::device_graph::forced const forced(graphs);
    outcome const run = recorded(in(folder.path, mesh), mlp{});
    INFO(run.reason);
    CHECK(run.code == 0);
    CHECK(run.losses == plain.losses);
    CHECK(bit_equal(run.state, plain.state));
    CHECK(graphs.made ==
          // Batches of 4 and 3; or of 2 on each of two ranks, and of 1 on one rank
          (mesh.dp == 1 ? 2 : 3));
    CHECK(graphs.replays > 10);
  }
}

TEST_CASE("each batch that a graph computes is checked on the CPU") {
  temporary_folder const folder;
  std::vector<std::int64_t> collated, seen;
  auto const pipeline = redco::collate([&](std::span<std::int64_t const> ids, redco::pipelines::collate_info const&) {
                          mlp_batch made = mlp_batch_of(ids);
                          collated.push_back(made.ids.sum().item<std::int64_t>());
                          return made;
                        }) |
                        redco::loss([&](auto const& net, mlp_batch const& batch) {
                          redco::tensors::check_on_cpu(batch.ids, [&seen](at::Tensor const& ids) {
                            if (!cpu_graph::replaying) seen.push_back(ids.sum().item<std::int64_t>());
                          });
                          return redco::cross_entropy(net(batch.x), batch.labels);
                        });
  cpu_graphs const graphs;
  redco::tensors::device_graph::forced const forced(graphs);
  redco::deployer_options where = in(folder.path);
  where.cuda_graph = true;
  outcome const run =
      fit(where, mlp{}, pipeline, numbers(24), options_of<mlp, decltype(pipeline)>{.epochs = 2, .global_batch = 4});
  REQUIRE(run.code == 0);
  CHECK(graphs.replays == 10);
  CHECK(seen.size() == 12);
  CHECK(seen == collated);
}

/// A batch with a tensor whose width differs between steps.
struct widening_batch {
  at::Tensor x, labels, wide;
};

TEST_CASE("batches of equally many examples and other sizes have their own graphs") {
  auto const pipeline =
      redco::collate([](std::span<std::int64_t const> ids, redco::pipelines::collate_info const& info) {
        mlp_batch const made = mlp_batch_of(ids);
        auto const columns = static_cast<std::int64_t>(1 + info.step % 2);
        return widening_batch{made.x, made.labels, made.weights.unsqueeze(1).repeat({1, columns})};
      }) |
      redco::loss([](auto const& net, widening_batch const& batch) {
        redco::mean made = redco::cross_entropy(net(batch.x), batch.labels);
        made.sum = made.sum * batch.wide.sum();
        return made;
      });
  temporary_folder const folder;
  auto const trained = [&](bool graph) {
    redco::deployer_options where = in(folder.path);
    where.cuda_graph = graph;
    return fit(where, mlp{}, pipeline, numbers(24),
               options_of<mlp, decltype(pipeline)>{.epochs = 2, .global_batch = 4});
  };
  outcome const plain = trained(false);
  cpu_graphs const graphs;
  redco::tensors::device_graph::forced const forced(graphs);
  outcome const run = trained(true);
  INFO(run.reason);
  CHECK(run.code == 0);
  CHECK(run.losses == plain.losses);
  CHECK(graphs.made == 2);
}

TEST_CASE("a loss made of another loss's sum and count is recorded") {
  temporary_folder const folder;
  outcome const plain = recorded(in(folder.path), mlp{}, {.made_anew = true}, false);
  cpu_graphs const graphs;
  redco::tensors::device_graph::forced const forced(graphs);
  outcome const run = recorded(in(folder.path), mlp{}, {.made_anew = true});
  INFO(run.reason);
  CHECK(run.code == 0);
  CHECK(run.losses == plain.losses);
  CHECK(bit_equal(run.state, plain.state));
}

TEST_CASE("code that a graph would replay wrongly is refused with a cure") {
  temporary_folder const folder;
  cpu_graphs const graphs;
  redco::tensors::device_graph::forced const forced(graphs);
  outcome const shards = recorded(in(folder.path, {.tp = 2}), mlp{});
  CHECK(shards.code == 64);
  CHECK(mentions(shards, "--cuda-graph: shards of a model exchange data during the recorded work; leave it out"));
  outcome const dropout = recorded(in(folder.path), dropping{});
  CHECK(dropout.code == 64);
  CHECK(mentions(dropout, "would repeat the random numbers"));
  outcome const look = recorded(in(folder.path), mlp{}, {.look = true});
  CHECK(look.code == 64);
  CHECK(mentions(look, "the loss reads values of its batch on the CPU"));
  for (graph_behaviour const other :
       {graph_behaviour{.count_of_rows = true}, graph_behaviour{.made_anew = true, .times = 2}}) {
    outcome const count = recorded(in(folder.path), mlp{}, other);
    CHECK(count.code == 64);
    CHECK(mentions(count, "a count that the graph would not make again"));
  }
  redco::deployer_options where = in(folder.path);
  where.cuda_graph = true;
  redco::deployer deployer(where);
  CHECK(code_of([&] {
          deployer.run([&](redco::rank_context& rank) { redco::worker(deployer, rank, {.steps = 2}); });
        }) == 64);
}

TEST_CASE("an invalid label is found in a batch that a graph computes") {
  temporary_folder const folder;
  cpu_graphs const graphs;
  redco::tensors::device_graph::forced const forced(graphs);
  redco::deployer_options where = in(folder.path);
  where.cuda_graph = true;
  auto const pipeline =
      redco::collate([](std::span<std::int64_t const> ids, redco::pipelines::collate_info const& info) {
        mlp_batch made = mlp_batch_of(ids);
        if (info.step == 4) made.labels[1].fill_(9);
        return made;
      }) |
      redco::loss(
          [](auto const& net, mlp_batch const& batch) { return redco::cross_entropy(net(batch.x), batch.labels); });
  outcome const run =
      fit(where, mlp{}, pipeline, numbers(24), options_of<mlp, decltype(pipeline)>{.epochs = 2, .global_batch = 4});
  CHECK(run.code == 65);
  CHECK(run.losses.size() == 4);
  CHECK(mentions(run, "label 9 of example 1"));
}
