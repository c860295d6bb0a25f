#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace redco {

/// What the tensors of a batch on a device were copied from: host code that looks into them (labels, ids) takes the values from here
/// and does not wait for the device. One for each thread.
class host_copies {
 public:
  static host_copies& of_thread() {
    thread_local host_copies all;
    return all;
  }

  /// `there` has the values of `here` until somebody writes into it.
  void add(at::Tensor const& there, at::Tensor const& here) {
    if (there.strides() == here.strides()) all_.push_back({there, here, there._version()});
  }

  void clear() { all_.clear(); }

  /// The same values in host memory, of a tensor that was added, or of a view of one; nothing for others and for what was written.
  std::optional<at::Tensor> find(at::Tensor const& x) const {
    for (auto const& [there, here, version] : all_)
      if (x.is_alias_of(there) && x.scalar_type() == there.scalar_type() && x._version() == version)
        return here.as_strided(x.sizes(), x.strides(),
                               x.storage_offset() - there.storage_offset() + here.storage_offset());
    return std::nullopt;
  }

 private:
  struct copy {
    at::Tensor there, here;
    std::int64_t version;
  };
  std::vector<copy> all_;
};

}  // namespace redco
