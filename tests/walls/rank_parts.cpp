#include "rank_parts.hpp"

#include <redco/run/predictor.hpp>
#include <redco/run/trainer.hpp>
#include <redco/generate/generate.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/example_norms.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/mixtral.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/linear.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/pipeline/functions.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Functions that read the tokens, examples or gradients of a rank, on ranks that have parts of them
// (mesh axes cp and ep). The table in docs/context.md lists them. Each one sums over the ranks,
// exchanges parts, or is refused by name.

namespace rank_parts_test {

/// A Mixtral whose routers have an auxiliary loss. Its rotary frequencies may depend on lengths.
struct balanced_mixtral {
  using net = models::mixtral::net;
  static inline layers::rotary_scaling frequencies = {};
  models::mixtral_config config{.vocab = 23,
                                .context = 8,
                                .width = 12,
                                .ffn = 8,
                                .heads = 2,
                                .kv_heads = 1,
                                .layers = 2,
                                .experts = 4,
                                .balance = 0.5,
                                .scaling = frequencies,
                                .deviation = 0.3};
};

std::vector<mesh> const meshes{{.cp = 2}, {.cp = 3}, {.ep = 2}, {.ep = 2, .cp = 2}, {.dp = 2}};

void check_numbers(std::vector<double> const& found, std::vector<double> const& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-12));
}

void check_state(run_test::tensors const& found, run_test::tensors const& expected) {
  REQUIRE(found.size() == expected.size());
  for (auto const& [name, value] : expected) {
    INFO(name);
    CHECK((found.at(name) - value).abs().max().item().toDouble() < 1e-11);
  }
}

/// Checks that all meshes and micro-batches give the numbers of one rank with one micro-batch.
template <class Model = mixture<>, class Loss>
void check_equal(double noise, Loss const& loss, std::vector<mesh> const& all = meshes,
                 std::vector<std::int64_t> const& sizes = {1, 2}) {
  results const one = loop<Model>({}, 0, noise, loss);
  REQUIRE(one.refusal.empty());
  REQUIRE(one.numbers.size() == 6);
  for (mesh const& on : all)
    for (std::int64_t const micro : sizes) {
      INFO("cp " << on.cp << ", ep " << on.ep << ", dp " << on.dp << ", micro-batch " << micro);
      results const found = loop<Model>(on, micro, noise, loss);
      REQUIRE(found.refusal.empty());
      check_numbers(found.numbers, one.numbers);
      check_numbers(found.logged, {3.2, 3.2});  // the mean of 2, 4, 6, 1 and 3
      check_state(found.state, one.state);
    }
}

/// Checks that a mesh with cp or ep refuses the loss with exit code 64 and this text, and that a
/// mesh of replicas does not.
template <class Loss>
void check_refused(std::string const& text, Loss const& loss) {
  CHECK(loop({.dp = 2}, 0, 0, loss).refusal.empty());
  for (auto const& [on, axis] : {std::pair(mesh{.cp = 2}, "cp"), std::pair(mesh{.ep = 2}, "ep")}) {
    std::string const found = loop(on, 0, 0, loss).refusal;
    INFO(found);
    CHECK(found.starts_with("64 "));
    CHECK(found.find("the mesh axis " + std::string(axis) + " has 2 ranks, and " + text) != std::string::npos);
  }
}

TEST_CASE("updates, mean losses, noise, dropout and counts of experts are those of one rank for every micro-batch") {
  // The results also have logged values, a follower, the biases of routers, and a layer of a user.
  check_equal(0.2, [](auto const& actor, pass const& in, texts const& b) {
    return cross_entropy(called(actor.in(in), b), b.labels);
  });
}

TEST_CASE("losses, gradient norms and updates of a Mixtral with an auxiliary loss are equal on every mesh") {
  // Four replicas have 2, 2, 1 and 1 of the six texts.
  std::vector<mesh> const several{{}, {.dp = 2}, {.dp = 3}, {.dp = 4}, {.cp = 2}, {.ep = 2}};
  check_equal<balanced_mixtral>(0,
                                [](auto const& actor, pass const& in, texts const& b) {
                                  return cross_entropy(called(actor.in(in), b), b.labels);
                                },
                                several, {0, 1, 2});
}

