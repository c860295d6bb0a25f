#include "nn/sharded.hpp"

#include <redco/model/gpt2.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/tree.hpp>
#include <redco/layer/wrappers.hpp>

#include <redco/shape/blocks.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

// Compares a GPT-2 whose blocks 1 and 2 have no dropout and another activation with a model whose
// blocks are written out by hand.

namespace transform_blocks_test {

using namespace redco;

/// A small GPT-2 of five blocks with another net.
template <class Net>
struct small {
  using net = Net;
  redco::models::gpt2_config config{.vocab = 11, .context = 8, .width = 12, .heads = 2, .layers = 5, .dropout = 0.3};
};

template <class Activation, bool Drops>
struct changed {
  template <class L, fact::path>
  struct at : std::type_identity<L> {};
  template <redco::layers::activation_kind Kind, fact::path Here>
  struct at<redco::layers::activation<Kind>, Here> : std::type_identity<Activation> {};
  template <auto Kind, fact::path Here>
  struct at<redco::layers::activation<Kind>, Here> : std::type_identity<Activation> {};
  template <auto Probability, fact::path Here>
    requires(!Drops)
  struct at<dropout<Probability>, Here> : std::type_identity<dropout<redco::layers::real{0.0}>> {};
};

using g = gpt2;
template <class Activation, auto Drop>
using block_by_hand = sequential<
    residual<sequential<named<"ln_1", layer_norm<g::width, g::epsilon>>,
                        named<"attn", causal_attention<g::width, g::heads, redco::layers::attention_dropout<g::drop>,
                                                       redco::layers::output_deviation<g::branch_end>>>,
                        dropout<Drop>>>,
    residual<sequential<
        named<"ln_2", layer_norm<g::width, g::epsilon>>,
        named<"mlp", sequential<named<"up", linear<g::width, g::ffn>>, Activation,
                                named<"down", redco::layers::initialised<g::branch_end, linear<g::ffn, g::width>>>>>,
        dropout<Drop>>>>;
using own = block_by_hand<redco::layers::activation<&redco::models::gpt2_config::activation>, g::drop>;
static_assert(std::is_same_v<own, gpt2::block>);
using other = block_by_hand<relu, redco::layers::real{0.0}>;

/// Puts other blocks in the place of the repeat.
template <class Blocks>
struct by_hand {
  template <class L, fact::path>
  struct at : std::type_identity<L> {};
  template <auto Times, class... Kinds, fact::path Here>
  struct at<repeat<Times, Kinds...>, Here> : std::type_identity<Blocks> {};
};
using written_out =
    small<redco::layers::transform<gpt2::net, by_hand<sequential<named<"0", own>, named<"1", other>, named<"2", other>,
                                                                 named<"3", own>, named<"4", own>>>>>;
template <redco::shape::block_range Range, class Activation, bool Drops>
using rewritten = small<redco::layers::transform_blocks<gpt2::net, "h", Range, changed<Activation, Drops>>>;
using by_number = rewritten<redco::shape::block_range{1, 3}, relu, false>;
using renamed = rewritten<redco::shape::block_range{1, 3}, gelu, true>;  // named by the config

at::Tensor ids() {
  at::Tensor const at = at::arange(15, at::kLong);
  return (at * at + 2 * at + 1).remainder(11).view({3, 5});
}

void check_same_bits(sharded::outcome const& a, sharded::outcome const& b) {
  CHECK(a.y.equal(b.y));
  REQUIRE(a.gradients.size() == b.gradients.size());
  for (auto const& [name, gradient] : a.gradients) {
    INFO(name);
    REQUIRE(b.gradients.contains(name));
    CHECK(gradient.equal(b.gradients.at(name)));
  }
}

template <class M>
sharded::outcome run(int width, bool training, recomputed_blocks const& recompute = {}) {
  return sharded::on_width(sharded::maker_of<M>(), width, ids(),
                           {.training = training, .recompute = recompute, .second_order = false});
}

TEST_CASE("blocks rewritten by number equal the model written out by hand, to the bit, on each mesh") {
  for (int const width : {1, 2})
    for (bool const training : {false, true}) {
      INFO("width " << width << ", training " << training);
      sharded::outcome const hand = run<written_out>(width, training);
      CHECK(sharded::distance(run<small<gpt2::net>>(width, training).y, hand.y) > 1e-3);
      check_same_bits(run<by_number>(width, training), hand);
      for (recomputed_blocks const& recompute :
           {recomputed_blocks(true), recomputed_blocks::every_kth(2), recomputed_blocks::in_range({2, 4})})
        check_same_bits(run<by_number>(width, training, recompute), hand);
      sharded::outcome const two = sharded::on_width(sharded::maker_of<by_number>(), width, ids()),
                             wanted = sharded::on_width(sharded::maker_of<written_out>(), width, ids());
      sharded::check_equal(two, wanted, 1e-14);
    }
}

TEST_CASE("blocks of another type with equal computations draw and drop as the untransformed model") {
  for (int const width : {1, 2}) {
    check_same_bits(run<renamed>(width, true), run<small<gpt2::net>>(width, true));
    redco::nn::parameter_store const a(shard::placed_parameters(plan_of(renamed{}, {.tp = width})), 0, dtype::f64, 5),
        b(shard::placed_parameters(plan_of(small<gpt2::net>{}, {.tp = width})), 0, dtype::f64, 5);
    CHECK(a.values().equal(b.values()));
    REQUIRE(a.parameters().size() == b.parameters().size());
    for (std::size_t i = 0; i < a.parameters().size(); ++i) {
      CHECK(a.parameters()[i].name == b.parameters()[i].name);
      CHECK(a.parameters()[i].offset == b.parameters()[i].offset);
    }
  }
}

}  // namespace transform_blocks_test
