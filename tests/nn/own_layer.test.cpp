#include "nn/observation.hpp"
#include "nn/sharded.hpp"

#include <redco/run/trainer.hpp>  // the example needs it
#include <redco/tensor/saved_tensors.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/wrappers.hpp>

#include <string>
#include <vector>

// Tests the layer of examples/own_layer.cpp, whose text is compiled here, in every layout: a
// parameter with one element per feature.
#define main own_layer_main
#include "../../examples/own_layer.cpp"
#undef main

namespace own_layer_test {

using namespace redco;
using sharded::check_module;
using sharded::tensor_map;
using sharded::values_of;

template <redco::meta::fixed_string Name, class L>
using n = named<Name, L>;

at::Tensor linear_of(tensor_map const& p, std::string const& name, at::Tensor const& x) {
  return at::linear(x, p.at(name + ".weight"), p.at(name + ".bias"));
}
at::Tensor sine_of(tensor_map const& p, std::string const& name, at::Tensor const& x) {
  return at::sin(p.at(name + ".frequency") * x);
}

// The three layouts in one network: split tokens, split features, and tokens split again after a
// pending sum.
using in_parts = sequential<n<"in", linear<4, 4>>, redco::layers::split_tokens, n<"own", sine<4>>, n<"a", linear<4, 6>>,
                            n<"cut", sine<6>>, n<"b", linear<6, 4>>, n<"last", sine<4>>>;
at::Tensor expected(tensor_map const& p, at::Tensor const& x) {
  at::Tensor const own = sine_of(p, "own", linear_of(p, "in", x));
  return sine_of(p, "last", linear_of(p, "b", sine_of(p, "cut", linear_of(p, "a", own))));
}

TEST_CASE("a per-feature parameter of a user's layer is replicated for split tokens, and trains as on one rank") {
  for (std::int64_t const tokens : {5, 6}) {
    INFO(tokens << " tokens");
    check_module<model_of<in_parts, input<5, 4>>>(values_of("x", std::vector<std::int64_t>{3, tokens, 4}), expected);
  }
}

TEST_CASE("a per-feature parameter of a user's layer is replicated if its input has entered") {
  using net = sequential<redco::layers::enter_layer, n<"own", sine<4>>, n<"a", column_linear<4, 6>>, gelu,
                         n<"b", linear<6, 4>>>;
  check_module<net>(values_of("x", std::vector<std::int64_t>{3, 2, 4}), [](tensor_map const& p, at::Tensor const& x) {
    return linear_of(p, "b", at::gelu(linear_of(p, "a", sine_of(p, "own", x)), "tanh"));
  });
}

TEST_CASE("a user's layer of split tokens saves and sends the declared bytes") {
  model_of<in_parts, input<6, 4>> const model{};
  for (int const tp : {1, 2, 3}) {
    INFO("width " << tp);
    saved_test::check_saved_and_sent(
        saved_test::observe_floats(model, {.mesh = {.tp = tp}, .load = {.batch = 3, .sequence = 6}}, {3, 6, 4}));
  }
}

}  // namespace own_layer_test
