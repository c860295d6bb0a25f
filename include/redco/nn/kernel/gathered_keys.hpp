#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Keys and values that rows share and that need not lie in order: key j of row r is row places[r][j] of both.
struct gathered_keys {
  at::Tensor keys, values;  ///< [entries, Hkv D], f64, f32 or bf16; rows may lie apart
  at::Tensor places;        ///< int32 [R, S]; rows may lie apart
};

}  // namespace redco::kernel
