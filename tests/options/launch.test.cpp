#include "catch.hpp"
#include "refused.hpp"

#include <redco/options/deployer_options.hpp>
#include <redco/options/launch.hpp>
#include <redco/diag/error.hpp>

#include <map>
#include <string>

namespace {

using redco::options::launch;

launch of(std::map<std::string, std::string> const& variables) {
  return redco::options::launch_of([&](char const* name) {
    auto const found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string refusal(std::map<std::string, std::string> const& variables) {
  return refused([&] { of(variables); });
}

TEST_CASE("a launcher is recognized by its environment variables") {
  launch const alone = of({{"PATH", "/bin"}});
  CHECK(alone.processes == 1);
  CHECK(alone.first());
  CHECK(alone.launcher.empty());
  launch const open_mpi = of({{"OMPI_COMM_WORLD_SIZE", "6"},
                              {"OMPI_COMM_WORLD_RANK", "4"},
                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
                              {"PMI_SIZE", "2"}});
  CHECK(open_mpi.processes == 6);
  CHECK(open_mpi.process == 4);
  CHECK(open_mpi.processes_on_host == 3);
  CHECK_FALSE(open_mpi.first());
  launch const mpich = of({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}, {"MPI_LOCALNRANKS", "2"}});
  CHECK(mpich.processes == 2);
  CHECK(mpich.process == 1);
  CHECK(mpich.launcher == "mpirun");
}

TEST_CASE("impossible values of a launcher's variables are refused") {
  CHECK(refusal({{"OMPI_COMM_WORLD_SIZE", "2"}})
            .starts_with("64 the launcher's variable OMPI_COMM_WORLD_RANK is missing"));
  CHECK(refusal({{"PMI_SIZE", "two"}}).starts_with("64 the launcher's variable PMI_SIZE=two: a number from 1"));
  CHECK(refusal({{"RANK", "1"}}).starts_with("64 the launcher's variable WORLD_SIZE is missing"));
  CHECK(refusal({{"REDCO_PROCESSES", "2"}, {"REDCO_PROCESS", "1"}, {"REDCO_MEET", "here"}})
            .starts_with("64 the launcher's variable REDCO_MEET=here: HOST:PORT"));
  CHECK(refusal({{"PET_NNODES", "2"}, {"PET_NODE_RANK", "1"}, {"PET_NPROC_PER_NODE", "4"}})
            .starts_with("64 the launcher's variable PET_NPROC_PER_NODE=4: 1, a process for each pod"));
  CHECK(refusal({{"PMI_SIZE", "2"}, {"PMI_RANK", "2"}, {"MPI_LOCALNRANKS", "2"}})
            .starts_with("64 the launcher's variable PMI_RANK=2: a number from 0 to 1"));
}

TEST_CASE("torchrun, srun, pods and a user's variables give the address at which processes meet") {
  launch const by_hand = of({{"REDCO_PROCESSES", "3"}, {"REDCO_PROCESS", "2"}, {"REDCO_MEET", "[fe80::1]:2900"}});
  CHECK(by_hand.processes == 3);
  CHECK(by_hand.process == 2);
  CHECK(by_hand.host == "fe80::1");
  CHECK(by_hand.port == 2900);
  CHECK(to_text(by_hand) == "3 processes that REDCO_* started, which meet at [fe80::1]:2900");
  std::map<std::string, std::string> const agents{
      {"WORLD_SIZE", "6"},          {"RANK", "4"},         {"LOCAL_WORLD_SIZE", "3"},
      {"LOCAL_RANK", "1"},          {"MASTER_ADDR", "a"},  {"MASTER_PORT", "29400"},
      {"TORCHELASTIC_RUN_ID", "j"}, {"PET_NNODES", "2"},   {"TORCHELASTIC_RESTART_COUNT", "1"},
      {"SLURM_STEP_ID", "0"},       {"SLURM_PROCID", "0"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  REQUIRE_NOTHROW(of(agents));
  launch const torchrun = of(agents);
  CHECK(torchrun.launcher == "torchrun");
  CHECK(torchrun.process == 4);
  CHECK(torchrun.processes_on_host == 3);
  CHECK(torchrun.has_store);
  CHECK(torchrun.start_id == "j/1");
  launch const srun = of({{"SLURM_STEP_ID", "2"},
                          {"SLURM_PROCID", "5"},
                          {"SLURM_NTASKS", "7"},
                          {"SLURM_NODEID", "2"},
                          {"SLURM_TASKS_PER_NODE", "2(x2),3"},
                          {"SLURM_JOB_NODELIST", "gpu[07-08,11],m3"},
                          {"SLURM_JOB_ID", "123456"},
                          {"SLURM_RESTART_COUNT", "1"}});
  CHECK(srun.launcher == "srun");
  CHECK(srun.process == 5);
  CHECK(srun.processes_on_host == 3);
  CHECK(srun.host == "gpu07");
  CHECK(srun.port == 15'000 + 3'458);
  CHECK(srun.start_id == "123456.2/1");
  // mpirun starts its daemons as a step of SLURM, so the variables of the step do not describe the
  // program.
  CHECK(of({{"SLURM_STEP_ID", "0"},
            {"SLURM_PROCID", "0"},
            {"OMPI_COMM_WORLD_SIZE", "6"},
            {"OMPI_COMM_WORLD_RANK", "4"},
            {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}})
            .launcher == "mpirun");
  launch const train_job = of({{"PET_NNODES", "4"},
                               {"PET_NODE_RANK", "3"},
                               {"PET_NPROC_PER_NODE", "auto"},
                               {"PET_MASTER_ADDR", "job-0"},
                               {"PET_MASTER_PORT", "29500"}});
  CHECK(train_job.process == 3);
  CHECK(train_job.host == "job-0");
  launch const pytorch_job = of({{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_ADDR", "b"}, {"MASTER_PORT", "23456"}});
  CHECK(pytorch_job.process == 1);
  CHECK(pytorch_job.port == 23'456);
  CHECK_FALSE(pytorch_job.has_store);
}

TEST_CASE("a program started in an interactive shell of SLURM is one process") {
  std::map<std::string, std::string> shell{{"SLURM_JOB_ID", "1731344"},   {"SLURM_PROCID", "0"},
                                           {"SLURM_LOCALID", "0"},        {"SLURM_NODEID", "0"},
                                           {"SLURM_NNODES", "1"},         {"SLURM_STEP_NUM_TASKS", "1"},
                                           {"SLURM_STEP_NODELIST", "n7"}, {"SLURM_STEP_TASKS_PER_NODE", "1"},
                                           {"SLURM_JOB_NODELIST", "n7"},  {"SLURM_TASKS_PER_NODE", "8"}};
  // slurm.h: SLURM_INTERACTIVE_STEP, SLURM_BATCH_SCRIPT, SLURM_EXTERN_CONT and SLURM_PENDING_STEP.
  for (char const* const step : {"4294967290", "4294967291", "4294967292", "4294967293"}) {
    shell["SLURM_STEP_ID"] = step;
    CHECK(of(shell).processes == 1);
    CHECK(of(shell).launcher.empty());
    shell["SLURM_NTASKS"] = shell["SLURM_STEP_NUM_TASKS"] = "8";  // tasks of the allocation
    CHECK(of(shell).processes == 1);
    shell["PMIX_RANK"] = "0";  // set in a shell if the cluster's default is --mpi=pmix
    CHECK(of(shell).processes == 1);
    shell.erase("PMIX_RANK");
    shell["SLURM_STEP_NUM_TASKS"] = "1";
  }
  // The processes were started by the mpirun of Open MPI, or by that of MPICH in a step for its
  // proxies.
  std::map<std::string, std::string> in_shell = shell;
  in_shell.insert({{"OMPI_COMM_WORLD_SIZE", "3"}, {"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}});
  CHECK(of(in_shell).process == 2);
  launch const hydra = of({{"SLURM_STEP_ID", "0"},
                           {"SLURM_PROCID", "1"},
                           {"SLURM_NTASKS", "2"},
                           {"PMI_SIZE", "6"},
                           {"PMI_RANK", "5"},
                           {"MPI_LOCALNRANKS", "3"}});
  CHECK(hydra.launcher == "mpirun");
  CHECK(hydra.process == 5);
  CHECK(hydra.processes_on_host == 3);
  // srun --mpi=pmi2 sets PMI_SIZE for its own tasks.
  CHECK(of({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"PMI_SIZE", "1"}, {"PMI_RANK", "0"}})
            .launcher == "srun");
}

TEST_CASE("one process needs no address to meet other processes") {
  for (std::map<std::string, std::string> const& alone :
       {std::map<std::string, std::string>{{"RANK", "0"}, {"WORLD_SIZE", "1"}},
        {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"LOCAL_RANK", "0"}},
        {{"REDCO_PROCESSES", "1"}, {"REDCO_PROCESS", "0"}},
        {{"PET_NNODES", "1"}, {"PET_NODE_RANK", "0"}, {"PET_NPROC_PER_NODE", "4"}},
        {{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}},
        {{"SLURM_STEP_ID", "3"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}}) {
    INFO(alone.begin()->first);
    CHECK(of(alone).processes == 1);
    CHECK(of(alone).first());
    CHECK(of(alone).host.empty());
  }
  CHECK(refusal({{"RANK", "1"}, {"WORLD_SIZE", "1"}})
            .starts_with("64 the launcher's variable RANK=1: a number from 0 to 0"));
}

TEST_CASE("RANK=0 and WORLD_SIZE=1 of an image do not contradict a launcher") {
  std::map<std::string, std::string> const image{{"RANK", "0"}, {"WORLD_SIZE", "1"}};
  std::map<std::string, std::string> mpirun{
      {"OMPI_COMM_WORLD_SIZE", "3"}, {"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}};
  mpirun.insert(image.begin(), image.end());
  CHECK(of(mpirun).launcher == "mpirun");
  CHECK(of(mpirun).process == 2);
  std::map<std::string, std::string> pods{
      {"PET_NNODES", "2"}, {"PET_NODE_RANK", "1"}, {"PET_MASTER_ADDR", "job-0"}, {"PET_MASTER_PORT", "29500"}};
  pods.insert(image.begin(), image.end());
  CHECK(of(pods).process == 1);
  // One process that mpirun starts stays one process, also in a SLURM step of several tasks.
  CHECK(of({{"OMPI_COMM_WORLD_SIZE", "1"},
            {"OMPI_COMM_WORLD_RANK", "0"},
            {"SLURM_STEP_ID", "0"},
            {"SLURM_PROCID", "3"},
            {"SLURM_NTASKS", "4"}})
            .processes == 1);
  mpirun["WORLD_SIZE"] = "5";  // left by another job
  CHECK(refusal(mpirun) ==
        "64 mpirun makes this process 2 of 3, RANK and WORLD_SIZE makes this process 0 of 5: unset the "
        "variables of one of them");
}

TEST_CASE("a launcher that does not give its number of processes is refused") {
  CHECK(refusal({{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "prterun-n1-77@1"}})
            .starts_with("64 the launcher's variable PMIX_RANK=1: a launcher that also sets the number of processes"));
}

TEST_CASE("an address of IPv6 is in brackets if a port follows") {
  auto const meet = [](std::string const& where) {
    return std::map<std::string, std::string>{{"REDCO_PROCESSES", "2"}, {"REDCO_PROCESS", "1"}, {"REDCO_MEET", where}};
  };
  CHECK(of(meet("[::1]:29500")).host == "::1");
  CHECK(of(meet("[::1]:29500")).port == 29'500);
  CHECK(of(meet("[fe80::1%eth0]:1")).host == "fe80::1%eth0");
  CHECK(of(meet("10.0.0.1:29500")).host == "10.0.0.1");
  for (std::string const where :
       {"::1", "::1:29500", "fe80::1:2900", "[::1]", "[::1:29500", "::1]:29500", "[]:1", ":1", "a"})
    CHECK(refusal(meet(where))
              .starts_with("64 the launcher's variable REDCO_MEET=" + where +
                           ": HOST:PORT of the first "
                           "process, or [ADDRESS]:PORT for an address of IPv6, is meant"));
  for (std::string const where : {"[::1]:", "[::1]:0", "[::1]:65536", "a:b"})
    CHECK(refusal(meet(where))
              .starts_with("64 the launcher's variable REDCO_MEET=" + where + ": a number from 1 to 65535"));
  launch const torchrun = of({{"WORLD_SIZE", "2"},
                              {"RANK", "1"},
                              {"LOCAL_WORLD_SIZE", "1"},
                              {"LOCAL_RANK", "0"},
                              {"MASTER_ADDR", "[::1]"},
                              {"MASTER_PORT", "29400"}});
  CHECK(torchrun.host == "::1");
  CHECK(redco::options::meeting_address(torchrun) == "[::1]:29400");
}

TEST_CASE("REDCO_SECRET is read with any launcher, must not be short and is never shown") {
  std::map<std::string, std::string> pod{
      {"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_ADDR", "b"}, {"MASTER_PORT", "23456"}};
  CHECK(of(pod).secret.empty());
  pod["REDCO_SECRET"] = "0123456789abcdef";
  CHECK(of(pod).secret == "0123456789abcdef");
  for (std::string const text : {"0123456789abcde", ""}) {
    pod["REDCO_SECRET"] = text;
    CHECK(refusal(pod).starts_with("64 REDCO_SECRET has " + std::to_string(text.size()) + " characters"));
    CHECK((text.empty() || refusal(pod).find(text) == std::string::npos));
  }
}

TEST_CASE("REDCO_TRUSTED_NETWORK is 0 or 1") {
  std::map<std::string, std::string> pod{
      {"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_ADDR", "b"}, {"MASTER_PORT", "23456"}};
  CHECK(!of(pod).trusts_network);
  pod["REDCO_TRUSTED_NETWORK"] = "0";
  CHECK(!of(pod).trusts_network);
  pod["REDCO_TRUSTED_NETWORK"] = "1";
  CHECK(of(pod).trusts_network);
  pod["REDCO_TRUSTED_NETWORK"] = "yes";
  CHECK(refusal(pod).starts_with("64 REDCO_TRUSTED_NETWORK=yes: 1 lets processes meet"));
}

TEST_CASE("processes meet on their host if all are there, unless they were given the number of an address") {
  using redco::options::meets_on_this_host;
  launch one{.processes = 4, .processes_on_host = 4, .launcher = "srun", .host = "node1", .port = 29500};
  CHECK(meets_on_this_host(one));
  one.processes_on_host = 2;
  CHECK(!meets_on_this_host(one));
  one.host = "127.0.0.1";
  CHECK(meets_on_this_host(one));
  one.host = "::1";
  CHECK(meets_on_this_host(one));
  one.processes_on_host = 4;
  one.host = "10.0.0.1";
  CHECK(!meets_on_this_host(one));
  one.host = "fe80::1";
  CHECK(!meets_on_this_host(one));
  one.has_store = true;
  CHECK(meets_on_this_host(one));
  one.processes_on_host = 2;
  CHECK(!meets_on_this_host(one));
}

TEST_CASE("the log says who can join a run without a secret") {
  using redco::options::joining_without_secret;
  launch one{.processes = 4, .processes_on_host = 2, .launcher = "srun", .host = "node1", .port = 29500};
  CHECK(joining_without_secret(one) ==
        "REDCO_SECRET is not set, so any program on the network that reaches node1:29500 before the last process "
        "connects can join the run");
  one.has_store = true;
  CHECK(joining_without_secret(one).find("reaches node1:29500 and reads the launcher's store there before") !=
        std::string::npos);
  one.host = "127.0.0.1";
  CHECK(joining_without_secret(one).find("any program on this host that reaches") != std::string::npos);
  one.secret = "0123456789abcdef";
  CHECK(joining_without_secret(one).empty());
  one = {.processes = 4, .launcher = "mpirun"};
  CHECK(joining_without_secret(one).empty());
}

TEST_CASE("launchers that contradict each other are refused") {
  CHECK(refusal({{"REDCO_PROCESSES", "3"},
                 {"REDCO_PROCESS", "2"},
                 {"REDCO_MEET", "a:1"},
                 {"OMPI_COMM_WORLD_SIZE", "6"},
                 {"OMPI_COMM_WORLD_RANK", "2"},
                 {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}})
            .starts_with("64 REDCO_* makes this process 2 of 3, mpirun makes this process 2 of 6: unset"));
}

TEST_CASE("a launcher's processes are the ranks, and without a launcher the shards are") {
  launch four;
  four.processes = 4;
  four.launcher = "mpirun";
  redco::deployer_options o;
  CHECK(redco::options::mesh_of(o, {}) == redco::mesh{});
  CHECK(redco::options::mesh_of(o, four) == redco::mesh{.dp = 4});
  o.n_model_shards = 2;
  CHECK(redco::options::mesh_of(o, {}) == redco::mesh{.tp = 2});
  CHECK(redco::options::mesh_of(o, four) == redco::mesh{.dp = 2, .tp = 2});
  o.ranks = 12;
  CHECK(redco::options::mesh_of(o, four) == redco::mesh{.dp = 6, .tp = 2});
  o.ranks = 2;
  CHECK(redco::options::mesh_of(o, {}) == redco::mesh{.tp = 2});
  try {
    redco::options::mesh_of(o, four);
    FAIL("taken");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    CHECK(std::string(e.what()).starts_with("mpirun started 4 processes for the 2 ranks of mesh 1x2"));
  }
}

}  // namespace
