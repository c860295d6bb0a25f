#pragma once

#include <redco/comm/agreement.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/workdir/object_bytes.hpp>
#include <redco/data/examples.hpp>
#include <redco/safetensors/xxh64.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/aggregate.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace redco::run {

/// A digest (hash) of examples of any type: numbers, texts, tensors, types that cereal can
/// serialize, and ranges, tuples, optionals, variants and plain structs of these. Ignores the
/// content of other classes and of other structs over 256 bytes; complete() is then false.
class example_digest {
 public:
  template <class T>
  void add(T const& x) {
    if constexpr (std::is_same_v<T, at::Tensor>) {
      add_tensor(x);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      add_bytes(&x, sizeof x);
    } else if constexpr (requires { std::string(x.dump()); }) {
      // A JSON value. The other branches would misread it: it converts to every type, and throws if
      // it holds another one.
      add(std::string(x.dump()));
    } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
      // A path is a range of paths, each of which is a range of itself.
      add(x.native());
    } else if constexpr (std::is_convertible_v<T const&, std::string_view>) {
      std::string_view const text = x;
      add(text.size());
      add_bytes(text.data(), text.size());
    } else if constexpr (requires { x.has_value(), *x; }) {
      add(x.has_value());
      if (x.has_value()) add(*x);
    } else if constexpr (requires { x.begin() != x.end(); }) {
      std::size_t count = 0;
      for (auto const& one : x) add(one), ++count;
      add(count);
    } else if constexpr (std::is_array_v<T>) {
      for (auto const& one : x) add(one);
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
      std::apply([this](auto const&... parts) { (this->add(parts), ...); }, x);
    } else if constexpr (requires { std::variant_size<T>::value; }) {
      add(x.index());
      if (!x.valueless_by_exception()) std::visit([this](auto const& held) { this->add(held); }, x);
    } else {
      add_object(x);
    }
  }

  std::string text() const { return safetensors::xxh64::text_of(hash_.digest()); }
  /// Returns the number of bytes added.
  std::uint64_t bytes() const { return bytes_; }
  /// Returns false if the digest ignores the content of an example or of a part of one.
  bool complete() const { return complete_; }

 private:
  template <class T>
  static constexpr bool is_plain() {
    // The limit comes from meta::field_count, which supports at most 256 elements of C arrays.
    if constexpr (sizeof(T) <= 256) return meta::plain_struct<T>;
    else return false;
  }

  template <class T>
  void add_object(T const& x) {
    if constexpr (is_plain<T>()) meta::for_each_field(x, [this](auto const& member) { this->add(member); });
    else if constexpr (std::is_class_v<T> && workdir::storable<T>) add(workdir::object_bytes(x));
    else complete_ = false;
  }

  void add_bytes(void const* data, std::size_t bytes) {
    bytes_ += bytes;
    hash_.update(std::span(static_cast<std::byte const*>(data), bytes));
  }

  void add_tensor(at::Tensor const& x) {
    add(x.defined());
    if (!x.defined()) return;
    add(x.scalar_type());
    add(std::vector<std::int64_t>(x.sizes().begin(), x.sizes().end()));
    at::Tensor const values = tensors::to_cpu(x);
    add_bytes(values.const_data_ptr(), values.nbytes());
  }

  safetensors::xxh64 hash_;
  std::uint64_t bytes_ = 0;
  bool complete_ = true;
};

/// Returns the digest of the first and the last example, by which ranks compare their data. Empty
/// if there are no examples. Returns "varies" if reading an example twice gives different values,
/// as in a view that draws random numbers.
template <class Example>
std::string digest_of_ends(examples<Example> const& data) {
  if (data.size() == 0) return "";
  std::vector<std::int64_t> const ends{0, data.size() - 1};
  auto const read = [&] {
    example_digest digest;
    auto const both = data[ends];
    for (Example const& one : both.span()) digest.add(one);
    return digest.text();
  };
  std::string const once = read();
  return read() == once ? once : "varies";
}

/// The digest of a data set for checkpoints, by which a resumed run notices other examples.
struct data_digest {
  std::string text = {};  ///< empty if the examples change from reading to reading
  bool complete = true;   ///< false if the digest ignores parts of the examples
};

/// Returns the digest of a data set: its size, the examples in memory up to `most_bytes` bytes, and
/// 64 examples spread over the whole set. Counts 64 bytes for each example in addition to its own.
/// An example that cannot be read counts as a text, because training may end before it.
template <class Example>
data_digest digest_of_data(examples<Example> const& data, std::uint64_t most_bytes = std::uint64_t{64} << 20) {
  constexpr std::int64_t few = 64;
  data::reading_epoch const first(0);
  example_digest digest;
  std::int64_t const size = data.size();
  digest.add(size);
  auto const add = [&](std::int64_t index) {
    std::vector<std::int64_t> const one{index};
    try {
      for (auto const found = data[one]; Example const& example : found.span()) digest.add(example);
    } catch (std::exception const&) {
      digest.add(std::string("unreadable"));
    }
  };
  for (std::int64_t i = 0; data.in_memory() && i < size; ++i) {
    if (digest.bytes() + 64 * static_cast<std::uint64_t>(i) > most_bytes) break;
    add(i);
  }
  std::int64_t const last = std::min(few, size) - 1;
  for (std::int64_t k = 0; k <= last; ++k) add(k == last ? size - 1 : k * size / (last + 1));
  return {digest_of_ends(data) == "varies" ? "" : digest.text(), digest.complete()};
}

/// Compares an epoch's examples between all ranks, which must call it before each epoch. Ranks with
/// different numbers of steps would wait for each other forever. Throws `error` with exit code 65
/// on every rank if the numbers of examples or the digests differ.
inline void check_same_examples(comm::group& world, std::int64_t examples, std::string const& digest,
                                std::int64_t epoch) {
  comm::agreement data("training examples in epoch " + std::to_string(epoch + 1),
                       "train_of_epoch must give every rank the same ones", exit_code::data);
  data.add("their number", std::to_string(examples));
  data.add("the digest of the first and the last", digest);
  data.check(world);
}

}  // namespace redco::run
