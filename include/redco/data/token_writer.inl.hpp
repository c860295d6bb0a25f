#pragma once

#include <redco/data/token_writer.hpp>

#include <redco/safetensors/file_ops.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/config.hpp>

#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace redco::data {

REDCO_INLINE std::filesystem::path token_writer::partial_path(std::filesystem::path const& path) {
  return path.string() + ".partial";
}

REDCO_INLINE token_writer::token_writer(std::filesystem::path const& path, token_header const& header,
                                        std::int64_t kept)
    : path_(path), partial_(partial_path(path)), header_(header) {
  if (std::filesystem::is_directory(path_)) fail(EISDIR);
  header_.count = kept;
  file_ = diag::regular_file::open(partial_.c_str(), O_RDWR | O_CREAT, 0666);
  if (file_ < 0) fail(errno);
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) fail(errno);
      throw error(exit_code::io, partial_.string() + " is being written by another process; wait for its end");
    }
    struct stat facts {};
    if (::fstat(file_, &facts) != 0) fail(errno);
    if (kept > 0 && static_cast<std::uint64_t>(facts.st_size) < header_.file_bytes())
      throw error(exit_code::data, partial_.string() + " has " + std::to_string(facts.st_size) +
                                       " bytes, fewer than the " + std::to_string(header_.file_bytes()) + " of " +
                                       std::to_string(kept) + " ids; remove it to begin anew");
    auto const size = static_cast<::off_t>(header_.file_bytes());
    // Without a header, the file is refused by readers until finish().
    std::array<std::byte, token_header::bytes> const empty{};
    if (::ftruncate(file_, size) != 0 || ::pwrite(file_, empty.data(), empty.size(), 0) < 0 ||
        ::lseek(file_, size, SEEK_SET) < 0)
      fail(errno);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

REDCO_INLINE token_writer::~token_writer() {
  if (file_ >= 0) ::close(file_);
}

REDCO_INLINE void token_writer::append(std::span<std::int64_t const> ids) {
  std::vector<std::byte> bytes;
  bytes.reserve(ids.size() * static_cast<std::size_t>(header_.width()));
  for (std::int64_t const id : ids) {
    if (id < 0 || id >= header_.vocabulary)
      throw error(exit_code::data, "id " + std::to_string(id) + " is outside of the vocabulary of " +
                                       std::to_string(header_.vocabulary) + " ids of " + path_.string() +
                                       "; state the vocabulary of the tokenizer that made it");
    detail::append_encoded(bytes, id, header_.width());
  }
  append_encoded(bytes);
}

REDCO_INLINE void token_writer::append_encoded(std::span<std::byte const> ids) {
  header_.count += static_cast<std::int64_t>(ids.size()) / header_.width();
  safetensors::posix_file_ops ops;
  if (int const cause = safetensors::write_all(ops, file_, ids); cause != 0) fail(cause);
}

REDCO_INLINE void token_writer::sync() {
  if (::fdatasync(file_) != 0) fail(errno);
}

REDCO_INLINE void token_writer::finish() {
  auto const header = header_.encoded();
  if (::pwrite(file_, header.data(), header.size(), 0) != static_cast<::ssize_t>(header.size())) fail(errno);
  if (::fsync(file_) != 0 || ::rename(partial_.c_str(), path_.c_str()) != 0) fail(errno);
  if (::close(std::exchange(file_, -1)) != 0) fail(errno);
  auto const folder = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  // May fail: the file is complete either way.
  safetensors::posix_file_ops().sync_directory(folder.c_str());
}

REDCO_INLINE void token_writer::fail(int cause) const {
  throw error(exit_code::io, partial_.string() + " cannot be written after " + std::to_string(header_.count) +
                                 " ids (" + diag::regular_file::why_not(cause) +
                                 "); free some space or check the permissions");
}

}  // namespace redco::data
