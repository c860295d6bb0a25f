#pragma once

#include <redco/tensor/rank_environment.hpp>

#include <redco/config.hpp>

#include <mutex>
#include <utility>

#include <pthread.h>

namespace redco {

REDCO_INLINE rank_environment::rank_environment(std::string const& thread_name, int threads,
                                                std::shared_ptr<memory_counter> counter)
    : counting_(std::move(counter)) {
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  {
    static std::mutex setting;  // the call sets the process's default too, and makes libtorch's pool on the way
    std::lock_guard const lock(setting);
    at::set_num_threads(threads);
  }
  pthread_setname_np(pthread_self(), thread_name.substr(0, 15).c_str());  // 15: the kernel's limit
}

}  // namespace redco