TEST_CASE("rotary frequencies that depend on lengths take the length of the whole text on every mesh") {
  auto const of_texts = [](auto const& actor, pass const& in, texts const& b) {
    return cross_entropy(called(actor.in(in), b), b.labels);
  };
  double const unscaled = loop<balanced_mixtral>({}, 0, 0, of_texts).numbers.at(0);
  for (layers::rotary_scaling const& scaling :
       {layers::rotary_scaling{.kind = layers::rotary_kind::dynamic, .factor = 3, .context = 4},
        layers::rotary_scaling{.kind = layers::rotary_kind::longrope,
        .context = 3,
        .divisors = {{1, 1.5, 2}, 3},
        .long_divisors = {{2, 9, 20}, 3}}}) {
    balanced_mixtral::frequencies = scaling;
    CHECK(std::abs(loop<balanced_mixtral>({}, 0, 0, of_texts).numbers.at(0) - unscaled) > 1e-6);
    check_equal<balanced_mixtral>(0, of_texts, {{.cp = 2}, {.cp = 3}, {.ep = 2}, {.ep = 2, .cp = 2}});
  }
  balanced_mixtral::frequencies = {};
}

TEST_CASE("log-probabilities and logits are those of whole sequences on all ranks") {
  check_equal(0, [](auto const& actor, pass const& in, texts const& b) {
    auto const y = called(actor.in(in), b);
    at::Tensor const of_texts = nn::log_probabilities(y, b.labels).sum(1);
    at::Tensor const squares = y.tensor().square().mean(2).masked_fill(b.positions.lt(0), 0).sum(1);
    return mean{(squares - at::log_sigmoid(of_texts + 20)).sum(), static_cast<double>(b.ids.size(0))};
  });
}

TEST_CASE("packed texts have the losses that balance experts, and the loads, that they have alone") {
  auto const alone = [](auto const& actor, pass const& in, texts const& b) {
    return cross_entropy(called(actor.in(in), b), b.labels);
  };
  auto const packed = [](auto const& actor, pass const& in, texts const&) {
    texts const b = packed_texts();
    return cross_entropy(called(actor.in(in), b), b.labels);
  };
  results const expected = loop<mixture<real{0}>>({}, 1, 0, alone);
  REQUIRE(expected.refusal.empty());
  for (mesh const& on : {mesh{}, {.cp = 2}, {.cp = 3}}) {
    INFO("cp " << on.cp);
    results const found = loop<mixture<real{0}>>(on, 0, 0, packed);
    REQUIRE(found.refusal.empty());
    check_numbers(found.numbers, expected.numbers);
    check_state(found.state, expected.state);
  }
}

TEST_CASE("norms of examples are refused where ranks have parts of an example's gradient") {
  check_refused("a norm of an example's gradient", [](auto const& actor, pass const& in, texts const& b) {
    if (!at::GradMode::is_enabled() || in.rank->mesh.size(shape::axis::cp | shape::axis::ep) == 1)
      return cross_entropy(called(actor.in(in), b), b.labels);
    nn::example_norms norms(actor.network(), in);
    return cross_entropy(called(actor.in(norms.watched()), b), b.labels);
  });
}

TEST_CASE("a step of gradient descent inside a loss is refused where ranks have parts of the gradient") {
  check_refused("net.stepped()", [](auto const& actor, pass const& in, texts const& b) {
    auto const net = actor.in(in);
    if (!at::GradMode::is_enabled()) return cross_entropy(called(net, b), b.labels);
    return cross_entropy(called(net.stepped(cross_entropy(called(net, b), b.labels).sum, 0.1), b), b.labels);
  });
}

/// A job whose examples are indices of texts. It predicts how the first token of a text continues.
auto continuing() {
  return collate([](std::span<std::int64_t const> which) {
           return texts_at(at::tensor(std::vector<std::int64_t>(which.begin(), which.end())));
         }) |
         loss([](auto const& net, texts const& b) { return cross_entropy(called(net, b), b.labels); }) |
         predict([](auto const& net, texts const& b) {
           at::Tensor const all = generate(net, b.ids.slice(1, 0, 1), {.max_new_tokens = 3, .stop_ids = {3}, .pad = 0});
           at::Tensor const sums = (all * (at::arange(all.size(1)) + 1)).sum(1).contiguous();
           auto const* const first = sums.template const_data_ptr<std::int64_t>();
           return std::vector<std::int64_t>(first, first + sums.numel());
         });
}

/// The results of a fit on a mesh.
struct fit_results {
  std::vector<double> numbers;
  options::metric_map evaluation;
  std::vector<std::int64_t> predictions;
  run_test::tensors state;
};

