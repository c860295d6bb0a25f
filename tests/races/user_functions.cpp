// Runs user functions, which all ranks call concurrently, under ThreadSanitizer: trains, evaluates
// and predicts with two replicas and then with two shards. With --planted the loss counts its calls
// in a variable that the ranks share without synchronisation. ThreadSanitizer must report it.

#include "run/mlp.hpp"

#include <cstdlib>
#include <iostream>
#include <string_view>

int main(int argc, char** argv) {
  bool const planted = argc > 1 && std::string_view(argv[1]) == "--planted";
  std::int64_t calls = 0;
  run_test::behaviour functions;
  functions.loss = [&](at::Tensor const& each, run_test::mlp_batch const&) {
    if (planted) ++calls;
    return each.sum();
  };

  run_test::mlp_options options;
  options.max_steps = 3;
  options.global_batch = 5;
  options.micro_batch = 2;
  options.eval = run_test::numbers(7);
  options.metrics = [](std::span<std::int64_t const> examples, std::span<std::int64_t const> outputs) {
    return redco::options::metric_map{{"right", static_cast<double>(examples.size() + outputs.size())}};
  };
  for (redco::mesh const mesh : {redco::mesh{.dp = 2}, redco::mesh{.tp = 2}}) {
    temporary_folder const folder;
    auto const run = run_test::fit_mlp(run_test::in(folder.path, mesh), options, 13, functions);
    if (run.code != 0 || run.losses.size() != 3 || run.evaluation.at("right") != 14) {
      std::cerr << "the run on " << mesh.dp << "x" << mesh.tp << " failed: " << run.reason << "\n";
      return EXIT_FAILURE;
    }
  }
}
