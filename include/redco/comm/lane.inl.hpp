#pragma once

#include <redco/comm/lane.hpp>

#include <redco/comm/group.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/diag/run_position.hpp>
#include <redco/config.hpp>

#include <utility>

#include <pthread.h>

namespace redco::comm {

REDCO_INLINE lane::lane(group& own, group& like, std::shared_ptr<tensors::memory_counter> memory)
    : own_(own), like_(like), memory_(std::move(memory)) {}

REDCO_INLINE lane::~lane() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard const lock(mutex_);
    over_ = true;
  }
  bell_.notify_all();
  thread_.join();
}

REDCO_INLINE std::uint64_t lane::request(std::function<void(group&)> calls) {
  if (own_.size() == 1) {
    calls(own_);
    return ++requested_;
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  std::lock_guard const lock(mutex_);
  // After a failure, drops the request: wait() throws the failure.
  if (!failure_) queue_.push_back({std::move(calls), collective_label::current(), diag::run_position::here()});
  bell_.notify_all();
  return ++requested_;
}

REDCO_INLINE void lane::wait() {
  std::unique_lock lock(mutex_);
  bell_.wait(lock, [&] { return queue_.empty(); });
  like_.count(own_.counters());
  own_.reset_counters();
  if (failure_) std::rethrow_exception(failure_);
}

REDCO_INLINE void lane::wait(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  bell_.wait(lock, [&] { return queue_.size() <= requested_ - number; });
  if (failure_) std::rethrow_exception(failure_);
}

REDCO_INLINE void lane::work() {
  tensors::memory_counter::scope const counting(memory_);
  pthread_setname_np(pthread_self(), "redco lane");
  std::unique_lock lock(mutex_);
  while (true) {
    bell_.wait(lock, [&] { return over_ || !queue_.empty(); });
    if (over_) return;
    job one = std::move(queue_.front());
    lock.unlock();
    std::exception_ptr const failure = run_job(one);
    one = {};  // destroys what `calls` captured, before wait() returns
    lock.lock();
    if (failure) {
      failure_ = failure;
      queue_.clear();
    } else {
      queue_.pop_front();
    }
    bell_.notify_all();
  }
}

/// Executes the collectives of one request. Returns null on success. On failure, marks the run as
/// failed and returns the exception.
REDCO_INLINE std::exception_ptr lane::run_job(job const& one) noexcept {
  try {
    collective_label const label(one.label);
    diag::run_position::here() = one.position;
    one.calls(own_);
  } catch (error const& failure) {
    own_.abort(failure.code(), failure.what());
    return std::current_exception();
  } catch (std::exception const& failure) {
    own_.abort(exit_code::internal, tensors::words_of(failure));
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace redco::comm
