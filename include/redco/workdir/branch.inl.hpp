#pragma once

#include <redco/workdir/branch.hpp>

#include <redco/workdir/manifest.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/config.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string_view>
#include <system_error>

namespace redco::workdir::detail {

/// Returns true if the checkpoint of step `step` in `folder` precedes the checkpoint with the
/// manifest `start`. It must be an earlier step of the run, saved by the branch or before the
/// branch began.
inline bool precedes(std::filesystem::path const& folder, std::int64_t step, manifest const& start) {
  if (step >= start.step) return step == start.step;
  try {
    manifest const earlier = read_manifest(folder / checkpoint_names::of_step(step));
    bool const before = !start.branch.path.empty() && step <= start.branch.step;
    return earlier.run == start.run && (before || earlier.branch == start.branch);
  } catch (error const& failure) {
    if (failure.code() != exit_code::data) throw;
    return true;  // damaged: a search that comes to this step sets it aside with a warning
  }
}

}  // namespace redco::workdir::detail

namespace redco::workdir {

REDCO_INLINE std::string branch_path(std::filesystem::path const& checkpoint) {
  std::filesystem::path path = std::filesystem::absolute(checkpoint).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::error_code unknown;
  std::filesystem::path const folder = std::filesystem::weakly_canonical(path.parent_path(), unknown);
  if (!unknown) path = folder / path.filename();
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  for (char const c : path.string()) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '%') text += c;
    else (text += '%').append({digits[byte / 16], digits[byte % 16]});
  }
  return text;
}

REDCO_INLINE std::filesystem::path path_of_branch(std::string const& text) {
  std::string path;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    bool const encoded = text[i] == '%' && i + 2 < text.size() &&
                         std::from_chars(&text[i + 1], &text[i + 3], byte, 16).ptr == &text[i + 3];
    path += encoded ? static_cast<char>(byte) : text[i];
    if (encoded) i += 2;
  }
  return path;
}

REDCO_INLINE bool is_step_of(std::filesystem::path const& folder, std::filesystem::path const& checkpoint) {
  std::error_code absent;
  return checkpoint_names::step_of(checkpoint.filename().string()) &&
         std::filesystem::equivalent(checkpoint.parent_path(), folder, absent);
}

REDCO_INLINE std::optional<branch_note> read_branch_note(std::filesystem::path const& folder) {
  std::filesystem::path const path = folder / branch_note::file;
  if (!std::filesystem::is_regular_file(path)) return std::nullopt;
  std::istringstream lines(diag::input_file(path).text(std::size_t{16} << 20));
  branch_note note;
  std::getline(lines, note.path);
  for (std::string name; std::getline(lines, name);)
    if (checkpoint_names::step_of(name)) note.moves.push_back(name);
  return note;
}

REDCO_INLINE std::vector<std::string> other_branches(std::filesystem::path const& folder,
                                                     std::filesystem::path const& start) {
  std::optional<manifest> from;
  if (!start.empty() && is_step_of(folder, start)) from = read_manifest(start);
  std::vector<std::string> names;
  for (std::int64_t const step : checkpoint_names::steps_in(folder))
    if (!from || !detail::precedes(folder, step, *from)) names.push_back(checkpoint_names::of_step(step));
  return names;
}

}  // namespace redco::workdir
