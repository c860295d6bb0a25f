#pragma once

#include <redco/data/detail/encoding_queue.hpp>

#include <redco/data/detail/json_lines.hpp>
#include <redco/data/read_texts.hpp>
#include <redco/data/token_writer.hpp>
#include <redco/tokenizer/invalid_utf8.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/hexadecimal.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <utility>

namespace redco::data::detail {

/// Appends the ids of a text, and the end id if the document has ids and `ends_document` is true.
/// Special tokens in the text are encoded as ordinary text.
REDCO_INLINE void block_encoder::append(std::string_view text, encoded_block& result, bool ends_document) const {
  std::vector<std::int64_t> ids = tokenizer_.encode(text, {.add_special = false, .find_special = false});
  if (ends_document && !ids.empty()) ids.push_back(end_);
  for (std::int64_t const id : ids) append_encoded(result.ids, id, width_);
  result.count += static_cast<std::int64_t>(ids.size());
  if (ends_document && !ids.empty()) ++result.documents;
}

REDCO_INLINE void block_encoder::append_text(input_block const& block, std::filesystem::path const& path,
                                             encoded_block& result) const {
  std::string_view text = block.bytes;
  tokenizer::invalid_utf8 const bad = no_text_in(text);
  result.encoding.bytes = text.size();
  result.encoding.invalid = bad.bytes;
  if (bad.bytes > 0)
    result.encoding.first = path.string() + ": 0x" + meta::hexadecimal(text[bad.first]) + " at byte " +
                            std::to_string(block.offset + static_cast<std::int64_t>(bad.first));
  if (block.offset == 0 && text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  append(text, result, block.last);
}

REDCO_INLINE void block_encoder::append_lines(input_block const& block, std::filesystem::path const& path,
                                              encoded_block& result) const {
  std::string line;
  std::int64_t number = block.line;
  for (std::size_t begin = 0; begin < block.bytes.size(); ++number) {
    std::size_t const end = std::min(block.bytes.find('\n', begin), block.bytes.size() - 1) + 1;
    std::string const where = path.string() + ":" + std::to_string(number);
    line.assign(block.bytes, begin, end - begin);
    if (line.ends_with('\n')) line.pop_back();
    if (line.ends_with('\r')) line.pop_back();
    result.encoding.take(line, end - begin, where);
    begin = end;
    if (is_blank(line)) continue;
    append(text_under(json_object_of(line, where), key_, where), result, true);
  }
}

REDCO_INLINE encoded_block block_encoder::operator()(input_block const& block,
                                                     std::filesystem::path const& path) const {
  encoded_block result;
  std::string const name = path.string();
  switch (block.format) {
    case input_format::text: append_text(block, path, result); break;
    case input_format::lines: append_lines(block, path, result); break;
    case input_format::json:
      for (std::string const& text : read_texts({&name, 1}, key_, invalid_)) append(text, result, true);
      break;
  }
  return result;
}

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
