#include "nn/sharded.hpp"

#include <redco/model/model.hpp>

#include <redco/nn/embeddings.hpp>
#include <redco/kernel/dropout.hpp>
#include <redco/tensor/tensor.hpp>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Compares every module on one, two and three ranks with plain operators: values, first and second
// derivatives.

namespace modules_test {

using namespace redco;
using sharded::check_module;
using sharded::tensor_map;
using sharded::values_of;

inline at::Tensor apply_linear(tensor_map const& p, std::string const& name, at::Tensor const& x) {
  return at::linear(x, p.at(name + ".weight"), p.at(name + ".bias"));
}
inline at::Tensor apply_layer_norm(tensor_map const& p, std::string const& name, at::Tensor const& x) {
  return at::layer_norm(x, {x.size(-1)}, p.at(name + ".weight"), p.at(name + ".bias"), 1e-5);
}
inline at::Tensor tanh_gelu(at::Tensor const& x) { return at::gelu(x, "tanh"); }

inline at::Tensor some_x() { return values_of("x", std::vector<std::int64_t>{3, 2, 4}); }
inline at::Tensor some_ids() { return at::tensor({4, 10, 0, 7, 7, 3, 10, 1, 9, 4}, at::kLong).view({2, 5}); }

using a_6 = named<"a", linear<4, 6>>;
using b_4 = named<"b", linear<6, 4>>;
using b_alone = named<"alone", linear<4, 4>>;

/// A user's layer with a factor per feature, split like its input.
template <auto Width>
struct feature_scale : redco::layers::featurewise_layer {
  template <class X, class Config>
  static constexpr void facts(Config const& config, redco::fact::recorder& w) {
    fact::parameter_fact factor;
    factor.shape = {redco::layers::extent_of<Width>(config)};
    factor.split(redco::shape::axis::tp, redco::shape::is_feature_split<X> ? 0 : -1, w.activation.units);
    factor.start = {fact::initial::kind::ones, 0};
    w.parameter("factor", factor);
    fact::shared_parameter_facts<X>(w, factor.shape);
    w.save("input");
    w.produce(w.activation.shape, w.activation.split_dim, w.activation.units);
  }
};

/// A user's layer of sums and products of activations.
enum class mix { factor, sum, product, difference };
template <mix How>
struct mixed : redco::layers::featurewise_layer {
  template <class X, class Config>
  static constexpr void facts(Config const&, redco::fact::recorder& w) {
    w.produce(w.activation.shape, w.activation.split_dim, w.activation.units);
  }
};

/// An opaque callable that lists its parameters.
struct listed {
  static constexpr std::array parameters{redco::layers::parameter_shape{"matrix", {5, 4}},
                                         redco::layers::parameter_shape{"shift", {5}}};
  at::Tensor operator()(at::Tensor const& x, std::span<at::Tensor const> p) const {
    return at::tanh(at::linear(x, p[0], p[1]));
  }
};
struct owner {
  at::Tensor matrix = at::zeros({5, 4}).requires_grad_(), shift = at::zeros({5}).requires_grad_();
  std::vector<std::pair<std::string, at::Tensor>> named_parameters() { return {{"matrix", matrix}, {"shift", shift}}; }
  at::Tensor operator()(at::Tensor const& x) { return at::tanh(at::linear(x, matrix, shift)); }
};

}  // namespace modules_test

template <auto Width, class X>
struct redco::module<modules_test::feature_scale<Width>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : factor(b.parameter("factor")) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    return x.like(x.local() * nn::shared_parameter<X>(ctx[factor], ctx.tp()));
  }

  redco::parameter factor;
};

template <modules_test::mix How, class X>
struct redco::module<modules_test::mixed<How>, X> {
  template <class Config>
  explicit module(nn::builder<Config>&) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const&) const {
    switch (How) {
      case modules_test::mix::factor: return x * 1.5;
      case modules_test::mix::sum: return x + x * 0.5;
      case modules_test::mix::product: return x * x;
      case modules_test::mix::difference: return x - x * x;
    }
    return x;
  }
};

