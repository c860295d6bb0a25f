#pragma once

#include <redco/data/detail/saved_progress.hpp>

#include <redco/data/token_writer.hpp>
#include <redco/safetensors/replace_file.hpp>
#include <redco/safetensors/xxh64.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <system_error>

namespace redco::data::detail {

REDCO_INLINE saved_progress::saved_progress(std::filesystem::path const& out, std::span<input_entry const> files,
                                            json::json_value const& settings)
    : path_(out.string() + ".progress"),
      partial_(token_writer::partial_path(out)),
      files_(files),
      settings_(std::make_shared<json::json_value const>(settings)) {}

/// Returns the hash of the names, sizes and times of change of files; of none if first >= last.
REDCO_INLINE std::string saved_progress::hash_of(std::size_t first, std::size_t last) const {
  std::string text;
  for (std::size_t i = first; i < std::min(last, files_.size()); ++i)
    text += files_[i].path.string() + '\0' + std::to_string(files_[i].bytes) + ' ' +
            std::to_string(files_[i].modified) + '\n';
  return safetensors::xxh64::text_of(safetensors::xxh64::of(text));
}

REDCO_INLINE void saved_progress::write(tokenize_position const& at) const {
  json::json_value const saved{{"settings", *settings_},
                               {"files_before", hash_of(0, at.file)},
                               {"file_now", hash_of(at.file, at.file + 1)},
                               {"file", at.file},
                               {"offset", at.offset},
                               {"line", at.line},
                               {"ids", at.ids},
                               {"documents", at.documents},
                               {"ids_before", at.ids_before},
                               {"documents_before", at.documents_before},
                               {"invalid", at.encoding.invalid},
                               {"first_invalid", at.encoding.first}};
  safetensors::replace_file(path_, json::dump_json(saved, 1) + "\n", "free some space or check the permissions");
}

REDCO_INLINE tokenize_position saved_progress::read() const {
  if (!std::filesystem::exists(path_) || !std::filesystem::exists(partial_)) return {};
  std::string const cure = "; repeat the interrupted command, or remove " + path_.string() + " to begin anew";
  json::json_value const saved = json::read_json(path_);
  tokenize_position at;
  std::string before, now;
  try {
    for (auto const& [name, value] : settings_->items())
      if (json::json_value const& earlier = saved.at("settings").at(name); earlier != value)
        throw error(exit_code::usage, path_.string() + " was written with " + name + " " + json::dump_json(earlier) +
                                          ", not " + json::dump_json(value) + cure);
    saved.at("files_before").get_to(before);
    saved.at("file_now").get_to(now);
    saved.at("file").get_to(at.file);
    saved.at("offset").get_to(at.offset);
    saved.at("line").get_to(at.line);
    saved.at("ids").get_to(at.ids);
    saved.at("documents").get_to(at.documents);
    saved.at("ids_before").get_to(at.ids_before);
    saved.at("documents_before").get_to(at.documents_before);
    saved.at("invalid").get_to(at.encoding.invalid);
    saved.at("first_invalid").get_to(at.encoding.first);
  } catch (json::json_value::exception const& e) {
    throw error(exit_code::data, path_.string() + " is damaged (" + e.what() + "); remove it to begin anew");
  }
  at.encoding.bytes = static_cast<std::size_t>(at.offset);
  if (at.file > files_.size() || before != hash_of(0, at.file))
    throw error(exit_code::usage, path_.string() + " was written for other files, or these have changed" + cure);
  return now == hash_of(at.file, at.file + 1) ? at : at.file_begin();
}

REDCO_INLINE void saved_progress::remove() const {
  std::error_code none;
  std::filesystem::remove(path_, none);
}

}  // namespace redco::data::detail
