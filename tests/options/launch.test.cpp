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

TEST_CASE("a launcher is known by what it leaves in the environment") {
  launch const alone = of({{"PATH", "/bin"}});
  CHECK(alone.processes == 1);
  CHECK(alone.first());
  CHECK(alone.by.empty());
  launch const open_mpi = of({{"OMPI_COMM_WORLD_SIZE", "6"},
                              {"OMPI_COMM_WORLD_RANK", "4"},
                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
                              {"PMI_SIZE", "2"}});
  CHECK(open_mpi.processes == 6);
  CHECK(open_mpi.process == 4);
  CHECK(open_mpi.here == 3);
  CHECK_FALSE(open_mpi.first());
  launch const mpich = of({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}, {"MPI_LOCALNRANKS", "2"}});
  CHECK(mpich.processes == 2);
  CHECK(mpich.process == 1);
  CHECK(mpich.by == "mpirun");
}

TEST_CASE("variables of a launcher that cannot be meant are refused") {
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

TEST_CASE("torchrun, srun, pods and what a user sets by hand say where the processes meet") {
  launch const by_hand = of({{"REDCO_PROCESSES", "3"}, {"REDCO_PROCESS", "2"}, {"REDCO_MEET", "fe80::1:2900"}});
  CHECK(by_hand.processes == 3);
  CHECK(by_hand.process == 2);
  CHECK(by_hand.host == "fe80::1");
  CHECK(by_hand.port == 2900);
  CHECK(to_text(by_hand) == "3 processes that REDCO_* started, which meet at fe80::1:2900");
  std::map<std::string, std::string> const agents{
      {"WORLD_SIZE", "6"},          {"RANK", "4"},         {"LOCAL_WORLD_SIZE", "3"},
      {"LOCAL_RANK", "1"},          {"MASTER_ADDR", "a"},  {"MASTER_PORT", "29400"},
      {"TORCHELASTIC_RUN_ID", "j"}, {"PET_NNODES", "2"},   {"TORCHELASTIC_RESTART_COUNT", "1"},
      {"SLURM_STEP_ID", "0"},       {"SLURM_PROCID", "0"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  launch const torchrun = of(agents);
  CHECK(torchrun.by == "torchrun");
  CHECK(torchrun.process == 4);
  CHECK(torchrun.here == 3);
  CHECK(torchrun.has_store);
  CHECK(torchrun.run == "j/1");
  launch const srun = of({{"SLURM_STEP_ID", "2"},
                          {"SLURM_PROCID", "5"},
                          {"SLURM_NTASKS", "7"},
                          {"SLURM_NODEID", "2"},
                          {"SLURM_TASKS_PER_NODE", "2(x2),3"},
                          {"SLURM_JOB_NODELIST", "gpu[07-08,11],m3"},
                          {"SLURM_JOB_ID", "123456"},
                          {"SLURM_RESTART_COUNT", "1"}});
  CHECK(srun.by == "srun");
  CHECK(srun.process == 5);
  CHECK(srun.here == 3);
  CHECK(srun.host == "gpu07");
  CHECK(srun.port == 15'000 + 3'458);
  CHECK(srun.run == "123456.2/1");
  // mpirun starts its daemons as a step: the step's numbers are not the program's.
  CHECK(of({{"SLURM_STEP_ID", "0"},
            {"SLURM_PROCID", "0"},
            {"OMPI_COMM_WORLD_SIZE", "6"},
            {"OMPI_COMM_WORLD_RANK", "4"},
            {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}})
            .by == "mpirun");
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

TEST_CASE("launchers that contradict each other are refused") {
  CHECK(refusal({{"REDCO_PROCESSES", "3"},
                 {"REDCO_PROCESS", "2"},
                 {"REDCO_MEET", "a:1"},
                 {"OMPI_COMM_WORLD_SIZE", "6"},
                 {"OMPI_COMM_WORLD_RANK", "2"},
                 {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}})
            .starts_with("64 REDCO_* makes this process 2 of 3, mpirun makes this process 2 of 6: unset"));
}

TEST_CASE("a launcher's processes are the ranks; without one the shards are") {
  launch four;
  four.processes = 4;
  four.by = "mpirun";
  redco::deployer_options o;
  CHECK(redco::mesh_of(o, {}) == redco::mesh{});
  CHECK(redco::mesh_of(o, four) == redco::mesh{.dp = 4});
  o.n_model_shards = 2;
  CHECK(redco::mesh_of(o, {}) == redco::mesh{.tp = 2});
  CHECK(redco::mesh_of(o, four) == redco::mesh{.dp = 2, .tp = 2});
  o.ranks = 12;
  CHECK(redco::mesh_of(o, four) == redco::mesh{.dp = 6, .tp = 2});
  o.ranks = 2;
  CHECK(redco::mesh_of(o, {}) == redco::mesh{.tp = 2});
  try {
    redco::mesh_of(o, four);
    FAIL("taken");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    CHECK(std::string(e.what()).starts_with("mpirun started 4 processes for the 2 ranks of mesh 1x2"));
  }
}

}  // namespace
