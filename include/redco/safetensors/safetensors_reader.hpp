#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/detail/runs.hpp>
#include <redco/safetensors/detail/safetensors_header.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/safetensors/tensor_table.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::safetensors {

/// A safetensors file that is open for reading any box of any tensor. The file may come from an
/// untrusted source. The constructor checks all rules of the format, runs no code from the file,
/// and takes memory and time in proportion to the header. Values of elements are not checked (NaN
/// is legal). Any number of threads may read concurrently. Members throw `error` with exit code 65
/// that names file, tensor and cause, or with 74 if the system cannot read the file.
class safetensors_reader {
 public:
  explicit safetensors_reader(std::filesystem::path const& path, diag::links policy = diag::links::followed)
      : file_(path, policy) {
    std::string const source = path.string();
    if (file_.size() < 8) detail::safetensors_header::fail(source, "it is shorter than its 8-byte length");
    std::array<std::byte, 8> prefix{};
    file_.read(0, prefix);
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(prefix[i]);
    if (length > detail::safetensors_header::most_bytes)
      detail::safetensors_header::fail(
          source, "its header claims " + std::to_string(length) + " bytes, more than any may have");
    if (length > file_.size() - 8)
      detail::safetensors_header::fail(source,
                                       "its header claims " + std::to_string(length) + " bytes, the file ends before");
    std::string const text = header_text(static_cast<std::size_t>(length));
    data_ = 8 + length;
    entries_ = detail::safetensors_header::read(text, file_.size() - data_, source);
    by_name_.resize(entries_.size());
    for (std::size_t i = 0; i < by_name_.size(); ++i) by_name_[i] = i;
    std::sort(by_name_.begin(), by_name_.end(),
              [&](std::size_t a, std::size_t b) { return entries_[a].name < entries_[b].name; });
  }

  std::filesystem::path const& path() const { return file_.path(); }

  /// Returns the size in bytes of the whole safetensors file.
  std::uint64_t size() const { return file_.size(); }

  /// Returns descriptions of all tensors in the file, in the order of their bytes.
  std::vector<safetensors_entry> const& entries() const { return entries_; }

