#include "mlp.hpp"

#include <redco/run/planned.hpp>
#include <redco/run/predictor.hpp>
#include <redco/run/worker.hpp>
#include <redco/shard/plan.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/diag/error.hpp>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

// Tests the widths that a run suggests in place of an illegal width.

namespace planned_test {

using namespace run_test;

/// Returns the error of a run of the small classifier, whose 12 units are split; empty if its mesh
/// is legal.
std::string refusal(redco::deployer_options const& o, redco::options::launch const& how) {
  try {
    redco::run::check_widths(redco::shard::facts_of(mlp{}).parameters, redco::options::mesh_of(o, how), o, how);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    return e.what();
  }
  return "";
}

/// Returns the options after a reader has replaced their width.
redco::deployer_options with_width(redco::deployer_options o, int width) {
  if (o.mesh) o.mesh->tp = width;
  else o.n_model_shards = width;
  return o;
}

bool is_legal(redco::deployer_options const& o, redco::options::launch const& how) {
  try {
    redco::plan_of(mlp{}, redco::options::mesh_of(o, how));
    return true;
  } catch (redco::error const&) {
    return false;
  }
}

std::string list_of(std::vector<int> const& widths) {
  std::ostringstream list;
  for (int const width : widths) list << (width == widths.front() ? "" : ", ") << width;
  return list.str();
}

TEST_CASE("a run whose mesh is illegal is offered exactly the widths that are legal for its ranks") {
  int refused = 0;
  for (int const processes : {1, 2, 3})
    for (int const replicas : {1, 2, 3, 6})
      for (int const shards : {5, 8, 9, 10})
        for (int const form : {0, 1, 2}) {
          redco::options::launch how;
          how.processes = processes;
          redco::deployer_options o;
          if (form == 0) o.mesh = redco::mesh{.dp = replicas, .tp = shards};
          else o.n_model_shards = shards;
          if (form == 1) o.ranks = replicas * shards;
          if (form == 2 && (replicas > 1 || processes > 1)) continue;
          if (replicas * shards % processes != 0) continue;
          std::vector<int> legal;
          for (int width = 1; width <= 64; ++width)
            if (is_legal(with_width(o, width), how)) legal.push_back(width);
          if (legal.empty()) continue;
          std::string const found = refusal(o, how);
          INFO(replicas << "x" << shards << " on " << processes << " processes: " << found);
          CHECK(found.find("do not divide; legal widths are " + list_of(legal) + ": choose one ") != std::string::npos);
          ++refused;
        }
  CHECK(refused > 30);
}

TEST_CASE("a refused run says which option to write in place of its width") {
  redco::options::launch alone, three;
  three.processes = 3;
  redco::deployer_options o;
  o.n_model_shards = 5;
  CHECK(refusal(o, alone).ends_with("legal widths are 1, 2, 3, 4, 6, 12: choose one with --n-model-shards"));
  o.ranks = 10;
  CHECK(refusal(o, alone).ends_with("legal widths are 1, 2: choose one with --n-model-shards for the same 10 ranks"));
  o.mesh = redco::mesh{.dp = 2, .tp = 9};
  CHECK(refusal(o, three).ends_with("legal widths are 3, 6, 12: choose one in --mesh"));
  o.mesh = redco::mesh{.dp = 1, .tp = 25};
  redco::options::launch five;
  five.processes = 5;
  CHECK(refusal(o, five).ends_with(
      "legal widths are 1, 2, 3, 4, 6, 12: choose one in --mesh, and a number of processes that divides the ranks"));
}

TEST_CASE("a refused mesh with groups of replicas is written as --mesh takes it") {
  redco::deployer_options o;
  o.mesh = redco::mesh{.dp = 4, .tp = 5};
  try {
    redco::run::check_widths(redco::shard::facts_of(mlp{}).parameters, {.dp = 2, .ds = 2, .tp = 5}, o, {});
    FAIL("accepted");
  } catch (redco::error const& e) {
    CHECK(std::string(e.what()).starts_with("mesh 4x5: "));
    CHECK(std::string(e.what()).ends_with("legal widths are 1, 2, 3, 4, 6, 12: choose one in --mesh"));
  }
}

TEST_CASE("trainers, workers and inferences refuse a width and list the widths that divide --ranks") {
  temporary_folder const folder;
  silence const quiet;
  redco::deployer_options where = in(folder.path);
  where.mesh = std::nullopt;
  where.ranks = 10;
  where.n_model_shards = 5;
  redco::deployer deployer(where);
  auto const pipeline = mlp_pipeline();
  auto const offers = [](auto const& make) {
    try {
      make();
    } catch (redco::error const& e) {
      return e.code() == redco::exit_code::usage &&
             std::string(e.what()).find(
                 "legal widths are 1, 2: choose one with --n-model-shards for the same 10 "
                 "ranks") != std::string::npos;
    }
    return false;
  };
  CHECK(offers([&] { trainer_of<mlp, decltype(pipeline)>(deployer, {}, pipeline, {.lr = 0.02}); }));
  CHECK(offers([&] { redco::inference(deployer, mlp{}, pipeline, redco::safetensors::weights_source{}); }));
  CHECK(offers([&] {
    deployer.run([&](redco::rank_context& rank) {
      redco::worker worker(deployer, rank, {.steps = 1});
      worker.add("net", mlp{}, redco::sgd{});
    });
  }));
}

TEST_CASE("a trainer refuses to recompute a range of blocks that its model does not have") {
  temporary_folder const folder;
  silence const quiet;
  redco::deployer_options where = in(folder.path);
  where.recompute = redco::recomputed_blocks::in_range({2, 3});
  redco::deployer deployer(where);
  auto const pipeline = mlp_pipeline();
  try {
    trainer_of<mlp, decltype(pipeline)>(deployer, {}, pipeline, {.lr = 0.02});
    FAIL("accepted");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    CHECK(std::string(e.what()) ==
          "no block is recomputed: the range begins with block 2, and the model repeats no blocks; recompute none");
  }
}

}  // namespace planned_test
