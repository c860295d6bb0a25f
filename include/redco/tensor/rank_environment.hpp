#pragma once

#include <redco/tensor/tensor_memory.hpp>
#include <redco/tensor/torch.hpp>

#include <ATen/Parallel.h>

#include <memory>
#include <string>

namespace redco::tensors {

/// A scope that prepares a thread to act as a rank. Backward runs on this thread itself, so that
/// collectives may block in it. The thread gets its own number of libtorch threads, a name for
/// debuggers, a memory counter, and a cache of large tensor blocks (kept_memory).
class rank_environment {
 public:
  rank_environment(std::string const& thread_name, int threads, std::shared_ptr<memory_counter> counter);
  ~rank_environment() { c10::AutogradState::get_tls_state().set_multithreading_enabled(multithreading_); }
  rank_environment(rank_environment const&) = delete;
  rank_environment& operator=(rank_environment const&) = delete;

 private:
  memory_counter::scope counting_;
  kept_memory::scope keeping_;
  bool multithreading_ = c10::AutogradState::get_tls_state().get_multithreading_enabled();
};

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/rank_environment.inl.hpp>
#endif