namespace modules_test {

TEST_CASE("linear layers are cut by columns, then by rows, and a single one is replicated") {
  using pair = sequential<a_6, gelu, b_4>;
  static_assert(std::is_same_v<redco::layers::out_t<pair, redco::shape::replicated>, redco::shape::partial>);
  check_module<pair>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    return apply_linear(p, "b", tanh_gelu(apply_linear(p, "a", x)));
  });

  using three = sequential<named<"a", linear<4, 6, false>>, silu, b_4, relu, named<"c", linear<4, 5>>>;
  static_assert(std::is_same_v<redco::layers::out_t<three, redco::shape::replicated>, redco::shape::replicated>);
  check_module<three>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    at::Tensor const up = at::linear(x, p.at("a.weight"));
    return apply_linear(p, "c", at::relu(apply_linear(p, "b", at::silu(up))));
  });
}

TEST_CASE("declared cuts hold, and a split result is gathered for the user") {
  using column = sequential<redco::layers::enter_layer, named<"a", column_linear<4, 6>>>;
  static_assert(std::is_same_v<redco::layers::out_t<column, redco::shape::replicated>, redco::shape::split<-1>>);
  check_module<column>(some_x(), [](tensor_map const& p, at::Tensor const& x) { return apply_linear(p, "a", x); });

  using row = sequential<redco::layers::enter_layer, named<"a", column_linear<4, 6>>, relu,
                         named<"b", row_linear<6, 4>>, named<"c", redco::layers::replicated_linear<4, 3>>>;
  check_module<row>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    return apply_linear(p, "c", apply_linear(p, "b", at::relu(apply_linear(p, "a", x))));
  });
}

TEST_CASE("a projection is a linear layer between different widths only") {
  using net = sequential<named<"none", redco::layers::projection<4, 4>>, a_6, gelu, b_4,
                         named<"to", redco::layers::projection<4, 3>>>;
  check_module<net>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    return at::linear(apply_linear(p, "b", tanh_gelu(apply_linear(p, "a", x))), p.at("to.weight"));
  });
}

TEST_CASE("an uneven vocabulary is looked up together with positions") {
  using tokens = named<"wte", embedding<11, 6>>;
  static_assert(std::is_same_v<redco::layers::out_t<tokens, redco::shape::replicated>, redco::shape::partial>);
  check_module<tokens>(
      some_ids(), [](tensor_map const& p, at::Tensor const& ids) { return at::embedding(p.at("wte.weight"), ids); });

  using both = sequential<sum<tokens, named<"wpe", positions<7, 6>>>, named<"a", linear<6, 3>>>;
  check_module<both>(some_ids(), [](tensor_map const& p, at::Tensor const& ids) {
    return apply_linear(p, "a", at::embedding(p.at("wte.weight"), ids) + p.at("wpe.weight").narrow(0, 0, 5));
  });
  at::Tensor const indices = at::tensor({0, 1, 2, 0, 1, 6, 5, 4, 4, 0}, at::kLong).view({2, 5});
  check_module<both>(
      some_ids(),
      [&](tensor_map const& p, at::Tensor const& ids) {
        return apply_linear(p, "a",
                            at::embedding(p.at("wte.weight"), ids) + at::embedding(p.at("wpe.weight"), indices));
      },
      {1, 2}, [&](auto const& net, at::Tensor const& ids) { return net(ids, redco::nn::token_positions{indices}); });

  auto const empty = sharded::on_width(sharded::maker_of<tokens>(), 2, some_ids().narrow(0, 0, 0));
  CHECK(empty.y.sizes() == at::IntArrayRef{0, 5, 6});
  CHECK(empty.gradients.at("wte.weight").eq(0).all().item<bool>());
}

