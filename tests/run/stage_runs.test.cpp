#include "stages.hpp"

#include "mlp.hpp"

#include <redco/run/worker.hpp>
#include <redco/nn/nn.hpp>
#include <redco/pretrained/stored_names/gpt.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/adapt/plan/adapter_folder.hpp>
#include <redco/adapt/plan/with_lora.hpp>
#include <redco/adapt/save_adapter.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

// Tests checkpoints and saved models of pipeline stages, and the runs that stages refuse.

namespace stage_test {

namespace {

using fit_options = run_test::options_of<redco::gpt2, decltype(language())>;

fit_options resumed_until(std::int64_t max_steps) {
  fit_options o;
  o.epochs = 3;
  o.max_steps = max_steps;
  o.global_batch = 4;
  o.micro_batch = 1;
  o.eval = numbers(5);
  return o;
}

redco::adamw const optimizer{.lr = 5e-3, .clip_norm = 0.5};

}  // namespace

TEST_CASE("a run continues from a checkpoint of any number of stages, replicas and shards") {
  temporary_folder const whole, broken;
  run_test::outcome const unbroken =
      run_test::fit(in(whole.path), tied, language(), numbers(13), resumed_until(0), optimizer);
  REQUIRE(unbroken.losses.size() == 12);
  std::vector<mesh> const meshes{{.pp = 3, .dp = 1}, {.dp = 1},          {.dp = 2, .tp = 2},
                                 {.pp = 2, .dp = 2}, {.dp = 1, .tp = 2}, {.pp = 4, .dp = 1}};
  run_test::outcome part;
  std::vector<double> losses;
  for (std::size_t i = 0; i < meshes.size(); ++i) {
    INFO(name_of(meshes[i]));
    redco::deployer_options where = in(broken.path, meshes[i]);
    where.resume = "auto";
    part = run_test::fit(where, tied, language(), numbers(13), resumed_until(2 * static_cast<std::int64_t>(i + 1)),
                         optimizer);
    INFO(part.reason);
    REQUIRE(part.losses.size() == 2);
    losses.insert(losses.end(), part.losses.begin(), part.losses.end());
  }
  CHECK(run_test::difference(unbroken.losses, losses) < 1e-10);
  CHECK(distance(unbroken.state, part.state) < 1e-9);
  CHECK(std::abs(part.evaluation.at("loss") / unbroken.evaluation.at("loss") - 1) < 1e-10);
}

namespace {

/// Trains `model` on the mesh `on` with the learning rate `lr`, and saves it. See train_and_save().
template <class Model, class... Start>
void save(Model const& model, mesh const& on, double lr, std::filesystem::path const& to, Start const&... start) {
  train_and_save(model, in({}, on), redco::adamw{.lr = lr}, to, start...);
}

/// Returns the parameters of a model that one rank draws.
template <class Model>
run_test::tensors drawn_parameters(Model const& model) {
  temporary_folder const folder;
  redco::deployer deployer(in(folder.path));
  redco::inference const one(deployer, model, language());
  run_test::tensors all;
  for (auto const& p : one.states().front()->store.parameters()) all[p.name] = p.value;
  return all;
}

/// Returns the parameters of the GPT-2 in the folder `from`, on the mesh `on`.
run_test::tensors loaded(std::filesystem::path const& from, mesh const& on) {
  silence const quiet;
  temporary_folder const folder;
  redco::deployer deployer(in(folder.path, on));
  redco::inference const one(deployer, tied, language(), from);
  return run_test::whole_state(one.states());
}

}  // namespace

TEST_CASE("stages save and load the files of one rank, with tied weights once") {
  temporary_folder const folder;
  mesh const one{.dp = 1}, two{.pp = 2, .dp = 1}, four{.pp = 2, .dp = 1, .tp = 2};
  save(tied, one, 0, folder / "one");
  save(tied, two, 0, folder / "two");
  save(tied, four, 0, folder / "four");
  CHECK(equal_files(folder / "one/model", folder / "two/model"));
  CHECK(equal_files(folder / "one/model", folder / "four/model"));
  save(tied, one, 1e-2, folder / "tuned", folder / "one/model");
  REQUIRE_NOTHROW(save(tied, two, 1e-2, folder / "stages", folder / "one/model"));
  run_test::tensors const tuned = loaded(folder / "tuned/model", one);
  CHECK(distance(tuned, loaded(folder / "stages/model", two)) < 1e-10);
  CHECK(distance(tuned, loaded(folder / "tuned/model", four)) < 1e-10);
  CHECK(distance(tuned, loaded(folder / "one/model", two)) > 1e-3);
}

TEST_CASE("a stage holds the parameters of its own layers, and tied weights are on the first and the last stage") {
  silence const quiet;
  temporary_folder const folder;
  redco::deployer deployer(in(folder.path, {.pp = 3, .dp = 1}));
  redco::inference const stages(deployer, tied, language());
  std::int64_t held = 0, tied_weights = 0, all = 0;
  for (auto const& [name, tensor] : drawn_parameters(tied)) all += tensor.numel();
  for (std::size_t i = 0; i < 3; ++i) {
    redco::nn::parameter_store const& store = stages.states()[i]->store;
    CHECK((store.find("wpe.weight") != nullptr) == (i == 0));
    CHECK((store.find("wte.weight") != nullptr) == (i != 1));
    CHECK((store.find("h.0.ln_1.weight") != nullptr) == (i == 0));
    CHECK((store.find("h.3.ln_1.weight") != nullptr) == (i == 2));
    CHECK((store.find("ln_f.weight") != nullptr) == (i == 2));
    for (auto const& one : store.parameters()) held += one.value.numel();
    if (auto const* const one = store.find("wte.weight")) tied_weights = one->value.numel();
  }
  CHECK(tied_weights == vocabulary * 12);
  CHECK(held == all + tied_weights);
}

TEST_CASE("the page of a run with stages has a picture of their schedule") {
  auto const picture_of = [](mesh const& on, char const* stages, std::int64_t micro_batch) {
    temporary_folder const folder;
    redco::deployer_options where = in(folder.path, on);
    where.stages = stages;
    fit_options o;
    o.max_steps = 1;
    o.global_batch = 10;
    o.micro_batch = micro_batch;
    run_test::outcome const run = run_test::fit(where, tied, language(), numbers(13), o);
    INFO(run.reason);
    CHECK(run.code == 0);
    bool const shown = content_of(folder / "report.html").find("<img alt=\"pipeline.svg\"") != std::string::npos;
    return shown ? content_of(folder / "pictures/pipeline.svg") : "none";
  };
  auto const has = [](std::string const& text, char const* words) { return text.find(words) != std::string::npos; };
  std::string const two = picture_of({.pp = 2, .dp = 1}, "1,3", 2), many = picture_of({.pp = 2, .dp = 1}, "", 1);
  CHECK(has(two, "1f1b, 2 stages, 5 micro-batches"));
  CHECK(has(two, "<title>1B4</title>"));
  // Five micro-batches on the longer stage take 5 x 9 units, and the shorter one adds 3.
  CHECK(has(two, "idle 37.5%, chunks in flight 2, 1"));
  CHECK(has(many, "1f1b, 2 stages, 8 of 10 micro-batches"));
  CHECK(picture_of({.dp = 2}, "", 1) == "none");
}

TEST_CASE("stages train, merge and save adapters like one rank") {
  temporary_folder const folder;
  redco::with_lora<redco::gpt2> const adapted{{tied.config, {.rank = 2, .dropout = 0.1, .targets = "qkv,down"}}};
  mesh const one{.dp = 1}, two{.pp = 2, .dp = 1};
  save(adapted, one, 0, folder / "one");
  save(adapted, two, 0, folder / "two");
  CHECK(equal_files(folder / "one/model", folder / "two/model"));
  CHECK(equal_files(folder / "one/adapter", folder / "two/adapter"));
  save(adapted, one, 1e-2, folder / "tuned");
  save(adapted, two, 1e-2, folder / "stages");
  run_test::tensors const tuned = loaded(folder / "tuned/model", one);
  CHECK(distance(tuned, loaded(folder / "stages/model", one)) < 1e-10);
  CHECK(distance(tuned, loaded(folder / "one/model", one)) > 1e-4);
  redco::adapter_folder const adapters(folder / "tuned/adapter");
  save(adapted, two, 0, folder / "started", adapters);
  CHECK(distance(tuned, loaded(folder / "started/model", one)) < 1e-10);
}

namespace {

/// The way in which a loss function calls the network.
enum class calls { once, none, twice, substituted, fixed, stepped, decoded, with_gradients, detached };

/// Returns a job whose loss function calls the network as `way` says. The first call ends the loss
/// function on all stages but the last.
auto calling(calls way) {
  return redco::collate([](std::span<std::int64_t const> examples) { return texts_of(examples); }) |
         redco::loss([way](auto const& net, redco::token_batch const& b) {
           auto const of = [&](auto const& one) { return redco::cross_entropy(one(b.input_ids), b.labels); };
           switch (way) {
             case calls::none: return redco::mean{at::ones({}, at::kDouble).requires_grad_(), 1};
             case calls::twice: {
               redco::mean const first = of(net), second = of(net);
               return redco::mean{first.sum + second.sum, first.count};
             }
             case calls::substituted: return of(net.substituted(net.parameters()));
             case calls::fixed: return of(net.fixed());
             case calls::stepped: return of(net.stepped(of(net).sum, 0.1));
             case calls::decoded: {
               at::Tensor const longer = redco::generate(net, b.input_ids.narrow(1, 0, 2), {.max_new_tokens = 2});
               return redco::mean{longer.sum().to(at::kDouble), 1};
             }
             case calls::with_gradients: {
               redco::pass other = net.pass();
               other.stage = nullptr;
               return of(net.in(other));
             }
             case calls::detached: {
               redco::mean const one = of(net);
               return redco::mean{one.sum.detach(), one.count};
             }
             default: return of(net);
           }
         });
}

/// Runs `f` and returns its result, also if the deployer refuses the options. Fails if that takes
/// longer than a run in which no stage waits in vain.
template <class F>
run_test::outcome prompt(F const& f) {
  auto const began = std::chrono::steady_clock::now();
  run_test::outcome done;
  try {
    done = f();
  } catch (redco::error const& e) {
    done.code = static_cast<int>(e.code());
    done.reason = e.what();
  }
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(9));
  return done;
}

run_test::outcome fit_calling(calls way, redco::deployer_options const& where) {
  run_test::options_of<redco::gpt2, decltype(calling(way))> o;
  o.global_batch = 4;
  o.micro_batch = 1;
  o.max_steps = 1;
  o.save_last = false;
  o.save_argmin = {};
  return prompt([&] { return run_test::fit(where, tied, calling(way), numbers(8), o); });
}

/// Options of two stages, which wait at most ten seconds for each other.
redco::deployer_options two_stages(std::filesystem::path const& workdir) {
  redco::deployer_options where = in(workdir, {.pp = 2, .dp = 1});
  where.deadline = 10;
  return where;
}

}  // namespace

