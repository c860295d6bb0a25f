#pragma once

#include <redco/data/detail/block_encoder.hpp>
#include <redco/data/detail/input_blocks.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace redco::data::detail {

/// Threads that run tasks in the order of their arrival. The destructor waits for tasks that run
/// and drops those that wait.
class encoding_threads {
 public:
  explicit encoding_threads(int count) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { run(); });
  }
  encoding_threads(encoding_threads const&) = delete;
  encoding_threads& operator=(encoding_threads const&) = delete;
  ~encoding_threads();

  /// Adds a task, and returns its future result or exception.
  std::future<encoded_block> start(std::function<encoded_block()> task);

 private:
  void run();

  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<encoded_block()>> waiting_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

/// Blocks of input that threads encode, in the order of the input.
class encoding_queue {
 public:
  /// Reads `files` from an earlier end of a block on: byte `offset` of a file, on line `line`.
  encoding_queue(block_encoder const& encode, std::span<input_entry const> files, std::size_t file, std::int64_t offset,
                 std::int64_t line, int threads)
      : encode_(encode),
        files_(files),
        blocks_(files, file, offset, line),
        most_(4 * static_cast<std::size_t>(threads)),
        threads_(threads) {}

  /// A block and its ids.
  struct result {
    std::shared_ptr<input_block const> block;
    encoded_block encoded;
  };

  /// Returns the next block, or nullopt after the last. Throws the first error in the order of the
  /// input.
  std::optional<result> next();

 private:
  struct running {
    std::shared_ptr<input_block const> block;
    std::future<encoded_block> encoded;
  };

  void start();

  block_encoder const& encode_;
  std::span<input_entry const> files_;
  input_blocks blocks_;
  std::size_t most_;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::deque<running> running_;
  encoding_threads threads_;  // destroyed first
};

}  // namespace redco::data::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/detail/encoding_queue.inl.hpp>
#endif