TEST_CASE("norms act on whole features") {
  using net = sequential<named<"n", layer_norm<4>>, a_6, gelu, b_4, named<"r", rms_norm<4>>>;
  check_module<net>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    at::Tensor const y = apply_linear(p, "b", tanh_gelu(apply_linear(p, "a", apply_layer_norm(p, "n", x))));
    return y * (y * y).mean(-1, true).add(1e-6).rsqrt() * p.at("r.weight");
  });
}

TEST_CASE("dropout draws by coordinates: a split activation drops the elements of the whole one") {
  using net = sequential<a_6, relu, dropout<redco::layers::real{0.4}>, b_4, dropout<redco::layers::real{0.25}>>;
  check_module<net>(some_x(),
                    [](tensor_map const& p, at::Tensor const& x) {
                      at::Tensor const up = kernel::dropout(at::relu(apply_linear(p, "a", x)), 0.4,
                                                            random::make_stream(7, 0, 3, 0), 2, 0);
                      return kernel::dropout(apply_linear(p, "b", up), 0.25, random::make_stream(7, 1, 3, 0), 2, 0);
                    },
                    {1, 2, 3}, sharded::call{}, {.training = true});
  check_module<net>(
      some_x(),
      [](tensor_map const& p, at::Tensor const& x) { return apply_linear(p, "b", at::relu(apply_linear(p, "a", x))); },
      {2});
}

TEST_CASE("a residual branch is reduced once, parallel branches are added before one reduction") {
  using mlp = sequential<named<"n", layer_norm<4>>, a_6, gelu, b_4>;
  static_assert(
      std::is_same_v<redco::layers::out_t<residual<mlp>, redco::shape::replicated>, redco::shape::replicated>);
  check_module<residual<mlp>>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    return x + apply_linear(p, "b", tanh_gelu(apply_linear(p, "a", apply_layer_norm(p, "n", x))));
  });

  using branches = sum<sequential<a_6, relu, b_4>, named<"skip", redco::layers::replicated_linear<4, 4>>,
                       named<"other", sequential<gated<4, 6>, named<"down", linear<6, 4>>>>>;
  static_assert(std::is_same_v<redco::layers::out_t<branches, redco::shape::replicated>, redco::shape::partial>);
  sharded::dense_function const expected = [](tensor_map const& p, at::Tensor const& x) {
    at::Tensor const gate = at::silu(at::linear(x, p.at("other.gate.weight"))) * at::linear(x, p.at("other.up.weight"));
    return apply_layer_norm(p, "n",
                            apply_linear(p, "b", at::relu(apply_linear(p, "a", x))) + apply_linear(p, "skip", x) +
                                apply_linear(p, "other.down", gate));
  };
  check_module<sequential<branches, named<"n", layer_norm<4>>>>(some_x(), expected);

  using whole =
      sum<named<"a", redco::layers::replicated_linear<4, 5>>, named<"b", redco::layers::replicated_linear<4, 5>>>;
  static_assert(std::is_same_v<redco::layers::out_t<whole, redco::shape::replicated>, redco::shape::replicated>);
  check_module<whole>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    return apply_linear(p, "a", x) + apply_linear(p, "b", x);
  });
}

TEST_CASE("branches enter together, and so do nested sums of branches") {
  using pair = sequential<a_6, relu, b_4>;
  using net = sequential<
      named<"n", layer_norm<4>>,
      sum<sum<named<"p", pair>, named<"q", pair>>, named<"w", redco::layers::replicated_linear<4, 4>>,
          named<"r", sequential<dropout<redco::layers::real{0.5}>, pair>>, named<"s", sum<named<"t", pair>, b_alone>>>>;
  check_module<net>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    at::Tensor const y = apply_layer_norm(p, "n", x);
    at::Tensor total = apply_linear(p, "w", y) + apply_linear(p, "s.alone", y);
    for (std::string const at : {"p.", "q.", "r.", "s.t."})
      total = total + apply_linear(p, at + "b", at::relu(apply_linear(p, at + "a", y)));
    return total;
  });
}

