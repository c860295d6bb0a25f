#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace redco::tensors {

/// A table of the host tensors from which a batch was copied to a device. With it, host code reads
/// labels or token ids without waiting for the device. Each thread has its own table.
class host_copies {
 public:
  static host_copies& of_thread() {
    thread_local host_copies all;
    return all;
  }

  /// Records that the device tensor `there` has the values of the host tensor `here`. The entry is
  /// valid until `there` is modified. Ignores pairs with different strides.
  void add(at::Tensor const& there, at::Tensor const& here) {
    if (there.strides() == here.strides()) all_.push_back({there, here, there._version()});
  }

  void clear() { all_.clear(); }

  /// Returns the values of the device tensor `x` from its recorded host copy; `x` may be a view.
  /// Returns nothing if `x` has no recorded copy or was modified since.
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

}  // namespace redco::tensors
