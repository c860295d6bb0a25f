#include "walls/training.hpp"

#include <redco/generate/generate.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/diag/error.hpp>

#include <cmath>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

// Language models: tied embeddings over an uneven vocabulary, fewer key-value heads than the width,
// and a decode loop whose key-value cache is split by heads.

namespace {

using namespace redco;

constexpr std::int64_t vocabulary = 11;

template <std::int64_t KeyValueHeads, redco::meta::fixed_string Tied = "wte.weight">
struct speaker {
  using block = sequential<residual<sequential<named<"n", layer_norm<12>>,
                                               named<"attn", causal_attention<12, 6, key_value_heads<KeyValueHeads>>>>>,
                           residual<sequential<named<"m", rms_norm<12>>, gated<12, 18>, named<"down", linear<18, 12>>,
                                               dropout<redco::layers::real{0.1}>>>>;
  using head = std::conditional_t<Tied.view().empty(), named<"head", redco::layers::language_head<vocabulary, 12>>,
                                  redco::layers::language_head<vocabulary, 12, Tied>>;
  using net = sequential<sum<named<"wte", embedding<vocabulary, 12>>, named<"wpe", positions<12, 12>>>,
                         named<"h", repeat<2, block>>, named<"ln_f", layer_norm<12>>, head>;
  no_config config;
};

at::Tensor texts_of(walls::share const& mine) {
  at::Tensor const at = at::arange(35, at::kLong);
  return (at * at * 3 + at).remainder(vocabulary).view({5, 7}).slice(0, mine.begin, mine.end);
}

template <class Net>
mean text_loss(Net const& net, walls::share const& mine) {
  at::Tensor const ids = texts_of(mine);
  return cross_entropy(net(ids.slice(1, 0, -1)), ids.slice(1, 1));
}

/// Returns the sum of the squares of the texts' log-probabilities. `of_labels(net, ids, labels)`
/// returns the log-probabilities of the labels.
template <class Net, class F>
at::Tensor squares_of_texts(Net const& net, walls::share const& mine, F const& of_labels) {
  at::Tensor const ids = texts_of(mine), labels = ids.slice(1, 1).clone();
  labels.select(1, 2).fill_(-100);
  return of_labels(net, ids.slice(1, 0, -1), labels).sum(1).square().sum();
}

/// Returns the gradient of `loss_of(net, share)` over all texts with the parameters of
/// `sharded::fill`. The head's gradient is part of the embedding's.
template <class M, class Loss>
sharded::tensor_map gradient_on(mesh const& on, Loss const& loss_of) {
  sharded::whole_tensors whole;
  redco::comm::run_ranks(on, {}, [&](rank_context& rank) {
    redco::run::trained_network<M> const state({}, plan_of(M{}, on), adamw{}, dtype::f64, 5, rank.rank, {});
    sharded::fill(state.store, rank.tp_index());
    if (auto const* const head = state.store.find("head.weight")) {
      at::NoGradGuard const quiet;
      head->value.copy_(state.store.find("wte.weight")->value);
    }
    walls::share const mine = walls::share_of(5, rank);
    pass const in = walls::pass_of(rank, mine, 0);
    loss_of(bound_network<M>(state.net, in), mine).backward();
    rank.dp.all_reduce(state.store.gradients());
    if (rank.dp_index() > 0) return;
    for (auto const& p : state.store.parameters()) whole.add(p, p.gradient.clone(), rank.tp_index());
  });
  return whole.all();
}
template <class M>
sharded::tensor_map gradient_on(mesh const& on) {
  return gradient_on<M>(on, [](auto const& net, walls::share const& mine) { return text_loss(net, mine).sum; });
}

struct decoded {
  at::Tensor greedy, drawn;
};

/// Returns the tokens that all ranks together decode from five prompts.
template <class M>
decoded decoded_on(mesh const& on) {
  decoded result{at::zeros({5, 12}, at::kLong), at::zeros({5, 12}, at::kLong)};
  std::mutex mutex;
  redco::comm::run_ranks(on, {}, [&](rank_context& rank) {
    redco::run::trained_network<M> const state({}, plan_of(M{}, on), adamw{}, dtype::f64, 5, rank.rank, {});
    sharded::fill(state.store, rank.tp_index());
    walls::share const mine = walls::share_of(5, rank);
    pass const in = walls::pass_of(rank, mine, 4, true);
    bound_network<M> const net(state.net, in);
    at::Tensor const prompts = texts_of(mine).slice(1, 0, 4);
    at::Tensor const greedy = generate(net, prompts, {.max_new_tokens = 8});
    at::Tensor const drawn = generate(net, prompts, {.max_new_tokens = 8, .temperature = 1.5, .top_k = 6});

    at::NoGradGuard const quiet;
    pass still = in;
    still.training = false;
    at::Tensor whole = prompts;
    for (int i = 0; i < 8; ++i) whole = at::cat({whole, net.in(still)(whole).last().tensor().argmax(-1)}, 1);
    sharded::must(greedy.equal(whole), "the cache changes no token");
    std::lock_guard const lock(mutex);
    result.greedy.slice(0, mine.begin, mine.end).copy_(greedy);
    result.drawn.slice(0, mine.begin, mine.end).copy_(drawn);
  });
  return result;
}

template <class M>
void check_decoding(std::vector<mesh> const& on) {
  decoded const one = decoded_on<M>({.dp = 1});
  CHECK_FALSE(one.greedy.equal(one.drawn));
  for (mesh const& shape : on) {
    INFO("mesh " << walls::name_of(shape));
    decoded const found = decoded_on<M>(shape);
    CHECK(found.greedy.equal(one.greedy));
    CHECK(found.drawn.equal(one.drawn));
  }
}

}  // namespace

