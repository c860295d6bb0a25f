#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/safetensors_reader.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco::ckpt::detail {

inline std::span<std::byte> bytes_of(at::Tensor const& dense) {
  return {static_cast<std::byte*>(dense.data_ptr()), dense.nbytes()};
}

}  // namespace redco::ckpt::detail

namespace redco::ckpt {

/// Fills this rank's parts from `files`: reads from each stored part its overlap with the wanted
/// box, each byte once. Padding becomes zero. Files of any mesh give equal bits; other dtypes are
/// converted. `table` must have every wanted name with its shape, and the stored parts must cover
/// each tensor.
///
/// Throws `error` with exit code 65 if a file is missing or differs from the table, 74 if it cannot
/// be read. The parts may then be partly filled.
inline void read_parts(safetensors::open_files const& files, safetensors::tensor_table const& table,
                       std::span<state_part const> parts) {
  at::NoGradGuard const no_grad;
  for (state_part const& part : parts) {
    safetensors::stored_tensor const& stored = table.at(part.name);
    at::Tensor const local = part.local.detach();
    at::ScalarType const type = scalar_type_of(stored.type);
    bool const direct = local.is_contiguous() && tensors::in_cpu_memory(local) && local.scalar_type() == type;
    at::Tensor const target = direct ? local : at::empty(local.sizes(), at::TensorOptions(type));
    if (target.sizes() != at::IntArrayRef(part.box.shape)) target.zero_();
    safetensors::for_each_piece(
        stored, part.box,
        [&](safetensors::tensor_part const& source, safetensors::box const& from, safetensors::box const& to) {
          safetensors::safetensors_reader const& file = files[source.file];
          std::string const& name = source.name.empty() ? part.name : source.name;
          safetensors::check_entry(file, name, stored.type, source.whole.empty() ? source.shape : source.whole);
          safetensors::box const in_file = source.in_file(from);
          std::vector<std::int64_t> shape = target.sizes().vec(), offset = to.offset;
          shape.insert(shape.begin(), in_file.shape.size() - shape.size(), 1);
          offset.insert(offset.begin(), shape.size() - offset.size(), 0);
          file.read(name, in_file, detail::bytes_of(target), shape, offset);
        });
    if (!direct) {
      part.local.copy_(target);
    } else if (!part.local.is_inference()) {
      // Copying with copy_ would do this too: autograd must detect that the values changed.
      part.local.unsafeGetTensorImpl()->bump_version();
    }
  }
}

}  // namespace redco::ckpt
