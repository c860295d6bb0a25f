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
  CHECK(refusal({{"PMI_SIZE", "2"}, {"PMI_RANK", "2"}, {"MPI_LOCALNRANKS", "2"}})
            .starts_with("64 the launcher's variable PMI_RANK=2: a number from 0 to 1"));
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