TEST_CASE("stages refuse a loss function that does not call the network exactly once") {
  temporary_folder const folder;
  auto const refused = [&](calls way, std::string const& words, int code = 64) {
    for (mesh const& on : {mesh{.pp = 2, .dp = 1}, {.pp = 3, .dp = 2}}) {
      redco::deployer_options where = two_stages(folder.path);
      where.mesh = on;
      run_test::outcome const run = fit_calling(way, where);
      INFO(run.reason);
      CHECK(run.code == code);
      CHECK(run_test::mentions(run, words));
      CHECK(run.losses.empty());
    }
  };
  CHECK(fit_calling(calls::once, two_stages(folder.path)).code == 0);
  refused(calls::none, "the loss function calls the network not at all: with pipeline stages, call it exactly once");
  refused(calls::twice,
          "the loss function calls the network a second time: with pipeline stages, call it exactly once");
  refused(calls::decoded, "the loss function calls the network a second time");
  refused(calls::substituted, "net.substituted() with pipeline stages");
  refused(calls::fixed, "net.fixed() with pipeline stages");
  refused(calls::stepped, "net.stepped() with pipeline stages");
  refused(calls::with_gradients, "is called with gradients outside of a trainer's loss function");
  refused(calls::detached, "the loss has no gradient", 70);
}

