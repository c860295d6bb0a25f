#include "torch_catch.hpp"

#include "mlp.hpp"
#include "teacher.hpp"

#include <redco/run/worker.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/json/value.hpp>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

// Tests features of a worker that a trainer has too: micro-batches, losses of several terms, rows,
// evaluations, best checkpoints.

namespace worker_test {

using run_test::code_of;
using run_test::in;

namespace {

/// Returns `count` rows of inputs from row `first` on.
at::Tensor inputs(std::int64_t first, std::int64_t count) {
  return at::sin(at::arange(3 * first, 3 * (first + count), at::kDouble).view({count, 3}));
}
at::Tensor answers(at::Tensor const& x) { return x.narrow(1, 0, 2).flip(1); }

using values = std::map<std::string, at::Tensor>;

values values_of(redco::run::network_state const& network) {
  values all;
  for (auto const& p : network.store.parameters()) all[p.name] = p.master.clone();
  return all;
}

/// Returns the teacher's output, computed by libtorch's operators.
at::Tensor teacher_of(values const& p, at::Tensor const& x) {
  auto const product = [](at::Tensor const& a, at::Tensor const& w, at::Tensor const& b) {
    return at::linear(a, w.size(1) == a.size(1) && w.size(0) == b.size(0) ? w : w.t(), b);
  };
  return product(product(x, p.at("up.weight"), p.at("up.bias")).relu(), p.at("down.weight"), p.at("down.bias"));
}

struct update_of_two {
  redco::run::step_result result;
  values before, after;
};

/// Runs one update on two replicas: rank 0 has rows 0 to 2 in two micro-batches, rank 1 has row 3.
template <class Loss>
update_of_two update_unequally(redco::mesh const& on, Loss const& loss, bool in_micro_batches) {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path, on));
  update_of_two update;
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 3});
    auto& net = worker.add("net", teacher{}, redco::sgd{.lr = 0.1, .momentum = 0, .clip_norm = 0});
    values const before = values_of(net);
    std::int64_t const begin = rank.dp_index() == 0 ? 0 : 3, end = rank.mesh.dp == 2 && begin == 0 ? 3 : 4;
    redco::pass const whole = worker.pass(begin, end - begin);
    auto const of = [&](redco::pass const& in) {
      at::Tensor const x = inputs(in.first_example, in.examples);
      return loss(net.in(in)(x), x);
    };
    redco::run::step_result result;
    if (!in_micro_batches) result = worker.update(net, of(whole));
    else if (begin == 0) result = worker.update(net, {{0, 2}, {2, end}}, of);
    else result = worker.update(net, {{begin, end}}, of);
    if (rank.rank == 0) update = {result, before, values_of(net)};
  });
  return update;
}

void check_update(update_of_two const& update, at::Tensor const& wanted_loss, values& leaves) {
  CHECK(update.result.loss == Approx(wanted_loss.item<double>()).epsilon(1e-12));
  wanted_loss.backward();
  double square = 0;
  for (auto const& [name, leaf] : leaves) {
    square += leaf.grad().square().sum().item<double>();
    INFO(name);
    CHECK(at::allclose(update.after.at(name) - update.before.at(name), -0.1 * leaf.grad(), 1e-10, 1e-13));
  }
  CHECK(update.result.grad_norm == Approx(std::sqrt(square)).epsilon(1e-12));
}

std::mutex net_checks;  // assertions of two ranks

values leaves_of(values const& from) {
  values leaves;
  for (auto const& [name, value] : from) leaves[name] = value.clone().requires_grad_();
  return leaves;
}

}  // namespace

TEST_CASE("a worker's update from unequal micro-batches on unequal ranks uses the mean over all examples") {
  auto const loss = [](at::Tensor const& y, at::Tensor const& x) {
    return redco::mean{(y - answers(x)).square().sum(), static_cast<double>(x.size(0))};
  };
  for (redco::mesh const& on : {redco::mesh{.dp = 1}, {.dp = 2}})
    for (bool const in_micro_batches : {false, true}) {
      INFO(on.dp << ", micro-batches " << in_micro_batches);
      auto const update = update_unequally(on, loss, in_micro_batches);
      auto leaves = leaves_of(update.before);
      at::Tensor const x = inputs(0, 4);
      check_update(update, (teacher_of(leaves, x) - answers(x)).square().sum() / 4, leaves);
      CHECK(update.result.terms.empty());
    }
}

