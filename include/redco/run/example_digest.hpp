#pragma once

#include <redco/comm/agreement.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/data/examples.hpp>
#include <redco/safetensors/xxh64.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/aggregate.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::run {

/// A digest (hash) of examples of any type: numbers, texts, tensors, and ranges, tuples, optionals
/// and plain structs of these. Ignores the content of classes with constructors and of structs over
/// 256 bytes.
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
    } else if constexpr (sizeof(T) <= 256) {
      // The limit comes from meta::field_count, which supports at most 256 elements of C arrays.
      if constexpr (meta::plain_struct<T>) meta::for_each_field(x, [this](auto const& member) { this->add(member); });
    }
  }

  std::string text() const { return safetensors::xxh64::text_of(hash_.digest()); }

 private:
  void add_bytes(void const* data, std::size_t bytes) {
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
