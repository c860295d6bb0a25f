#pragma once

#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

// Serialises tensors in cereal's archives: dtype, shape and elements, from and to CPU memory. The
// functions are in namespace `at`, where cereal finds them by argument-dependent lookup.
namespace at {

template <class Archive>
void save(Archive& archive, Tensor const& x) {
  Tensor const dense = x.detach().to(redco::tensors::cpu_device()).contiguous();
  std::string bytes(dense.nbytes(), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), dense.const_data_ptr(), bytes.size());
  archive(static_cast<std::int32_t>(dense.scalar_type()), dense.sizes().vec(), bytes);
}

template <class Archive>
void load(Archive& archive, Tensor& x) {
  std::int32_t type = 0;
  std::vector<std::int64_t> sizes;
  std::string bytes;
  archive(type, sizes, bytes);
  TORCH_CHECK(type >= 0 && type < static_cast<std::int32_t>(ScalarType::NumOptions), "no tensor has the dtype ", type);
  x = empty(sizes, static_cast<ScalarType>(type));
  TORCH_CHECK(x.nbytes() == bytes.size(), "a tensor of ", x.nbytes(), " bytes is stored with ", bytes.size());
  if (!bytes.empty()) std::memcpy(x.mutable_data_ptr(), bytes.data(), bytes.size());
}

}  // namespace at
