// A rewrite names blocks that a model of these sizes has.
#include <redco/shard/legal.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/fact/path.hpp>
#include <redco/shape/blocks.hpp>

#include <type_traits>

struct without_dropout {
  template <class L, redco::fact::path>
  struct at : std::type_identity<L> {};
  template <auto Probability, redco::fact::path Here>
  struct at<redco::dropout<Probability>, Here> : std::type_identity<redco::dropout<redco::layers::real{0.0}>> {};
};

struct rewritten : redco::gpt2 {
  using net = redco::layers::transform_blocks<redco::gpt2::net, "h", redco::shape::block_range{1, 3}, without_dropout>;
};
#if REDCO_ACCEPT
constexpr rewritten model{{{.width = 96, .heads = 6, .layers = 3}}};
#else  // expect: redco[L011] in 9 lines with layer_has<2,
constexpr rewritten model{{{.width = 96, .heads = 6, .layers = 2}}};
#endif
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 2}>{});

int main() {}