TEST_CASE("a worker's loss of several terms divides each by its own count over all ranks") {
  auto const loss = [](at::Tensor const& y, at::Tensor const& x) {
    // The number of counted elements differs between rows 0 to 3
    at::Tensor const far = x.select(1, 0) > 0.1;
    return redco::terms{{{"fit", {(y - answers(x)).square().sum(), static_cast<double>(x.size(0))}, 1},
                         {"size", {(y.square().sum(1) * far).sum(), far.sum().item<double>()}, 0.25}}};
  };
  for (redco::mesh const& on : {redco::mesh{.dp = 1}, {.dp = 2}}) {
    auto const update = update_unequally(on, loss, false);
    auto leaves = leaves_of(update.before);
    at::Tensor const x = inputs(0, 4), y = teacher_of(leaves, x), far = x.select(1, 0) > 0.1;
    REQUIRE(far.sum().item<std::int64_t>() == 2);
    at::Tensor const fit = (y - answers(x)).square().sum() / 4, size = (y.square().sum(1) * far).sum() / 2;
    check_update(update, fit + 0.25 * size, leaves);
    REQUIRE(update.result.terms.size() == 2);
    CHECK(update.result.terms[0].second == Approx(fit.item<double>()).epsilon(1e-12));
    CHECK(update.result.terms[1].second == Approx(size.item<double>()).epsilon(1e-12));
  }
}

namespace {

struct normed {
  using net = redco::sequential<redco::named<"norm", redco::batch_norm<3>>, redco::named<"down", redco::linear<3, 2>>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, 3}; }
};

}  // namespace

TEST_CASE("replicas of a worker with unequal micro-batches compute the statistics of each round together") {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path, {.dp = 2}));
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 1});
    auto& net = worker.add("net", normed{}, redco::sgd{});
    auto const own = rank.dp_index() == 0 ? std::vector<redco::data::interval>{{0, 2}, {2, 4}}
                                          : std::vector<redco::data::interval>{{4, 5}};
    worker.update(net, own, [&](redco::pass const& in) {
      at::Tensor const y = net.in(in)(inputs(in.first_example, in.examples));
      return redco::mean{y.square().sum(), static_cast<double>(in.examples)};
    });
    // Rows 0, 1 and 4 are in the first round, 2 and 3 in the second. The momentum 0.1 is torch's
    // default.
    at::Tensor const all = inputs(0, 5), first = at::cat({all.narrow(0, 0, 2), all.narrow(0, 4, 1)}),
                     second = all.narrow(0, 2, 2);
    at::Tensor const mean = 0.09 * first.mean(0) + 0.1 * second.mean(0),
                     variance = 0.81 + 0.09 * first.var(0) + 0.1 * second.var(0);
    values const now = values_of(net);
    std::scoped_lock const lock(net_checks);
    CHECK(at::allclose(now.at("norm.running_mean"), mean, 1e-12, 1e-14));
    CHECK(at::allclose(now.at("norm.running_variance"), variance, 1e-12, 1e-14));
  });
}

TEST_CASE("an impossible update of a worker is refused") {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path));
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 1});
    auto& net = worker.add("net", teacher{}, redco::sgd{});
    auto const one_term = [&](redco::pass const& in) {
      return redco::terms{{{"a", {net.in(in)(inputs(in.first_example, in.examples)).sum(), 1}, 1}}};
    };
    CHECK(code_of([&] { worker.update(net, {{0, 1}, {1, 2}}, one_term); }) == 64);
    CHECK(code_of([&] { worker.update(net, {{0, 1}}, one_term); }) == 0);
    CHECK(code_of([&] { redco::worker(deployer, rank, {.steps = 1, .log_every = 0}); }) == 64);
    CHECK(code_of([&] {
            redco::worker(deployer, rank, {.steps = 1, .save_argmin = {"loss"}}).evaluated({{"x", 1}});
          }) == 64);
  });
}

