#pragma once

#include <filesystem>
#include <string_view>

namespace redco::safetensors {

/// Replaces the content of the file `path` by `text` atomically: the file always has all of its old
/// or all of its new content, even if the process is killed. If `path` is a link, replaces the
/// link's target. If `path` is a pipe or a device, writes to it. Throws `error` with exit code 74
/// if the file cannot be written; the old content then stays. `cure`, a remedy, ends the error
/// message.
void replace_file(std::filesystem::path const& path, std::string_view text, std::string_view cure);

/// Throws the error that replace_file() would throw if no file can be created in the folder of
/// `path`. Leaves the folder and its files unchanged.
void check_replaceable(std::filesystem::path const& path, std::string_view cure);

/// Returns true if `name` is the name of a temporary file of replace_file() in another process. If
/// that process has ended, it was killed and has left the file.
bool is_unfinished_name(std::string_view name);

}  // namespace redco::safetensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/safetensors/replace_file.inl.hpp>
#endif