TEST_CASE("log-probabilities refuse a label outside the vocabulary with its example") {
  redco::comm::run_ranks({.dp = 1}, {}, [](rank_context& rank) {
    logits const uniform{.hidden = redco::tensor<redco::shape::entered>(at::zeros({2, 3, 4})),
                         .weight = at::zeros({vocabulary, 4}),
                         .bias = {},
                         .vocabulary = vocabulary,
                         .first_row = 0,
                         .tp = &rank.tp};
    at::Tensor const labels = at::zeros({2, 3}, at::kLong);
    at::Tensor const expected = at::full({2, 3}, -std::log(static_cast<double>(vocabulary)));
    sharded::must(at::allclose(nn::log_probabilities(uniform, labels), expected), "all labels have equal probability");
    labels[1][2] = vocabulary;
    std::string why;
    try {
      nn::log_probabilities(uniform, labels);
    } catch (redco::error const& e) {
      why = e.what();
    }
    sharded::must(why.starts_with("log_probabilities: label 11 of example 1 of this batch, position 2, is none of 11"),
                  "the label is named");
  });
}

TEST_CASE("log-probabilities of texts train a network as log_softmax of all logits does") {
  auto const plain = gradient_on<speaker<6>>({.dp = 1}, [](auto const& net, walls::share const& mine) {
    return squares_of_texts(net, mine, [](auto const& n, at::Tensor const& ids, at::Tensor const& labels) {
      at::Tensor const all = at::log_softmax(n(ids).tensor(), -1);
      return all.gather(-1, labels.clamp_min(0).unsqueeze(-1)).squeeze(-1).masked_fill(labels.eq(-100), 0);
    });
  });
  for (mesh const& shape : {mesh{.dp = 1}, mesh{.dp = 2}, mesh{.tp = 2}, mesh{.tp = 3}}) {
    INFO("mesh " << walls::name_of(shape));
    auto const found = gradient_on<speaker<6>>(shape, [](auto const& net, walls::share const& mine) {
      return squares_of_texts(net, mine, [](auto const& n, at::Tensor const& ids, at::Tensor const& labels) {
        return redco::nn::log_probabilities(n(ids), labels);
      });
    });
    for (auto const& [name, value] : plain) {
      INFO(name);
      CHECK(sharded::distance(found.at(name), value) < 1e-12);
    }
  }
}

TEST_CASE("the gradient of tied embeddings is the sum of both uses") {
  auto const apart = gradient_on<speaker<6, "">>({.dp = 1});
  for (mesh const& shape : {mesh{.dp = 1}, mesh{.dp = 2}, mesh{.tp = 2}, mesh{.tp = 3}}) {
    INFO("mesh " << walls::name_of(shape));
    auto const tied = gradient_on<speaker<6>>(shape);
    CHECK(sharded::distance(tied.at("wte.weight"), apart.at("wte.weight") + apart.at("head.weight")) < 1e-12);
    CHECK(sharded::distance(tied.at("h.0.attn.q.weight"), apart.at("h.0.attn.q.weight")) < 1e-12);
  }
}

TEST_CASE("a language model with tied embeddings learns the same on every mesh") {
  auto const loss = [](auto const& net, walls::share const& mine, int) { return text_loss(net, mine); };
  auto const one = walls::check_meshes(speaker<6>{}, adamw{.lr = 1e-2, .clip_norm = 0.5}, {.steps = 8}, loss,
                                       {{.dp = 2}, {.tp = 2}, {.tp = 3}, {.dp = 2, .tp = 2}});
  CHECK(one.losses.back() < 0.9 * one.losses.front());
}

TEST_CASE("split tokens learn and decode equally, one token at a time on ranks without tokens") {
  auto const loss = [](auto const& net, walls::share const& mine, int) { return text_loss(net, mine); };
  using cut = redco::models::sequence_parallel<speaker<2>>;
  walls::check_meshes(cut{}, adamw{.lr = 1e-2, .clip_norm = 0.5}, {.steps = 6}, loss,
                      {{.dp = 2}, {.tp = 2}, {.tp = 6}});
  decoded const one = decoded_on<speaker<2>>({.dp = 1});
  for (mesh const& shape : {mesh{.dp = 1}, mesh{.tp = 2}, mesh{.dp = 2, .tp = 2}, mesh{.tp = 6}}) {
    INFO("mesh " << walls::name_of(shape));
    decoded const found = decoded_on<cut>(shape);
    CHECK(found.greedy.equal(one.greedy));
    CHECK(found.drawn.equal(one.drawn));
  }
}

TEST_CASE("key-value heads fewer than the width are shared by neighbouring ranks") {
  auto const loss = [](auto const& net, walls::share const& mine, int) { return text_loss(net, mine); };
  walls::check_meshes(speaker<2>{}, adamw{.lr = 1e-2, .clip_norm = 0.5}, {.steps = 6}, loss,
                      {{.dp = 2}, {.tp = 2}, {.tp = 6}});
  walls::check_meshes(speaker<1>{}, adamw{.lr = 1e-2, .clip_norm = 0.5}, {.steps = 6}, loss,
                      {{.tp = 2}, {.tp = 3}, {.dp = 2, .tp = 2}});
  try {
    plan_of(speaker<2>{}, {.tp = 3});
    FAIL("two key-value heads cannot be spread over three ranks");
  } catch (error const& refused) {
    CHECK(refused.code() == exit_code::usage);
    CHECK(std::string(refused.what()).find("legal widths are 1, 2, 6") != std::string::npos);
  }
}

TEST_CASE("decoding with a cache sharded by heads gives the ids of the whole forward, on every mesh") {
  check_decoding<speaker<2>>({{.dp = 2}, {.tp = 2}, {.tp = 6}});
  check_decoding<speaker<1>>({{.tp = 3}});
}
