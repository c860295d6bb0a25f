#pragma once

#include <redco/options/launch.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::options {

namespace detail {

/// The variables that launchers set.
class launch_variables {
 public:
  explicit launch_variables(std::function<char const*(char const*)> const& environment) : environment_(environment) {}

  bool has(char const* name) const { return environment_(name) != nullptr; }

  std::string text(char const* name) const {
    char const* const given = environment_(name);
    return given != nullptr ? given : "";
  }

  /// The number from `least` to `most` under this name.
  int number(char const* name, int least, int most) const { return number(name, text(name), least, most); }

  int number_or(char const* name, int least, int most, int otherwise) const {
    return has(name) ? number(name, least, most) : otherwise;
  }

  int number(char const* name, std::string_view text, int least, int most) const {
    int value = 0;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || failure != std::errc() || end != text.data() + text.size() || value < least || value > most)
      refuse(name, "a number from " + std::to_string(least) + " to " + std::to_string(most));
    return value;
  }

  [[noreturn]] void refuse(char const* name, std::string const& meant) const {
    throw error(exit_code::usage, std::string("the launcher's variable ") + name +
                                      (has(name) ? "=" + text(name) : " is missing") + ": " + meant +
                                      " is meant; start the program by its launcher, or without these variables");
  }

 private:
  std::function<char const*(char const*)> const& environment_;
};

constexpr int most_processes = 1'000'000, most_port = 65'535;

/// Processes and which one this is, under these names.
inline launch counted(launch_variables const& in, std::string by, char const* processes, char const* process) {
  launch one;
  one.by = std::move(by);
  one.processes = in.number(processes, 1, most_processes);
  one.process = in.number(process, 0, one.processes - 1);
  return one;
}

inline void meet_at(launch_variables const& in, launch& one, char const* host, char const* port) {
  one.host = in.text(host);
  if (one.host.empty()) in.refuse(host, "the host of the first process");
  one.port = in.number(port, 1, most_port);
}

inline launch by_hand(launch_variables const& in) {
  launch one = counted(in, "REDCO_*", "REDCO_PROCESSES", "REDCO_PROCESS");
  one.here = in.number_or("REDCO_PROCESSES_HERE", 1, one.processes, 1);
  std::string const meet = in.text("REDCO_MEET");
  std::size_t const colon = meet.rfind(':');
  if (colon == std::string::npos || colon == 0) in.refuse("REDCO_MEET", "HOST:PORT of the first process");
  one.host = meet.substr(0, colon);
  one.port = in.number("REDCO_MEET", std::string_view(meet).substr(colon + 1), 1, most_port);
  return one;
}

inline launch by_torchrun(launch_variables const& in) {
  launch one = counted(in, "torchrun", "WORLD_SIZE", "RANK");
  one.here = in.number("LOCAL_WORLD_SIZE", 1, one.processes);
  in.number("LOCAL_RANK", 0, one.here - 1);
  meet_at(in, one, "MASTER_ADDR", "MASTER_PORT");
  one.has_store = in.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  one.run = in.text("TORCHELASTIC_RUN_ID") + "/" + in.text("TORCHELASTIC_RESTART_COUNT");
  return one;
}

inline launch by_mpirun(launch_variables const& in) {
  bool const open_mpi = in.has("OMPI_COMM_WORLD_SIZE");
  launch one = open_mpi ? counted(in, "mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")
                        : counted(in, "mpirun", "PMI_SIZE", "PMI_RANK");
  one.here = in.number(open_mpi ? "OMPI_COMM_WORLD_LOCAL_SIZE" : "MPI_LOCALNRANKS", 1, one.processes);
  return one;
}

/// The first host of a list as SLURM writes it: "n[01-04,7],m3" has n01.
inline std::string first_host(std::string const& nodes) {
  std::string host;
  for (std::size_t at = 0; at < nodes.size() && nodes[at] != ','; ++at) {
    if (nodes[at] != '[') {
      host += nodes[at];
      continue;
    }
    std::size_t const end = nodes.find_first_of("-,]", at), close = nodes.find(']', at);
    if (close == std::string::npos) return "";
    host += nodes.substr(at + 1, end - at - 1);
    at = close;
  }
  return host;
}

