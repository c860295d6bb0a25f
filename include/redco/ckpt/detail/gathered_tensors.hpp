#pragma once

#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/workdir/write_manifest.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <redco/comm/group.hpp>

#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redco::ckpt::detail {

/// A set of tensors whose parts are spread over the ranks. Any box (offsets and sizes) of a tensor
/// can be gathered on rank 0.
class gathered_tensors {
 public:
  /// Gathers a table of the parts that all ranks hold; all ranks must call it. `own`: this rank's
  /// parts, also several of one tensor. Values are converted to the dtype `type_of(part)`, which
  /// must be equal for all parts of a tensor. Throws `error` with exit code 70 unless the parts
  /// with `owner` cover each element exactly once.
  template <class TypeOf>
  gathered_tensors(std::span<state_part const> own, TypeOf const& type_of, comm::group& world) : world_(world) {
    std::vector<std::string> const shares = together(world_, [&] {
      workdir::manifest share;
      share.run = "save";
      for (state_part const& part : own) {
        check_part(part);
        safetensors::stored_tensor const empty{file_dtype_of(type_of(part)), part.shape, {}};
        safetensors::stored_tensor& tensor = share.tensors.try_emplace(part.name, empty).first->second;
        if (!part.owner || safetensors::count_of(part.box.shape) == 0) continue;
        tensor.parts.push_back({std::to_string(world_.rank()), part.box.offset, part.box.shape});
        owned_[{part.name, part.box.offset}] = part.local.detach();
      }
      return workdir::write_manifest(share);
    });
    table_ = workdir::merged({}, shares).tensors;
  }

  /// Returns the table of all tensors and their parts. The member `file` of a part is the number of
  /// the rank that owns the part.
  safetensors::tensor_table const& table() const { return table_; }

  /// Gathers the box `wanted` (offsets and sizes) of a tensor on rank 0 and returns it there as a
  /// contiguous tensor. Returns an undefined tensor on all other ranks. All ranks must call it with
  /// an equal box.
  at::Tensor on_first(std::string const& name, safetensors::box const& wanted) const {
    at::Tensor values;
    safetensors::for_each_piece(
        table_.at(name), wanted,
        [&](safetensors::tensor_part const& part, safetensors::box const& from, safetensors::box const& to) {
          at::Tensor const piece = piece_on_first(name, part, from);
          if (world_.rank() != 0) return;
          if (to.shape == wanted.shape) {
            values = piece.contiguous();
          } else {
            if (!values.defined()) values = at::empty(wanted.shape, piece.options());
            corner(values, to).copy_(piece);
          }
        });
    return values;
  }

 private:
  static at::Tensor corner(at::Tensor values, safetensors::box const& box) {
    for (std::size_t d = 0; d < box.shape.size(); ++d)
      values = values.narrow(static_cast<std::int64_t>(d), box.offset[d], box.shape[d]);
    return values;
  }

  /// Returns, on rank 0, the values of a box within one part of a tensor. The rank that owns the
  /// part sends them; all other ranks do nothing.
  at::Tensor piece_on_first(std::string const& name, safetensors::tensor_part const& part,
                            safetensors::box const& box) const {
    int const holder = std::stoi(part.file);
    at::ScalarType const type = scalar_type_of(table_.at(name).type);
    at::Tensor values;
    if (world_.rank() == holder) {
      values = corner(owned_.at({name, part.offset}), box).to(tensors::cpu_device(), type);
      if (holder != 0) world_.send(values, 0);
    } else if (world_.rank() == 0) {
      values = at::empty(box.shape, type);
      world_.recv(values, holder);
    }
    return values;
  }

  comm::group& world_;
  /// the parts that this rank owns, by tensor name and offset
  std::map<std::pair<std::string, std::vector<std::int64_t>>, at::Tensor> owned_;
  safetensors::tensor_table table_;
};

}  // namespace redco::ckpt::detail
