#include "mlp.hpp"

#include <redco/run/predictor.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/extent_of.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

// A network that drops half of its twelve hidden features in training.
struct dropping {
  using net = redco::sequential<redco::named<"up", redco::linear<5, 12>>, redco::relu,
                                redco::dropout<redco::layers::real{0.5}>, redco::named<"down", redco::linear<12, 3>>>;
  redco::no_config config;
};

/// Returns the logits of the whole network without dropout, computed by ATen alone.
at::Tensor logits_by_hand(run_test::tensors const& p, at::Tensor const& x) {
  return at::linear(at::relu(at::linear(x, p.at("up.weight"), p.at("up.bias"))), p.at("down.weight"),
                    p.at("down.bias"));
}

/// A prediction that notes, while it is written, for how long rank 0's group waits.
struct timed_prediction {
  redco::rank_context const* rank = nullptr;
  std::vector<std::chrono::milliseconds>* waits = nullptr;

  operator std::string() const {
    if (rank->rank == 0) waits->push_back(rank->world.deadline());
    return "written";
  }
};

/// An inference that records whether its states were moved away.
template <class Pipeline>
struct watched_inference : redco::inference<dropping, Pipeline> {
  using base = redco::inference<dropping, Pipeline>;
  using base::base;
  watched_inference(watched_inference&& from) : base(std::move(from)) { from.moved_away = true; }

  redco::deployer& where() const {
    if (moved_away) throw std::runtime_error("does not hold: the predictor asks its own inference");
    return base::where();
  }

  bool moved_away = false;
};

}  // namespace

TEST_CASE("a predictor keeps an inference that was moved into it") {
  temporary_folder const folder;
  run_test::silence const quiet;
  auto const pipeline = run_test::mlp_pipeline();
  redco::deployer deployer(run_test::in(folder.path));
  run_test::trainer_of<dropping, decltype(pipeline)> trainer(deployer, {}, pipeline, {.lr = 0.02});
  run_test::options_of<dropping, decltype(pipeline)> o;
  o.global_batch = 4;
  trainer.fit(run_test::numbers(8), o);
  watched_inference<decltype(pipeline)> moved(deployer, dropping{}, pipeline, folder.path / "ckpts/last");
  redco::predictor const kept(std::move(moved));
  std::vector<std::int64_t> found;
  REQUIRE_NOTHROW(found = kept.predict(run_test::numbers(5), 5));
  CHECK(found == redco::predictor(trainer).predict(run_test::numbers(5), 5));
}

TEST_CASE("an inference without weights has those with which a trainer starts") {
  auto const pipeline = run_test::mlp_pipeline();
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.tp = 2}}) {
    INFO(mesh.dp << "x" << mesh.tp);
    temporary_folder const folder;
    run_test::silence const quiet;
    redco::deployer deployer(run_test::in(folder.path, mesh));
    redco::inference const first(deployer, dropping{}, pipeline);
    run_test::trainer_of<dropping, decltype(pipeline)> still(deployer, {}, pipeline, {.lr = 0});
    run_test::options_of<dropping, decltype(pipeline)> o;
    o.global_batch = 4;
    still.fit(run_test::numbers(4), o);
    auto const expected = run_test::whole_state(still.states()), found = run_test::whole_state(first.states());
    CHECK_FALSE(found.empty());
    for (auto const& [name, value] : found) CHECK(at::equal(value, expected.at(name)));
  }
}

TEST_CASE("evaluations and predictions use the network without dropout") {
  auto const pipeline = run_test::mlp_pipeline();
  std::vector<std::int64_t> const train = run_test::numbers(13), dev = run_test::numbers(23);
  auto const batch = run_test::mlp_batch_of(dev);
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.dp = 2}, {.tp = 2}}) {
    INFO(mesh.dp << "x" << mesh.tp);
    temporary_folder folder;
    run_test::silence const quiet;
    redco::deployer deployer(run_test::in(folder.path, mesh));
    run_test::trainer_of<dropping, decltype(pipeline)> trainer(deployer, {}, pipeline, {.lr = 0.02});
    run_test::options_of<dropping, decltype(pipeline)> o;
    o.epochs = 2;
    o.global_batch = 4;
    o.eval = dev;
    std::vector<std::int64_t> seen;
    o.metrics = [&](auto, std::span<std::int64_t const> outputs) {
      seen.assign(outputs.begin(), outputs.end());
      return redco::options::metric_map{};
    };
    redco::fit_result const result = trainer.fit(train, o);
    at::Tensor const logits = logits_by_hand(run_test::whole_state(trainer.states()), batch.x);
    double const loss =
        ((run_test::losses_of(logits, batch) * batch.weights).sum() / batch.weights.sum()).item<double>();
    CHECK(result.evaluation.at("loss") == Approx(loss).epsilon(1e-12));
    at::Tensor const best = logits.argmax(-1) + 10 * batch.ids;
    std::vector<std::int64_t> const expected(best.const_data_ptr<std::int64_t>(),
                                             best.const_data_ptr<std::int64_t>() + best.numel());
    CHECK(seen == expected);
    CHECK(redco::predictor(trainer).predict(dev, 5) == expected);
    redco::predictor const kept(redco::inference(deployer, dropping{}, pipeline,
                                                 // The predictor keeps the inference alive
                                                 folder / "ckpts/last"));
    CHECK(kept.predict(dev, 5) == expected);
    for (std::int64_t const none : {0, -5})
      CHECK(run_test::code_of([&] { redco::predictor(trainer).predict(dev, none); }) == 64);
  }
}

TEST_CASE("while rank 0 writes the results of an evaluation, ranks wait until the deadline of disks") {
  temporary_folder const folder;
  run_test::silence const quiet;
  std::vector<std::chrono::milliseconds> waits;
  auto const pipeline =
      run_test::mlp_collate() | redco::loss([](auto const& net, run_test::mlp_batch const& b) {
        return redco::mean{run_test::losses_of(net(b.x), b).sum(), static_cast<double>(b.ids.size(0))};
      }) |
      redco::predict([&waits](auto const& net, run_test::mlp_batch const& b) {
        return std::vector<timed_prediction>(static_cast<std::size_t>(b.ids.size(0)), {net.pass().rank, &waits});
      });
  redco::deployer_options where = run_test::in(folder.path, {.dp = 2});
  where.deadline = 900;
  where.disk_deadline = 977;
  redco::deployer deployer(where);
  run_test::trainer_of<run_test::mlp, decltype(pipeline)> trainer(deployer, {}, pipeline, {.lr = 0.02});
  run_test::options_of<run_test::mlp, decltype(pipeline)> o;
  o.global_batch = 4;
  o.eval = run_test::numbers(4);
  o.eval_predictions = true;
  trainer.fit(run_test::numbers(4), o);
  CHECK_FALSE(waits.empty());
  CHECK(std::all_of(waits.begin(), waits.end(), [](auto const& each) { return each == std::chrono::seconds(977); }));
}
