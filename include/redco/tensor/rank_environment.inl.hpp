#pragma once

#include <redco/tensor/rank_environment.hpp>

#include <redco/config.hpp>

#include <mutex>
#include <utility>

#include <pthread.h>

namespace redco::tensors {

REDCO_INLINE rank_environment::rank_environment(std::string const& thread_name, int threads,
                                                std::shared_ptr<memory_counter> counter)
    : counting_(std::move(counter)) {
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  {
    // at::set_num_threads also sets the process's default and creates libtorch's thread pool.
    static std::mutex setting;
    std::lock_guard const lock(setting);
    at::set_num_threads(threads);
  }
  // 15 characters: the kernel's limit
  pthread_setname_np(pthread_self(), thread_name.substr(0, 15).c_str());
}

}  // namespace redco::tensors
