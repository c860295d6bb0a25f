#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/file_dtype.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/glob.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redco::safetensors {

/// A set of permitted differences between a file's tensors and the tensors that a model expects.
struct permitted_differences {
  /// Patterns, with * and ?, of tensor names that may be in the file although the model has no such
  /// tensor.
  std::vector<std::string> unread;
  /// True if a tensor of the file may have another floating-point type than the model's tensor.
  bool any_float = false;
  /// Names of tensors that may be in the file because other ranks hold them, such as other pipeline
  /// stages.
  std::set<std::string, std::less<>> elsewhere = {};
};

/// Returns patterns that match all names beginning with one of the given texts: each text with "*"
/// appended.
inline std::vector<std::string> names_beginning_with(std::vector<std::string> beginnings) {
  for (std::string& text : beginnings) text += "*";
  return beginnings;
}

/// Returns one sentence for each difference between the tensors of a file (`stored`) and of a model
/// (`wanted`), in alphabetical order. Differences are a tensor that the file lacks, a tensor that
/// the model lacks, and another shape or dtype.
inline std::vector<std::string> differences(tensor_table const& stored, tensor_table const& wanted,
                                            permitted_differences const& permitted) {
  std::vector<std::string> all;
  for (auto const& [name, want] : wanted) {
    auto const found = stored.find(name);
    if (found == stored.end()) {
      all.push_back(shown(name) + " is missing in the file");
      continue;
    }
    stored_tensor const& have = found->second;
    if (have.shape != want.shape)
      all.push_back(shown(name) + " has shape " + text_of(have.shape) + " in the file, the model has " +
                    text_of(want.shape));
    if (have.type != want.type && !(permitted.any_float && floating(have.type) && floating(want.type))) {
      all.push_back(shown(name) + " has dtype " + std::string(name_of(have.type)) + " in the file, the model has " +
                    std::string(name_of(want.type)));
    }
  }
  for (auto const& [name, have] : stored) {
    bool const unread =
        std::any_of(permitted.unread.begin(), permitted.unread.end(),
                    [&tensor = name](std::string const& pattern) { return meta::glob(pattern, tensor); });
    if (!unread && !wanted.contains(name) && !permitted.elsewhere.contains(name))
      all.push_back(shown(name) + " is in the file, the model has no such tensor");
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// Throws `error` with exit code 65 if `all`, the list of differences between a file's tensors and
/// a model's, is not empty. The message has the first 20 differences, their number, and `cure`, a
/// sentence with a remedy.
inline void refuse_differences(
    std::string const& source, std::vector<std::string> const& all,
    std::string const& cure = "Use the configuration it was saved with, or another checkpoint.") {
  constexpr std::size_t most = 20;
  if (all.empty()) return;
  std::string text =
      source + " does not belong to this model or optimizer: " + std::to_string(all.size()) + " differences";
  if (all.size() > most) text += ", the first 20 are";
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i) text += "\n  " + all[i];
  if (all.size() > most) text += "\n  and " + std::to_string(all.size() - most) + " more";
  throw error(exit_code::data, text + "\n" + cure);
}

}  // namespace redco::safetensors
