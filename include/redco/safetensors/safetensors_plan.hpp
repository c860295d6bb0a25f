#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace redco::safetensors {

/// A layout of a safetensors file, computed before any tensor's bytes exist: the header's text,
/// followed by the tensors' bytes in the order of `entries`. Depends only on the descriptions of
/// the tensors. Entries are sorted by element size, largest first, so that every tensor is aligned,
/// and by name among equal sizes. The header is padded with spaces to a multiple of 8 bytes.
struct safetensors_plan {
  std::string header;  ///< Header of the file, preceded by its length in 8 bytes
  std::vector<safetensors_entry> entries;

  /// Returns the size in bytes of the whole safetensors file.
  std::uint64_t bytes() const { return header.size() + (entries.empty() ? 0 : entries.back().end); }
};

/// Returns the layout of a safetensors file with these tensors. Ignores the byte ranges (`begin`
/// and `end`) of the entries. `metadata` are texts to store in the header. Throws `error` with exit
/// code 70 if a name occurs twice or is invalid.
inline safetensors_plan plan_safetensors(std::vector<safetensors_entry> entries,
                                         std::map<std::string, std::string> const& metadata = {}) {
  std::sort(entries.begin(), entries.end(), [](safetensors_entry const& a, safetensors_entry const& b) {
    return size_of(a.type) != size_of(b.type) ? size_of(a.type) > size_of(b.type) : a.name < b.name;
  });
  json::json_line header;
  if (!metadata.empty()) header.add_text("__metadata__", json::dump_json(json::json_value(metadata)));
  std::uint64_t running = 0;
  std::unordered_set<std::string_view> names;
  for (safetensors_entry& entry : entries) {
    if (!tensor_name(entry.name) || entry.name == "__metadata__" || !names.insert(entry.name).second) {
      throw error(exit_code::internal, "cannot save tensor " + shown(entry.name) +
                                           ": the name is there twice, or none that a file can hold. Rename it.");
    }
    entry.begin = running;
    running += static_cast<std::uint64_t>(count_of(entry.shape) * size_of(entry.type));
    entry.end = running;
    json::json_value const facts = {{"dtype", std::string(name_of(entry.type))},
                                    {"shape", entry.shape},
                                    {"data_offsets", {entry.begin, entry.end}}};
    header.add_text(entry.name, json::dump_json(facts));
  }
  std::string text = header.text();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string prefix(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) prefix[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
  return {prefix + text, std::move(entries)};
}

}  // namespace redco::safetensors