/// Fits eleven texts twice, six at a time, with averages of the parameters, which evaluations and
/// predictions use.
fit_results fitted(mesh const& on, std::int64_t micro) {
  temporary_folder const folder;
  run_test::silence const quiet;
  auto const job = continuing();
  deployer where(run_test::in(folder.path, on));
  trainer one(where, mixture<>{}, job, optimizer::averaged(sgd{.lr = 0.5, .momentum = 0.9, .clip_norm = 0.5}, 0.5));
  run_test::options_of<mixture<>, decltype(job)> o;
  o.epochs = 2;
  o.global_batch = 6;
  o.micro_batch = micro;
  o.eval = run_test::numbers(5);
  o.save_last = false;
  o.save_argmin = {};
  o.metrics = [](std::span<std::int64_t const> which, std::span<std::int64_t const> outputs) {
    double sum = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) sum += static_cast<double>((which[i] + 1) * outputs[i]);
    return options::metric_map{{"outputs", static_cast<double>(outputs.size())}, {"sum", sum}};
  };
  fit_results found;
  o.on_step = [&](fit_event const& e) { found.numbers.insert(found.numbers.end(), {e.loss, e.grad_norm}); };
  found.evaluation = one.fit(run_test::numbers(11), o).evaluation;
  found.predictions = predictor(one).predict(run_test::numbers(7), 3);
  found.state = run_test::whole_state(one.states());
  return found;
}

TEST_CASE("evaluations, metrics, predictions and averages of parameters are those of one rank") {
  fit_results const one = fitted({}, 0);
  REQUIRE(one.numbers.size() == 8);
  REQUIRE(one.predictions.size() == 7);
  CHECK(one.evaluation.at("outputs") == 5);
  REQUIRE(one.state.contains("optimizer.average.wte.weight"));
  CHECK_FALSE(at::equal(one.state.at("optimizer.average.wte.weight"), one.state.at("wte.weight")));
  std::vector<mesh> all = meshes;
  all.push_back({.tp = 2});
  all.push_back({.cp = 2, .tp = 2});
  for (mesh const& on : all) {
    INFO("cp " << on.cp << ", ep " << on.ep << ", dp " << on.dp << ", tp " << on.tp);
    fit_results const found = fitted(on, on.dp == 2 ? 1 : 0);
    check_numbers(found.numbers, one.numbers);
    CHECK(found.predictions == one.predictions);
    REQUIRE(found.evaluation.size() == one.evaluation.size());
    for (auto const& [name, value] : one.evaluation) CHECK(found.evaluation.at(name) == Approx(value).epsilon(1e-12));
    check_state(found.state, one.state);
  }
}

/// A classifier with batch norm and experts.
struct normed {
  using experts = layers::moe<layers::experts<4, 12, 8>, layers::top<2>>;
  using net = sequential<named<"in", linear<5, 12, false>>, named<"norm", batch_norm<12>>,
                         residual<sequential<named<"mlp", experts>>>, named<"down", linear<12, 3>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 5}; }
};

TEST_CASE("statistics of batch norm cover the examples of all ranks, and parts of sequences are refused") {
  auto const squares = [](auto const& actor, pass const& in, texts const&) {
    at::Tensor const rows = at::arange(in.first_example, in.first_example + in.examples, at::kDouble);
    at::Tensor const x = at::sin(rows.unsqueeze(1) * 0.7 + at::arange(5, at::kDouble) * 1.3);
    return mean{actor.in(in)(x).square().sum(), static_cast<double>(in.examples)};
  };
  results const one = loop<normed>({}, 0, 0, squares);
  REQUIRE(one.refusal.empty());
  CHECK_FALSE(one.state.at("actor.norm.running_mean").eq(0).any().item<bool>());
  CHECK_FALSE(one.state.at("target.norm.running_mean").eq(0).any().item<bool>());
  for (mesh const& on : {mesh{.ep = 2}, {.dp = 2, .ep = 2}, {.dp = 2}, {.ep = 2, .tp = 2}}) {
    INFO("ep " << on.ep << ", dp " << on.dp << ", tp " << on.tp);
    results const found = loop<normed>(on, 0, 0, squares);
    REQUIRE(found.refusal.empty());
    check_numbers(found.numbers, one.numbers);
    check_state(found.state, one.state);
  }
  std::string const refusal = loop<normed>({.cp = 2}, 0, 0, squares).refusal;
  INFO(refusal);
  CHECK(refusal.starts_with("64 "));
  CHECK(refusal.find("mesh cp=2: the model has a layer that needs whole sequences") != std::string::npos);
}

/// A model with a layer of a user that does not declare `by_token`.
struct undeclared {
  using net = sequential<named<"wte", embedding<23, 12>>, named<"damp", damping<12, false>>,
                         named<"head", layers::language_head<23, 12>>>;
  no_config config;
};

TEST_CASE("a layer of a user that does not declare by_token is refused with parts of sequences") {
  CHECK(refused([] { plan_of(undeclared{}, {.dp = 2}); }).empty());
  CHECK(refused([] {
          plan_of(undeclared{}, {.cp = 2});
        }).starts_with("64 mesh cp=2: the model has a layer that needs whole sequences"));
}

}  // namespace rank_parts_test
