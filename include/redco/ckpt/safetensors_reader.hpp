#pragma once

#include <redco/ckpt/box.hpp>
#include <redco/ckpt/detail/names.hpp>
#include <redco/ckpt/detail/runs.hpp>
#include <redco/ckpt/detail/safetensors_header.hpp>
#include <redco/ckpt/input_file.hpp>
#include <redco/ckpt/safetensors_entry.hpp>

#include <redco/diag/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco {

/// A safetensors file, open for reading any box of any of its tensors.
/// The file may come from anywhere: opening it costs memory and time in proportion to its header, checks everything the
/// format promises, and runs nothing. Values are not looked at (NaN is legal in a file). Errors: 65 naming file, tensor
/// and cause; 74 when the system cannot read.
class safetensors_reader {
 public:
  explicit safetensors_reader(std::filesystem::path const& path, links policy = links::followed) : file_(path, policy) {
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
    std::string text(static_cast<std::size_t>(length), '\0');
    file_.read(8, std::as_writable_bytes(std::span(text)));
    data_ = 8 + length;
    entries_ = detail::safetensors_header::read(text, file_.size() - data_, source);
    by_name_.resize(entries_.size());
    for (std::size_t i = 0; i < by_name_.size(); ++i) by_name_[i] = i;
    std::sort(by_name_.begin(), by_name_.end(),
              [&](std::size_t a, std::size_t b) { return entries_[a].name < entries_[b].name; });
  }

  std::filesystem::path const& path() const { return file_.path(); }

  /// Bytes of the whole file.
  std::uint64_t size() const { return file_.size(); }

  /// Every tensor, in the order of their bytes.
  std::vector<safetensors_entry> const& entries() const { return entries_; }

  /// The tensor of that name, or null.
  safetensors_entry const* find(std::string_view name) const {
    auto const at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                     [&](std::size_t i, std::string_view wanted) { return entries_[i].name < wanted; });
    return at != by_name_.end() && entries_[*at].name == name ? &entries_[*at] : nullptr;
  }

  /// Reads the box `source` of a tensor into the dense row-major array `target` of shape `target_shape`, from
  /// `target_offset` on. Elements of `target` outside the box keep their value. Requires: the tensor is in the file;
  /// source lies inside it; the box, so moved, lies inside target.
  void read(std::string_view name, box const& source, std::span<std::byte> target,
            std::span<std::int64_t const> target_shape, std::span<std::int64_t const> target_offset) const {
    safetensors_entry const* const entry = find(name);
    if (entry == nullptr)
      throw error(exit_code::data, path().string() + " has no tensor " + detail::shown(name) +
                                       ". Check the name, or take another file.");
    auto const item = static_cast<std::uint64_t>(size_of(entry->type));
    box const place{{target_offset.begin(), target_offset.end()}, source.shape};
    if (!inside(source, entry->shape) || !inside(place, target_shape) ||
        target.size() != static_cast<std::uint64_t>(count_of(target_shape)) * item) {
      throw error(exit_code::internal, "reading tensor " + detail::shown(name) + " of " + path().string() +
                                           ": the box does not lie inside both arrays");
    }
    window buffer;
    std::uint64_t const first = data_ + entry->begin;
    detail::for_each_run(
        {entry->shape, source.offset}, {target_shape, target_offset}, source.shape,
        [&](std::int64_t from, std::int64_t to, std::int64_t count) {
          auto const position = first + static_cast<std::uint64_t>(from) * item;
          read_run(buffer, position, data_ + entry->end,
                   target.subspan(static_cast<std::size_t>(to) * item, static_cast<std::size_t>(count) * item));
        });
  }

 private:
  /// A stretch of the file that was read ahead, because the runs in it are short and lie close together.
  struct window {
    std::uint64_t position = 0;
    std::vector<std::byte> bytes;
    std::uint64_t last_end = 0;  ///< of the run before
  };

  void read_run(window& buffer, std::uint64_t position, std::uint64_t end, std::span<std::byte> target) const {
    constexpr std::uint64_t far = 64 << 10;
    constexpr std::uint64_t ahead = 512 << 10;
    bool const close = position - std::exchange(buffer.last_end, position + target.size()) < far;
    if (target.size() >= far || !close) return file_.read(position, target);
    if (position < buffer.position || position + target.size() > buffer.position + buffer.bytes.size()) {
      buffer.position = position;
      buffer.bytes.resize(static_cast<std::size_t>(std::min(ahead, end - position)));
      file_.read(position, buffer.bytes);
    }
    std::memcpy(target.data(), buffer.bytes.data() + (position - buffer.position), target.size());
  }

  input_file file_;
  std::uint64_t data_ = 0;
  std::vector<safetensors_entry> entries_;
  std::vector<std::size_t> by_name_;
};

}  // namespace redco
