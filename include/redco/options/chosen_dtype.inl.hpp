#pragma once

#include <redco/options/chosen_dtype.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

namespace redco::options {

/// Returns the dtype that the user has requested; empty if none. Throws `error` with exit code 64
/// for f16, in which no model can be trained.
inline std::optional<chosen_dtype> asked_for(std::optional<dtype> wanted) {
  if (wanted == dtype::f16)
    throw error(exit_code::usage, "--dtype f16 cannot be trained in: its gradients underflow; use bf16 (or f32, f64)");
  if (wanted) return chosen_dtype{*wanted, "asked for"};
  return std::nullopt;
}

REDCO_INLINE chosen_dtype choose_device_dtype(std::optional<dtype> wanted, bool multiplies_bf16) {
  if (auto const asked = asked_for(wanted)) return *asked;
  if (multiplies_bf16) return {dtype::bf16, "the device multiplies it on tensor cores"};
  return {dtype::f32, "the device has no tensor cores that multiply bf16"};
}

REDCO_INLINE chosen_dtype choose_dtype(std::optional<dtype> wanted, shape::bf16_instructions cpu) {
  if (auto const asked = asked_for(wanted)) return *asked;
  char const* const why = cpu == shape::bf16_instructions::amx      ? "this CPU multiplies it with AMX"
                          : cpu == shape::bf16_instructions::avx512 ? "this CPU multiplies it with AVX512-bf16"
                                                                    : "this CPU has no instructions that multiply bf16";
  return {fastest_dtype(cpu), why};
}

}  // namespace redco::options
