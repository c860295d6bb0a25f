#pragma once

#include <redco/data/detail/input_blocks.hpp>
#include <redco/data/detail/text_on_disk.hpp>
#include <redco/tokenizer/tokenizer.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace redco::data::detail {

/// The ids of a block of input.
struct encoded_block {
  std::vector<std::byte> ids;   ///< Ids as in a token file
  std::int64_t count = 0;       ///< Number of ids
  std::int64_t documents = 0;   ///< Number of documents that end in the block
  line_encoding encoding = {};  ///< Bytes that are NUL or no UTF-8
};

/// A function that converts blocks of input to ids. Threads may call it concurrently.
class block_encoder {
 public:
  /// Ends documents with the id `end`. Encodes ids in `width` bytes. `key` and `invalid` are those
  /// of tokenize_options.
  block_encoder(tokenizer::any_tokenizer tokenizer, std::int64_t end, int width, std::string key, double invalid)
      : tokenizer_(std::move(tokenizer)), end_(end), width_(width), key_(std::move(key)), invalid_(invalid) {}

  /// Returns the ids of a block of the file `path`. Throws the errors of read_texts for its lines.
  encoded_block operator()(input_block const& block, std::filesystem::path const& path) const;

 private:
  void append(std::string_view text, encoded_block& result, bool ends_document) const;
  void append_text(input_block const& block, std::filesystem::path const& path, encoded_block& result) const;
  void append_lines(input_block const& block, std::filesystem::path const& path, encoded_block& result) const;

  tokenizer::any_tokenizer tokenizer_;
  std::int64_t end_;
  int width_;
  std::string key_;
  double invalid_;
};

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
