#include "catch.hpp"

#include <redco/options/deployer_options.hpp>
#include <redco/options/overlap.hpp>
#include <redco/options/parse.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

std::string refusal(redco::deployer_options const& o) {
  try {
    redco::options::mesh_of(o);
  } catch (redco::error const& e) {
    return std::to_string(static_cast<int>(e.code())) + " " + e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("impossible values of options are refused by name with allowed values") {
  for (double const seconds : {0.0, -1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    redco::deployer_options o;
    o.deadline = seconds;
    CHECK(refusal(o).starts_with("64 --deadline "));
    o.deadline = {};
    o.disk_deadline = seconds;
    CHECK(refusal(o).starts_with("64 --disk-deadline "));
    o.disk_deadline = 1;
    o.save_patience = seconds;
    CHECK(refusal(o).starts_with(seconds == 0 ? "accepted" : "64 --save-patience "));
  }
  for (double const mebibytes : {0.0, -4.0, 1e7, std::numeric_limits<double>::quiet_NaN()}) {
    redco::deployer_options o;
    o.gradient_bucket = mebibytes;
    CHECK(refusal(o).starts_with("64 --gradient-bucket "));
  }
  for (int const threads : {-1, 100000}) {
    redco::deployer_options o;
    o.threads = threads;
    CHECK(refusal(o).starts_with("64 --threads " + std::to_string(threads)));
  }
  for (redco::mesh const m : {redco::mesh{.dp = 20000}, {.dp = 100000, .tp = 100000}, {.dp = 0}, {.tp = -1}}) {
    redco::deployer_options o;
    o.mesh = m;
    CHECK(refusal(o).starts_with("64 --mesh "));
  }
  for (redco::mesh const m : {redco::mesh{.ep = 2}, {.dp = 2, .ep = 2, .tp = 2}}) {
    redco::deployer_options o;
    o.mesh = m;
    for (int const level : {0, 1, 2, 3}) {
      o.zero = level;
      CHECK(refusal(o) == "accepted");
    }
    o.mesh->pp = 2;
    CHECK(refusal(o) == "accepted");
    o.zero = 1;
    o.zero_owner = redco::shape::zero_owner::whole;
    CHECK(refusal(o) == "accepted");
  }
  redco::deployer_options o;
  o.ranks = 20000;
  CHECK(refusal(o).starts_with("64 --mesh 20000x1"));
  o.ranks = 2;
  for (int const level : {0, 1, 2, 3}) {
    o.zero = level;
    CHECK(refusal(o) == "accepted");
  }
  o.overlap = true;
  CHECK(refusal(o) == "accepted");
  o.overlap = {};
  o.zero_keep = 3;
  CHECK(refusal(o) == "accepted");
  o.zero_keep = -1;
  CHECK(refusal(o).starts_with("64 --zero-keep -1: give the number of blocks, from 0 on"));
  o.zero = 1;
  o.zero_keep = 1;
  CHECK(refusal(o).starts_with("64 --zero-keep 1 with --zero 1: only with --zero 3"));
  o.zero_keep = 0;
  for (int const level : {-1, 4}) {
    o.zero = level;
    CHECK(refusal(o).starts_with("64 --zero " + std::to_string(level) + " is no"));
  }
  o.mesh = redco::mesh{.pp = 2, .dp = 2};
  for (int const level : {1, 3, 2}) {
    o.zero = level;
    CHECK(refusal(o) == "accepted");
  }
  o.overlap = true;
  CHECK(refusal(o).starts_with("64 --overlap with --zero and pipeline stages"));
  o.zero = 1;
  CHECK(refusal(o).starts_with("64 --overlap with --zero and pipeline stages"));
  o.zero = 0;
  CHECK(refusal(o) == "accepted");
}

TEST_CASE("owners of whole matrices need --zero, and sum gradients after backward at level 1") {
  redco::deployer_options o;
  o.ranks = 2;
  o.zero_owner = redco::shape::zero_owner::whole;
  CHECK(refusal(o).starts_with("64 --zero-owner whole without --zero"));
  o.zero = 1;
  CHECK(refusal(o) == "accepted");
  for (int const processes : {1, 2})
    CHECK(redco::options::gradient_bucket({.dp = 2}, processes, {}, 4, 1, o.zero_owner) == 0);
  CHECK(redco::options::gradient_bucket({.dp = 2}, 2, {}, 4, 1) > 0);
  for (int const level : {2, 3})
    CHECK(redco::options::gradient_bucket({.dp = 2}, 2, true, 4, level, o.zero_owner) == 4 << 20);
  o.ranks = 4;
  for (char const* within : {"2", "4"}) {
    o.zero_within = within;
    CHECK(refusal(o) == "accepted");
  }
  o.ranks = 2;
  o.zero_within = "run";
  o.overlap = true;
  CHECK(refusal(o).starts_with("64 --overlap with --zero-owner whole"));
  o.ranks = 1;
  CHECK(refusal(o) == "accepted");
  o.ranks = 2;
  for (int const level : {2, 3}) {
    o.zero = level;
    CHECK(refusal(o) == "accepted");
  }
  o.overlap = {};

  using redco::deployer_options, redco::options::parse;
  char const* const whole[] = {"program", "--zero-owner", "whole"};
  CHECK(parse<deployer_options>(3, whole).zero_owner == redco::shape::zero_owner::whole);
  CHECK(parse<deployer_options>(1, whole).zero_owner == redco::shape::zero_owner::element);
  char const* const other[] = {"program", "--zero-owner", "matrix"};
  try {
    static_cast<void>(parse<deployer_options>(3, other));
    FAIL("an unknown owner is accepted");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    CHECK(std::string(e.what()).find("element|whole") != std::string::npos);
  }
}

TEST_CASE("pipeline stages and model shards make the mesh, and replicas take the remaining ranks") {
  redco::deployer_options o;
  o.n_pipeline_stages = 3;
  o.n_model_shards = 2;
  CHECK(redco::options::mesh_of(o) == redco::mesh{.pp = 3, .tp = 2});
  o.ranks = 12;
  CHECK(redco::options::mesh_of(o) == redco::mesh{.pp = 3, .dp = 2, .tp = 2});
  o.ranks = 9;
  CHECK(refusal(o) ==
        "64 9 ranks cannot hold copies of 3 pipeline stages of 2 model shards each: make --ranks a multiple of "
        "--n-pipeline-stages times --n-model-shards");
  o.n_pipeline_stages = 1000;
  CHECK(refusal(o).starts_with("64 --n-pipeline-stages 1000 of --n-model-shards 2 ranks each"));
}

TEST_CASE("the limits of allowed ranges are accepted") {
  redco::deployer_options o;
  o.mesh = redco::mesh{.dp = 512, .tp = 2};
  o.threads = 1;
  o.deadline = 0.001;
  CHECK(refusal(o) == "accepted");
  o.deadline = 1e8;
  CHECK(refusal(o) == "accepted");
  o.threads = 2;
  CHECK(refusal(o).starts_with("64 --threads 2 on each of 1024 ranks"));
}

TEST_CASE("--deadline is distinguished from its default, which leaves the first step more time") {
  char const* words[] = {"program", "--deadline", "120"};
  CHECK(redco::options::resolve<redco::deployer_options>(3, words).values.deadline == 120.0);
  CHECK_FALSE(redco::options::resolve<redco::deployer_options>(1, words).values.deadline);
}

TEST_CASE("--overlap is yes, no, or chosen by the deployer") {
  auto const options_of = [](std::vector<char const*> words) {
    words.insert(words.begin(), "program");
    return redco::options::resolve<redco::deployer_options>(static_cast<int>(words.size()), words.data()).values;
  };
  CHECK_FALSE(options_of({"--quiet"}).overlap.has_value());
  CHECK(options_of({"--overlap"}).overlap == true);
  CHECK(options_of({"--overlap", "--no-overlap"}).overlap == false);
  CHECK(options_of({"--overlap", "--gradient-bucket", "0.5"}).gradient_bucket == 0.5);
}

namespace {

template <class Options>
redco::options::resolved<Options> resolved_from(std::vector<char const*> words) {
  words.insert(words.begin(), "program");
  return redco::options::resolve<Options>(static_cast<int>(words.size()), words.data());
}

template <class Options>
std::vector<std::string> offered() {
  std::vector<std::string> names;
  auto const all = resolved_from<Options>({});
  for (auto const& row : all.rows()) names.push_back(row.name);
  return names;
}

}  // namespace

TEST_CASE("a program that only predicts offers no option of training") {
  CHECK(offered<redco::options::predicting_options>() ==
        std::vector<std::string>{"ranks", "n_model_shards", "n_pipeline_stages", "stages", "mesh", "seed", "device",
                                 "dtype", "tf32", "threads", "deadline", "deterministic"});
  redco::options::predicting_options const o =
      resolved_from<redco::options::predicting_options>({"--mesh", "1x2", "--seed", "7", "--dtype", "f64"}).values;
  redco::deployer_options const& whole = o;
  CHECK(whole.mesh == redco::mesh{.tp = 2});
  CHECK(whole.seed == 7);
  CHECK(whole.dtype == redco::dtype::f64);
  CHECK_THROWS_AS(resolved_from<redco::options::predicting_options>({"--resume", "none"}), redco::error);
}

TEST_CASE("a program whose model repeats no blocks offers no recomputation") {
  std::vector<std::string> expected = offered<redco::deployer_options>();
  for (char const* of_blocks :
       {"recompute", "n_pipeline_stages", "stages", "schedule", "chunks_per_stage", "zero_keep"})
    std::erase(expected, of_blocks);
  CHECK(offered<redco::options::blockless_options>() == expected);
  CHECK_THROWS_AS(resolved_from<redco::options::blockless_options>({"--recompute"}), redco::error);
}

TEST_CASE("a program that makes its own steps offers no option of fit") {
  std::vector<std::string> expected = offered<redco::deployer_options>();
  for (char const* fit_only : {"cuda_graph", "check_saved", "recompute", "n_pipeline_stages", "stages", "schedule",
                               "chunks_per_stage", "zero_keep"})
    std::erase(expected, fit_only);
  CHECK(offered<redco::stepping_options>() == expected);
  CHECK(resolved_from<redco::stepping_options>({"--resume", "none"}).values.resume == "none");
  CHECK(resolved_from<redco::stepping_options>({"--strict-resume"}).values.strict_resume);
}

TEST_CASE("ranks form replicas of the requested number of shards or are refused") {
  CHECK(redco::options::mesh_of(6, 3) == redco::mesh{.dp = 2, .tp = 3});
  CHECK(redco::options::mesh_of(5, 1) == redco::mesh{.dp = 5});
  for (auto const& [ranks, shards] : {std::pair{6, 4}, {3, 6}, {0, 1}, {-2, 1}, {2, 0}, {2, -1}}) {
    INFO(ranks << " ranks, " << shards << " shards");
    try {
      redco::options::mesh_of(ranks, shards);
      FAIL("accepted");
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
    }
  }
}
