#pragma once

#include <redco/shape/dtype.hpp>
#include <redco/shape/multiplies_bf16.hpp>

#include <map>
#include <optional>
#include <string>

namespace redco::options {

/// Returns bf16 if the CPU has instructions that multiply bf16, otherwise f32.
inline dtype fastest_dtype(shape::bf16_instructions cpu = shape::cpu_bf16_instructions()) {
  return cpu == shape::bf16_instructions::none ? dtype::f32 : dtype::bf16;
}

/// The dtype in which a run computes, and the reason for the choice.
struct chosen_dtype {
  dtype compute = dtype::f32;
  std::string why;
};

/// Returns the dtype `wanted` or, if empty, the fastest dtype on this CPU. Throws `error` with exit
/// code 64 for f16, in which no model can be trained.
chosen_dtype choose_dtype(std::optional<dtype> wanted, shape::bf16_instructions cpu = shape::cpu_bf16_instructions());

/// Returns the dtype `wanted` or, if empty, the default of a device: bf16 if the device multiplies
/// bf16 on tensor cores (`multiplies_bf16`), otherwise f32. Throws `error` with exit code 64 for
/// f16.
chosen_dtype choose_device_dtype(std::optional<dtype> wanted, bool multiplies_bf16);

/// Returns {"dtype", name} and {"#dtype", reason} as settings for a checkpoint's manifest. Names
/// that begin with # are remarks, which are not compared.
inline std::map<std::string, std::string> dtype_facts(chosen_dtype const& chosen) {
  return {{"dtype", std::string(name_of(chosen.compute))}, {"#dtype", chosen.why}};
}

}  // namespace redco::options

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/chosen_dtype.inl.hpp>
#endif
