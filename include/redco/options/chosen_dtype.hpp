#pragma once

#include <redco/shape/dtype.hpp>
#include <redco/shape/multiplies_bf16.hpp>

#include <map>
#include <optional>
#include <string>

namespace redco {

/// What a run computes in, and why.
struct chosen_dtype {
  dtype compute = dtype::f32;
  std::string why;
};

/// `wanted`, else the fastest one of this CPU. Errors: exit code 64 for a dtype that no model can be trained in.
chosen_dtype choose_dtype(std::optional<dtype> wanted, bf16_instructions cpu = cpu_bf16_instructions());

/// The same on devices that multiply bf16 on tensor cores, or do not.
chosen_dtype choose_device_dtype(std::optional<dtype> wanted, bool multiplies_bf16);

/// The dtype for a checkpoint's manifest, and as a remark, whose name begins with #, why.
std::map<std::string, std::string> dtype_facts(chosen_dtype const& chosen);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/options/chosen_dtype.inl.hpp>
#endif
