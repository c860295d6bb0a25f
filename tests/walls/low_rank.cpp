#include "walls/training.hpp"

#include <redco/nn/cross_entropy.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/tree.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/meta/glob.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

// Low-rank adaptation (Hu et al. 2022) of a family without support for it. A rewrite by path wraps
// linears in a user's layer. The layer adds the product of two narrow linears to their output.

namespace low_rank_test {

using namespace redco;

/// The pair of narrow layers that is added to a linear with output layout Y.
template <auto In, auto Out, auto Rank, class Y>
using product =
    std::conditional_t<redco::shape::is_feature_split<Y>,
                       sequential<named<"lora_a", redco::layers::replicated_linear<In, Rank, false>>,
                                  redco::layers::enter_layer, named<"lora_b", column_linear<Rank, Out, false>>>,
                       sequential<named<"lora_a", linear<In, Rank, false>>,
                                  named<"lora_b", redco::layers::replicated_linear<Rank, Out, false>>>>;

template <class Base, auto In, auto Out, auto Rank>
struct low_rank {
  using layer_concept = redco::layers::layer_tag;
  using subs = redco::layers::parts<redco::layers::part<"", Base>>;
  template <class Other>
  using rebind = low_rank<Other, In, Out, Rank>;
  using unpaired = low_rank<redco::layers::unpaired_t<Base>, In, Out, Rank>;
  static constexpr bool unnamed = true;
  static constexpr bool closes_split = redco::layers::closes_split<Base>;

  template <class X>
  using out = redco::layers::out_t<Base, X>;
  template <class X>
  using side_product = product<In, Out, Rank, out<X>>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, redco::fact::recorder& w) {
    fact::flow const input = w.activation;
    Base::template facts<X>(config, w);
    fact::flow const output = w.activation;
    w.activation = input;
    side_product<X>::template facts<X>(config, w);
    w.expect_like(output);
    w.produce(output.shape, output.split_dim, output.units);
  }
};

template <redco::meta::fixed_string Pattern, auto Rank>
struct adapting {
  template <class L, fact::path Here>
  struct at : std::type_identity<L> {};
  template <auto In, auto Out, auto Bias, redco::layers::cut Cut, fact::path Here>
    requires(redco::meta::glob(Pattern.view(), Here.view()))
  struct at<linear<In, Out, Bias, Cut>, Here>
      : std::type_identity<low_rank<linear<In, Out, Bias, Cut>, In, Out, Rank>> {};
};

struct adapted : gpt2 {
  using net = redco::layers::transform<gpt2::net, adapting<"h.*.mlp.*", 2>>;
};

}  // namespace low_rank_test

template <class Base, auto In, auto Out, auto Rank, class X>
struct redco::module<low_rank_test::low_rank<Base, In, Out, Rank>, X> {
  using layer = low_rank_test::low_rank<Base, In, Out, Rank>;

  template <class Config>
  explicit module(redco::nn::builder<Config>& b) : base(b), side_product(b) {}

  template <class Context>
  tensor<layers::out_t<layer, X>> operator()(tensor<X> const& x, Context const& ctx) const {
    auto const y = base(x, ctx);
    at::Tensor const more = side_product(x, ctx).local();
    if constexpr (std::is_same_v<layers::out_t<layer, X>, shape::partial>) {
      return y.with_addend(more);
    } else {
      return y.like(y.local() + more);
    }
  }

  module<Base, X> base;
  module<typename layer::template side_product<X>, X> side_product;
};

namespace low_rank_test {

gpt2 const plain{{.vocab = 7, .context = 8, .width = 12, .heads = 2, .layers = 2}};
adapted const tuned{{plain.config}};

at::Tensor ids_of(walls::share const& mine) {
  at::Tensor const at = at::arange(30, at::kLong);
  return (at * at + 2 * at).remainder(7).view({5, 6}).slice(0, mine.begin, mine.end);
}

/// Returns the logits of a model with the parameters of `sharded::fill`, after `prepare(store)`.
template <class M, class Prepare>
at::Tensor logits_of(M const& m, mesh const& on, Prepare const& prepare) {
  at::Tensor found;
  redco::comm::run_ranks(on, {}, [&](rank_context& rank) {
    redco::run::trained_network<M> const state(m, plan_of(m, on), adamw{}, dtype::f64, 5, rank.rank, {});
    sharded::fill(state.store, rank.tp_index());
    at::NoGradGuard const quiet;
    prepare(state.store);
    pass const in = walls::pass_of(rank, {0, 5}, 0, false);
    at::Tensor const y = bound_network<M>(state.net, in)(ids_of({0, 5})).tensor();
    if (rank.rank == 0) found = y;
  });
  return found;
}

/// Adds each low-rank product to the weight of its linear.
void merge(redco::nn::parameter_store const& store) {
  for (auto const& p : store.parameters()) {
    auto const end = p.name.rfind(".weight");
    if (p.name.find(".mlp.") == std::string::npos || end == std::string::npos) continue;
    std::string const layer = p.name.substr(0, end);
    extents const narrow{2, p.value.size(1)}, wide{p.value.size(0), 2};
    p.value.add_(
        sharded::values_of(layer + ".lora_b.weight", wide).mm(sharded::values_of(layer + ".lora_a.weight", narrow)));
  }
}

bool is_adapter(std::string const& name) { return name.find("lora") != std::string::npos; }

}  // namespace low_rank_test

TEST_CASE("a rewrite by path puts a layer of the user's own around every linear that matches") {
  using namespace low_rank_test;
  at::Tensor const merged = logits_of(plain, mesh{}, merge);
  CHECK(sharded::distance(logits_of(plain, mesh{}, [](auto const&) {}), merged) > 1e-2);
  for (mesh const& on : {mesh{}, mesh{.tp = 2}}) {
    INFO("mesh " << walls::name_of(on));
    CHECK(sharded::distance(logits_of(tuned, on, [](auto const&) {}), merged) < 1e-12);
  }
}

TEST_CASE("layers inserted by a rewrite learn equally on every mesh, and no other parameter changes") {
  using namespace low_rank_test;
  auto const loss = [](auto const& net, walls::share const& mine, int) {
    at::Tensor const ids = ids_of(mine);
    return cross_entropy(net(ids.slice(1, 0, -1)), ids.slice(1, 1));
  };
  adamw const optimizer{.lr = 3e-2, .weight_decay = 0.1};
  walls::task const work{
      .steps = 8,
      .frozen = {"w?e.*", "ln_f.*", "h.*.ln_*", "h.*.attn.*", "h.*.bias", "h.?.mlp.up.weight", "h.?.mlp.down.weight"}};
  auto const start = walls::trained(tuned, optimizer, mesh{}, {.steps = 0, .frozen = work.frozen}, loss);
  auto const end = walls::check_meshes(tuned, optimizer, work, loss, {{.dp = 2}, {.tp = 2}, {.dp = 2, .tp = 2}});
  CHECK(end.losses.back() < end.losses.front());
  for (auto const& [name, value] : end.parameters) {
    INFO(name);
    CHECK(value.equal(start.parameters.at(name)) == !is_adapter(name));
  }
}
