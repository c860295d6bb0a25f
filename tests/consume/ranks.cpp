// A program that depends on redco and sums over two ranks. Exit code 0 if the sum is right.
#include <redco/comm/thread_world.hpp>

#include <redco/run/main_of.hpp>
#include <redco/options/deployer_options.hpp>

int main(int argc, char** argv) {
  return redco::main_of<redco::deployer_options>(argc, argv, [](redco::deployer_options const& o) {
    double sum = 0;
    redco::comm::run_ranks(redco::options::mesh_of(o), {}, [&](redco::rank_context& rank) {
      at::Tensor const x = at::full({3}, rank.rank + 1.0);
      rank.world.all_reduce(x);
      if (rank.rank == 0) sum = x.sum().item<double>();
    });
    int const ranks = redco::options::mesh_of(o).ranks();
    return sum == 1.5 * ranks * (ranks + 1) ? 0 : 2;
  });
}
