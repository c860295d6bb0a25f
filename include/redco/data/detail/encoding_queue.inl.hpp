#pragma once

#include <redco/data/detail/encoding_queue.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <utility>

namespace redco::data::detail {

REDCO_INLINE encoding_threads::~encoding_threads() {
  {
    std::lock_guard const held(lock_);
    ended_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

REDCO_INLINE std::future<encoded_block> encoding_threads::start(std::function<encoded_block()> task) {
  std::packaged_task<encoded_block()> packaged(std::move(task));
  std::future<encoded_block> result = packaged.get_future();
  {
    std::lock_guard const held(lock_);
    waiting_.push_back(std::move(packaged));
  }
  changed_.notify_one();
  return result;
}

REDCO_INLINE void encoding_threads::run() {
  for (;;) {
    std::unique_lock held(lock_);
    changed_.wait(held, [this] { return ended_ || !waiting_.empty(); });
    if (ended_) return;
    std::packaged_task<encoded_block()> task = std::move(waiting_.front());
    waiting_.pop_front();
    held.unlock();
    task();
  }
}

REDCO_INLINE std::optional<encoding_queue::result> encoding_queue::next() {
  while (!ended_ && running_.size() < most_) start();
  if (running_.empty()) {
    if (failure_) std::rethrow_exception(failure_);
    return std::nullopt;
  }
  running front = std::move(running_.front());
  running_.pop_front();
  return result{std::move(front.block), front.encoded.get()};
}

REDCO_INLINE void encoding_queue::start() {
  try {
    std::optional<input_block> read = blocks_.next();
    if (!read) {
      ended_ = true;
      return;
    }
    auto const block = std::make_shared<input_block const>(*std::move(read));
    running_.push_back({block, threads_.start([this, block] { return encode_(*block, files_[block->file].path); })});
  } catch (error const&) {
    // Errors of earlier blocks come first.
    failure_ = std::current_exception();
    ended_ = true;
  }
}

}  // namespace redco::data::detail
