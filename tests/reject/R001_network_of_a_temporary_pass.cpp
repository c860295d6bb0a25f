// torch
// A network that a program binds by hand keeps a reference to its pass.
#include "points.hpp"

#include <redco/run/worker.hpp>
#include <redco/optimizer/optimizers.hpp>

using points_model = redco::model_of<redco::sequential<redco::linear<1, 8>, redco::relu, redco::linear<8, 1>>>;

int main() {
  redco::deployer deployer({});
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 1});
    auto& net = worker.add("net", points_model{}, redco::sgd{.lr = 0.1});
    redco::pass const in = worker.pass(0, 2);
#if REDCO_ACCEPT
    redco::bound_network<points_model> const bound(net.net, in);
#else  // expect: redco[R001]
    redco::bound_network<points_model> const bound(net.net, worker.pass(0, 2));
#endif
    std::cout << bound(at::ones({2, 1}));
    worker.end_step();
  });
}
