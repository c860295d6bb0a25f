#include "run/training.hpp"
#include "torch_catch.hpp"

#include "refused.hpp"
#include "temporary_folder.hpp"

#include <redco/run/worker.hpp>
#include <redco/nn/context_entries.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/example_norms.hpp>
#include <redco/nn/nn.hpp>
#include <redco/model/mixtral.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

// Functions that read the tokens, examples or gradients of a rank, on ranks that have parts of them
// (mesh axes cp and ep). The table in docs/context.md lists them. Each one sums over the ranks,
// exchanges parts, or is refused by name.

namespace rank_parts_test {

using namespace redco;
using layers::real;

template <auto Probability = real{0.1}>
struct mixture {
  static constexpr std::int64_t width = 12;
  using attention = causal_attention<width, 2, layers::rotary<>>;
  using experts =
      layers::moe<layers::experts<4, width, 8>, layers::top<2>, layers::dispatch::cdac,
                  layers::routing::auxiliary_loss<real{0.5}>, layers::routing::balanced_by_bias<real{0.01}>>;
  using block =
      sequential<residual<sequential<named<"norm_1", rms_norm<width>>, named<"attn", attention>>>, dropout<Probability>,
                 residual<sequential<named<"norm_2", rms_norm<width>>, named<"mlp", experts>>>>;
  using net = sequential<named<"wte", embedding<23, width>>, named<"h", repeat<2, block>>,
                         named<"norm", rms_norm<width>>, named<"head", layers::language_head<23, width>>>;
  no_config config;
};

/// A Mixtral whose routers have an auxiliary loss.
struct balanced_mixtral {
  using net = models::mixtral::net;
  models::mixtral_config config{.vocab = 23,
                                .context = 8,
                                .width = 12,
                                .ffn = 8,
                                .heads = 2,
                                .kv_heads = 1,
                                .layers = 2,
                                .experts = 4,
                                .balance = 0.5,
                                .deviation = 0.3};
};

/// Some of six texts of unequal lengths: token ids, labels and positions of rows that are padded to
/// the longest.
struct texts {
  at::Tensor ids, labels, positions;
};
texts texts_of(std::int64_t first, std::int64_t count) {
  at::Tensor const all = (at::arange(48, at::kLong) * 7 + 2).remainder(23).view({6, 8});
  at::Tensor const real = at::arange(8).lt((at::arange(6) * 2 + 1).remainder(7).unsqueeze(1) + 1);
  std::int64_t const longest = real.slice(0, first, first + count).sum(1).max().item<std::int64_t>();
  auto const rows = [&](at::Tensor const& x) { return x.slice(0, first, first + count).slice(1, 0, longest); };
  return {rows(all), rows((all * 5 + 1).remainder(23).masked_fill(real.logical_not(), -100)),
          rows(at::where(real, at::arange(8), at::Scalar(-1)))};
}

auto called(auto const& net, texts const& b) { return net(b.ids, nn::documents{b.positions}); }

/// The six texts, several in a row.
texts packed_texts() {
  texts const alone = texts_of(0, 6);
  std::vector<texts> rows;
  for (auto const& row : {std::vector<std::int64_t>{0, 2}, {1, 4}, {5, 3}}) {
    std::vector<at::Tensor> ids, labels, positions;
    std::int64_t room = 8;
    for (std::int64_t const i : row) {
      std::int64_t const length = alone.positions[i].ge(0).sum().item<std::int64_t>();
      ids.push_back(alone.ids[i].narrow(0, 0, length));
      labels.push_back(alone.labels[i].narrow(0, 0, length));
      positions.push_back(alone.positions[i].narrow(0, 0, length));
      room -= length;
    }
    ids.push_back(at::zeros({room}, at::kLong));
    labels.push_back(at::full({room}, -100, at::kLong));
    positions.push_back(at::full({room}, -1, at::kLong));
    rows.push_back({at::cat(ids), at::cat(labels), at::cat(positions)});
  }
  auto const all = [&](at::Tensor texts::*member) {
    return at::stack({rows[0].*member, rows[1].*member, rows[2].*member});
  };
  return {all(&texts::ids), all(&texts::labels), all(&texts::positions)};
}

/// The results of a loop on a mesh: numbers that all ranks have, and the state.
struct results {
  std::vector<double> numbers;
  run_test::tensors state;
  std::string refusal;
};

/// Runs two steps on `on`, in micro-batches of `micro` examples. `loss(actor, pass, batch)` returns
/// the loss of a micro-batch.
template <class Model = mixture<>, class Loss>
results loop(mesh const& on, std::int64_t micro, double noise, Loss const& loss) {
  temporary_folder const folder;
  run_test::silence const quiet;
  results found;
  std::mutex mutex;
  found.refusal = refused([&] {
    deployer where(run_test::in(folder.path, on));
    where.run([&](rank_context& rank) {
      worker loop(where, rank, {.steps = 2});
      auto& actor = loop.add("actor", Model{}, sgd{.lr = 0.1, .momentum = 0});
      actor.noise = {noise, 77};
      std::vector<double> numbers;
      auto const parts = loop.micro_batches(6, micro);
      auto const of_pass = [&](pass const& in) { return loss(actor, in, texts_of(in.first_example, in.examples)); };
      for (; !loop.finished(); loop.end_step()) {
        run::step_result const done = loop.update(actor, parts, of_pass);
        numbers.push_back(done.loss);
        numbers.push_back(done.grad_norm);
        numbers.push_back(loop.mean_loss(parts, of_pass).at("loss"));
      }
      std::scoped_lock const lock(mutex);
      if (rank.rank == 0) found.numbers = numbers;
      run_test::add_state(found.state, actor.parts());
    });
  });
  return found;
}

std::vector<mesh> const meshes{{.cp = 2}, {.cp = 3}, {.ep = 2}, {.ep = 2, .cp = 2}, {.dp = 2}};

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
      for (std::size_t i = 0; i < 6; ++i) CHECK(found.numbers[i] == Approx(one.numbers[i]).epsilon(1e-12));
      for (auto const& [name, value] : one.state) {
        INFO(name);
        CHECK((found.state.at(name) - value).abs().max().item().toDouble() < 1e-11);
      }
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
    for (std::size_t i = 0; i < 6; ++i) CHECK(found.numbers[i] == Approx(expected.numbers[i]).epsilon(1e-12));
    for (auto const& [name, value] : expected.state) {
      INFO(name);
      CHECK((found.state.at(name) - value).abs().max().item().toDouble() < 1e-11);
    }
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

}  // namespace rank_parts_test
