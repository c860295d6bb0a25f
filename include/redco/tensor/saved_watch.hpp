#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <map>

namespace redco {

/// Counts what autograd saves for backward on this thread while the watch lives: each storage once, however many nodes save
/// it. One watch per thread at a time. The first watch of a process replaces libtorch's engine by one that can be watched.
class saved_watch {
 public:
  saved_watch();
  ~saved_watch();
  saved_watch(saved_watch const&) = delete;
  saved_watch& operator=(saved_watch const&) = delete;

  /// Counts the storage of `x` too.
  void add(at::Tensor const& x);

  /// Leaves the storage of `x` out.
  void leave_out(at::Tensor const& x);

  /// Of all storages counted.
  std::int64_t bytes() const;

 private:
  std::map<void const*, at::Tensor> kept_;  // by storage; holding them keeps addresses from being used again
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tensor/saved_watch.inl.hpp>
#endif