/// What SLURM writes for each node, "2(x3),1", of this one; 0 where it has none.
inline int of_node(launch_variables const& in, char const* name, std::string const& by_node, int node) {
  std::string_view rest = by_node;
  while (!rest.empty()) {
    std::string_view const group = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), group.size() + 1));
    std::size_t const times = group.find("(x");
    int const tasks = in.number(name, group.substr(0, times), 1, most_processes);
    if (times == std::string_view::npos) {
      if (node-- == 0) return tasks;
      continue;
    }
    node -= in.number(name, group.substr(times + 2, group.size() - times - 3), 1, most_processes);
    if (node < 0) return tasks;
  }
  return 0;
}

inline launch by_srun(launch_variables const& in) {
  launch one =
      counted(in, "srun", in.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS", "SLURM_PROCID");
  char const* const tasks = in.has("SLURM_STEP_TASKS_PER_NODE") ? "SLURM_STEP_TASKS_PER_NODE" : "SLURM_TASKS_PER_NODE";
  one.here = of_node(in, tasks, in.text(tasks), in.number("SLURM_NODEID", 0, most_processes));
  if (one.here < 1 || one.here > one.processes) in.refuse(tasks, "the tasks of each node");
  char const* const nodes = in.has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
  one.host = first_host(in.text(nodes));
  if (one.host.empty()) in.refuse(nodes, "a list of nodes");
  // A job has a port of its own, and each of its steps the next one.
  int const job = in.number("SLURM_JOB_ID", 1, INT32_MAX), step = in.number("SLURM_STEP_ID", 0, INT32_MAX);
  one.port = 15'000 + (job % 10'000 + step % 10'000) % 10'000;
  one.run = std::to_string(job) + "." + std::to_string(step) + "/" + in.text("SLURM_RESTART_COUNT");
  return one;
}

inline launch by_train_job(launch_variables const& in) {
  launch one = counted(in, "PET_*", "PET_NNODES", "PET_NODE_RANK");
  if (in.has("PET_NPROC_PER_NODE")) {
    std::string const each = in.text("PET_NPROC_PER_NODE");
    if (each != "1" && each != "auto" && each != "cpu") in.refuse("PET_NPROC_PER_NODE", "1, a process for each pod,");
  }
  meet_at(in, one, "PET_MASTER_ADDR", "PET_MASTER_PORT");
  return one;
}

inline launch by_pytorch_job(launch_variables const& in) {
  launch one = counted(in, "RANK and WORLD_SIZE", "WORLD_SIZE", "RANK");
  meet_at(in, one, "MASTER_ADDR", "MASTER_PORT");
  return one;
}

}  // namespace detail

REDCO_INLINE launch launch_of(std::function<char const*(char const*)> const& environment) {
  detail::launch_variables const in(environment);
  bool const torchrun = in.has("RANK") && in.has("LOCAL_RANK");
  std::vector<launch> all;
  if (in.has("REDCO_PROCESSES") || in.has("REDCO_PROCESS") || in.has("REDCO_MEET")) all.push_back(detail::by_hand(in));
  if (torchrun) all.push_back(detail::by_torchrun(in));
  if (in.has("OMPI_COMM_WORLD_SIZE") || (in.has("PMI_SIZE") && !in.has("SLURM_STEP_ID")))
    all.push_back(detail::by_mpirun(in));
  // Others start what SLURM, or a pod, has started: only where there are none does it count.
  if (all.empty() && in.has("SLURM_STEP_ID") && in.has("SLURM_PROCID")) all.push_back(detail::by_srun(in));
  if (!torchrun && in.has("PET_NNODES")) all.push_back(detail::by_train_job(in));
  if (!torchrun && (in.has("RANK") || in.has("WORLD_SIZE"))) all.push_back(detail::by_pytorch_job(in));
  if (all.empty()) return {};
  launch const& chosen = all.front();
  for (launch const& other : all)
    if (other.process != chosen.process || other.processes != chosen.processes) {
      auto const text = [](launch const& one) {
        return one.by + " makes this process " + std::to_string(one.process) + " of " + std::to_string(one.processes);
      };
      throw error(exit_code::usage, text(chosen) + ", " + text(other) + ": unset the variables of one of them");
    }
  return chosen;
}

REDCO_INLINE launch const& launched() {
  static launch const one = launch_of([](char const* name) { return static_cast<char const*>(std::getenv(name)); });
  return one;
}

REDCO_INLINE std::string to_text(launch const& one) {
  return std::to_string(one.processes) + " processes that " + one.by + " started, which meet " +
         (one.host.empty() ? "by MPI" : "at " + one.host + ":" + std::to_string(one.port));
}

}  // namespace redco::options
