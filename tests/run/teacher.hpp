#pragma once

// Two networks of one program: a teacher, and a student of another width.
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/shape/extents.hpp>

namespace worker_test {

struct teacher {
  using net = redco::sequential<redco::named<"up", redco::linear<3, 8>>, redco::relu,
                                redco::named<"down", redco::linear<8, 2>>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, 3}; }
};
struct student {
  using net = redco::sequential<redco::named<"up", redco::linear<3, 4>>, redco::tanh_layer,
                                redco::named<"down", redco::linear<4, 2>>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, 3}; }
};

}  // namespace worker_test