TEST_CASE("stages refuse options that exclude them, before any work") {
  temporary_folder const folder;
  auto const refused = [&](std::function<void(redco::deployer_options&)> const& change, std::string const& words) {
    redco::deployer_options where = two_stages(folder.path);
    change(where);
    run_test::outcome const run = fit_calling(calls::once, where);
    INFO(run.reason);
    CHECK(run.code == 64);
    CHECK(run_test::mentions(run, words));
  };
  using o = redco::deployer_options;
  refused([](o& where) { where.check_saved = true; }, "--check-saved compares calls of the whole network");
  refused([](o& where) { where.cuda_graph = true; }, "--cuda-graph");
  refused([](o& where) { where.schedule = "2f2b"; }, "--schedule 2f2b is neither known nor a file");
  refused([](o& where) { where.schedule = "zb-h1"; }, "--schedule zb-h1 can be planned and drawn by redco-plan");
  refused([](o& where) { where.mesh = mesh{.pp = 5, .dp = 1}; }, "the model has 4 blocks for 5 stages; give 1 to 4");
  refused([](o& where) { where.stages = "1,1"; }, "stages 1,1: the model has 4 blocks");
  refused([](o& where) { where.stages = "2,1,1"; }, "give 2 numbers from 1 on whose sum is 4");
  refused([](o& where) { where.stages = "4,0"; }, "4,0");
  refused(
      [](o& where) {
        where.mesh = mesh{.dp = 1};
        where.stages = "2,2";
      },
      "--stages 2,2 without pipeline stages");
  refused(
      [](o& where) {
        where.mesh = mesh{.dp = 1};
        where.schedule = "gpipe";
      },
      "--schedule gpipe without pipeline stages");
}