namespace {

std::vector<redco::json::json_value> rows_of(std::filesystem::path const& folder) {
  std::vector<redco::json::json_value> rows;
  std::ifstream file(folder / "metrics.jsonl");
  for (std::string line; std::getline(file, line);) rows.push_back(redco::json::json_value::parse(line));
  return rows;
}

bool all_agree = true;

/// Runs five steps with known losses and values, with an evaluation in each, or stops after step
/// `stop`.
int loop(redco::deployer_options const& where, std::int64_t log_every, std::int64_t stop = 0) {
  return code_of([&] {
    run_test::plain_signals const plain;
    run_test::silence const quiet;
    redco::deployer deployer(where);
    deployer.run([&](redco::rank_context& rank) {
      redco::worker worker(
          deployer, rank,
          {.steps = 5, .keep_last = 1, .log_every = log_every, .save_argmin = {"error"}, .save_argmax = {"return"}});
      auto& net = worker.add("net", teacher{}, redco::sgd{.lr = 0.5, .momentum = 0, .clip_norm = 0});
      for (worker.resume(); !worker.finished(); worker.end_step()) {
        auto const s = static_cast<double>(worker.step());
        at::Tensor const bias = net.net->parameters().back();
        worker.update(net, {0 * bias.sum() + (s + 1) * (s + 1), 1});  // losses 1, 4, 9, 16, 25
        // The mean of the values of both replicas is 20 s.
        if (rank.rank == 0) {
          worker.log("return", 10 * s);
        } else {
          worker.log("return", 20 * s);
          worker.log("return", 30 * s);
        }
        constexpr double errors[] = {3, 1, 2, 0.5, 4};
        auto const metrics = worker.evaluated({{"error", rank.rank == 0 ? errors[worker.step()] : 77}, {"return", -s}});
        if (rank.rank == 1) all_agree = all_agree && metrics.at("error") == errors[worker.step()];
        if (worker.step() + 1 == stop && rank.rank == 0) std::raise(SIGTERM);
      }
    });
  });
}

}  // namespace

TEST_CASE("a worker writes rows, evaluations and best checkpoints, and a resumed worker continues them") {
  for (std::int64_t const stop : {0, 3}) {
    temporary_folder const folder;
    redco::deployer_options where = in(folder.path, {.dp = 2});
    where.resume = "auto";
    if (stop > 0) CHECK(loop(where, 2, stop) == 75);
    CHECK(loop(where, 2) == 0);
    std::vector<std::int64_t> steps, evaluated;
    std::vector<double> losses, returns;
    for (auto const& row : rows_of(folder.path)) {
      if (row.contains("eval/error")) {
        evaluated.push_back(row.at("step").get<std::int64_t>());
        continue;
      }
      steps.push_back(row.at("step").get<std::int64_t>());
      losses.push_back(row.at("net/loss").get<double>());
      returns.push_back(row.at("return").get<double>());
      CHECK(row.at("net/lr") == 0.5);
      CHECK(row.at("net/grad_norm") == 0);
      CHECK(row.contains("steps_per_second"));
    }
    CHECK(evaluated == std::vector<std::int64_t>{1, 2, 3, 4, 5});
    // Rows are averages of two steps. A run that resumes after step 3 starts its rows there.
    if (stop == 0) {
      CHECK(steps == std::vector<std::int64_t>{2, 4, 5});
      CHECK(losses == std::vector<double>{2.5, 12.5, 25});
      CHECK(returns == std::vector<double>{10, 50, 80});
    } else {
      CHECK(steps == std::vector<std::int64_t>{2, 5});
      CHECK(losses == std::vector<double>{2.5, 20.5});
    }
    CHECK(all_agree);
    auto const of = [&](char const* name) { return redco::workdir::read_manifest(folder.path / "ckpts" / name).step; };
    CHECK(of("min_error") == 4);
    CHECK(of("max_return") == 1);
    CHECK(of("last") == 5);
    auto const best = redco::workdir::read_manifest(folder.path / "ckpts/last").best;
    CHECK(best.at("min_error").value == 0.5);
    CHECK(best.at("max_return").step == 1);
    std::ifstream results(folder.path / "min_metrics.json");
    CHECK(redco::json::json_value::parse(results).at("error") == 0.5);
    CHECK(std::filesystem::exists(folder.path / "eval_results.json"));
    std::int64_t events = 0;
    for (auto const& file : std::filesystem::directory_iterator(folder.path))
      events += file.path().filename().string().starts_with("events.out.tfevents") ? 1 : 0;
    CHECK(events == (stop == 0 ? 1 : 2));
  }
}

