#pragma once

// Rows of blocks that differ in whether layers save their input or their output.

#include <redco/layer/activations.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstddef>
#include <tuple>

namespace cost_test {

using namespace redco;

using pre_norm =
    residual<sequential<named<"n", layer_norm<12>>, named<"a", linear<12, 48>>, gelu, named<"b", linear<48, 12>>>>;
using post_norm = sequential<named<"a", linear<12, 24>>, relu, named<"b", linear<24, 12>>, named<"n", layer_norm<12>>>;
using saves_output = sequential<named<"a", linear<12, 12>>, relu>;
using narrow = residual<named<"n", layer_norm<12>>>;

/// Block I of a cycle.
template <std::size_t I, class... Blocks>
using turn = std::tuple_element_t<I % sizeof...(Blocks), std::tuple<Blocks...>>;

}  // namespace cost_test
