#include "nn/sharded.hpp"

#include <redco/layer/dropout.hpp>
#include <redco/layer/gelu.hpp>
#include <redco/layer/layer_norm.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/real.hpp>
#include <redco/layer/relu.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/residual.hpp>
#include <redco/layer/sequential.hpp>

#include <cstdint>
#include <vector>

// Blocks that take turns against the same blocks written out one after another.

namespace repeat_test {

using namespace redco;

using pre_norm = residual<sequential<named<"n", layer_norm<4>>, named<"a", linear<4, 6>>, gelu, dropout<real{0.3}>,
                                     named<"b", linear<6, 4>>>>;
using post_norm = sequential<named<"a", linear<4, 12>>, relu, named<"b", linear<12, 4>>, named<"n", layer_norm<4>>>;

template <layer Blocks>
using net = sequential<named<"first", layer_norm<4>>, named<"h", Blocks>>;
using cycle = net<repeat<5, pre_norm, post_norm>>;
using written_out = net<sequential<named<"0", pre_norm>, named<"1", post_norm>, named<"2", pre_norm>,
                                   named<"3", post_norm>, named<"4", pre_norm>>>;

TEST_CASE("a cycle of blocks computes what they compute one after another, run again in backward or not") {
  at::Tensor const x = sharded::values_of("x", std::vector<std::int64_t>{3, 2, 4});
  for (bool const training : {false, true})
    for (int const width : {1, 2, 3}) {
      INFO("width " << width << ", training " << training);
      auto const wanted = sharded::on_width(sharded::maker_of<written_out>(), width, x, {.training = training});
      CHECK(wanted.gradients.size() == 2 + 3 * 6 + 2 * 6);
      for (bool const recompute : {false, true})
        sharded::check_equal(
            sharded::on_width(sharded::maker_of<cycle>(), width, x, {.training = training, .recompute = recompute}),
            wanted, 1e-15);
    }
}

}  // namespace repeat_test