TEST_CASE("a worker bears failing saves until three in a row have failed") {
  struct {
    std::int64_t room_again;
    int code;
    std::int64_t warnings, best;
  } const cases[] = {{4, 0, 2, 5}, {6, 74, 2, 1}};
  for (auto const& one : cases) {
    temporary_folder const folder;
    auto const ckpts = folder.path / "ckpts", aside = folder.path / "aside";
    std::int64_t warnings = 0;
    int const code = code_of([&] {
      run_test::silence const quiet;
      redco::deployer deployer(in(folder.path, {.dp = 2}));
      struct counted {
        redco::deployer& where;
        std::int64_t& warnings;
        ~counted() { warnings = where.log().warnings(); }
      } const count{deployer, warnings};
      deployer.run([&](redco::rank_context& rank) {
        redco::worker worker(deployer, rank, {.steps = 6, .save_every = 1, .save_argmin = {"error"}});
        auto& net = worker.add("net", teacher{}, redco::sgd{.lr = 0.5, .momentum = 0, .clip_norm = 0});
        for (worker.resume(); !worker.finished(); worker.end_step()) {
          std::int64_t const step = worker.step() + 1;
          if (rank.rank == 0 && step == 2) {  // the saves of steps 2 and 3 fail
            std::filesystem::rename(ckpts, aside);
            std::filesystem::create_symlink("nowhere", ckpts);
          } else if (rank.rank == 0 && step == one.room_again) {
            std::filesystem::remove(ckpts);
            std::filesystem::rename(aside, ckpts);
          }
          worker.update(net, {0 * net.net->parameters().back().sum(), 1});
          // The save of the best step, 3, fails, so that a later step is the best saved one.
          constexpr double errors[] = {9, 9, 1, 9, 7, 8};
          worker.evaluated({{"error", errors[step - 1]}});
        }
      });
    });
    INFO("room again at step " << one.room_again);
    CHECK(code == one.code);
    CHECK(warnings == one.warnings);
    auto const best = redco::workdir::read_manifest((code == 0 ? ckpts : aside) / "min_error");
    CHECK(best.step == one.best);
  }
}

TEST_CASE("a worker refuses --check-saved, and its log names the mesh and the sums of gradients") {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer_options where = in(folder.path, {.dp = 2});
  where.overlap = true;
  auto const begin = [&] {
    redco::deployer deployer(where);
    deployer.run([&](redco::rank_context& rank) { redco::worker(deployer, rank, {.steps = 1}).end_step(); });
  };
  begin();
  std::string const log = content_of(folder.path / "log.txt");
  CHECK(log.find("mesh 2x1") != std::string::npos);
  CHECK(log.find("gradients are summed over 2 replicas while backward runs") != std::string::npos);
  where.check_saved = true;
  CHECK(code_of(begin) == 64);
}

TEST_CASE("an evaluation of a worker has rank 0's result on all ranks") {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path, {.dp = 2}));
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 1});
    redco::options::metric_map const metrics = worker.evaluated({{"score", 0.5 + rank.rank}});
    std::scoped_lock const lock(net_checks);
    CHECK(metrics.at("score") == 0.5);
  });
}

TEST_CASE("a mean loss over unequal micro-batches of all ranks equals the mean over all their examples") {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path, {.dp = 2}));
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 1});
    auto& net = worker.add("net", teacher{}, redco::sgd{});
    at::Tensor const all = inputs(0, 6);
    double const wanted = teacher_of(values_of(net), all).square().sum().item<double>() / 6;
    auto const own = rank.dp_index() == 0 ? std::vector<redco::data::interval>{{0, 1}, {1, 2}}
                                          : std::vector<redco::data::interval>{{2, 6}};
    bool recorded = false, trains = false;
    redco::options::metric_map const metrics = worker.mean_loss(own, [&](redco::pass const& in) {
      at::Tensor const y = net.in(in)(inputs(in.first_example, in.examples));
      recorded = recorded || y.requires_grad();
      trains = trains || in.training;
      return redco::mean{y.square().sum(), static_cast<double>(in.examples)};
    });
    auto const mine = worker.micro_batches(7, 3);
    bool const cut = (mine == (rank.dp_index() == 0 ? std::vector<redco::data::interval>{{0, 3}, {3, 4}}
                                                    : std::vector<redco::data::interval>{{4, 7}}));
    std::size_t const whole = worker.micro_batches(7).size(), few = worker.micro_batches(1).size();
    std::scoped_lock const lock(net_checks);
    CHECK(cut);
    CHECK(whole == 1);
    CHECK(few == (rank.dp_index() == 0 ? 1 : 0));
    if (rank.rank > 0) return;
    CHECK(metrics.at("loss") == Approx(wanted).epsilon(1e-12));
    CHECK_FALSE(recorded);
    CHECK_FALSE(trains);
  });
}

namespace {

/// Settings and results of three steps with an evaluation of three micro-batches on each rank.
struct evaluated_steps {
  bool before_update = false;
  std::int64_t stop_in = -1;                  ///< step whose evaluation gets a SIGTERM
  std::map<std::int64_t, int> computed = {};  ///< micro-batches of all ranks, by step
  std::map<std::int64_t, double> means = {};
  std::map<std::string, at::Tensor> values = {};

  int run(redco::deployer_options const& where) {
    return code_of([&] {
      run_test::plain_signals const plain;
      run_test::silence const quiet;
      redco::deployer deployer(where);
      deployer.run([&](redco::rank_context& rank) { loop(deployer, rank); });
    });
  }

