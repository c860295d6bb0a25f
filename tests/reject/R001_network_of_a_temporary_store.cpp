// torch
// A network reads its parameters from their store at every call, so the store must outlive the
// network.
#include "points.hpp"

#include <redco/nn/network.hpp>
#include <redco/shard/plan.hpp>

int main() {
  redco::mesh const one{.dp = 1, .tp = 1};
  redco::model_of<two_layers> const model;
  auto const placed = redco::shard::placed_parameters(redco::plan_of(model, one));
#if REDCO_ACCEPT
  redco::nn::parameter_store const store(placed, 0, redco::dtype::f32, 1);
  auto const net = redco::nn::make_network(model, store, 0, one);
#else  // expect: redco[R001]
  auto const net = redco::nn::make_network(model, redco::nn::parameter_store(placed, 0, redco::dtype::f32, 1), 0, one);
#endif
  std::cout << net->parameters().size();
}
