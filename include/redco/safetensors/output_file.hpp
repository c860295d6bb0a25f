#pragma once

#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/xxh64.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace redco::safetensors {

/// A new file, written from beginning to end and hashed meanwhile. Its content is durable when
/// finish() returns. Members throw `error` with exit code 74 that names the path, the bytes written
/// and the bytes left. The destructor closes an unfinished file but does not remove it.
template <file_ops Ops = posix_file_ops>
class output_file {
 public:
  output_file(Ops& ops, std::filesystem::path path)
      : ops_(ops), path_(std::move(path)), descriptor_(ops_.create(path_.c_str())) {
    if (descriptor_ < 0) throw_io("create", path_, errno);
  }
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;
  ~output_file() {
    if (descriptor_ >= 0) ops_.close(descriptor_);
  }

  /// Writes all of `bytes` to the file. Repeats the system call, because a full disk first appears
  /// as a write of fewer bytes.
  void write(std::span<std::byte const> bytes) {
    hash_.update(bytes);
    size_ += bytes.size();
    if (int const cause = write_all(ops_, descriptor_, bytes); cause != 0) {
      size_ -= bytes.size();
      throw_io("write", path_, cause,
               " after " + std::to_string(size_) + " bytes, with " + std::to_string(bytes.size()) + " more to write");
    }
    if (size_ - synced_ < synced_at_once) return;
    // Otherwise finish() could wait for many minutes without a sign of progress.
    synced_ = size_;
    if (ops_.sync(descriptor_) != 0) throw_io("fsync", path_, errno);
  }
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  /// Makes the content of the file durable and closes the file. The name of the file becomes
  /// durable only when its directory is synced too.
  void finish() {
    if (ops_.sync(descriptor_) != 0) throw_io("fsync", path_, errno);
    if (ops_.close(std::exchange(descriptor_, -1)) != 0) throw_io("close", path_, errno);
  }

  std::uint64_t size() const { return size_; }
  std::uint64_t digest() const { return hash_.digest(); }

 private:
  /// Number of bytes after which the content is made durable.
  static constexpr std::uint64_t synced_at_once = std::uint64_t{1} << 30;

  Ops& ops_;
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0, synced_ = 0;
  xxh64 hash_;
};

}  // namespace redco::safetensors
