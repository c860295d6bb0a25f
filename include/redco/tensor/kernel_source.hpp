#pragma once

namespace redco::tensors {

/// CUDA C++ text of kernels, which is compiled without CUDA's headers when a kernel first runs.
/// kernel_prelude and `using element = float;` (or bf16) are inserted before the text. A kernel is
/// a function marked REDCO_ENTRY.
///
/// Kernels are correct for any number of blocks and of threads per block. Tests can therefore
/// compile and run them on the CPU.
struct kernel_source {
  char const* name;  ///< name of the source text, for the compiler's messages
  char const* text;
};

}  // namespace redco::tensors
