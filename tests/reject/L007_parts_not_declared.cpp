// A layer that contains another layer must declare it, because rewriting the model has to reach the
// inner layer.
#include <redco/shard/plan.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/tree.hpp>
#include <redco/layer/wrappers.hpp>

template <class Body>
struct wrapping {
  template <class X>
  using out = redco::layers::out_t<Body, X>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, redco::fact::recorder& w) {
    Body::template facts<X>(config, w);
  }
};

#if REDCO_ACCEPT
template <redco::layer Body>
struct wrapped : wrapping<Body> {
  using layer_concept = redco::layers::layer_tag;
  using subs = redco::layers::parts<redco::layers::part<"", Body>>;
  template <class Other>
  using rebind = wrapped<Other>;
};
#else  // expect: redco[L007]
template <redco::layer Body>
struct wrapped : wrapping<Body> {
  using layer_concept = redco::layers::layer_tag;
};
#endif

using net = redco::sequential<redco::linear<4, 8>, redco::named<"wrapped", wrapped<redco::linear<8, 4>>>>;
constexpr redco::model_of<net> model{};
static_assert(redco::plan_of<model>({.dp = 1, .tp = 2}).entries.size() == 4);

int main() {}
