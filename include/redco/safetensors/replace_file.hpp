#pragma once

#include <filesystem>
#include <string_view>

namespace redco::safetensors {

/// Writes `text` to `path`. At any moment, `path` holds its old content or all of `text`, even if
/// the process is killed. For a link, its target is replaced; a pipe or a device is written to.
/// `cure` ends the message of an error. Throws `error` with exit code 74 if the file cannot be
/// written; the old content then stays.
void replace_file(std::filesystem::path const& path, std::string_view text, std::string_view cure);

/// Throws the error that replace_file() would throw if the folder of `path` accepts no file. Leaves
/// `path` and its folder unchanged.
void check_replaceable(std::filesystem::path const& path, std::string_view cure);

}  // namespace redco::safetensors

#ifndef REDCO_COMPILED
#include <redco/safetensors/replace_file.inl.hpp>
#endif
