// torch
// Backward may read the pass again, so a network does not take a pass that ends with the
// expression.
#include "points.hpp"

#include <redco/run/worker.hpp>
#include <redco/optimizer/optimizers.hpp>

redco::model_of<redco::sequential<redco::linear<1, 8>, redco::relu, redco::linear<8, 1>>> const model;

int main() {
  redco::deployer deployer({});
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 1});
    auto& net = worker.add("net", model, redco::sgd{.lr = 0.1});
    at::Tensor const x = at::ones({2, 1});
#if REDCO_ACCEPT
    redco::pass const in = worker.pass(0, 2);
    worker.update(net, {net.in(in)(x).sum(), 2});
#else  // expect: redco[R001]
    worker.update(net, {net.in(worker.pass(0, 2))(x).sum(), 2});
#endif
    worker.end_step();
  });
}