  /// Returns the description of the tensor with this name, or null if the file has no such tensor.
  safetensors_entry const* find(std::string_view name) const {
    auto const at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                     [&](std::size_t i, std::string_view wanted) { return entries_[i].name < wanted; });
    return at != by_name_.end() && entries_[*at].name == name ? &entries_[*at] : nullptr;
  }

  /// Reads the box `source` of a tensor into the dense row-major array `target` of shape
  /// `target_shape`, beginning at index `target_offset`. Elements of `target` outside this range
  /// keep their values. The tensor must be in the file, `source` inside the tensor, and the box at
  /// `target_offset` inside `target`.
  void read(std::string_view name, box const& source, std::span<std::byte> target,
            std::span<std::int64_t const> target_shape, std::span<std::int64_t const> target_offset) const {
    safetensors_entry const* const entry = find(name);
    if (entry == nullptr)
      throw error(exit_code::data,
                  path().string() + " has no tensor " + shown(name) + ". Check the name, or take another file.");
    auto const item = static_cast<std::uint64_t>(size_of(entry->type));
    box const target_box{{target_offset.begin(), target_offset.end()}, source.shape};
    if (!inside(source, entry->shape) || !inside(target_box, target_shape) ||
        target.size() != static_cast<std::uint64_t>(count_of(target_shape)) * item) {
      throw error(exit_code::internal, "reading tensor " + shown(name) + " of " + path().string() +
                                           ": the box does not lie inside both arrays");
    }
    window ahead;
    std::uint64_t const first = data_ + entry->begin;
    std::int64_t const stretch = detail::run_of(entry->shape, source.shape);
    std::int64_t done = 0;
    detail::for_each_run(
        {entry->shape, source.offset}, {target_shape, target_offset}, source.shape,
        [&](std::int64_t from, std::int64_t to, std::int64_t count) {
          read_run(ahead, first + static_cast<std::uint64_t>(from) * item,
                   static_cast<std::uint64_t>(stretch - done % stretch) * item,
                   target.subspan(static_cast<std::size_t>(to) * item, static_cast<std::size_t>(count) * item));
          done += count;
        });
  }

  /// Returns the number of bytes read from the file so far, including its header.
  std::uint64_t bytes_read() const noexcept { return file_.bytes_read(); }

 private:
  /// Returns the text of the file's header, `length` bytes. Reads it piece by piece, so that
  /// reading stops early if a malicious header is too large.
  std::string header_text(std::size_t length) const {
    constexpr std::size_t piece = 1 << 20;
    std::string const source = path().string();
    std::string text;
    detail::safetensors_header::measure size;
    while (text.size() < length) {
      std::size_t const begin = text.size();
      text.resize(std::min(length, begin + piece));
      file_.read(8 + begin, std::as_writable_bytes(std::span(text).subspan(begin)));
      size.add(std::string_view(text).substr(begin), source);
    }
    return text;
  }

  /// A buffer of consecutive bytes of the file, read by one system call for several pieces of a
  /// box. Every byte in the buffer is needed.
  struct window {
    std::uint64_t position = 0;
    std::vector<std::byte> bytes;
  };

  /// Reads the piece of a box that begins at byte `position` of the file into `target`. Pieces of a
  /// box have equal sizes and are read in file order. The next `left` bytes from `position` belong
  /// to the box and fill a whole number of pieces. Reads no byte twice, and no byte outside the
  /// box, because other bytes may be for another rank to read.
  void read_run(window& ahead, std::uint64_t position, std::uint64_t left, std::span<std::byte> target) const {
    constexpr std::uint64_t most = 512 << 10;
    if (position >= ahead.position + ahead.bytes.size()) {
      if (target.size() == left || 2 * target.size() > most) return file_.read(position, target);
      ahead.position = position;
      ahead.bytes.resize(static_cast<std::size_t>(std::min(left, most / target.size() * target.size())));
      file_.read(position, ahead.bytes);
    }
    std::memcpy(target.data(), ahead.bytes.data() + (position - ahead.position), target.size());
  }

  diag::input_file file_;
  std::uint64_t data_ = 0;
  std::vector<safetensors_entry> entries_;
  std::vector<std::size_t> by_name_;
};

/// Throws `error` with exit code 65 unless the file has a tensor with the given name, dtype and
/// shape.
inline void check_entry(safetensors_reader const& file, std::string const& name, file_dtype type,
                        std::vector<std::int64_t> const& shape) {
  safetensors_entry const* const entry = file.find(name);
  if (entry != nullptr && entry->type == type && entry->shape == shape) return;
  std::string const found = entry == nullptr ? "none" : std::string(name_of(entry->type)) + " " + text_of(entry->shape);
  throw error(exit_code::data, file.path().string() + " should hold tensor " + shown(name) + " as " +
                                   std::string(name_of(type)) + " " + text_of(shape) + " and holds " + found +
                                   ": it is not the file that was saved. Resume from another checkpoint.");
}

/// A set of the safetensors files in a directory. Each file is opened, and its header read, only
/// once: when it is first requested. All threads of a process may share one set.
class open_files {
 public:
  explicit open_files(std::filesystem::path directory, diag::links policy = diag::links::followed)
      : directory_(std::move(directory)), policy_(policy) {}

  std::filesystem::path const& directory() const { return directory_; }

  /// Returns a reader of the file with this name. Opens the file at the first call. Throws the
  /// errors of the constructor of safetensors_reader.
  safetensors_reader const& operator[](std::string const& name) const {
    std::lock_guard const lock(mutex_);
    return files_.try_emplace(name, directory_ / name, policy_).first->second;
  }

  /// Returns the number of bytes read so far from all safetensors files of this set.
  std::uint64_t bytes_read() const {
    std::lock_guard const lock(mutex_);
    std::uint64_t sum = 0;
    for (auto const& [name, file] : files_) sum += file.bytes_read();
    return sum;
  }

 private:
  std::filesystem::path directory_;
  diag::links policy_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, safetensors_reader> files_;
};

}  // namespace redco::safetensors