namespace {

/// A classifier with two blocks. `Normed` is a layer before them.
template <class Normed>
using classes_of = redco::model_of<redco::sequential<
    redco::named<"in", redco::linear<5, 12>>, Normed,
    redco::named<"h", redco::repeat<2, redco::sequential<redco::named<"mlp", redco::linear<12, 12>>, redco::relu>>>,
    redco::named<"down", redco::linear<12, 3>>>>;
using classes = classes_of<redco::relu>;

template <class Model, class Pipeline>
void check_refused(Model const& model, Pipeline const& pipeline, std::string const& words,
                   run_test::options_of<Model, Pipeline> o = {}) {
  temporary_folder const folder;
  o.global_batch = 4;
  run_test::outcome const run =
      prompt([&] { return run_test::fit(two_stages(folder.path), model, pipeline, numbers(8), o); });
  INFO(run.reason);
  CHECK(run.code == 64);
  CHECK(run_test::mentions(run, words));
}

}  // namespace

TEST_CASE("stages refuse batch norm, several loss terms, a step of the program's own, and a worker's loop") {
  using run_test::mlp_pipeline;
  temporary_folder const folder;
  run_test::outcome const plain = run_test::fit(two_stages(folder.path), classes{}, mlp_pipeline(), numbers(8), {});
  INFO(plain.reason);
  CHECK(plain.code == 0);
  check_refused(classes_of<redco::named<"norm", redco::batch_norm<12>>>{}, mlp_pipeline(),
                "the layer 'norm' communicates between replicas, as batch norm does");
  auto const several =
      run_test::mlp_collate() | redco::loss([](auto const& net, run_test::mlp_batch const& b) {
        at::Tensor const each = run_test::losses_of(net(b.x), b);
        return redco::terms{{{"class", {each.sum(), 4}, 1}, {"weighted", {(each * b.weights).sum(), 4}, 0.5}}};
      });
  check_refused(classes{}, several, "a loss of several terms with pipeline stages");
  run_test::options_of<classes, decltype(mlp_pipeline())> own;
  own.train_step = [](auto& step, auto const& net, run_test::mlp_batch const& b) {
    step.add(redco::mean{run_test::losses_of(net(b.x), b).sum(), 4});
  };
  check_refused(classes{}, mlp_pipeline(), "a train_step with pipeline stages", own);
  silence const quiet;
  redco::deployer deployer(two_stages(folder.path));
  CHECK(run_test::code_of([&] {
          deployer.run([&](redco::rank_context& rank) {
            redco::worker worker(deployer, rank, {.steps = 1});
            worker.add("one", classes{}, redco::adamw{});
          });
        }) == 64);
}

}  // namespace stage_test
