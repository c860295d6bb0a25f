#include "training.hpp"

#include <redco/run/deployer.hpp>
#include <redco/run/device_options.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/device_graph.hpp>
#include <redco/tensor/kernel_set.hpp>

#include <memory>
#include <string>

namespace {

std::string refusal(redco::deployer_options const& o) {
  try {
    redco::deployer const deployer(o);
  } catch (redco::error const& e) {
    return std::to_string(static_cast<int>(e.code())) + " " + e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("an unsupported device is refused by name with the allowed devices") {
  for (std::string const device : {"cuda:1", "CPU", "meta", ""}) {
    redco::deployer_options o;
    o.device = device;
    CHECK(refusal(o) == "64 --device " + device + " is nothing that this version computes on: give auto, cpu or cuda");
  }
}

TEST_CASE("TF32 is refused without a CUDA device") {
  redco::deployer_options o;
  o.device = "cpu";
  o.tf32 = true;
  CHECK(refusal(o) ==
        "64 --tf32 is for products on CUDA devices, and the CPU computes here (asked for): leave it out, or give "
        "--device cuda");
}

/// A maker of graphs that accepts --cuda-graph without a CUDA device.
struct graphs_anywhere final : redco::tensors::device_graph::maker {
  bool serves(at::Device) const override { return true; }
  std::unique_ptr<redco::tensors::device_graph> make(at::Device) const override { return nullptr; }
};

TEST_CASE("a recorded step excludes verification and gradients that are sent during backward") {
  graphs_anywhere const graphs;
  redco::tensors::device_graph::forced const forced(graphs);
  redco::deployer_options o;
  o.cuda_graph = true;
  CHECK(refusal(o) == "accepted");
  o.verify = true;
  CHECK(refusal(o) ==
        "64 --cuda-graph and --verify exclude each other: leave --cuda-graph out to compare the steps it records");
  o.verify = false;
  o.overlap = true;
  CHECK(refusal(o) ==
        "64 --cuda-graph and --overlap exclude each other: a recorded backward cannot send gradients meanwhile");
}

TEST_CASE("tensors that the reference kernels save are not compared with the plan for the fastest kernels") {
  redco::deployer_options o;
  o.check_saved = true;
  CHECK(refusal(o) == "accepted");
  redco::tensors::forced_kernel_set const forced(redco::tensors::kernel_set::composed);
  CHECK(refusal(o).starts_with("64 --check-saved "));
  o.check_saved = false;
  CHECK(refusal(o) == "accepted");
}

TEST_CASE("saved tensors are compared with the declarations only on a CPU") {
  redco::deployer_options o;
  auto const refusal_on = [&o](at::DeviceType type) -> std::string {
    try {
      redco::run::check_device_options(o, {.type = type, .why = "found"});
    } catch (redco::error const& e) {
      return std::to_string(static_cast<int>(e.code())) + " " + e.what();
    }
    return "accepted";
  };
  CHECK(refusal_on(at::kCUDA) == "accepted");
  o.check_saved = true;
  CHECK(refusal_on(at::kCPU) == "accepted");
  CHECK(refusal_on(at::kCUDA) ==
        "64 --check-saved compares with what CPU kernels save, and a CUDA device computes here (found), where ATen "
        "computes some layers and saves other tensors: give --device cpu");
}
