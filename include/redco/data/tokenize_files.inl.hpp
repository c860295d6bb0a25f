#pragma once

#include <redco/data/tokenize_files.hpp>

#include <redco/data/detail/encoding_queue.hpp>
#include <redco/data/detail/input_blocks.hpp>
#include <redco/data/detail/saved_progress.hpp>
#include <redco/data/detail/text_on_disk.hpp>
#include <redco/data/token_file.hpp>
#include <redco/data/token_writer.hpp>
#include <redco/safetensors/xxh64.hpp>
#include <redco/tokenizer/read_tokenizer.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <vector>

namespace redco::data::detail {

/// Returns the id that ends documents.
inline std::int64_t end_id(tokenizer::any_tokenizer const& tokenizer, std::string const& name,
                           std::filesystem::path const& folder) {
  if (name.empty()) {
    if (auto const end = tokenizer.specials().end) return *end;
    throw error(exit_code::data, "the tokenizer in " + folder.string() +
                                     " names no end token; name the token that ends documents with --end");
  }
  auto const ids = tokenizer.encode(name, {.add_special = false, .find_special = true});
  if (ids.size() != 1)
    throw error(exit_code::usage, "--end " + name + " is " + std::to_string(ids.size()) +
                                      " tokens of the tokenizer in " + folder.string() +
                                      "; name one token of its vocabulary");
  return ids.front();
}

/// Moves the position over a block. Throws `error` with exit code 65 if the block ends a file with
/// a larger share of invalid bytes than `invalid`.
inline void advance(tokenize_position& at, input_block const& block, encoded_block const& encoded, double invalid) {
  line_encoding seen = at.encoding;
  if (seen.invalid == 0) seen.first = encoded.encoding.first;
  seen.bytes += encoded.encoding.bytes;
  seen.invalid += encoded.encoding.invalid;
  if (block.last) seen.check(invalid, "NUL or no UTF-8");
  at.encoding = seen;
  at.ids += encoded.count;
  at.documents += encoded.documents;
  at.offset += block.size;
  at.line += block.lines;
  if (block.last)
    at = tokenize_position{.file = at.file + 1, .ids_before = at.ids, .documents_before = at.documents}.file_begin();
}

inline void check_options(tokenize_options const& o) {
  if (o.threads < 1)
    throw error(exit_code::usage, "tokenizing with " + std::to_string(o.threads) + " threads; give at least 1");
  if (!(o.invalid_utf8 >= 0 && o.invalid_utf8 <= 1))
    throw error(exit_code::usage,
                "the share of invalid UTF-8 is " + std::to_string(o.invalid_utf8) + "; give a number from 0 to 1");
  if (o.save_every < 1)
    throw error(exit_code::usage,
                "saving the progress every " + std::to_string(o.save_every) + " bytes; give a number above 0");
}

}  // namespace redco::data::detail

namespace redco::data {

REDCO_INLINE tokenize_progress tokenize_files(std::filesystem::path const& folder, std::span<std::string const> inputs,
                                              std::filesystem::path const& out, tokenize_options const& options,
                                              std::function<bool(tokenize_progress const&)> const& report) {
  detail::check_options(options);
  std::vector<detail::input_entry> const files = detail::inputs_of(inputs);
  tokenizer::any_tokenizer const tokenizer = read_tokenizer(folder);
  token_header const header{.vocabulary = tokenizer.vocabulary_size(),
                            .end = detail::end_id(tokenizer, options.end, folder),
                            .tokenizer = tokenizer_hash(folder)};
  detail::saved_progress const saved(
      out, files,
      {{"tokenizer", safetensors::xxh64::text_of(header.tokenizer)}, {"end", *header.end}, {"key", options.key}});
  detail::tokenize_position at = saved.read();
  token_writer writer(out, header, at.ids);
  tokenize_progress progress{.documents = at.documents, .ids = at.ids, .width = header.width()};
  for (std::size_t i = 0; i < files.size(); ++i) {
    progress.all_bytes += files[i].bytes;
    if (i < at.file) progress.bytes += files[i].bytes;
  }
  progress.bytes += at.offset;
  progress.continued = progress.bytes;
  std::int64_t unsaved = 0;
  auto const save = [&] {
    writer.sync();
    saved.write(at);
    unsaved = 0;
  };
  detail::block_encoder const encode(tokenizer, *header.end, header.width(), options.key, options.invalid_utf8);
  detail::encoding_queue queue(encode, files, at.file, at.offset, at.line, options.threads);
  try {
    while (auto const next = queue.next()) {
      detail::advance(at, *next->block, next->encoded, options.invalid_utf8);
      writer.append_encoded(next->encoded.ids);
      progress.bytes += next->block->size;
      progress.documents = at.documents;
      progress.ids = at.ids;
      unsaved += next->block->size;
      if (unsaved >= options.save_every) save();
      if (report && !report(progress)) {
        save();
        return progress;
      }
    }
  } catch (error const& e) {
    if (e.code() == exit_code::data) save();
    throw;
  }
  writer.finish();
  saved.remove();
  progress.finished = true;
  return progress;
}

}  // namespace redco::data
