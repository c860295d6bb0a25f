#include "mlp.hpp"

#include <string>
#include <vector>

// A layer type of a user, defined in the user's file: x * exp(-factor x) for each feature, under
// every split of x.

template <auto Width, bool Honest>
struct damping {
  using layer_concept = redco::layers::leaf_tag;
  static constexpr bool featurewise = true;
  template <class X>
  using out = X;

  template <class X, class Config>
  static constexpr void facts(Config const& config, redco::fact::recorder& w) {
    redco::fact::flow const input = w.activation;
    redco::fact::parameter_fact factor;
    factor.shape = {redco::layers::extent_of<Width>(config)};
    factor.split(redco::shape::axis::tp, redco::shape::is_feature_split<X> ? 0 : -1,
                 redco::layers::extent_of<Width>(config));
    factor.start = {redco::fact::initial::kind::normal, 0.5};
    w.parameter("factor", factor);
    redco::fact::shared_parameter_facts<X>(w, factor.shape);
    w.save("x");
    if (Honest) w.save("decay", input.shape, input.split_dim, redco::fact::width_kind::compute, input.units);
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
  }
};

template <auto Width, bool Honest, class X>
struct redco::module<damping<Width, Honest>, X> {
  template <class Config>
  explicit module(redco::nn::builder<Config>& b) : factor(b.parameter("factor")) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    return x.like(x.local() * at::exp(redco::nn::shared_parameter<X>(ctx[factor], ctx.tp()) * x.local()));
  }

  redco::parameter factor;
};

namespace {

using namespace redco;

template <bool Honest>
struct damped {
  using net = sequential<named<"up", linear<5, 12>>, named<"damp", damping<12, Honest>>, named<"down", linear<12, 3>>>;
  no_config config;
};

template <bool Honest>
run_test::outcome fit(mesh const& on) {
  temporary_folder folder;
  deployer_options where = run_test::in(folder.path, on);
  where.check_saved = true;
  run_test::options_of<damped<Honest>, decltype(run_test::mlp_pipeline())> o;
  o.epochs = 3;
  o.global_batch = 5;
  return run_test::fit(where, damped<Honest>{}, run_test::mlp_pipeline(), run_test::numbers(13), o, {.lr = 0.02});
}

}  // namespace

TEST_CASE("a user's own layer type is cut like the library's and saves the declared tensors") {
  auto const one = fit<true>({.dp = 1});
  for (mesh const& on : {mesh{.dp = 2}, {.tp = 2}, {.tp = 3}, {.dp = 2, .tp = 2}}) {
    auto const run = fit<true>(on);
    INFO(on.dp << "x" << on.tp << " " << run.reason);
    REQUIRE(run.code == 0);
    CHECK(run_test::difference(one.losses, run.losses) < 1e-10);
  }
}

TEST_CASE("a layer that saves more than it declares is found in the first step, with its name and the tensor") {
  auto const run = fit<false>({.tp = 2});
  CHECK(run.code == static_cast<int>(exit_code::internal));
  CHECK(run_test::mentions(run, "an input [5, 5]"));
  CHECK(run_test::mentions(run, "damp: a tensor f64 [5, 6] is saved and not declared"));
}
