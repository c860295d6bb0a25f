#include "nn/sharded.hpp"

#include <redco/nn/recurrent.hpp>
#include <redco/model/model.hpp>

#include <tuple>
#include <vector>

// Compares LSTM and GRU with libtorch's: values, first and second derivatives, on one to three
// shards.

namespace recurrent_test {

using namespace redco;
using sharded::check_module;
using sharded::tensor_map;

at::Tensor sequences() { return sharded::values_of("x", std::vector<std::int64_t>{3, 5, 4}); }

std::vector<at::Tensor> weights(tensor_map const& p, std::string const& layer) {
  return {p.at(layer + ".weight_ih"), p.at(layer + ".weight_hh"), p.at(layer + ".bias_ih"), p.at(layer + ".bias_hh")};
}
at::Tensor run_lstm(tensor_map const& p, std::string const& layer, at::Tensor const& x, std::int64_t hidden) {
  at::Tensor const zero = at::zeros({1, x.size(0), hidden}, x.options());
  return std::get<0>(at::lstm(x, {zero, zero}, weights(p, layer), true, 1, 0, false, false, true));
}
at::Tensor run_gru(tensor_map const& p, std::string const& layer, at::Tensor const& x, std::int64_t hidden) {
  at::Tensor const zero = at::zeros({1, x.size(0), hidden}, x.options());
  return std::get<0>(at::gru(x, zero, weights(p, layer), true, 1, 0, false, false, true));
}

TEST_CASE("an LSTM equals torch's") {
  using net = sequential<named<"a", lstm<4, 3>>, named<"b", lstm<3, 2>>>;
  check_module<model_of<net, input<5, 4>>>(sequences(), [](tensor_map const& p, at::Tensor const& x) {
    return run_lstm(p, "b", run_lstm(p, "a", x, 3), 2);
  });
  check_module<model_of<lstm<4, 3>, input<1, 4>>>(sequences().narrow(1, 0, 1).contiguous(),
                                                  [](tensor_map const& p, at::Tensor const& x) {
                                                    tensor_map of_layer;
                                                    for (auto const& [name, value] : p)
                                                      of_layer["only." + name] = value;
                                                    return run_lstm(of_layer, "only", x, 3);
                                                  });
}

TEST_CASE("a GRU before split layers equals torch's") {
  using net = sequential<named<"a", gru<4, 6>>, named<"b", gru<6, 3>>, named<"up", linear<3, 6>>, relu,
                         named<"down", linear<6, 2>>>;
  check_module<model_of<net, input<5, 4>>>(sequences(), [](tensor_map const& p, at::Tensor const& x) {
    at::Tensor const y = run_gru(p, "b", run_gru(p, "a", x, 6), 3);
    return at::linear(at::relu(at::linear(y, p.at("up.weight"), p.at("up.bias"))), p.at("down.weight"),
                      p.at("down.bias"));
  });
}

}  // namespace recurrent_test
