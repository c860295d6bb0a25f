#pragma once

#include <redco/run/device_options.hpp>

#include <redco/tensor/device_graph.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <string>

namespace redco::run {

REDCO_INLINE tensors::device_choice devices_for(deployer_options const& options) {
  tensors::device_choice found = tensors::choose_device(options.device);
  check_device_options(options, found);
  if (found.type != tensors::cpu_device().type()) tensors::multiply_in_tf32(options.tf32);
  return found;
}

REDCO_INLINE void check_device_options(deployer_options const& options, tensors::device_choice const& found) {
  auto const refuse_if = [](bool wrong, std::string const& why) {
    if (wrong) throw error(exit_code::usage, why);
  };
  bool const on_cpu = found.type == tensors::cpu_device().type();
  std::string const cpu_computes =
      " CUDA devices, and the CPU computes here (" + found.why + "): leave it out, or give --device cuda";
  refuse_if(options.tf32 && on_cpu, "--tf32 is for products on" + cpu_computes);
  refuse_if(options.cuda_graph && !tensors::device_graph::maker_in_use().serves(found.of_rank(0)),
            "--cuda-graph is for" + cpu_computes);
  refuse_if(options.cuda_graph && options.verify,
            "--cuda-graph and --verify exclude each other: leave --cuda-graph out to compare the steps it records");
  refuse_if(options.cuda_graph && options.overlap.value_or(false),
            "--cuda-graph and --overlap exclude each other: a recorded backward cannot send gradients meanwhile");
  refuse_if(options.check_saved && !on_cpu,
            "--check-saved compares with what CPU kernels save, and a CUDA device computes here (" + found.why +
                "), where ATen computes some layers and saves other tensors: give --device cpu");
  refuse_if(options.check_saved && tensors::kernel_set_in_use() == tensors::kernel_set::composed,
            "--check-saved compares with what the fastest kernels keep: unset REDCO_KERNELS in the environment");
}

}  // namespace redco::run
