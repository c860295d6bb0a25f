#pragma once

#include <redco/log/append_file.hpp>

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace redco::log::detail {

inline constexpr std::array<std::uint32_t, 256> crc32c_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest & 1U ? 0x82F63B78U : 0U);
    table[byte] = rest;
  }
  return table;
}();

}  // namespace redco::log::detail

namespace redco::log {

/// Returns the CRC-32C checksum (Castagnoli, RFC 3720 appendix B.4) of `bytes`, as used by
/// TensorBoard's event files. `before` is the checksum of preceding bytes: crc32c(b, crc32c(a)) ==
/// crc32c(ab).
constexpr std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0) {
  std::uint32_t sum = ~before;
  for (char byte : bytes) sum = (sum >> 8) ^ detail::crc32c_table[(sum ^ static_cast<unsigned char>(byte)) & 0xFFU];
  return ~sum;
}

/// Returns one record of a TFRecord file, with little-endian numbers: u64 length, masked CRC-32C of
/// the length, `payload`, masked CRC-32C of the payload. At an incomplete record, readers stop
/// after the last complete one.
inline std::string tfrecord(std::string_view payload) {
  auto masked = [](std::string_view bytes) {
    std::uint32_t const sum = crc32c(bytes);
    return ((sum >> 15) | (sum << 17)) + 0xA282EAD8U;
  };
  auto append = [](std::string& text, std::uint64_t value, int bytes) {
    for (int byte = 0; byte < bytes; ++byte) text += static_cast<char>(value >> (8 * byte));
  };
  std::string record;
  record.reserve(payload.size() + 16);
  append(record, payload.size(), 8);
  append(record, masked(record), 4);
  record += payload;
  append(record, masked(payload), 4);
  return record;
}

}  // namespace redco::log

namespace redco::log::detail {

/// A protobuf message that is encoded field by field. Supports the wire types of TensorBoard's
/// event files: varint, 64 bit, bytes, 32 bit.
class protobuf {
 public:
  protobuf& integer(int field, std::int64_t value) {
    varint(tag(field, 0));
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }

  protobuf& real(int field, double value) {
    varint(tag(field, 1));
    little_endian(std::bit_cast<std::uint64_t>(value), 8);
    return *this;
  }

  protobuf& real(int field, float value) {
    varint(tag(field, 5));
    little_endian(std::bit_cast<std::uint32_t>(value), 4);
    return *this;
  }

  /// Appends a field to this message: a string, or another message that is already encoded.
  protobuf& bytes(int field, std::string_view value) {
    varint(tag(field, 2));
    varint(value.size());
    text_ += value;
    return *this;
  }

  std::string const& text() const { return text_; }

 private:
  static std::uint64_t tag(int field, unsigned wire_type) { return static_cast<std::uint64_t>(field) << 3 | wire_type; }

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }

  void little_endian(std::uint64_t value, int bytes) {
    for (int byte = 0; byte < bytes; ++byte) text_ += static_cast<char>(value >> (8 * byte));
  }

  std::string text_;
};

}  // namespace redco::log::detail

namespace redco::log {

/// A set of options of an event_writer, which writes files for TensorBoard.
struct event_writer_options {
  /// First step whose events in earlier files TensorBoard must drop, because a resumed run writes
  /// them again; nullopt: none.
  std::optional<std::int64_t> purge_from_step = {};
  /// Function that is called with one sentence when a record cannot be written for the first time.
  std::function<void(std::string const&)> warn = {};
  /// Clock that gives the wall time of events; tests replace it.
  std::function<std::chrono::system_clock::time_point()> now = std::chrono::system_clock::now;
};

/// An image for TensorBoard: its size in pixels, and the bytes of its PNG file.
struct event_image {
  int width = 0, height = 0;
  int channels = 1;  ///< 1 for grey, 3 for RGB
  std::string png = {};
};

/// A writer of scalars, texts and images for TensorBoard to a new file in `folder`. The first
/// record creates the file: `events.out.tfevents.<unix time>.<host>.<pid>.<n>`. Each record is
/// passed to the system before the call returns, so that a killed program leaves a readable file.
/// Failures are counted and never stop a training run. Thread-safe. The format is TFRecord with
/// protobuf messages Event and Summary.
class event_writer {
 public:
  using named_value = std::pair<std::string_view, double>;

