#include "mlp.hpp"

#include <redco/run/process_choices.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/json/parse.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// The dtype is given explicitly, so that every machine tests the default dtypes of other machines.

namespace dtype_test {

std::string text_of(std::filesystem::path const& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

run_test::mlp_options dtype_options() {
  run_test::mlp_options o;
  o.epochs = 3;
  o.global_batch = 4;
  return o;
}

run_test::outcome run_in(redco::dtype type, redco::mesh mesh) {
  temporary_folder folder;
  redco::deployer_options where = run_test::in(folder.path, mesh);
  where.dtype = type;
  return run_test::fit_mlp(where, dtype_options());
}

TEST_CASE("a network on floating-point inputs of any type trains in every dtype on every mesh") {
  std::vector<double> const exact = run_in(redco::dtype::f64, {.dp = 1}).losses;
  REQUIRE(exact.size() == 12);
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.dp = 2}, {.tp = 2}, {.tp = 3}, {.dp = 2, .tp = 2}}) {
    INFO(mesh.dp << "x" << mesh.tp);
    CHECK(run_test::difference(exact, run_in(redco::dtype::f32, mesh).losses) < 1e-5);
    for (redco::tensors::bf16_path const path :
         {redco::tensors::bf16_path::onednn, redco::tensors::bf16_path::packed, redco::tensors::bf16_path::blas}) {
      INFO(name_of(path));
      redco::tensors::forced_bf16_path const forced(path);
      run_test::outcome const run = run_in(redco::dtype::bf16, mesh);
      CHECK(run.reason == "");
      CHECK(run_test::difference(exact, run.losses) < 0.01);
    }
  }
}

TEST_CASE("the composed kernels train equally in every dtype on every mesh, and the log names them") {
  std::vector<double> const exact = run_in(redco::dtype::f64, {}).losses;
  redco::tensors::forced_kernel_set const forced(redco::tensors::kernel_set::composed);
  for (redco::mesh const mesh : {redco::mesh{}, {.dp = 2}, {.tp = 2}, {.dp = 2, .tp = 2}}) {
    INFO(mesh.dp << "x" << mesh.tp);
    CHECK(run_test::difference(exact, run_in(redco::dtype::f64, mesh).losses) < 1e-12);
    CHECK(run_test::difference(exact, run_in(redco::dtype::f32, mesh).losses) < 1e-5);
    CHECK(run_test::difference(exact, run_in(redco::dtype::bf16, mesh).losses) < 0.01);
  }
  CHECK(redco::run::dtype_text({redco::dtype::bf16, "asked for"}, redco::tensors::cpu_device()) ==
        "dtype bf16: asked for; kernels composed");
}

TEST_CASE("the dtype and its reason are in log.txt, config.json and the manifest, with options or without") {
  for (bool const has_options : {false, true}) {
    temporary_folder folder;
    redco::tensors::forced_bf16_path const forced(redco::tensors::bf16_path::packed);
    redco::deployer_options where = run_test::in(folder.path);
    where.dtype = redco::dtype::bf16;
    run_test::mlp_options o = dtype_options();
    if (has_options) o.config = R"({"lr": 0.02, "dtype": null})";
    CHECK(run_test::fit_mlp(where, o).code == 0);
    CHECK(text_of(folder.path / "log.txt").find("dtype bf16: asked for; products by packed; kernels fastest") !=
          std::string::npos);
    auto const config = redco::json::parse_json(text_of(folder.path / "config.json"), "config.json");
    CHECK(config["dtype"] == "bf16");
    CHECK(config["#dtype"] == "asked for");
    CHECK(config.contains("lr") == has_options);
    auto const facts = redco::workdir::read_manifest(folder.path / "ckpts" / "last");
    CHECK(facts.config.at("dtype") == "bf16");
    CHECK(facts.config.at("#dtype") == "asked for");
  }
}

}  // namespace dtype_test
