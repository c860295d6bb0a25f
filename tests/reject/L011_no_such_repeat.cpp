// Blocks are rewritten in a repeat that the model has, at its path.
#include <redco/shard/plan.hpp>
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
#if REDCO_ACCEPT
  using net = redco::layers::transform_blocks<redco::gpt2::net, "h", redco::shape::block_range{1, 3}, without_dropout>;
#else  // expect: redco[L011]
  using net =
      redco::layers::transform_blocks<redco::gpt2::net, "layers", redco::shape::block_range{1, 3}, without_dropout>;
#endif
};
constexpr rewritten model{{{.width = 96, .heads = 6, .layers = 4}}};
static_assert(redco::plan_of<model>({.dp = 1, .tp = 2}).entries.size() > 0);

int main() {}
