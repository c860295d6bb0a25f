#include "walls/training.hpp"

#include <redco/generate/generate.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/model/mgpt.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/sparse_traits.hpp>
#include <redco/layer/tree.hpp>
#include <redco/fact/path.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

// A decoder whose blocks alternate between sparse and dense attention, with sinks: trains the same
// on every mesh, and decodes with a cache.

namespace sparse_walls {

using namespace redco;

/// A small mGPT with blocks of two tokens, windows of four blocks, and sinks.
struct small_mgpt {
  struct with_sinks {
    template <class L, fact::path>
    struct at : std::type_identity<L> {};
    template <layers::attention_kind Kind, auto Width, auto Heads, class... Traits, fact::path Here>
    struct at<layers::attention<Kind, Width, Heads, Traits...>, Here>
        : std::type_identity<layers::attention<Kind, Width, Heads, Traits..., layers::attention_sinks<>>> {};
  };
  using net = layers::transform<models::mgpt::net, with_sinks>;
  models::mgpt_config config{
      {.vocab = 23, .context = 32, .width = 24, .heads = 4, .layers = 3, .dropout = 0.1}, 2, 4, 1, 4};
};

struct text_loss {
  template <class Net>
  mean operator()(Net const& net, walls::share const& mine, int) const {
    at::Tensor const ids =
        (at::arange(110, at::kLong).square() * 7 + 2).remainder(23).view({5, 22}).slice(0, mine.begin, mine.end);
    return cross_entropy(net(ids.slice(1, 0, 21)), ids.slice(1, 1, 22));
  }
};

inline double square_of(at::Tensor const& x) { return x.square().sum().item<double>(); }

TEST_CASE("a model with sparse attention and sinks learns the same on every mesh") {
  adamw const clipped{.lr = 1e-2, .clip_norm = 0.5};
  std::vector<mesh> const on{{.dp = 2}, {.tp = 2}, {.tp = 4}, {.dp = 2, .tp = 2}};
  auto const one = walls::check_meshes(small_mgpt{}, clipped, {.steps = 4}, text_loss{}, on);
  auto const split = walls::check_meshes(models::sequence_parallel<small_mgpt>{small_mgpt{}.config}, clipped,
                                         {.steps = 4}, text_loss{}, {{.tp = 2}});
  walls::check_equal(split, one);
  CHECK(one.losses.back() < one.losses.front());
}

TEST_CASE("sinks are updated, and count in the norm before clipping") {
  std::vector<std::string> const sinks{"h.0.attn.sinks", "h.1.attn.sinks", "h.2.attn.sinks"};
  adamw const clipped{.lr = 1e-2, .clip_norm = 1e-3};
  for (mesh const& shape : {mesh{.dp = 1}, {.tp = 2}}) {
    auto const trained = walls::trained(small_mgpt{}, clipped, shape, {.steps = 1}, text_loss{});
    auto const frozen = walls::trained(small_mgpt{}, clipped, shape, {.steps = 1, .frozen = {"*.sinks"}}, text_loss{});
    double moved = 0;
    for (std::string const& name : sinks) moved += square_of(trained.parameters.at(name) - frozen.parameters.at(name));
    CHECK(moved > 0);
    double of_sinks = 0;
    sharded::whole_tensors whole;
    redco::comm::run_ranks({.dp = 1}, {}, [&](rank_context& rank) {
      redco::run::trained_network<small_mgpt> const state({}, plan_of(small_mgpt{}, rank.mesh), clipped, dtype::f64, 5,
                                                          rank.rank, {});
      walls::share const mine = walls::share_of(5, rank);
      pass const in = walls::pass_of(rank, mine, 0);
      mean const loss = text_loss{}(bound_network<small_mgpt>(state.net, in), mine, 0);
      loss.sum.backward();
      for (auto const& p : state.store.parameters())
        if (p.name.ends_with("sinks")) of_sinks += square_of(p.gradient) / (105.0 * 105.0);
    });
    CHECK(of_sinks > 0);
    CHECK(trained.norms[0] * trained.norms[0] - frozen.norms[0] * frozen.norms[0] == Approx(of_sinks).epsilon(1e-6));
  }
}

TEST_CASE(
    "decoding with a cache gives the tokens of full forward passes, with prompts shorter and longer than a window") {
  for (std::int64_t const prompt : {3, 8, 13}) {
    std::vector<at::Tensor> of_mesh;
    for (mesh const& shape : {mesh{.dp = 1}, {.tp = 2}}) {
      at::Tensor ids;
      redco::comm::run_ranks(shape, {}, [&](rank_context& rank) {
        redco::run::trained_network<small_mgpt> const state({}, plan_of(small_mgpt{}, shape), adamw{}, dtype::f64, 5,
                                                            rank.rank, {});
        sharded::fill(state.store, rank.tp_index());
        pass const in = walls::pass_of(rank, {0, 3}, 0, false);
        bound_network<small_mgpt> const net(state.net, in);
        at::NoGradGuard const quiet;
        at::Tensor whole = (at::arange(3 * prompt, at::kLong) * 5 + 3).remainder(23).view({3, prompt});
        at::Tensor const found = generate(net, whole, {.max_new_tokens = 15});
        for (int i = 0; i < 15; ++i) whole = at::cat({whole, net(whole).last().tensor().argmax(-1)}, 1);
        sharded::must(found.equal(whole), "the cache changes no token");
        if (rank.rank == 0) ids = found;
      });
      of_mesh.push_back(ids);
    }
    CHECK(of_mesh[0].equal(of_mesh[1]));
  }
}

}  // namespace sparse_walls
