#pragma once

namespace redco {

/// CUDA C++ that a device's kernels are compiled from where they first run, without a header of CUDA: behind kernel_prelude,
/// and behind `using element = float;` or `= bf16`, the numbers that it reads and writes. An entry is a function that is marked
/// REDCO_ENTRY. Texts are right for any number of blocks and of threads in each, so that the tests compile them for the host too.
struct kernel_source {
  char const* name;  ///< as the compiler's messages name it
  char const* text;
};

}  // namespace redco
