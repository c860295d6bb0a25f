#include "torch_catch.hpp"

#include "tested_device.hpp"

#include <redco/tensor/device.hpp>
#include <redco/diag/error.hpp>

#include <cstdlib>
#include <string>

namespace {

std::string device_refusal(std::string const& name) {
  try {
    redco::tensors::device_of(name);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a CPU is always supported, and its tensors are in CPU memory") {
  CHECK(redco::tensors::device_of("cpu") == redco::tensors::cpu_device());
  CHECK(redco::tensors::choose_device("cpu").of_rank(3) == redco::tensors::cpu_device());
  CHECK(redco::tensors::in_cpu_memory(at::ones({2})));
  CHECK(!redco::tensors::in_cpu_memory(at::empty({2}, at::kMeta)));
}

TEST_CASE("a device that redco does not support is refused with the allowed devices") {
  for (std::string const name : {"cuda:1", "cpu:0", "CPU", ""})
    CHECK(device_refusal(name) ==
          "--device " + name + " is nothing that this version computes on: give auto, cpu or cuda");
}

TEST_CASE("CUDA is used if it works, and is otherwise refused with the missing part and its package") {
  tested_device();  // if a device is requested, it must be available
  std::string const why = device_refusal("cuda");
  if (why.empty()) {
    CHECK(redco::tensors::device_of("cuda") == at::Device(at::kCUDA, 0));
    return;
  }
  CHECK(why.starts_with("--device cuda cannot be computed on: "));
  CHECK((why.find("scripts/setup --cuda") != std::string::npos || why.find("nvidia-smi") != std::string::npos));
}

TEST_CASE("the default device is the one found, or the one that the environment names, with the reason") {
  char const* const before = std::getenv("REDCO_DEVICE");
  std::string const kept = before != nullptr ? before : "";
  ::setenv("REDCO_DEVICE", "cpu", 1);
  redco::tensors::device_choice const named = redco::tensors::choose_device("auto");
  CHECK(named.type == at::kCPU);
  CHECK(named.why == "REDCO_DEVICE in the environment");
  ::setenv("REDCO_DEVICE", "tpu", 1);
  CHECK(device_refusal("auto").starts_with("--device tpu "));
  ::setenv("REDCO_DEVICE", "", 1);
  redco::tensors::device_choice const found = redco::tensors::choose_device("auto");
  bool const has_cuda = device_refusal("cuda").empty();
  CHECK((found.type == at::kCUDA) == has_cuda);
  CHECK(!found.why.empty());
  CHECK(redco::tensors::choose_device("cpu").why == "asked for");
  before != nullptr ? ::setenv("REDCO_DEVICE", kept.c_str(), 1) : ::unsetenv("REDCO_DEVICE");
}

TEST_CASE("ranks take the devices of their host in turn") {
  redco::tensors::device_choice const three{.type = at::kCUDA, .count = 3};
  CHECK(three.of_rank(0) == at::Device(at::kCUDA, 0));
  CHECK(three.of_rank(2) == at::Device(at::kCUDA, 2));
  CHECK(three.of_rank(7) == at::Device(at::kCUDA, 1));
}
