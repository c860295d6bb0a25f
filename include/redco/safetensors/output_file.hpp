#pragma once

#include <redco/safetensors/disk.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/write_all.hpp>
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

/// A new file that is written from front to back, hashed on the way, and on the disk when `finish` returns.
/// Errors: 74 naming the path, the bytes written and the bytes that were to follow. An unfinished file is closed, not
/// removed.
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

  /// Writes all of it: a full disk first shows as a short write.
  void write(std::span<std::byte const> bytes) {
    hash_.update(bytes);
    size_ += bytes.size();
    if (int const cause = write_all(ops_, descriptor_, bytes); cause != 0) {
      size_ -= bytes.size();
      throw_io("write", path_, cause,
               " after " + std::to_string(size_) + " bytes, with " + std::to_string(bytes.size()) + " more to write");
    }
  }
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  /// Makes the content durable and closes the file. Its name is durable once the directory is synced too.
  void finish() {
    if (ops_.sync(descriptor_) != 0) throw_io("fsync", path_, errno);
    if (ops_.close(std::exchange(descriptor_, -1)) != 0) throw_io("close", path_, errno);
  }

  std::uint64_t size() const { return size_; }
  std::uint64_t digest() const { return hash_.digest(); }

 private:
  Ops& ops_;
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
  xxh64 hash_;
};

}  // namespace redco::safetensors
