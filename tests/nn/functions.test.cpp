// Layers that consist of one lambda.
#include "nn/sharded.hpp"

#include "observation.hpp"

#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace functions_test {

using namespace redco;
using sharded::check_module;
using sharded::tensor_map;
using sharded::values_of;

inline constexpr auto swish = [](auto const& x) { return x * x.sigmoid().square(); };
inline constexpr auto unit = [](auto const& x) { return x / (x.square().sum(-1, true) + 1).sqrt(); };
using swish_squared = elementwise<swish>;
using unit_rows = rowwise<unit, 2>;  // the sums are small
using up = named<"up", linear<4, 6>>;
using down = named<"down", linear<6, 4>>;

inline at::Tensor some_x() { return values_of("x", std::vector<std::int64_t>{3, 5, 4}); }
inline at::Tensor apply(tensor_map const& p, std::string const& name, at::Tensor const& x) {
  return at::linear(x, p.at(name + ".weight"), p.at(name + ".bias"));
}

TEST_CASE("an elementwise function runs on split features, and a row-wise function on whole features") {
  using net = sequential<unit_rows, up, swish_squared, down>;
  static_assert(
      std::is_same_v<
          redco::layers::out_t<sequential<redco::layers::enter_layer, named<"up", column_linear<4, 6>>, swish_squared>,
                               redco::shape::replicated>,
          redco::shape::split<-1>>);
  check_module<net>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    return apply(p, "down", swish(apply(p, "up", unit(x))));
  });
}

TEST_CASE("elementwise and row-wise functions give correct results on unevenly split tokens") {
  using block = residual<sequential<unit_rows, up, swish_squared, down>>;
  using net =
      sequential<named<"in", linear<4, 4>>, redco::layers::split_tokens, named<"h", repeat<2, block>>, unit_rows>;
  check_module<model_of<net, input<5, 4>>>(some_x(), [](tensor_map const& p, at::Tensor const& x) {
    at::Tensor y = apply(p, "in", x);
    for (std::string const at : {"h.0.", "h.1."}) y = y + apply(p, at + "down", swish(apply(p, at + "up", unit(y))));
    return unit(y);
  });
}

/// A network whose lambda layers are between layers that save their input and one that saves
/// nothing.
struct functional {
  using block =
      residual<sequential<unit_rows, named<"up", linear<24, 48>>, swish_squared, named<"down", linear<48, 24>>>>;
  using net = sequential<named<"in", linear<20, 24>>, swish_squared, named<"h", repeat<3, block>>, unit_rows,
                         named<"out", linear<24, 6>>>;
  no_config config;

  extents input(workload const& load) const { return {load.batch, load.sequence, 20}; }
};

TEST_CASE("a function saves only its input, and the peak is the planned one") {
  for (int const tp : {1, 2})
    for (recomputed_blocks const& blocks : {recomputed_blocks(false), recomputed_blocks(true)}) {
      INFO("tp " << tp << " recompute " << blocks.any());
      auto const all = saved_test::observe_floats(
          functional{}, {.mesh = {.tp = tp}, .load = {64, 80}, .recompute = blocks}, {64, 80, 20});
      saved_test::check_saved_and_sent(all);
      saved_test::check_peak(all);
    }
}

template <class Layer>
std::string refusal_of() {
  using model = model_of<sequential<named<"in", linear<4, 4>>, named<"h", repeat<2, named<"mine", Layer>>>>>;
  std::string message;
  redco::comm::run_ranks({}, {}, [&](rank_context& rank) {
    redco::nn::parameter_store const store(shard::placed_parameters(plan_of(model{}, rank.mesh)), 0, dtype::f32, 1);
    pass const in = redco::nn::evaluation_pass(rank);
    bound_network<model> const net(std::make_shared<redco::nn::network<model> const>(model{}, store, 0, mesh{}), in);
    try {
      net(at::ones({3, 4}));
    } catch (error const& e) {
      message = e.what();
    }
  });
  return message;
}

TEST_CASE("a function that returns another shape or dtype is refused with the path of its layer") {
  std::string const shape = refusal_of<rowwise<[](auto const& x) { return x.sum(-1); }>>();
  CHECK(shape.find("'h.0.mine'") != std::string::npos);
  CHECK(shape.find("its function gives Float [3], no tensor like") != std::string::npos);
  std::string const type = refusal_of<elementwise<[](auto const& x) { return x.gt(0); }>>();
  CHECK(type.find("its function gives Bool [3, 4], no tensor like") != std::string::npos);
}

}  // namespace functions_test