TEST_CASE("branches that all enter can enter together") {
  using branches = sum<sequential<a_6, relu, b_4>, named<"other", sequential<a_6, gelu, b_4>>>;
  using net = sequential<named<"n", layer_norm<4>>, redco::layers::enter_layer, branches>;
  static_assert(std::is_same_v<redco::layers::out_t<net, redco::shape::replicated>, redco::shape::partial>);
  check_module<net>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    at::Tensor const y = apply_layer_norm(p, "n", x);
    return apply_linear(p, "b", at::relu(apply_linear(p, "a", y))) +
           apply_linear(p, "other.b", tanh_gelu(apply_linear(p, "other.a", y)));
  });
}

TEST_CASE("a gated layer is cut by columns, which keeps its two matrices adjacent") {
  using net = sequential<gated<4, 6, gelu, true>, b_4, named<"alone", gated<4, 5>>>;
  check_module<net>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    at::Tensor const y = apply_linear(p, "b", tanh_gelu(apply_linear(p, "gate", x)) * apply_linear(p, "up", x));
    return at::silu(at::linear(y, p.at("alone.gate.weight"))) * at::linear(y, p.at("alone.up.weight"));
  });
}

TEST_CASE("repeated blocks have their own parameters and are recomputed in backward if requested") {
  using block = residual<sequential<named<"n", layer_norm<4>>, a_6, gelu, dropout<redco::layers::real{0.3}>, b_4>>;
  using net = sequential<named<"first", linear<4, 4>>, named<"h", repeat<3, repeat<2, block>>>>;
  sharded::dense_function const expected = [](tensor_map const& p, at::Tensor x) {
    x = apply_linear(p, "first", x);
    for (int i = 0; i < 6; ++i) {
      std::string const at = "h." + std::to_string(i / 2) + "." + std::to_string(i % 2) + ".";
      x = x + apply_linear(p, at + "b", tanh_gelu(apply_linear(p, at + "a", apply_layer_norm(p, at + "n", x))));
    }
    return x;
  };
  check_module<net>(some_x(), expected);
  check_module<net>(some_x(), expected, {1, 2}, sharded::call{}, {.recompute = true});

  auto const plain = sharded::on_width(sharded::maker_of<net>(), 1, some_x(), {.training = true});
  CHECK(sharded::distance(plain.y, sharded::dense(expected, plan_of(model_of<net>{}, {.dp = 1}), some_x()).y) > 1e-3);
  for (int const width : {1, 3})
    for (recomputed_blocks const& blocks : {recomputed_blocks(true), recomputed_blocks::every_kth(2),
                                            recomputed_blocks::first_n(1), recomputed_blocks::in_range({1, 2})})
      sharded::check_equal(
          sharded::on_width(sharded::maker_of<net>(), width, some_x(), {.training = true, .recompute = blocks}), plain);
}

TEST_CASE("convolutions, pooling and flattening are replicated before a pair of linear layers") {
  using net = sequential<named<"c", conv2d<2, 3, 3, 1, 1>>, relu, max_pool<2>, named<"d", conv2d<3, 2, 2, 2, 0, false>>,
                         flatten, named<"a", linear<2, 6>>, gelu, b_4>;
  at::Tensor const images = values_of("images", std::vector<std::int64_t>{3, 2, 5, 7});
  check_module<model_of<net, input<2, 5, 7>>>(images, [](tensor_map const& p, at::Tensor const& x) {
    at::Tensor const c =
        at::max_pool2d(at::relu(at::conv2d(x, p.at("c.weight"), p.at("c.bias"), {1, 1}, {1, 1})), {2, 2});
    at::Tensor const d = at::conv2d(c, p.at("d.weight"), {}, {2, 2}).flatten(1);
    return apply_linear(p, "b", tanh_gelu(apply_linear(p, "a", d)));
  });
}

