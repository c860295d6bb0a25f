#include "stages.hpp"

#include <redco/model/llama.hpp>
#include <redco/model/mgpt.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/sparse_traits.hpp>
#include <redco/layer/tree.hpp>
#include <redco/fact/path.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

// Runs whose ranks compute parts of the same sequences (mesh axis cp), compared with one rank.

namespace context_test {

using namespace redco;
using run_test::in;
using run_test::mentions;
using run_test::numbers;
using stage_test::distance;
using stage_test::language;

/// Decoders with four heads, so that cp divides them by 2 and by 4: with learned positions and
/// dropout, and with rotary positions and shared key-value heads.
gpt2 const tied{{.vocab = 23, .context = 16, .width = 12, .heads = 4, .layers = 2, .dropout = 0.1}};
llama const rotary{{.vocab = 23, .context = 16, .width = 16, .ffn = 20, .heads = 4, .kv_heads = 2, .layers = 2}};

/// The results of a fit, with the norm of each step's gradient.
struct outcome {
  run_test::outcome run;
  std::vector<double> norms;
};

std::string name_of(mesh const& on) {
  return "dp " + std::to_string(on.dp) + ", cp " + std::to_string(on.cp) + ", tp " + std::to_string(on.tp);
}

/// Ten steps of five examples in micro-batches of one, whose numbers of tokens and labels differ.
template <class Model, class Pipeline>
outcome trained(Model const& model, Pipeline const& job, mesh const& on, int zero = 0, bool recompute = false) {
  temporary_folder const folder;
  deployer_options where = in(folder.path, on);
  where.zero = zero;
  where.recompute = recompute;
  where.check_saved = on.pp == 1;
  outcome found;
  run_test::options_of<Model, Pipeline> o;
  o.epochs = 4;
  o.max_steps = 10;
  o.global_batch = 5;
  o.micro_batch = 1;
  o.save_last = false;
  o.save_argmin = {};
  o.on_step = [&](fit_event const& e) { found.norms.push_back(e.grad_norm); };
  found.run = run_test::fit(where, model, job, numbers(13), o, {.lr = 2e-3, .clip_norm = 0.5});
  return found;
}

void check_equal(outcome const& one, outcome const& parts) {
  INFO(one.run.reason << parts.run.reason);
  REQUIRE(one.run.losses.size() == 10);
  CHECK(run_test::difference(one.run.losses, parts.run.losses) < 1e-10);
  CHECK(run_test::difference(one.norms, parts.norms) < 1e-10);
  CHECK(distance(one.run.state, parts.run.state) < 1e-10);
}

template <class Model, class Pipeline>
void check_meshes(Model const& model, Pipeline const& job, std::vector<mesh> const& meshes) {
  outcome const one = trained(model, job, {});
  for (mesh const& on : meshes) {
    INFO(name_of(on));
    check_equal(one, trained(model, job, on));
  }
}

TEST_CASE("losses, norms, parameters and optimizer states are those of one rank with whole sequences") {
  check_meshes(tied, language(), {{.cp = 2}, {.cp = 4}, {.dp = 2, .cp = 2}, {.cp = 2, .tp = 2}});
  check_meshes(rotary, language(), {{.cp = 2}, {.dp = 3, .cp = 2}});
}

/// A decoder with sinks. The attention of its first block is sparse, with blocks of two tokens in
/// windows of two blocks.
struct sunk_mgpt {
  struct with_sinks {
    template <class L, fact::path>
    struct at : std::type_identity<L> {};
    template <layers::attention_kind Kind, auto Width, auto Heads, class... Traits, fact::path Here>
    struct at<layers::attention<Kind, Width, Heads, Traits...>, Here>
        : std::type_identity<layers::attention<Kind, Width, Heads, Traits..., layers::attention_sinks<>>> {};
  };
  using net = layers::transform<models::mgpt::net, with_sinks>;
  models::mgpt_config config{{.vocab = 23, .context = 16, .width = 12, .heads = 4, .layers = 2}, 2, 2, 1, 2};
};

TEST_CASE("ranks that exchange heads have the patterns of blocks and the sinks of their heads") {
  check_meshes(sunk_mgpt{}, language(), {{.cp = 2}, {.cp = 4}, {.cp = 2, .tp = 2}});
}

TEST_CASE("blocks that run again in backward exchange their heads again") {
  check_equal(trained(tied, language(), {}), trained(tied, language(), {.dp = 2, .cp = 2}, 0, true));
}

TEST_CASE("replicas and ranks with parts of sequences share state out") {
  outcome const one = trained(tied, language(), {});
  for (int const level : {1, 2, 3}) {
    INFO(level);
    check_equal(one, trained(tied, language(), {.dp = 2, .cp = 2}, level));
  }
}

TEST_CASE("tokens that tensor-parallel ranks split are those of the rank's part of the sequence") {
  check_meshes(models::sequence_parallel<gpt2>{tied.config}, language(), {{.cp = 2, .tp = 2}});
}

/// Rows of two documents each: the second has four tokens.
struct packed_batch {
  at::Tensor ids, labels, positions;
};

auto packed() {
  return collate([](std::span<std::int64_t const> examples) {
           token_batch const plain = stage_test::texts_of(examples);
           at::Tensor const positions = at::arange(plain.input_ids.size(1)).repeat({plain.input_ids.size(0), 1});
           std::int64_t const first = plain.input_ids.size(1) - 3;
           positions.slice(1, first).sub_(first);
           return packed_batch{plain.input_ids, plain.labels, positions};
         }) |
         loss([](auto const& net, packed_batch const& b) {
           return cross_entropy(net(b.ids, nn::documents{b.positions}), b.labels, {.smoothing = 0.1});
         });
}

/// A loss on log-probabilities, and on all logits.
auto preferences() {
  return collate([](std::span<std::int64_t const> examples) { return stage_test::texts_of(examples); }) |
         loss([](auto const& net, token_batch const& b) {
           auto const y = net(b.input_ids);
           at::Tensor const of_texts = nn::log_probabilities(y, b.labels).sum(1);
           at::Tensor const squares = y.tensor().square().mean({1, 2});
           return mean{(squares - at::log_sigmoid(of_texts + 20)).sum(), static_cast<double>(b.input_ids.size(0))};
         });
}

TEST_CASE("documents, log-probabilities and logits are those of whole sequences") {
  for (auto const& on : {mesh{.cp = 2}, {.dp = 2, .cp = 2}}) {
    INFO(name_of(on));
    check_equal(trained(tied, packed(), {}), trained(tied, packed(), on));
    check_equal(trained(rotary, packed(), {}), trained(rotary, packed(), on));
    check_equal(trained(rotary, preferences(), {}), trained(rotary, preferences(), on));
  }
}

TEST_CASE("updates agree with one rank, and messages with the plan") {
  temporary_folder const folder;
  for (mesh const& on : {mesh{.cp = 2}, {.cp = 4}, {.cp = 2, .tp = 2}}) {
    INFO(name_of(on));
    stage_test::check_verified(tied, in(folder.path, on), adamw{.lr = 2e-3, .clip_norm = 0.5}, 5);
    stage_test::check_verified(rotary, in(folder.path, on), adamw{.lr = 2e-3, .clip_norm = 0.5}, 5);
  }
  stage_test::silence const quiet;
  deployer deployer(in(folder.path, {.dp = 2, .cp = 2}));
  trainer trainer(deployer, tied, language(), adamw{});
  run_test::options_of<gpt2, decltype(language())> o;
  o.global_batch = 5;
  o.micro_batch = 1;
  CHECK(trainer.verify(numbers(13), o).ok());
}

/// Heads that three ranks do not divide, with and without a window shorter than a run of tokens.
llama uneven(std::int64_t window) {
  llama model = rotary;
  model.config.window = window;
  return model;
}

TEST_CASE("keys and values go round the ranks if these do not divide the heads") {
  for (std::int64_t const window : {0, 2, 5}) {
    INFO("window " << window);
    check_meshes(uneven(window), language(), {{.cp = 3}, {.cp = 4}, {.dp = 2, .cp = 3}});
    check_meshes(uneven(window), language(), {{.cp = 2, .tp = 2}});
  }
  temporary_folder const folder;
  stage_test::check_verified(rotary, in(folder.path, {.cp = 3}), adamw{.lr = 2e-3}, 5);
  stage_test::check_verified(rotary, in(folder.path, {.cp = 2, .tp = 2}), adamw{.lr = 2e-3}, 5);
}

TEST_CASE("what the ring of ranks does not compute, and models that need whole sequences, are refused") {
  outcome const dropout = trained(tied, language(), {.cp = 3});
  CHECK(dropout.run.code == 64);
  CHECK(mentions(dropout.run, "attention has dropout"));
  outcome const documents = trained(rotary, packed(), {.cp = 3});
  CHECK(documents.run.code == 64);
  CHECK(mentions(documents.run, "documents"));
  outcome const pattern = trained(sunk_mgpt{}, language(), {.cp = 3});
  CHECK(pattern.run.code == 64);
  CHECK(mentions(pattern.run, "attention has a pattern of blocks"));
  outcome const stages = trained(tied, language(), {.pp = 2, .cp = 2});
  CHECK(stages.run.code == 64);
  CHECK(mentions(stages.run, "pipeline stages compute whole sequences"));
}

}  // namespace context_test
