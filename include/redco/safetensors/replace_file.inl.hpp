#pragma once

#include <redco/safetensors/replace_file.hpp>

#include <redco/safetensors/file_ops.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace redco::safetensors::detail {

inline constexpr std::string_view unfinished_mark = ".unfinished.";  ///< before the process id

/// A temporary file in the folder of the file that it will replace. The member publish() renames it
/// to the name of that file. The destructor removes the temporary file unless publish() has
/// succeeded. Members throw std::system_error.
class unfinished_file {
 public:
  explicit unfinished_file(std::filesystem::path const& target)
      : target_(target), path_(target.string() + std::string(unfinished_mark) + std::to_string(::getpid())) {
    char const* const name = path_.c_str();
    ops_.remove_file(name);  // a killed process with this id may have left one
    descriptor_ = checked(ops_.create(name));
  }
  unfinished_file(unfinished_file const&) = delete;
  unfinished_file& operator=(unfinished_file const&) = delete;
  ~unfinished_file() {
    if (descriptor_ >= 0) ops_.close(descriptor_);
    if (!published_) ops_.remove_file(path_.c_str());
  }

  void publish(std::string_view text) {
    std::span<std::byte const> bytes = std::as_bytes(std::span(text));
    if (int const cause = write_all(ops_, descriptor_, bytes); cause != 0)
      throw std::system_error(cause, std::generic_category());
    checked(ops_.sync(descriptor_));
    checked(ops_.close(std::exchange(descriptor_, -1)));
    checked(ops_.rename(path_.c_str(), target_.c_str()));
    published_ = true;
    auto const folder = target_.has_parent_path() ? target_.parent_path() : std::filesystem::path(".");
    ops_.sync_directory(folder.c_str());  // may fail: the file is complete either way
  }

 private:
  static int checked(int result) {
    if (result < 0) throw std::system_error(errno, std::generic_category());
    return result;
  }

  posix_file_ops ops_;
  std::filesystem::path target_, path_;
  int descriptor_ = -1;
  bool published_ = false;
};

/// Returns `path`, or, if `path` is a symbolic link, the path of the file to which its links lead.
inline std::filesystem::path link_target(std::filesystem::path const& path) {
  std::error_code none;
  std::filesystem::path const target = std::filesystem::weakly_canonical(path, none);
  return none ? path : target;
}

inline bool takes_bytes_only(std::filesystem::path const& path) {
  std::error_code none;
  auto const type = std::filesystem::status(path, none).type();
  return type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::character ||
         type == std::filesystem::file_type::socket;
}

[[noreturn]] inline void refuse_file(std::filesystem::path const& path, std::string const& why, std::string_view cure) {
  throw error(exit_code::io, path.string() + ": cannot be written (" + why + "); " + std::string(cure));
}

/// Calls `write` with a new temporary file in the folder of `path`. Throws `error` with exit code
/// 74 if a system call fails; `cure`, a remedy, ends the message.
template <class Write>
void with_unfinished(std::filesystem::path const& path, std::string_view cure, Write const& write) {
  if (std::filesystem::is_directory(path)) refuse_file(path, "it is a folder", cure);
  try {
    unfinished_file file(link_target(path));
    write(file);
  } catch (std::system_error const& e) {
    refuse_file(path, e.code().message(), cure);
  }
}

}  // namespace redco::safetensors::detail

namespace redco::safetensors {

REDCO_INLINE void replace_file(std::filesystem::path const& path, std::string_view text, std::string_view cure) {
  if (detail::takes_bytes_only(path)) {
    std::ofstream out(path, std::ios::binary);
    out << text << std::flush;
    if (!out) detail::refuse_file(path, std::strerror(errno), cure);
    return;
  }
  detail::with_unfinished(path, cure, [&](detail::unfinished_file& file) { file.publish(text); });
}

REDCO_INLINE void check_replaceable(std::filesystem::path const& path, std::string_view cure) {
  if (!detail::takes_bytes_only(path)) detail::with_unfinished(path, cure, [](detail::unfinished_file&) {});
}

REDCO_INLINE bool is_unfinished_name(std::string_view name) {
  std::size_t const mark = name.rfind(detail::unfinished_mark);
  if (mark == 0 || mark == std::string_view::npos) return false;
  std::string_view const process = name.substr(mark + detail::unfinished_mark.size());
  return !process.empty() && process.find_first_not_of("0123456789") == std::string_view::npos &&
         process != std::to_string(::getpid());
}

}  // namespace redco::safetensors
