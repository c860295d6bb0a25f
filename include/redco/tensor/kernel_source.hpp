#pragma once

namespace redco {

/// CUDA C++ text of kernels, compiled without CUDA's headers when a kernel first runs.
/// kernel_prelude and `using element = float;` (or bf16) precede the text. A kernel is a function
/// marked REDCO_ENTRY.
///
/// Kernels are correct for any number of blocks and of threads per block, so that the tests can
/// compile them for the host too.
struct kernel_source {
  char const* name;  ///< name of the source in the compiler's messages
  char const* text;
};

}  // namespace redco
