// torch
// A network that is bound to a second pass keeps a reference to it, so this pass needs a name too.
#include "points.hpp"

#include <redco/run/worker.hpp>
#include <redco/optimizer/optimizers.hpp>

redco::model_of<redco::sequential<redco::linear<1, 8>, redco::relu, redco::linear<8, 1>>> const model;

int main() {
  redco::deployer deployer({});
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 1});
    auto& net = worker.add("net", model, redco::sgd{.lr = 0.1});
    redco::pass const in = worker.pass(0, 2), still = worker.pass(0, 2, false);
    auto const bound = net.in(in);
    at::Tensor const x = at::ones({2, 1});
#if REDCO_ACCEPT
    std::cout << bound.in(still)(x);
#else  // expect: redco[R001]
    std::cout << bound.in(worker.pass(0, 2, false))(x);
#endif
    worker.end_step();
  });
}
