#pragma once

#include <redco/tensor/torch.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
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

  /// What host code has looked into while a device's work was recorded: to be done again for each later batch.
  struct looks {
    std::vector<std::function<void()>> again;
    bool told = false;  ///< a value was handed to who computes the loss
  };

  /// Where this thread's looks are recorded while it lives; null: they are not, and anybody may look. Else nobody may but look_on_host
  /// and check_on_host.
  class recording {
   public:
    explicit recording(looks* to) : before(std::exchange(of_thread().recorded_, to)) {}
    ~recording() { of_thread().recorded_ = before; }
    recording(recording const&) = delete;
    recording& operator=(recording const&) = delete;

    looks* const before;
  };

  /// Errors: exit code 64 where work is recorded.
  void refuse_if_recorded() const {
    if (recorded_ == nullptr) return;
    throw error(
        exit_code::usage,
        "the loss reads values of its batch on the host, where a recorded graph would see the first batch's for "
        "ever: compute with tensors alone, or train without --cuda-graph");
  }

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
  looks* recorded_ = nullptr;
};

}  // namespace redco