TEST_CASE("an opaque callable is data parallel, whether it lists or owns its parameters") {
  sharded::dense_function const expected = [](tensor_map const& p, at::Tensor const& x) {
    at::Tensor const y = apply_linear(p, "b", at::relu(apply_linear(p, "a", x)));
    return at::tanh(at::linear(y, p.at("mine.matrix"), p.at("mine.shift")));
  };
  check_module<sequential<a_6, relu, b_4, named<"mine", opaque<listed>>>>(some_x(), expected);
  using owning = sequential<a_6, relu, b_4, named<"mine", opaque<owner>>>;
  check_module<owning>(some_x(), expected, {1, 2}, sharded::call{}, {.second_order = false});
  CHECK_THROWS_AS(sharded::on_width(sharded::maker_of<owning>(), 1, some_x()), redco::error);
}

TEST_CASE("an opaque owner that is frozen trains nothing") {
  using net = named<"mine", opaque<owner>>;
  redco::comm::run_ranks({.dp = 1}, {}, [&](rank_context& rank) {
    redco::nn::parameter_store const store(shard::placed_parameters(plan_of(model_of<net>{}, rank.mesh)), 0, dtype::f64,
                                           1, {"mine.*"});
    auto const modules = std::make_shared<redco::nn::network<model_of<net>> const>(model_of<net>{}, store, 0, mesh{});
    pass const in = redco::nn::evaluation_pass(rank);
    bound_network<model_of<net>> const bound(modules, in);
    sharded::must(!bound(some_x()).requires_grad(), "frozen parameters need no gradient");
    std::vector<at::Tensor> target;
    for (at::Tensor const& t : bound.parameters()) target.push_back(t + 1);
    at::Tensor const before = bound(some_x());
    sharded::must(!bound.substituted(target)(some_x()).equal(before), "a target copy is another network");
    sharded::must(bound(some_x()).equal(before), "the network itself is as it was");
    sharded::must(bound.substituted(bound.parameters())(some_x()).equal(before),
                  "substitution of equal parameters gives equal outputs");
    sharded::must(&bound.substituted(target).base() == &bound.base(), "no module is made again");
    auto const refusal = [](auto const& call) -> std::string {
      try {
        call();
      } catch (error const& e) {
        return e.code() == exit_code::internal ? e.what() : "another code";
      }
      return "";
    };
    sharded::must(refusal([&] {
                    bound.substituted({target[0]});
                  }).starts_with("the network takes " + std::to_string(target.size())),
                  "too few tensors are refused");
    target[0].requires_grad_();
    sharded::must(
        refusal([&] { bound.substituted(target)(some_x()); }).find("cannot be differentiated") != std::string::npos,
        "an owner is not differentiated in other tensors");
  });
}

TEST_CASE("names and prescribed deviations change no value") {
  using net = named<"outer", redco::layers::initialised<
                                 redco::layers::real{0.02},
                                 sequential<a_6, gelu, redco::layers::initialised<redco::layers::real{0.5}, b_4>>>>;
  static_assert(std::is_same_v<redco::layers::out_t<net, redco::shape::replicated>, redco::shape::partial>);
  check_module<net>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    return apply_linear(p, "outer.b", tanh_gelu(apply_linear(p, "outer.a", x)));
  });
}

