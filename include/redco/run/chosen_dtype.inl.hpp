#pragma once

#include <redco/run/chosen_dtype.hpp>

#include <redco/run/fastest_dtype.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

namespace redco {

REDCO_INLINE chosen_dtype choose_dtype(std::optional<dtype> wanted, bf16_instructions cpu) {
  if (wanted == dtype::f16)
    throw error(exit_code::usage, "--dtype f16 cannot be trained in: its gradients underflow; use bf16 (or f32, f64)");
  if (wanted) return {*wanted, "asked for"};
  char const* const why = cpu == bf16_instructions::amx      ? "this CPU multiplies it with AMX"
                          : cpu == bf16_instructions::avx512 ? "this CPU multiplies it with AVX512-bf16"
                                                             : "this CPU has no instructions that multiply bf16";
  return {fastest_dtype(cpu), why};
}

REDCO_INLINE std::string dtype_text(chosen_dtype const& chosen) {
  std::string text = "dtype " + std::string(name_of(chosen.compute)) + ": " + chosen.why;
  kernel_set const kernels = kernel_set_in_use();
  if (chosen.compute == dtype::bf16 && kernels == kernel_set::fastest)
    text += "; products by " + std::string(name_of(bf16_path_in_use()));
  text += "; kernels " + std::string(name_of(kernels));
  return text;
}

REDCO_INLINE std::map<std::string, std::string> dtype_facts(chosen_dtype const& chosen) {
  return {{"dtype", std::string(name_of(chosen.compute))}, {"#dtype", chosen.why}};
}

}  // namespace redco