  explicit event_writer(std::filesystem::path const& folder, event_writer_options options = {})
      : now_(options.now), warn_(std::move(options.warn)), folder_(folder), purge_(options.purge_from_step) {}

  /// Writes the scalars `values` of one step as one record, for TensorBoard.
  void scalars(std::int64_t step, std::span<named_value const> values) {
    detail::protobuf summary;
    for (auto const& [tag, value] : values) {
      summary.bytes(1, detail::protobuf{}.bytes(1, tag).real(2, static_cast<float>(value)).text());
    }
    write(step, 5, summary.text());
  }

  void scalar(std::string_view tag, double value, std::int64_t step) {
    named_value const one[] = {{tag, value}};
    scalars(step, one);
  }

  /// Writes a Markdown text of one step, which TensorBoard shows on its text page under the name
  /// `tag`.
  void text(std::string_view tag, std::string_view markdown, std::int64_t step) {
    constexpr std::int64_t string_type = 7, tensor_class = 2;
    auto const shape = detail::protobuf{}.bytes(2, detail::protobuf{}.integer(1, 1).text());
    auto const tensor = detail::protobuf{}.integer(1, string_type).bytes(2, shape.text()).bytes(8, markdown);
    auto const plugin = detail::protobuf{}.bytes(1, "text");
    auto const metadata = detail::protobuf{}.bytes(1, plugin.text()).integer(4, tensor_class);
    auto const value = detail::protobuf{}.bytes(1, tag).bytes(8, tensor.text()).bytes(9, metadata.text());
    write(step, 5, detail::protobuf{}.bytes(1, value.text()).text());
  }

  /// Writes an image of one step, which TensorBoard shows on its page of images under the name
  /// `tag`.
  void image(std::string_view tag, event_image const& image, std::int64_t step) {
    auto const encoded = detail::protobuf{}
                             .integer(1, image.height)
                             .integer(2, image.width)
                             .integer(3, image.channels)
                             .bytes(4, image.png);
    auto const value = detail::protobuf{}.bytes(1, tag).bytes(4, encoded.text());
    write(step, 5, detail::protobuf{}.bytes(1, value.text()).text());
  }

  /// Returns the path of the event file, or an empty path before the first record is written.
  std::filesystem::path path() const {
    std::scoped_lock lock(mutex_);
    return file_ ? file_->path() : std::filesystem::path();
  }

  /// Returns the number of records that could not be written to the event file.
  std::int64_t lost() const {
    std::scoped_lock lock(mutex_);
    return file_ ? file_->lost() : 0;
  }

 private:
  std::filesystem::path new_name() const {
    // If the folder cannot be created, the first record reports this.
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);
    char host[256] = {};
    if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
    char time[32] = {};
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(now_().time_since_epoch()).count();
    std::snprintf(time, sizeof time, "%010lld", static_cast<long long>(seconds));
    std::string const stem = std::string("events.out.tfevents.") + time + "." + (host[0] ? host : "localhost") + "." +
                             std::to_string(::getpid()) + ".";
    int number = 0;
    while (std::filesystem::exists(folder_ / (stem + std::to_string(number)), ignored)) ++number;
    return folder_ / (stem + std::to_string(number));
  }

  void write(std::int64_t step, int field, std::string_view message) {
    std::scoped_lock lock(mutex_);
    if (!file_) file_.emplace(new_name(), warn_);
    file_->append((file_->empty() ? head() : "") + tfrecord(event(step).bytes(field, message).text()));
  }

  // The first record names the format: readers reject a file without it.
  std::string head() const {
    constexpr std::int64_t session_start = 1;
    std::string records = tfrecord(event(0).bytes(3, "brain.Event:2").text());
    if (purge_) {
      auto const session = detail::protobuf{}.integer(1, session_start);
      records += tfrecord(event(*purge_).bytes(7, session.text()).text());
    }
    return records;
  }

  detail::protobuf event(std::int64_t step) const {
    auto const time = std::chrono::duration_cast<std::chrono::microseconds>(now_().time_since_epoch());
    return detail::protobuf{}.real(1, static_cast<double>(time.count()) / 1e6).integer(2, step);
  }

  mutable std::mutex mutex_;
  std::function<std::chrono::system_clock::time_point()> now_;
  std::function<void(std::string const&)> warn_;
  std::filesystem::path folder_;
  std::optional<append_file> file_;  ///< Event file; nullopt until the first record is written
  std::optional<std::int64_t> purge_;
};

}  // namespace redco::log
