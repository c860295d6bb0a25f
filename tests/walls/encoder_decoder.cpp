#include "walls/training.hpp"

#include <redco/generate/generate.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

// An encoder-decoder whose cross-attention reads the encoder's states through the context.

namespace {

using namespace redco;

struct translator {
  static constexpr std::int64_t words = 9, width = 12;
  using mlp = residual<sequential<named<"ln", layer_norm<width>>, named<"up", linear<width, 16>>, gelu,
                                  named<"down", linear<16, width>>, dropout<redco::layers::real{0.1}>>>;
  using encoder_block =
      sequential<residual<sequential<named<"n", layer_norm<width>>, named<"self", full_attention<width, 4>>>>, mlp>;
  using decoder_block =
      sequential<residual<sequential<named<"n", layer_norm<width>>, named<"self", causal_attention<width, 4>>>>,
                 residual<sequential<named<"m", layer_norm<width>>,
                                     named<"cross", cross_attention<width, 4, key_value_heads<2>>>>>,
                 mlp>;
  using embedded = sum<named<"wte", embedding<words, width>>, named<"wpe", positions<6, width>>>;
  using net = redco::layers::encoder_decoder<
      sequential<embedded, named<"h", repeat<2, encoder_block>>>,
      sequential<embedded, named<"h", repeat<2, decoder_block>>, named<"ln_f", layer_norm<width>>,
                 redco::layers::language_head<words, width, "decoder.wte.weight">>>;
  no_config config;
};

/// Sources of four tokens, of which the last may be padding, and targets that are the reversed
/// sources.
struct sentences {
  at::Tensor source, mask, target, labels;
};
sentences sentences_of(walls::share const& mine, std::int64_t filler = 0) {
  sentences s;
  at::Tensor const all = (at::arange(20, at::kLong) * 5 + 3).remainder(7).view({5, 4}) + 1;
  at::Tensor const lengths = at::tensor({4, 3, 4, 2, 3}, at::kLong);
  s.mask = at::arange(4, at::kLong).unsqueeze(0).lt(lengths.unsqueeze(1)).slice(0, mine.begin, mine.end);
  at::Tensor const padded = all.slice(0, mine.begin, mine.end);
  s.source = at::where(s.mask, padded, filler);
  s.target = at::where(s.mask, padded, 0).flip({1}).slice(1, 0, 3);
  s.labels = at::where(s.target.eq(0), -100, s.target.roll({-1}, {1}));
  return s;
}

template <class Net>
mean translation_loss(Net const& net, sentences const& s) {
  return cross_entropy(net(s.target, encoder_input{s.source}, encoder_mask{s.mask}), s.labels);
}

}  // namespace

TEST_CASE("an encoder-decoder learns the same on every mesh") {
  auto const one = walls::check_meshes(
      translator{}, adamw{.lr = 1e-2}, {.steps = 8},
      [](auto const& net, walls::share const& mine, int) { return translation_loss(net, sentences_of(mine)); });
  CHECK(one.losses.back() < 0.8 * one.losses.front());
}

TEST_CASE("an encoder-decoder learns equally with split tokens and with whole ones") {
  auto const learn = [](auto const& model) {
    return walls::check_meshes(
        model, adamw{.lr = 1e-2}, {.steps = 4},
        [](auto const& net, walls::share const& mine, int) { return translation_loss(net, sentences_of(mine)); });
  };
  auto const whole = learn(translator{}), split = learn(redco::models::sequence_parallel<translator>{});
  for (std::size_t i = 0; i < whole.losses.size(); ++i) CHECK(std::abs(split.losses[i] / whole.losses[i] - 1) < 1e-10);
}

TEST_CASE("hidden tokens change nothing, and visible tokens do") {
  for (mesh const& shape : {mesh{.dp = 1}, mesh{.tp = 2}})
    redco::comm::run_ranks(shape, {}, [&](rank_context& rank) {
      redco::run::trained_network<translator> const state({}, plan_of(translator{}, shape), adamw{}, dtype::f64, 5,
                                                          rank.rank, {});
      walls::share const all{0, 5};
      pass const in = walls::pass_of(rank, all, 0, false);
      bound_network<translator> const net(state.net, in);
      auto const loss = [&](sentences const& s) { return translation_loss(net, s).sum.template item<double>(); };
      sharded::must(loss(sentences_of(all, 0)) == loss(sentences_of(all, 8)), "hidden tokens are not read");
      sentences other = sentences_of(all);
      other.source = other.source.flip({1});
      sharded::must(std::abs(loss(other) - loss(sentences_of(all))) > 1e-6, "the order of the source is read");
    });
}

TEST_CASE("an encoder-decoder decodes equally with and without a cache, and its encoder runs once") {
  std::vector<at::Tensor> of_mesh;
  for (mesh const& shape : {mesh{.dp = 1}, mesh{.tp = 2}}) {
    at::Tensor ids;
    redco::comm::run_ranks(shape, {}, [&](rank_context& rank) {
      redco::run::trained_network<translator> const state({}, plan_of(translator{}, shape), adamw{}, dtype::f64, 5,
                                                          rank.rank, {});
      sharded::fill(state.store, rank.tp_index());
      walls::share const all{0, 5};
      pass const in = walls::pass_of(rank, all, 0, false);
      sentences const s = sentences_of(all);
      auto const net = bound_network<translator>(state.net, in).with(encoder_input{s.source}, encoder_mask{s.mask});
      at::NoGradGuard const quiet;
      at::Tensor whole = s.target.slice(1, 0, 2);
      std::int64_t const before = rank.tp.counters().total().calls;
      at::Tensor const found = generate(net, whole, {.max_new_tokens = 4});
      std::int64_t const with_cache = rank.tp.counters().total().calls - before;
      for (int i = 0; i < 4; ++i) whole = at::cat({whole, net(whole).last().tensor().argmax(-1)}, 1);
      std::int64_t const without = rank.tp.counters().total().calls - before - with_cache;
      sharded::must(found.equal(whole), "the cache changes no token");
      // Encoding needs one reduction for the tokens and two for each of two blocks. With a cache it
      // runs once.
      if (rank.mesh.tp > 1) sharded::must(without - with_cache == 3 * 5, "the encoder runs once");
      if (rank.rank == 0) ids = found;
    });
    of_mesh.push_back(ids);
  }
  CHECK(of_mesh[0].equal(of_mesh[1]));
}
