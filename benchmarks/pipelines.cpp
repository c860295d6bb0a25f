// Measures training steps on pipeline stages whose blocks sleep 10 ms in forward and 20 ms in
// backward. Compares makespan and idle share with schedule::simulate, for 1F1B and GPipe on 2, 4
// and 8 stages. A step has as many micro-batches as stages, twice and four times as many. Prints
// one JSON line per case, and the largest error. Exit code 1 if an error exceeds 5 %.
//   pipelines                       stages are threads
//   mpirun -n 4 pipelines --mesh pp=4      stages are processes

#include "temporary_folder.hpp"
#include "timed_stages.hpp"

#include <redco/run/deployer.hpp>
#include <redco/run/main_of.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/options/launch.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

namespace {

using redco::schedule::pipeline_kind;
constexpr double promised = 0.05;

struct pipeline_options {
  redco::deployer_options deployer;
  std::int64_t forward = 10'000, backward = 20'000, jitter = 0;
  int rounds = 3;

  static constexpr auto fields() {
    using o = pipeline_options;
    using redco::field;
    return redco::fields(
        field<"deployer">(&o::deployer, "where to run"),
        field<"forward">(&o::forward, "microseconds that a block sleeps in forward").at_least(1),
        field<"backward">(&o::backward, "microseconds that a block sleeps in backward").at_least(1),
        field<"jitter">(&o::jitter, "largest random addition to each sleep, in microseconds").at_least(0),
        field<"rounds">(&o::rounds, "steps of each case, of which the fastest counts").at_least(1));
  }
};

/// Measures all cases on the rank's mesh. Rank 0 prints them. Returns the largest error.
double compare(redco::rank_context& me, pipeline_options const& o) {
  double worst = 0;
  timed_stages::sleeping_config const config{1, o.forward, o.backward, o.jitter};
  for (pipeline_kind const order : {pipeline_kind::one_f_one_b, pipeline_kind::gpipe})
    for (int const factor : {1, 2, 4}) {
      int const stages = me.mesh.pp, micros = factor * stages;
      auto const found = timed_stages::measured(me, order, micros, config, o.rounds);
      auto const expected = timed_stages::simulated(stages, order, micros, config);
      double const ratio = found.makespan / expected.makespan, idle = found.idle - expected.idle;
      worst = std::max({worst, std::abs(ratio - 1), std::abs(idle)});
      if (me.rank == 0)
        std::cout << R"({"schedule": ")" << redco::schedule::pipeline_kind_texts.text_of(order) << R"(", "stages": )"
                  << stages << R"(, "micro_batches": )" << micros << R"(, "makespan_s": )" << found.makespan
                  << R"(, "simulated_s": )" << expected.makespan << R"(, "ratio": )" << ratio << R"(, "idle": )"
                  << found.idle << R"(, "simulated_idle": )" << expected.idle << "}" << std::endl;
    }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<pipeline_options>(
      argc, argv, "Times training steps on pipeline stages that sleep.", [](pipeline_options const& o) {
        double worst = 0;
        if (o.deployer.mesh) {
          redco::deployer deployer(o.deployer);
          deployer.run([&](redco::rank_context& me) {
            double const found = compare(me, o);
            if (me.world.rank() == 0) worst = found;
          });
        } else {
          for (int const stages : {2, 4, 8})
            redco::comm::run_ranks({.pp = stages, .dp = 1}, {.threads = 1}, [&](redco::rank_context& me) {
              double const found = compare(me, o);
              if (me.rank == 0) worst = std::max(worst, found);
            });
        }
        std::cout << R"({"largest_error": )" << worst << "}\n";
        return o.jitter > 0 || worst <= promised ? 0 : 1;
      });
}
