#pragma once

#include <redco/options/launch.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::options::detail {

/// A reader of the environment variables that launchers set.
class launch_variables {
 public:
  explicit launch_variables(std::function<char const*(char const*)> const& environment) : environment_(environment) {}

  bool has(char const* name) const { return environment_(name) != nullptr; }

  std::string text(char const* name) const {
    char const* const value = environment_(name);
    return value != nullptr ? value : "";
  }

  /// Returns the environment variable `name` as a number. Throws `error` with exit code 64 unless
  /// the value is a number from `least` to `most`.
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

/// A launcher whose environment variables are set: the numbers of processes, and a function that
/// reads the address at which several processes connect.
struct launch_source {
  launch one;
  void (*complete)(launch_variables const& in, launch& one);
};

/// Returns a launch by `launcher`. `processes` and `process` name the environment variables
/// with the number of processes and the index of this process.
inline launch counted(launch_variables const& in, std::string launcher, char const* processes, char const* process) {
  launch one;
  one.launcher = std::move(launcher);
  one.processes = in.number(processes, 1, most_processes);
  one.process = in.number(process, 0, one.processes - 1);
  return one;
}

/// Returns an IPv6 address without its brackets: "::1" for "[::1]". Returns any other text
/// unchanged.
inline std::string without_brackets(std::string const& host) {
  bool const has = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return has ? host.substr(1, host.size() - 2) : host;
}

inline void meet_at(launch_variables const& in, launch& one, char const* host, char const* port) {
  one.host = without_brackets(in.text(host));
  if (one.host.empty()) in.refuse(host, "the host of the first process");
  one.port = in.number(port, 1, most_port);
}

/// Returns the value of REDCO_SECRET. Throws `error` with exit code 64 if it has fewer than 16
/// characters. The message does not contain the secret, because messages go into logs.
inline std::string secret(launch_variables const& in) {
  constexpr std::size_t least = 16;
  std::string const text = in.text("REDCO_SECRET");
  if (in.has("REDCO_SECRET") && text.size() < least)
    throw error(exit_code::usage, "REDCO_SECRET has " + std::to_string(text.size()) +
                                      " characters, which can be guessed; give at least " + std::to_string(least) +
                                      ", such as those of `openssl rand -hex 16`, to every process");
  return text;
}

/// Returns true if REDCO_TRUSTED_NETWORK is 1. Throws `error` with exit code 64 if it is neither 0
/// nor 1.
inline bool trusts_network(launch_variables const& in) {
  std::string const text = in.text("REDCO_TRUSTED_NETWORK");
  if (!text.empty() && text != "0" && text != "1")
    throw error(exit_code::usage,
                "REDCO_TRUSTED_NETWORK=" + text +
                    ": 1 lets processes meet on a network without REDCO_SECRET, 0 does not; give one of them");
  return text == "1";
}

inline void complete_by_hand(launch_variables const& in, launch& one) {
  one.processes_on_host = in.number_or("REDCO_PROCESSES_HERE", 1, one.processes, 1);
  std::string const meet = in.text("REDCO_MEET");
  std::size_t const colon = meet.rfind(':');
  one.host = colon == std::string::npos ? "" : without_brackets(meet.substr(0, colon));
  bool const in_brackets = one.host.size() + 2 == colon;
  if (one.host.empty() || one.host.find_first_of("[]") != std::string::npos ||
      (one.host.find(':') != std::string::npos && !in_brackets))
    in.refuse("REDCO_MEET", "HOST:PORT of the first process, or [ADDRESS]:PORT for an address of IPv6,");
  one.port = in.number("REDCO_MEET", std::string_view(meet).substr(colon + 1), 1, most_port);
}

inline void complete_torchrun(launch_variables const& in, launch& one) {
  one.processes_on_host = in.number("LOCAL_WORLD_SIZE", 1, one.processes);
  in.number("LOCAL_RANK", 0, one.processes_on_host - 1);
  meet_at(in, one, "MASTER_ADDR", "MASTER_PORT");
  one.has_store = in.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  one.start_id = in.text("TORCHELASTIC_RUN_ID") + "/" + in.text("TORCHELASTIC_RESTART_COUNT");
}

inline void complete_open_mpi(launch_variables const& in, launch& one) {
  one.processes_on_host = in.number("OMPI_COMM_WORLD_LOCAL_SIZE", 1, one.processes);
}

inline void complete_mpich(launch_variables const& in, launch& one) {
  one.processes_on_host = in.number("MPI_LOCALNRANKS", 1, one.processes);
}

/// Returns the first host of a SLURM host list: "n01" for "n[01-04,7],m3".
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

/// Returns the number of tasks on the node with index `node`. `by_node` is SLURM's list, such as
/// "2(x3),1" for nodes with 2, 2, 2 and 1 tasks. Returns 0 if the list is too short.
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

/// Returns true if srun started this process as a task of a program. Returns false in shells of
/// batch scripts and of `salloc`, in external processes, and in waiting steps: slurm.h gives them
/// special step numbers (SLURM_BATCH_SCRIPT and others).
inline bool is_step_of_srun(launch_variables const& in) {
  std::string const step = in.text("SLURM_STEP_ID");
  return !step.empty() && in.has("SLURM_PROCID") && step != "4294967290" && step != "4294967291" &&
         step != "4294967292" && step != "4294967293";
}

inline launch counted_by_srun(launch_variables const& in) {
  return counted(in, "srun", in.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS", "SLURM_PROCID");
}

inline void complete_srun(launch_variables const& in, launch& one) {
  char const* const tasks = in.has("SLURM_STEP_TASKS_PER_NODE") ? "SLURM_STEP_TASKS_PER_NODE" : "SLURM_TASKS_PER_NODE";
  one.processes_on_host = of_node(in, tasks, in.text(tasks), in.number("SLURM_NODEID", 0, most_processes));
  if (one.processes_on_host < 1 || one.processes_on_host > one.processes) in.refuse(tasks, "the tasks of each node");
  char const* const nodes = in.has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
  one.host = first_host(in.text(nodes));
  if (one.host.empty()) in.refuse(nodes, "a list of nodes");
  // Each job has its own port, and each step of a job uses the next port.
  int const job = in.number("SLURM_JOB_ID", 1, INT32_MAX), step = in.number("SLURM_STEP_ID", 0, INT32_MAX);
  one.port = 15'000 + (job % 10'000 + step % 10'000) % 10'000;
  one.start_id = std::to_string(job) + "." + std::to_string(step) + "/" + in.text("SLURM_RESTART_COUNT");
}

inline void complete_train_job(launch_variables const& in, launch& one) {
  if (in.has("PET_NPROC_PER_NODE")) {
    std::string const each = in.text("PET_NPROC_PER_NODE");
    if (each != "1" && each != "auto" && each != "cpu") in.refuse("PET_NPROC_PER_NODE", "1, a process for each pod,");
  }
  meet_at(in, one, "PET_MASTER_ADDR", "PET_MASTER_PORT");
}

inline void complete_pytorch_job(launch_variables const& in, launch& one) {
  meet_at(in, one, "MASTER_ADDR", "MASTER_PORT");
}

/// Returns the launchers whose environment variables are set, in order of priority.
inline std::vector<launch_source> sources_of(launch_variables const& in) {
  bool const torchrun = in.has("RANK") && in.has("LOCAL_RANK");
  std::vector<launch_source> all;
  if (in.has("REDCO_PROCESSES") || in.has("REDCO_PROCESS") || in.has("REDCO_MEET"))
    all.push_back({counted(in, "REDCO_*", "REDCO_PROCESSES", "REDCO_PROCESS"), complete_by_hand});
  if (torchrun) all.push_back({counted(in, "torchrun", "WORLD_SIZE", "RANK"), complete_torchrun});
  // srun --mpi=pmi2 sets PMI_SIZE too; only MPICH's own mpirun also sets MPI_LOCALNRANKS.
  if (in.has("OMPI_COMM_WORLD_SIZE"))
    all.push_back({counted(in, "mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), complete_open_mpi});
  else if (in.has("PMI_SIZE") && (in.has("MPI_LOCALNRANKS") || !in.has("SLURM_STEP_ID")))
    all.push_back({counted(in, "mpirun", "PMI_SIZE", "PMI_RANK"), complete_mpich});
  // srun counts only without another launcher, because other launchers start their processes inside
  // a SLURM step.
  if (all.empty() && is_step_of_srun(in)) all.push_back({counted_by_srun(in), complete_srun});
  if (!torchrun && in.has("PET_NNODES"))
    all.push_back({counted(in, "PET_*", "PET_NNODES", "PET_NODE_RANK"), complete_train_job});
  if (!torchrun && (in.has("RANK") || in.has("WORLD_SIZE"))) {
    launch const pods = counted(in, "RANK and WORLD_SIZE", "WORLD_SIZE", "RANK");
    // Container images and shells set RANK=0 and WORLD_SIZE=1 for every program, including programs
    // that another launcher starts.
    if (all.empty() || pods.processes > 1) all.push_back({pods, complete_pytorch_job});
  }
  return all;
}

}  // namespace redco::options::detail

namespace redco::options {

REDCO_INLINE launch launch_of(std::function<char const*(char const* name)> const& environment) {
  detail::launch_variables const in(environment);
  std::vector<detail::launch_source> all = detail::sources_of(in);
  if (all.empty()) {
    if (in.has("PMIX_RANK") && !in.has("SLURM_STEP_ID"))
      in.refuse("PMIX_RANK", "a launcher that also sets the number of processes, such as mpirun, srun or torchrun,");
    return {};
  }
  launch& chosen = all.front().one;
  for (detail::launch_source const& other : all)
    if (other.one.process != chosen.process || other.one.processes != chosen.processes) {
      auto const text = [](launch const& one) {
        return one.launcher + " makes this process " + std::to_string(one.process) + " of " +
               std::to_string(one.processes);
      };
      throw error(exit_code::usage, text(chosen) + ", " + text(other.one) + ": unset the variables of one of them");
    }
  // A single process needs no rendezvous
  if (chosen.processes > 1) all.front().complete(in, chosen);
  chosen.secret = detail::secret(in);
  chosen.trusts_network = detail::trusts_network(in);
  return chosen;
}

REDCO_INLINE std::string joining_without_secret(launch const& one) {
  if (one.host.empty() || !one.secret.empty()) return "";
  std::string const who = meets_on_this_host(one) ? "any program on this host" : "any program on the network";
  return "REDCO_SECRET is not set, so " + who + " that reaches " + meeting_address(one) +
         (one.has_store ? " and reads the launcher's store there" : "") +
         " before the last process connects can join the run";
}

REDCO_INLINE launch const& launched() {
  static launch const one = launch_of([](char const* name) { return static_cast<char const*>(std::getenv(name)); });
  return one;
}

}  // namespace redco::options
