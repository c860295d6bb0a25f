#include "language.hpp"

#include <redco/run/compare_updates.hpp>
#include <redco/run/main_of.hpp>
#include <redco/run/update_noise.hpp>
#include <redco/run/verify.hpp>
#include <redco/run/worker.hpp>
#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/norms.hpp>
#include <redco/adapt/plan/with_lora.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

// Compares steps on one rank and on meshes: correct jobs agree, and each mistake is found and
// named.

namespace verify_test {

enum class mistake { bias_per_shard, no_enter };

/// A user's linear layer with one mistake.
template <auto In, auto Out, mistake>
struct own_linear : redco::linear<In, Out> {};

/// A user's layer that drops every second row of a rank.
struct local_dropout : redco::layers::featurewise_layer {};

/// A user's layer that sends a message between the shards, which no fact states.
struct silent_sum : redco::layers::featurewise_layer {};

}  // namespace verify_test

template <auto In, auto Out, verify_test::mistake What, class X>
struct redco::module<verify_test::own_linear<In, Out, What>, X> : redco::module<redco::linear<In, Out>, X> {
  using right = redco::module<redco::linear<In, Out>, X>;
  using right::right;

  template <class Context>
  typename right::result operator()(tensor<X> const& x, Context const& ctx) const {
    if constexpr (What == verify_test::mistake::no_enter || redco::shape::is_feature_split<X>)
      return typename right::result(kernel::linear(x.local(), ctx[this->weight], ctx[this->bias]));
    else return right::operator()(x, ctx);
  }
};

template <class X>
struct redco::module<verify_test::local_dropout, X> {
  template <class Config>
  explicit module(redco::nn::builder<Config>&) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const&) const {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.local().dim()), 1);
    sizes[0] = x.local().size(0);
    return x.like(x.local() * at::arange(sizes[0], x.local().options()).remainder(2).view(sizes));
  }
};

template <class X>
struct redco::module<verify_test::silent_sum, X> {
  template <class Config>
  explicit module(redco::nn::builder<Config>&) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    ctx.tp().all_reduce(at::ones({3}, at::kDouble));
    return x;
  }
};