TEST_CASE("a factor can be rounded to the compute dtype before the product") {
  // sqrt(3072) is 55.5 in bf16. Results are rounded to multiples of 2.
  using net = model_of<sequential<redco::layers::scale<redco::layers::real{55.4256258}, true>, b_alone>, input<4>>;
  at::Tensor y;
  redco::comm::run_ranks({.dp = 1}, {}, [&](rank_context& rank) {
    at::NoGradGuard const no_grad;
    redco::nn::parameter_store const store(shard::placed_parameters(plan_of(net{}, rank.mesh)), 0, dtype::bf16, 1);
    store.find("alone.weight")->value.copy_(at::eye(4)), store.find("alone.bias")->value.zero_();
    auto const network = std::make_shared<redco::nn::network<net> const>(net{}, store, 0, rank.mesh);
    pass const in = redco::nn::evaluation_pass(rank);
    y = bound_network<net>(network, in)(at::tensor({9.0, -9.0, 1.0, 0.0}).view({1, 4}));
  });
  CHECK(at::equal(y.to(at::kFloat), at::tensor({500.0f, -500.0f, 55.5f, 0.0f}).view({1, 4})));
}

TEST_CASE("a user's own layer type is planned and computed like any other") {
  using net = sequential<named<"whole", feature_scale<4>>, a_6, named<"cut", feature_scale<6>>, b_4>;
  check_module<net>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    return apply_linear(p, "b", apply_linear(p, "a", x * p.at("whole.factor")) * p.at("cut.factor"));
  });
}

/// Checks `tokens` rows of features that are split over the shards, mixed, and gathered before a
/// pair of linear layers.
template <mix How, std::int64_t Tokens>
void check_mixed(std::vector<int> const& widths, at::Tensor (*expected)(at::Tensor const&)) {
  using net = sequential<redco::layers::split_tokens, named<"n", layer_norm<4>>, mixed<How>, a_6, gelu, b_4>;
  check_module<model_of<net, input<Tokens, 4>>>(
      values_of("x", std::vector<std::int64_t>{3, Tokens, 4}),
      [expected](tensor_map const& p, at::Tensor const& x) {
        return apply_linear(p, "b", tanh_gelu(apply_linear(p, "a", expected(apply_layer_norm(p, "n", x)))));
      },
      widths);
}

TEST_CASE("a user's layer can add and multiply split tokens, even if their number is not divisible") {
  check_mixed<mix::factor, 15>({1, 2, 3, 6}, [](at::Tensor const& x) { return x * 1.5; });
  check_mixed<mix::factor, 16>({3}, [](at::Tensor const& x) { return x * 1.5; });
  check_mixed<mix::sum, 15>({2, 6}, [](at::Tensor const& x) { return x * 1.5; });
  check_mixed<mix::product, 15>({2, 6}, [](at::Tensor const& x) { return x * x; });
  check_mixed<mix::difference, 16>({3}, [](at::Tensor const& x) { return x - x * x; });
}

TEST_CASE("the logits of a language model can be gathered and differentiated") {
  using tied = sequential<named<"wte", embedding<11, 6>>, named<"n", layer_norm<6>>,
                          redco::layers::language_head<11, 6, "wte.weight">>;
  static_assert(std::is_same_v<redco::layers::out_t<tied, redco::shape::replicated>, redco::layers::as_logits>);
  check_module<tied>(some_ids(), [](tensor_map const& p, at::Tensor const& ids) {
    return at::linear(apply_layer_norm(p, "n", at::embedding(p.at("wte.weight"), ids)), p.at("wte.weight"));
  });
  using own = sequential<a_6, gelu, b_4, named<"head", redco::layers::language_head<7, 4>>>;
  check_module<own>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    return at::linear(apply_linear(p, "b", tanh_gelu(apply_linear(p, "a", x))), p.at("head.weight"));
  });
}

TEST_CASE("positions count visible tokens: 0 for the first token after padding, -1 for padding") {
  at::Tensor const counted = at::tensor({0, 0, 1, 1, 1, 1, 1, 1, 0, 1}, at::kLong).view({2, 5}).to(at::kBool);
  at::Tensor const wanted = at::tensor({-1, -1, 0, 1, 2, 0, 1, 2, -1, 3}, at::kLong).view({2, 5});
  CHECK(redco::nn::detail::positions_of(counted).equal(wanted));
}

}  // namespace modules_test
