#include "stages.hpp"

#include <redco/model/llama.hpp>
#include <redco/model/mgpt.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sparse_traits.hpp>
#include <redco/layer/tree.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/path.hpp>
#include <redco/adapt/plan/with_lora.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// Runs whose ranks compute parts of the same sequences (mesh axis cp), compared with one rank.

namespace context_test {

using namespace redco;
using run_test::in;
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
  return "pp " + std::to_string(on.pp) + ", dp " + std::to_string(on.dp) + ", ep " + std::to_string(on.ep) + ", cp " +
         std::to_string(on.cp) + ", tp " + std::to_string(on.tp);
}

/// Ten steps of five examples in micro-batches of one, whose numbers of tokens and labels differ.
template <class Model, class Pipeline>
outcome trained(Model const& model, Pipeline const& job, mesh const& on, int zero = 0, bool recompute = false,
                bool check_saved = true) {
  temporary_folder const folder;
  deployer_options where = in(folder.path, on);
  where.zero = zero;
  where.recompute = recompute;
  where.check_saved = check_saved && on.pp == 1 && on.ep == 1;
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
void check_meshes(Model const& model, Pipeline const& job, std::vector<mesh> const& meshes, bool check_saved = true) {
  outcome const one = trained(model, job, {}, 0, false, check_saved);
  for (mesh const& on : meshes) {
    INFO(name_of(on));
    check_equal(one, trained(model, job, on, 0, false, check_saved));
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

TEST_CASE("ranks that pass keys and values round have the patterns of their heads on tensor-parallel ranks") {
  // Each rank along tp has three heads, which two ranks along cp cannot divide. Its first head has
  // the second of two patterns on the second rank.
  sunk_mgpt const six{{{.vocab = 23, .context = 16, .width = 12, .heads = 6, .layers = 2}, 2, 2, 1, 2}};
  check_meshes(six, language(), {{.cp = 2, .tp = 2}, {.cp = 4, .tp = 2}});
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

/// Rows whose first tokens, and every fourth, are hidden. Queries at the first tokens see no key.
struct masked_batch {
  at::Tensor ids, labels, seen;
};

auto masked() {
  return collate([](std::span<std::int64_t const> examples) {
           token_batch const plain = stage_test::texts_of(examples);
           at::Tensor const seen = at::arange(plain.input_ids.size(1)).remainder(4).ne(3);
           seen.narrow(0, 0, 2).fill_(false);
           return masked_batch{plain.input_ids, plain.labels, seen.repeat({plain.input_ids.size(0), 1})};
         }) |
         loss([](auto const& net, masked_batch const& b) {
           return cross_entropy(net(b.ids, key_mask{b.seen}), b.labels);
         });
}

TEST_CASE("updates agree with one rank, and messages with the plan") {
  temporary_folder const folder;
  for (mesh const& on : {mesh{.cp = 2}, {.cp = 4}, {.cp = 2, .tp = 2}}) {
    INFO(name_of(on));
    stage_test::check_verified(tied, in(folder.path, on), adamw{.lr = 2e-3, .clip_norm = 0.5}, 5);
    stage_test::check_verified(rotary, in(folder.path, on), adamw{.lr = 2e-3, .clip_norm = 0.5}, 5);
    deployer_options overlaps = in(folder.path, on);
    overlaps.overlap = true;
    stage_test::check_verified(tied, overlaps, adamw{.lr = 2e-3, .clip_norm = 0.5}, 5);
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

TEST_CASE("tensor-parallel ranks that hold equal key-value heads send them each, as planned") {
  temporary_folder const folder;
  llama one = rotary, eight = rotary;
  one.config.kv_heads = 1;
  eight.config.heads = 8;
  eight.config.kv_heads = 4;
  for (llama const& model : {one, rotary})
    for (mesh const& on : {mesh{.cp = 2, .tp = 2}, {.cp = 2, .tp = 4}, {.cp = 3, .tp = 4}}) {
      INFO(model.config.kv_heads << " key-value heads, " << name_of(on));
      stage_test::check_verified(model, in(folder.path, on), adamw{.lr = 2e-3}, 5);
    }
  stage_test::check_verified(eight, in(folder.path, {.cp = 2, .tp = 2}), adamw{.lr = 2e-3}, 5);
  deployer_options recomputed = in(folder.path, {.cp = 2, .tp = 2});
  recomputed.recompute = true;
  stage_test::check_verified(one, recomputed, adamw{.lr = 2e-3}, 5);
}

TEST_CASE("frozen layers before the first adapter send no gradients, as planned") {
  temporary_folder const folder;
  for (std::string_view const targets : {"q,v", "o", "down"})
    for (mesh const& on : {mesh{.tp = 2}, {.cp = 2}, {.cp = 3, .tp = 2}, {.pp = 2, .tp = 2}, {.pp = 2, .cp = 2}}) {
      INFO(targets << ", " << name_of(on));
      for (bool const recompute : {false, true}) {
        deployer_options where = in(folder.path, on);
        where.recompute = recompute;
        stage_test::check_verified(with_lora<gpt2>{{tied.config, {.rank = 2, .targets = targets}}}, where,
                                   adamw{.lr = 2e-3}, 5);
      }
    }
  llama one = rotary;
  one.config.kv_heads = 1;
  for (mesh const& on : {mesh{.tp = 2}, {.tp = 4}, {.cp = 2, .tp = 2}}) {
    INFO(name_of(on));
    stage_test::check_verified(with_lora<llama>{{one.config, {.rank = 2, .targets = "q,v"}}}, in(folder.path, on),
                               adamw{.lr = 2e-3}, 5);
  }
  models::sequence_parallel<with_lora<gpt2>> const split{{tied.config, {.rank = 2, .targets = "o,up"}}};
  stage_test::check_verified(split, in(folder.path, {.tp = 2}), adamw{.lr = 2e-3}, 5);
}

TEST_CASE("ranks that pass keys and values round have the dropout, masks, documents, patterns and sinks of one rank") {
  check_meshes(tied, language(), {{.cp = 3}, {.dp = 2, .cp = 3}, {.cp = 4, .tp = 2}});
  check_meshes(tied, packed(), {{.cp = 3}});
  check_meshes(rotary, packed(), {{.cp = 3}, {.cp = 4}, {.cp = 2, .tp = 2}});
  check_meshes(sunk_mgpt{}, language(), {{.cp = 3}, {.cp = 4, .tp = 2}});
  check_meshes(tied, masked(), {{.cp = 3}, {.cp = 4}});
  check_meshes(rotary, masked(), {{.cp = 3}, {.cp = 2, .tp = 2}});
  check_equal(trained(tied, language(), {}), trained(tied, language(), {.cp = 3}, 0, true));
}

/// A decoder whose feed-forward layers are experts.
template <class... Routing>
struct mixture {
  static constexpr std::int64_t width = 12;
  using attention = causal_attention<width, 2, layers::rotary<>>;
  using experts = layers::moe<layers::experts<4, width, 8>, layers::top<2>, Routing...>;
  using block = sequential<residual<sequential<named<"norm_1", rms_norm<width>>, named<"attn", attention>>>,
                           residual<sequential<named<"norm_2", rms_norm<width>>, named<"mlp", experts>>>>;
  using net = sequential<named<"wte", embedding<23, width>>, named<"h", repeat<2, block>>,
                         named<"norm", rms_norm<width>>, named<"head", layers::language_head<23, width>>>;
  no_config config;
};

using layers::real;
using balanced = mixture<layers::dispatch::cdac, layers::routing::auxiliary_loss<real{0.5}>,
                         layers::routing::balanced_by_bias<real{0.01}>>;
using descended = mixture<layers::dispatch::dcca<real{0.5}>, layers::routing::auxiliary_loss<real{0.5}>>;

TEST_CASE("experts get the tokens of all parts of a sequence, and are balanced by whole sequences") {
  check_meshes(balanced{}, language(),
               {{.cp = 2}, {.cp = 3}, {.ep = 2, .cp = 2}, {.cp = 2, .tp = 2}, {.dp = 2, .cp = 2}});
  // The layer does not know of masks when it declares what the auxiliary loss saves.
  check_meshes(balanced{}, masked(), {{.cp = 2}, {.cp = 3}}, false);
  check_meshes(descended{}, language(), {{.cp = 2}, {.ep = 2, .cp = 3}});
  check_equal(trained(balanced{}, language(), {}), trained(balanced{}, language(), {.ep = 2, .cp = 2}, 0, true));
  temporary_folder const folder;
  stage_test::check_verified(descended{}, in(folder.path, {.cp = 2}), adamw{.lr = 2e-3}, 5);
}

TEST_CASE("parts of sequences, experts, shares of state and stages run together as on one rank") {
  outcome const one = trained(descended{}, language(), {});
  for (int const level : {1, 2, 3}) {
    for (mesh const& on : {mesh{.ep = 2, .cp = 2}, {.dp = 2, .ep = 2, .cp = 2}, {.ep = 2, .cp = 3}}) {
      INFO(name_of(on) << ", level " << level);
      check_equal(one, trained(descended{}, language(), on, level));
    }
    if (level == 2) continue;  // stages keep all gradients, as at level 1
    for (mesh const& on : {mesh{.pp = 2, .cp = 2}, {.pp = 2, .ep = 2, .cp = 2}}) {
      INFO(name_of(on) << ", level " << level);
      check_equal(one, trained(descended{}, language(), on, level));
    }
  }
  check_equal(one, trained(descended{}, language(), {.pp = 2, .ep = 2, .cp = 2}));
  check_equal(one, trained(descended{}, language(), {.ep = 2, .cp = 2, .tp = 2}, 3, true));
  check_equal(trained(balanced{}, language(), {}), trained(balanced{}, language(), {.pp = 2, .ep = 2, .cp = 2}, 1));
  outcome const dense = trained(tied, language(), {});
  for (int const level : {1, 3}) check_equal(dense, trained(tied, language(), {.pp = 2, .dp = 2, .cp = 2}, level));
}

TEST_CASE("a block of experts that backward runs again sums its counts once, as planned") {
  temporary_folder const folder;
  for (mesh const& on : {mesh{.cp = 2}, {.cp = 3}, {.cp = 2, .tp = 2}}) {
    INFO(name_of(on));
    deployer_options where = in(folder.path, on);
    where.recompute = true;
    stage_test::check_verified(descended{}, where, adamw{.lr = 2e-3}, 5);
    stage_test::check_verified(balanced{}, where, adamw{.lr = 2e-3}, 5);
  }
}

TEST_CASE("stages pass the tokens of each rank's part of the sequences on") {
  check_meshes(tied, language(), {{.pp = 2, .cp = 2}, {.pp = 2, .cp = 3}, {.pp = 2, .cp = 2, .tp = 2}});
  check_meshes(rotary, packed(), {{.pp = 2, .cp = 2}});
  check_meshes(rotary, preferences(), {{.pp = 2, .cp = 2}});
  check_meshes(balanced{}, language(), {{.pp = 2, .cp = 2}});
  check_equal(trained(tied, language(), {}), trained(tied, language(), {.pp = 2, .dp = 2, .cp = 2}, 1, true));
  temporary_folder const folder;
  stage_test::check_verified(tied, in(folder.path, {.pp = 2, .cp = 2}), adamw{.lr = 2e-3}, 5);
  stage_test::check_verified(rotary, in(folder.path, {.pp = 2, .cp = 3}), adamw{.lr = 2e-3}, 5);
}

TEST_CASE("evaluation divides sequences as training does") {
  auto const loss_of = [](mesh const& on) {
    temporary_folder const folder;
    run_test::options_of<gpt2, decltype(language())> o;
    o.max_steps = 1;
    o.global_batch = 5;
    o.micro_batch = 1;
    o.eval = numbers(7);
    o.save_last = false;
    o.save_argmin = {};
    auto const found = run_test::fit(in(folder.path, on), tied, language(), numbers(13), o, adamw{.lr = 2e-3});
    INFO(found.reason);
    REQUIRE(found.code == 0);
    return found.evaluation.at("loss");
  };
  double const one = loss_of({});
  for (mesh const& on : {mesh{.cp = 2}, {.cp = 3}, {.pp = 2, .cp = 2}, {.pp = 2, .cp = 3}}) {
    INFO(name_of(on));
    CHECK(std::abs(loss_of(on) - one) < 1e-10);
  }
}

}  // namespace context_test