  void loop(redco::deployer& deployer, redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 3});
    auto& net = worker.add("net", teacher{}, redco::sgd{.lr = 0.1, .momentum = 0.9});
    auto const parts = worker.micro_batches(3 * rank.mesh.dp, 1);
    auto const loss = [&](redco::pass const& in) {
      at::Tensor const x = inputs(in.first_example, in.examples);
      return redco::mean{(net.in(in)(x)-answers(x)).square().sum(), static_cast<double>(in.examples)};
    };
    auto const evaluate = [&] {
      redco::options::metric_map const metrics = worker.mean_loss(parts, [&](redco::pass const& in) {
        if (rank.rank == 0 && worker.step() == stop_in) std::raise(SIGTERM);
        std::scoped_lock const lock(net_checks);
        ++computed[worker.step()];
        return loss(in);
      });
      worker.evaluated(metrics);
      if (rank.rank == 0) means[worker.step()] = metrics.at("loss");
    };
    for (worker.resume(); !worker.finished(); worker.end_step()) {
      if (before_update) evaluate();
      worker.update(net, parts, loss);
      if (!before_update) evaluate();
    }
    if (rank.rank == 0) values = values_of(net);
  }
};

}  // namespace

TEST_CASE("a signal ends a worker's mean loss after its micro-batch, and no step is lost") {
  for (int const replicas : {1, 2})
    for (bool const before : {true, false}) {
      INFO(replicas << " replicas, evaluation " << (before ? "before" : "after") << " the update");
      temporary_folder const whole, folder;
      evaluated_steps unbroken{.before_update = before}, stopped{.before_update = before, .stop_in = 1},
          resumed{.before_update = before};
      REQUIRE(unbroken.run(in(whole.path, {.dp = replicas})) == 0);
      redco::deployer_options where = in(folder.path, {.dp = replicas});
      where.resume = "auto";
      CHECK(stopped.run(where) == 75);
      CHECK(unbroken.computed.at(1) == 3 * replicas);
      CHECK(stopped.computed.at(1) == replicas);
      CHECK(redco::workdir::read_manifest(folder / "ckpts/last").step == (before ? 1 : 2));
      CHECK(rows_of(folder.path).back().contains("eval/loss") == false);
      CHECK(resumed.run(where) == 0);
      CHECK(resumed.means.at(2) == unbroken.means.at(2));
      for (auto const& [name, value] : unbroken.values) CHECK(at::equal(resumed.values.at(name), value));
      if (before) {
        CHECK(resumed.means.at(1) == unbroken.means.at(1));
      } else {
        CHECK(std::isnan(stopped.means.at(1)));
      }
    }
}

TEST_CASE("a signal after the updates of a worker's last step lets its evaluation end, and ends the next run") {
  temporary_folder const folder, other;
  evaluated_steps run{.stop_in = 2};
  CHECK(run.run(in(folder.path)) == 0);
  CHECK(run.computed.at(2) == 3);
  CHECK_FALSE(std::isnan(run.means.at(2)));
  CHECK(evaluated_steps{}.run(in(other.path)) == 75);
}

TEST_CASE("a worker whose replicas differ in one bit ends with 70, the rank and the parameter, and saves nothing") {
  temporary_folder folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path, {.dp = 3}));
  std::string reason;
  int const code = code_of([&] {
    try {
      deployer.run([&](redco::rank_context& rank) {
        redco::worker worker(deployer, rank, {.steps = 4, .save_every = 2});
        auto& net = worker.add("net", teacher{}, redco::sgd{.lr = 0.1});
        for (worker.resume(); !worker.finished(); worker.end_step()) {
          worker.update(net, worker.micro_batches(4), [&](redco::pass const& at) {
            at::Tensor const x = inputs(at.first_example, at.examples);
            at::Tensor const y = net.in(at)(x);
            return redco::mean{(y - answers(x)).square().sum(), static_cast<double>(x.size(0))};
          });
          at::Tensor const value = net.store.find("up.weight")->value;
          if (rank.rank == 1 && worker.step() == 3) static_cast<std::int64_t*>(value.data_ptr())[0] ^= 1;
        }
      });
    } catch (redco::error const& e) {
      reason = e.what();
      throw;
    }
  });
  CHECK(code == 70);
  INFO(reason);
  CHECK(reason.find("step 4: rank 1 holds other values of net.up.weight than rank 0") != std::string::npos);
  CHECK(std::filesystem::exists(folder.path / "ckpts/step_2"));
  CHECK_FALSE(std::filesystem::exists(folder.path / "ckpts/step_4"));
}

}  // namespace worker_test
