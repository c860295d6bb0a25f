#pragma once

#include <filesystem>
#include <string_view>

namespace redco::safetensors {

/// Writes `text` to `path`, which holds its old content or all of `text` at any moment, even if the
/// process is killed. A link's target is replaced, not the link; a pipe or a device is written to.
/// `cure` ends the message of an error. Throws `error` with exit code 74 if the file cannot be
/// written; the old one is then untouched.
void replace_file(std::filesystem::path const& path, std::string_view text, std::string_view cure);

/// Throws what `replace_file` would throw for a folder that takes no file. Leaves `path` and its
/// folder as they are.
void check_replaceable(std::filesystem::path const& path, std::string_view cure);

}  // namespace redco::safetensors

#ifndef REDCO_COMPILED
#include <redco/safetensors/replace_file.inl.hpp>
#endif