namespace verify_test {

using namespace redco;
using run_test::in;
using run_test::language;
using run_test::numbers;
using run_test::tied;

mesh const meshes[] = {{.dp = 2}, {.tp = 2}, {.dp = 2, .tp = 2}};

/// A LLaMA with one key-value head, which neighbours share.
llama const shared{{.vocab = 11, .context = 16, .width = 12, .ffn = 16, .heads = 2, .kv_heads = 1, .layers = 2}};

/// Verifies a fit on a mesh and returns the result, with a table if it finds a mistake.
template <class Model, class Pipeline>
redco::run::verify_result verified(Model const& model, Pipeline const& pipeline, mesh const& on,
                                   run_test::options_of<Model, Pipeline> options = {}, dtype type = dtype::f64) {
  run_test::silence const quiet;
  temporary_folder const folder;
  deployer_options where = in(folder.path, on);
  where.dtype = type;
  deployer deployer(where);
  trainer one(deployer, model, pipeline, adamw{.lr = 1e-2, .clip_norm = 0.05});
  options.global_batch = options.global_batch.value_or(5);
  return verify(one, numbers(13), options);
}

template <class Model, class Pipeline>
void check_agrees(Model const& model, Pipeline const& pipeline,
                  run_test::options_of<Model, Pipeline> const& options = {}, double margin = 1e-3) {
  for (mesh const& on : meshes) {
    redco::run::verify_result const result = verified(model, pipeline, on, options);
    INFO(result.text(100) << result.verdict());
    CHECK(result.ok());
    CHECK(result.layer.empty());
    REQUIRE(result.steps.size() == 2);
    CHECK(result.steps[0].norm_here > 0.1);  // the gradient is clipped
    CHECK(result.rows.front().worst() < margin);
    for (redco::run::verify_step const& one : result.steps) CHECK(std::max(one.loss, one.norm) < margin);
  }
}

TEST_CASE("verify passes for a correct library") {
  check_agrees(tied, language());
  check_agrees(shared, language());
  check_agrees(redco::models::sequence_parallel<gpt2>{tied.config}, language());
}

TEST_CASE("frozen parameters and adapters agree with one rank") {
  run_test::options_of<gpt2, decltype(language())> o;
  o.frozen = {"wpe.*", "h.0.*"};
  check_agrees(tied, language(), o);
  check_agrees(with_lora<gpt2>{{tied.config, {.rank = 2, .targets = "q,v,down"}}}, language());
}

TEST_CASE("micro-batches, batch norm and a loss of several terms agree with one rank") {
  run_test::options_of<gpt2, decltype(language())> o;
  o.micro_batch = 1;
  check_agrees(tied, language(), o);

  using normed = model_of<sequential<named<"in", linear<5, 12, false>>, named<"norm", batch_norm<12>>, relu,
                                     named<"up", linear<12, 6>>, relu, named<"down", linear<6, 3>>>>;
  run_test::options_of<normed, decltype(run_test::mlp_pipeline())> rounds;
  rounds.global_batch = 4;
  rounds.micro_batch = 1;
  check_agrees(normed{}, run_test::mlp_pipeline(), rounds);

  auto const several = run_test::mlp_collate() | loss([](auto const& net, run_test::mlp_batch const& b) {
                         at::Tensor const each = run_test::losses_of(net(b.x), b);
                         return terms{{{"class", {each.sum(), static_cast<double>(b.labels.size(0))}, 1},
                                       {"weighted", {(each * b.weights).sum(), b.weights.sum().item<double>()}, 0.5}}};
                       });
  check_agrees(run_test::mlp{}, several);
  redco::run::verify_result const sent = verified(run_test::mlp{}, several, {.dp = 2, .tp = 2});
  CHECK(sent.messages_remark.empty());
  CHECK(sent.messages.size() == 3);
}

namespace {

using up = named<"up", linear<5, 12>>;
using down = named<"down", linear<12, 3>>;

/// Returns the verdict on a classifier on a mesh. The verdict must be a mistake.
template <class... Layers>
redco::run::verify_result found_in(mesh const& on, dtype type) {
  redco::run::verify_result const result =
      verified(model_of<sequential<Layers...>>{}, run_test::mlp_pipeline(), on, {}, type);
  INFO(result.text() << result.verdict());
  CHECK_FALSE(result.ok());
  return result;
}

bool mentions(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a bias that each shard adds is found once it is not zero, and its layer is named") {
  using wrong = named<"down", own_linear<12, 3, mistake::bias_per_shard>>;
  dtype const type = GENERATE(dtype::f64, dtype::f32, dtype::bf16);
  redco::run::verify_result const result = found_in<up, relu, wrong>({.tp = 2}, type);
  CHECK(result.steps[0].loss < 1);
  INFO(result.text() << result.verdict());
  CHECK(mentions(result.first, type == dtype::f64 ? "step 2, the loss, then gradient of "
                                                  : "step 2 in f64, the loss, then gradient of "));
  CHECK(result.layer == "down");
  CHECK(mentions(result.verdict(), "the first layer that computes otherwise is down"));
  CHECK(verified(model_of<sequential<up, relu, wrong>>{}, run_test::mlp_pipeline(), {.dp = 2}).ok());
}

TEST_CASE("a layer that does not sum the gradient of its input is named") {
  using first = named<"first", redco::layers::replicated_linear<5, 6>>;
  using wrong = named<"middle", own_linear<6, 12, mistake::no_enter>>;
  dtype const type = GENERATE(dtype::f64, dtype::f32, dtype::bf16);
  redco::run::verify_result const result = found_in<first, wrong, relu, down>({.tp = 2}, type);
  CHECK(mentions(result.first, "gradient of first."));
  CHECK(mentions(result.verdict(), "passes a wrong gradient on is middle"));
  CHECK(result.layer == "middle");
  CHECK(result.steps[0].loss < 1);
  CHECK(mentions(result.rows.front().parameter, "first."));
}

TEST_CASE("a dropout that counts the rows of a rank is named") {
  using wrong = named<"drop", local_dropout>;
  for (dtype const type : {dtype::f64, dtype::bf16}) {
    redco::run::verify_result const result = found_in<up, relu, wrong, down>({.dp = 2}, type);
    CHECK(mentions(result.first, type == dtype::f64 ? "step 1, the loss" : "step 1 in f64, the loss"));
    CHECK(result.layer == "drop");
  }
}

TEST_CASE("counted labels of padding and means over a rank's own count are found") {
  auto const ragged = collate([](std::span<std::int64_t const> ids) {
    std::int64_t longest = 0;
    for (std::int64_t const id : ids) longest = std::max(longest, 4 + id % 5);
    at::Tensor const tokens = at::zeros({std::ssize(ids), longest}, at::kLong), labels = at::full_like(tokens, -100);
    for (std::int64_t i = 0; i < std::ssize(ids); ++i) {
      std::int64_t const length = 4 + ids[static_cast<std::size_t>(i)] % 5;
      tokens[i].slice(0, 0, length) = at::arange(length).mul_(3).add_(ids[static_cast<std::size_t>(i)]).remainder_(11);
      labels[i].slice(0, 0, length - 1) = tokens[i].slice(0, 1, length);
    }
    return token_batch{tokens, labels};
  });
  auto const right = [](auto const& net, token_batch const& b) { return cross_entropy(net(b.input_ids), b.labels); };
  auto const all_labels = [right](auto const& net, token_batch const& b) {
    return mean{right(net, b).sum, static_cast<double>(b.labels.numel())};
  };
  auto const local_mean = [right](auto const& net, token_batch const& b) {
    mean const of = right(net, b);
    return at::Tensor(of.sum / of.count);
  };
  CHECK(verified(tied, ragged | loss(right), {.dp = 2, .tp = 2}).ok());
  redco::run::verify_result const padded = verified(tied, ragged | loss(all_labels), {.dp = 2});
  CHECK(mentions(padded.first, "step 1, the loss"));
  // Logits are a handle, not a tensor to compare
  CHECK(padded.layer == "the last layer or the loss function");
  CHECK(mentions(verified(tied, ragged | loss(local_mean), {.dp = 2}).first, "step 1, the loss"));
  CHECK(verified(tied, ragged | loss(local_mean), {.tp = 2}).ok());
  for (auto const& found : {verified(tied, ragged | loss(all_labels), {.dp = 2}, {}, dtype::bf16),
                            verified(tied, ragged | loss(local_mean), {.dp = 2}, {}, dtype::bf16)})
    CHECK(mentions(found.first, "step 1 in f64, the loss"));

  // The mean is right, but a replica counts each label twice.
  auto const twice = [right](auto const& net, token_batch const& b) {
    mean const of = right(net, b);
    double const factor = b.input_ids.size(0) < 5 ? 2 : 1;
    return mean{of.sum * factor, of.count * factor};
  };
  for (dtype const type : {dtype::f64, dtype::bf16})
    CHECK(mentions(verified(tied, ragged | loss(twice), {.dp = 2}, {}, type).first, "the weight of the loss"));
}

TEST_CASE("the messages of a step equal the planned messages") {
  for (mesh const& on : meshes) {
    redco::run::verify_result const result = verified(tied, language(), on);
    INFO(result.text(0));
    CHECK(result.messages_remark.empty());
    CHECK(result.messages.size() == (on.dp > 1 && on.tp > 1 ? 3 : 2));
    for (redco::run::verify_messages const& one : result.messages) {
      CHECK(one.counted_calls > 0);
      CHECK(one.equal());
    }
  }
}

TEST_CASE("messages that no fact states are a difference, and messages that the plan does not know are not") {
  using wrong = named<"sum", silent_sum>;
  redco::run::verify_result const found = found_in<up, relu, wrong, down>({.tp = 2}, dtype::f64);
  CHECK(mentions(found.first, "the messages of a step over tp: "));
  CHECK(mentions(found.first, " planned are "));
  CHECK(found.rows.front().worst() < 1);

  run_test::options_of<gpt2, decltype(language())> o;
  o.frozen = {"h.0.*"};
  redco::run::verify_result const frozen = verified(tied, language(), {.tp = 2}, o);
  CHECK(frozen.ok());
  CHECK(frozen.messages.empty());
  CHECK(mentions(frozen.text(), "messages: not compared with the plan: the plan counts gradients of parameters"));
}

namespace {

/// A decoder whose second block has a layer with a mistake.
struct staged {
  using branch = sequential<named<"fc", linear<12, 12>>, named<"drop", local_dropout>>;
  using attention = causal_attention<12, 2, redco::layers::rotary<>>;
  using block = sequential<residual<named<"attn", attention>>, residual<named<"mlp", branch>>>;
  using net = sequential<named<"wte", embedding<11, 12>>, named<"h", repeat<2, block>>,
                         named<"head", redco::layers::language_head<11, 12>>>;
  no_config config;
};

}  // namespace

TEST_CASE("verify names the first layer that differs on pipeline stages") {
  for (dtype const type : {dtype::f64, dtype::bf16}) {
    redco::run::verify_result const found = verified(staged{}, language(), {.pp = 2, .dp = 2}, {}, type);
    INFO(found.text() << found.verdict());
    CHECK(mentions(found.first, "step 1"));
    CHECK(found.layer == "h.0.mlp.drop");
  }
}

TEST_CASE("f32 and bf16 agree within the noise that one rank has") {
  for (dtype const type : {dtype::f32, dtype::bf16}) {
    redco::run::verify_result const result = verified(tied, language(), {.dp = 2, .tp = 2}, {}, type);
    INFO(result.text(100) << result.verdict());
    CHECK(result.ok());
    CHECK(result.steps.size() == 4);  // two updates in each of two dtypes
    CHECK(result.steps[0].name == "step 1 in f64");
    CHECK(result.steps[1].name == "step 1");
    CHECK(mentions(result.verdict(), "agree in 2 updates of 36 parameters"));
  }
}

namespace {

using redco::run::update_record, redco::run::updated_parameter;

/// Returns a record of an update of two parameters with four elements each, on one rank.
update_record update_of_two() {
  update_record one;
  one.result = {.loss = 1, .weight = 8, .grad_norm = 2, .lr = 0.1};
  for (char const* name : {"a.weight", "b.weight"}) {
    at::Tensor const x = at::arange(1, 5, at::kDouble);
    one.parameters.push_back({name, {{0}, {4}}, x, x * 0.1, {x * 0.5}, {{{0}, {4}}}});
  }
  return one;
}

/// Returns the elements [begin, end) of each parameter of a record.
update_record range_of(update_record one, std::int64_t begin, std::int64_t end) {
  safetensors::box const box{{begin}, {end - begin}};
  for (updated_parameter& p : one.parameters) {
    p.box = box;
    p.gradient = p.gradient.slice(0, begin, end).clone();
    p.update = p.update.slice(0, begin, end).clone();
    p.slots[0] = p.slots[0].slice(0, begin, end).clone();
    p.slot_boxes[0] = box;
  }
  return one;
}

/// Returns the first difference between one rank and two ranks, whose records `change` changes.
template <class Change>
std::string difference_of(Change const& change) {
  update_record const alone = update_of_two();
  redco::run::noise_meter meter;
  redco::run::update_noise const noise = meter.measure(alone, {&alone}, dtype::f64);
  std::string first;
  redco::comm::run_ranks({.tp = 2}, {}, [&](rank_context& rank) {
    update_record own = range_of(alone, 2 * rank.rank, 2 * rank.rank + 2);
    change(own, rank.rank);
    auto const compared = redco::run::compare_updates(rank, "step 1", own, alone, noise, dtype::f64);
    if (rank.rank == 0) first = redco::run::verify_result_of({compared}, rank.mesh, dtype::f64).first;
  });
  return first;
}

}  // namespace

TEST_CASE("wrong optimizer slots, a wrong count of the loss and a parameter that no rank holds are found") {
  CHECK(difference_of([](update_record&, int) {}).empty());
  CHECK(difference_of([](update_record& own, int rank) {
          if (rank == 1) own.parameters[1].slots[0][1] += 1e-3;
        }) == "step 1, optimizer state of b.weight (layer b)");
  CHECK(difference_of([](update_record& own, int rank) {
          if (rank == 1) own.parameters[0].slots.clear();
        }) == "step 1, optimizer state of a.weight (layer a)");
  CHECK(difference_of([](update_record& own, int) { own.result.weight = 9; }) == "step 1, the weight of the loss");
  CHECK(difference_of([](update_record& own, int) { own.parameters.pop_back(); }) ==
        "step 1, no rank holds all of b.weight (layer b)");
  CHECK(difference_of([](update_record& own, int rank) {
          if (rank == 1) own.parameters.erase(own.parameters.begin());
        }) == "step 1, no rank holds all of a.weight (layer a)");
}

TEST_CASE("ranges of ranks may overlap, and an element that no rank holds is found all the same") {
  auto const ranges = [](std::int64_t end, std::int64_t begin) {
    return [=](update_record& own, int rank) {
      own = rank == 0 ? range_of(update_of_two(), 0, end) : range_of(update_of_two(), begin, 4);
    };
  };
  CHECK(difference_of(ranges(3, 1)).empty());
  CHECK(difference_of(ranges(4, 2)).empty());
  CHECK(difference_of(ranges(1, 2)) == "step 1, no rank holds all of a.weight (layer a)");
  // The two ranges have as many elements as the parameter.
  CHECK(difference_of([](update_record& own, int rank) {
          own = rank == 0 ? range_of(update_of_two(), 0, 2) : range_of(update_of_two(), 1, 3);
        }) == "step 1, no rank holds all of a.weight (layer a)");
}

TEST_CASE("ranks that hold copies of a parameter with different bits are found") {
  auto const both_whole = [](double off) {
    return [off](update_record& own, int rank) {
      own = update_of_two();
      if (rank == 1) own.parameters[0].update[2] += off;
    };
  };
  CHECK(difference_of(both_whole(0)).empty());
  // The difference is smaller than any tolerance.
  CHECK(difference_of(both_whole(1e-15)) == "step 1, update of a.weight (layer a)");
}

TEST_CASE("the tolerance of a value is measured: noise of one rank is no mistake, and more is") {
  update_record const alone = update_of_two();
  update_record other = update_of_two();
  for (updated_parameter& p : other.parameters) p.gradient[0] += 1e-3;
  redco::run::noise_meter meter;
  redco::run::update_noise const noise = meter.measure(alone, {&other}, dtype::f64);
  CHECK(std::abs(noise.parameters[0].gradient - 1e-3) < 1e-9);
  for (auto const& [off, finds] : {std::pair(7e-3, false), {9e-3, true}}) {
    redco::comm::run_ranks({.tp = 1}, {}, [&, off = off, finds = finds](rank_context& rank) {
      update_record own = update_of_two();
      own.parameters[0].gradient[3] += off;
      auto const compared = redco::run::compare_updates(rank, "step 1", own, alone, noise, dtype::f64);
      CHECK((compared.rows[0].gradient > 1) == finds);
    });
  }
}

TEST_CASE("an update whose gradient is rounding noise is not compared, and its neighbours are") {
  update_record alone = update_of_two();
  alone.parameters[0].gradient[1] = 1e-17;
  update_record other = alone;
  other.parameters[0].gradient = alone.parameters[0].gradient.clone();
  other.parameters[0].gradient[1] = -1e-17;
  redco::run::noise_meter meter;
  redco::run::update_noise const noise = meter.measure(alone, {&other}, dtype::f64);
  for (int const element : {1, 2}) {
    redco::comm::run_ranks({.tp = 1}, {}, [&](rank_context& rank) {
      update_record own = update_of_two();
      own.parameters[0].gradient = alone.parameters[0].gradient.clone();
      own.parameters[0].update[element] *= -1;
      auto const compared = redco::run::compare_updates(rank, "step 1", own, alone, noise, dtype::f64);
      CHECK((compared.rows[0].update > 1) == (element == 2));
    });
  }
}

namespace {

/// The mistake in the loop of a worker.
enum class slip { none, global_count, own_weights, one_rank };

/// Trains two networks in turn, a follower, and weights that the loop sets itself. The second
/// network learns from the rank's share of eight examples.
void train(deployer& where, rank_context& rank, slip mistake) {
  worker worker(where, rank, {.steps = 50});
  auto& first = worker.add("first", run_test::mlp{}, adamw{.lr = 1e-2});
  auto& second = worker.add("second", run_test::mlp{}, adamw{.lr = 1e-2, .clip_norm = 0.1});
  auto& slow = worker.add_copy("slow", first);
  auto& mean_of = worker.add_copy("mean", first);
  redco::comm::group const& replicas = rank.group(redco::shape::batch_axes);
  std::int64_t const begin = 8 * replicas.rank() / replicas.size(), end = 8 * (replicas.rank() + 1) / replicas.size();
  auto const loss_of = [&](redco::run::trained_network<run_test::mlp> const& one, pass const& in) {
    std::vector<std::int64_t> ids;
    for (std::int64_t i = begin; i < end; ++i) ids.push_back(i + 8 * worker.step());
    auto const b = run_test::mlp_batch_of(ids);
    return mean{run_test::losses_of(one.in(in)(b.x), b).sum(),
                static_cast<double>(mistake == slip::global_count ? 8 : end - begin)};
  };
  for (worker.resume(); !worker.finished(); worker.end_step()) {
    if (worker.step() < 3) continue;  // steps without an update do not count
    pass const in = worker.pass(begin, end - begin);
    worker.update(first, loss_of(first, in));
    worker.update(second, loss_of(second, in));
    worker::follow(second, slow, 0.1);
    at::NoGradGuard const plain;
    std::vector<at::Tensor> weights;
    for (at::Tensor const& p : second.net->parameters()) {
      at::Tensor const local = p * static_cast<double>(end - begin);
      if (mistake != slip::own_weights) rank.group(redco::shape::batch_axes).all_reduce(local);
      weights.push_back(local / 8);
    }
    if (mistake == slip::one_rank && rank.rank == 1) weights.front().add_(1e-3);
    mean_of.set_values(weights);
  }
}

redco::run::verify_result verified_loop_of(mesh const& on, slip mistake, dtype type = dtype::f64) {
  run_test::silence const quiet;
  temporary_folder const folder;
  deployer_options options = in(folder.path, on);
  options.dtype = type;
  deployer where(options);
  redco::run::verify_result const result =
      redco::run::verify(where, [&](rank_context& rank) { train(where, rank, mistake); });
  CHECK(std::filesystem::is_empty(folder.path));
  return result;
}

}  // namespace

TEST_CASE("a worker's loop agrees with one rank, and its mistakes are found in their network") {
  for (mesh const& on : meshes) {
    redco::run::verify_result const result = verified_loop_of(on, slip::none);
    INFO(result.text(100) << result.verdict());
    CHECK(result.ok());
    CHECK(result.steps.size() == 4);
    CHECK(result.steps[0].name == "step 4, update 1 (first)");
    CHECK(result.rows.size() == 16);
    CHECK(result.rows.front().worst() < 1e-3);
    CHECK_FALSE(result.messages_remark.empty());
  }
  CHECK(mentions(verified_loop_of({.dp = 2}, slip::global_count).first, "step 4, update 1 (first), the loss"));
  redco::run::verify_result const own = verified_loop_of({.dp = 2}, slip::own_weights);
  CHECK(mentions(own.first, "step 4 (mean), update of mean."));
}

TEST_CASE("a worker's loop in bf16 agrees with one rank, and its mistakes are found") {
  redco::run::verify_result const right = verified_loop_of({.dp = 2, .tp = 2}, slip::none, dtype::bf16);
  INFO(right.text(100) << right.verdict());
  CHECK(right.ok());
  CHECK(right.steps.size() == 8);
  CHECK(mentions(right.verdict(), "agree in 4 updates of 16 parameters"));
  CHECK(mentions(verified_loop_of({.dp = 2}, slip::global_count, dtype::bf16).first, "(first) in f64, the loss"));
  CHECK(mentions(verified_loop_of({.dp = 2}, slip::own_weights, dtype::bf16).first, "step 4 (mean) in f64, update of"));
}

TEST_CASE("the first layer that differs in a worker's loop is named") {
  run_test::silence const quiet;
  temporary_folder const folder;
  deployer where(in(folder.path, {.dp = 2}));
  using wrong = model_of<sequential<up, relu, named<"drop", local_dropout>, down>>;
  redco::run::verify_result const result = redco::run::verify(where, [&](rank_context& rank) {
    worker worker(where, rank, {.steps = 5});
    auto& first = worker.add("first", run_test::mlp{}, adamw{.lr = 1e-2});
    auto& second = worker.add("second", wrong{}, adamw{.lr = 1e-2});
    auto const loss_of = [](auto const& one, pass const& in) {
      std::vector<std::int64_t> ids(static_cast<std::size_t>(in.examples));
      std::iota(ids.begin(), ids.end(), in.first_example);
      auto const b = run_test::mlp_batch_of(ids);
      return mean{run_test::losses_of(one.in(in)(b.x), b).sum(), static_cast<double>(in.examples)};
    };
    for (worker.resume(); !worker.finished(); worker.end_step()) {
      auto const rows = worker.micro_batches(6);  // three for each replica
      worker.update(first, rows, [&](pass const& in) { return loss_of(first, in); });
      worker.update(second, rows, [&](pass const& in) { return loss_of(second, in); });
    }
  });
  INFO(result.text() << result.verdict());
  CHECK(mentions(result.first, "step 1, update 2 (second), the loss"));
  CHECK(result.layer == "drop");
  CHECK(mentions(result.verdict(), "the first layer that computes otherwise is drop"));
}

TEST_CASE("a parameter that one rank alone changes is found and named") {
  dtype const type = GENERATE(dtype::f64, dtype::bf16);
  redco::run::verify_result const result = verified_loop_of({.dp = 2}, slip::one_rank, type);
  CHECK(mentions(result.first, "step 4 (mean)"));
  CHECK(mentions(result.first, "update of mean.up.weight (layer up)"));
  CHECK(result.rows.front().parameter == "mean.up.weight");
}

namespace {

struct verifying_options {
  deployer_options deployer;
  static constexpr auto fields() { return redco::fields(field<"deployer">(&verifying_options::deployer, "where")); }
};

struct ended {
  int code = -1;
  std::string out, error;
};

/// Runs a program with these words and --verify.
template <class Body>
ended program(std::vector<std::string> words, Body const& body) {
  words.insert(words.begin(), "program");
  words.insert(words.end(), {"--verify", "--threads", "1", "--mesh", "2x2"});
  std::vector<char const*> arguments;
  for (std::string const& word : words) arguments.push_back(word.c_str());
  run_test::silence const quiet;
  std::ostringstream error;
  std::cerr.rdbuf(error.rdbuf());
  int const code = main_of<verifying_options>(static_cast<int>(arguments.size()), arguments.data(), "Verifies.", body);
  return {code, quiet.text.str(), error.str()};
}

}  // namespace

TEST_CASE("--verify trains nothing, writes nothing, shows the table and ends with 0 or 1") {
  temporary_folder const folder;
  std::string const workdir = (folder.path / "run").string();
  bool trained = false;
  auto const fit_with = [&](auto const& pipeline) {
    return [&](verifying_options const& o) {
      deployer where(o.deployer);
      trainer one(where, tied, pipeline, adamw{});
      one.fit(numbers(13), {.global_batch = 5, .on_step = [&](fit_event const&) { trained = true; }});
      trained = true;
      return 7;
    };
  };
  ended const good = program({"--workdir", workdir}, fit_with(language()));
  INFO(good.out << good.error);
  CHECK(good.code == 0);
  CHECK(good.error.empty());
  CHECK(mentions(good.out, "verify: one rank against mesh 2x2, computed in f64"));
  CHECK(mentions(good.out, "verify: 2x2 and one rank agree in 2 updates of 36 parameters"));
  CHECK_FALSE(mentions(good.out, "workdir"));  // prints no summary of a fit
  CHECK_FALSE(std::filesystem::exists(workdir));
  CHECK_FALSE(trained);

  auto const local = collate([](std::span<std::int64_t const> ids) { return run_test::mlp_batch_of(ids); }) |
                     loss([](auto const& net, run_test::mlp_batch const& b) {
                       return at::Tensor((run_test::losses_of(net(b.x), b) * b.weights).sum() / b.weights.sum());
                     });
  ended const bad = program({"--workdir", workdir, "--verify-steps", "1"}, [&](verifying_options const& o) {
    deployer where(o.deployer);
    trainer one(where, run_test::mlp{}, local, adamw{});
    one.fit(numbers(13), {.global_batch = 5});
  });
  INFO(bad.out << bad.error);
  CHECK(bad.code == 1);
  CHECK(mentions(bad.error, "error: verify: 2x2 and one rank differ; first difference: step 1, the loss"));
  CHECK(mentions(bad.error, "the first layer that computes otherwise is the loss function"));
  CHECK_FALSE(mentions(bad.out, "step 2"));
  CHECK_FALSE(std::filesystem::exists(workdir));

  ended const loop = program({"--workdir", workdir}, [&](verifying_options const& o) {
    deployer where(o.deployer);
    where.run([&](rank_context& rank) { train(where, rank, slip::global_count); });
    return 7;
  });
  CHECK(loop.code == 1);
  CHECK(mentions(loop.error, "first difference: step 4, update 1 (first), the loss"));
  CHECK_FALSE(std::filesystem::exists(workdir));
  ended const f32 = program({"--workdir", workdir, "--dtype", "f32"}, fit_with(language()));
  CHECK(f32.code == 0);
  CHECK(mentions(f32.out, "computed in f32"));
}

}  // namespace verify_test
