// Measures steps per second and CPU time of a small model on all cores, alone and with busy
// processes. Compares two settings of how OpenMP threads wait: libgomp's default and redco's.
//   waiting [--seconds 4] [--rounds 5] [--busy 2] [--width 256]
// The two settings take turns; ratios are ratios of medians. On a machine that is not quiet, start
// it by `chrt -f 10` to give the first row its cores.

#include "temporary_folder.hpp"
#include "timing.hpp"

#include <redco/train.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct waiting_options {
  double seconds = 4;
  int rounds = 5, busy = static_cast<int>(std::thread::hardware_concurrency());
  std::int64_t width = 256;
  bool once = false;

  static constexpr auto fields() {
    using o = waiting_options;
    using redco::field;
    return redco::fields(
        field<"seconds">(&o::seconds, "seconds of one measurement, after a second of warm-up").at_least(0),
        field<"rounds">(&o::rounds, "turns of the two settings").at_least(1),
        field<"busy">(&o::busy, "number of processes that compute concurrently with the model").at_least(1),
        field<"width">(&o::width, "features of the model and examples of its batch").at_least(1),
        field<"once">(&o::once, "one measurement as it is: steps per second, CPU seconds per second"));
  }
};

struct speed {
  double steps = 0, cpu = 0;  ///< per second
};

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  auto const seconds = [](timeval const& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct square_config {
  std::int64_t width = 256;
};
struct square {
  static constexpr auto width = &square_config::width;
  using net = redco::sequential<redco::linear<width, width>, redco::relu, redco::linear<width, width>>;
  square_config config;
  redco::extents input(redco::workload const& load) const { return {load.batch, config.width}; }
};

speed measured(waiting_options const& o) {
  temporary_folder const folder;
  redco::deployer deployer({.workdir = folder.path, .dtype = redco::dtype::f32, .resume = "none", .quiet = true});
  speed found;
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = std::int64_t{1} << 40});
    auto& net = worker.add("net", square{{o.width}}, redco::sgd{.lr = 1e-3});
    at::Tensor const x = at::ones({o.width, o.width});
    using clock = std::chrono::steady_clock;
    auto const since = [](clock::time_point from) {
      return std::chrono::duration<double>(clock::now() - from).count();
    };
    auto const run = [&](double seconds) {
      auto const began = clock::now();
      double const cpu = cpu_seconds();
      double steps = 0;
      for (; since(began) < seconds; ++steps) {
        redco::pass const in = worker.pass(0, o.width);
        worker.update(net, {(net.in(in)(x)-x).square().sum(), static_cast<double>(o.width)});
      }
      return speed{steps / since(began), (cpu_seconds() - cpu) / since(began)};
    };
    run(1);
    found = run(o.seconds);
  });
  return found;
}

/// Runs this program once more with the environment variables and returns its speed.
speed child(waiting_options const& o, std::string const& environment) {
  std::ostringstream command;
  command << "env " << environment << " /proc/" << ::getpid() << "/exe --once --seconds " << o.seconds << " --width "
          << o.width;
  FILE* const pipe = ::popen(command.str().c_str(), "r");
  speed found;
  bool const printed = pipe != nullptr && std::fscanf(pipe, "%lf %lf", &found.steps, &found.cpu) == 2;
  if (pipe == nullptr || ::pclose(pipe) != 0 || !printed)
    throw redco::error(redco::exit_code::internal, "a measurement failed: " + command.str());
  return found;
}

/// Processes that compute until this object is destroyed.
class busy_processes {
 public:
  explicit busy_processes(int count) {
    for (int i = 0; i < count; ++i) {
      pid_t const one = ::fork();
      if (one == 0)
        for (volatile unsigned turns = 0;; turns = turns + 1) {
        }
      if (one > 0) all_.push_back(one);
    }
  }
  busy_processes(busy_processes const&) = delete;
  busy_processes& operator=(busy_processes const&) = delete;
  ~busy_processes() {
    for (pid_t const one : all_) {
      ::kill(one, SIGKILL);
      ::waitpid(one, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> all_;
};

void compare(waiting_options const& o, char const* where) {
  // 300000 is libgomp's default. If GOMP_SPINCOUNT is set, redco does not change it.
  constexpr std::array<char const*, 2> environments{"GOMP_SPINCOUNT=300000", "-u GOMP_SPINCOUNT -u OMP_WAIT_POLICY"};
  std::array<std::vector<double>, 2> steps, cpu;
  for (int round = 0; round < o.rounds; ++round)
    for (std::size_t i = 0; i < environments.size(); ++i) {
      speed const one = child(o, environments[i]);
      steps[i].push_back(one.steps);
      cpu[i].push_back(1000 * one.cpu / one.steps);
    }
  std::printf(
      "%-7s libgomp's default %8.1f steps/s %8.2f ms CPU a step   redco's %8.1f steps/s %8.2f ms   ratio %.3f\n", where,
      median(steps[0]), median(cpu[0]), median(steps[1]), median(cpu[1]), median(steps[1]) / median(steps[0]));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  return redco::main_of<waiting_options>(argc, argv, "Measures the cost of waiting OpenMP threads.",
                                         [](waiting_options const& o) {
                                           if (o.once) {
                                             speed const found = measured(o);
                                             std::cout << found.steps << ' ' << found.cpu << '\n';
                                             return;
                                           }
                                           compare(o, "alone");
                                           busy_processes const others(o.busy);
                                           compare(o, "busy");
                                         });
}
