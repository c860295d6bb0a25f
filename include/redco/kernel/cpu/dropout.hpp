#pragma once

#include <redco/kernel/composed/dropout.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/random/random_words.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace redco::kernel::cpu {

using composed::dropout_key;

/// A task on a range of n elements: to[i] = words[i] < threshold ? 0 : scale * from[i].
template <class T>
struct dropout_run {
  T const* from;
  T* to;
  std::uint32_t const* words;
  std::uint32_t threshold;
  double scale;
  std::int64_t n;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    std::int64_t j = 0;
    if constexpr (!std::is_same_v<T, double>) {
      using real = typename lanes<W>::real;
      using word = typename lanes<W>::word;
      real const zero = {};
      word const limit = word{} + threshold;
      for (; j + W <= n; j += W) {
        real x;
        load_lanes<W>(x, from + j);
        word w;
        std::memcpy(&w, words + j, sizeof w);
        x = w < limit ? zero : x * static_cast<float>(scale);
        store_lanes<W>(to + j, x);
      }
    }
    using number = std::conditional_t<std::is_same_v<T, double>, double, float>;
    for (; j < n; ++j)
      to[j] = words[j] < threshold ? T(0) : static_cast<T>(static_cast<number>(from[j]) * static_cast<number>(scale));
  }
};

template <class T>
void dropout_into(at::Tensor const& y, at::Tensor const& x, composed::dropout_key const& key) {
  std::int64_t const features = x.size(-1), rows = x.size(0), positions = x.numel() / (rows * features);
  T const* const from = x.const_data_ptr<T>();
  T* const to = y.data_ptr<T>();
  constexpr std::int64_t group = 1024, grain = 8192;
  tensors::parallel(rows * positions, (grain + features - 1) / features, [&](std::int64_t begin, std::int64_t end) {
    std::uint32_t words[group];
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t f = 0; f < features; f += group) {
        std::int64_t const n = std::min(group, features - f), at = i * features + f;
        random::random_words(words, key.feature0 + f, n, static_cast<std::uint32_t>(key.position0 + i % positions),
                             static_cast<std::uint32_t>(key.row0 + i / positions), 0, key.numbers);
        with_lanes<T>(dropout_run<T>{from + at, to + at, words, key.threshold(), key.scale(), n});
      }
  });
}

inline at::Tensor dropout_forward(at::Tensor const& any, composed::dropout_key const& key) {
  if (any.numel() == 0) return any.clone();
  auto const x = any.contiguous();
  auto const y = at::empty_like(x);
  switch (x.scalar_type()) {
    case at::kFloat: dropout_into<float>(y, x, key); break;
    case at::kBFloat16: dropout_into<at::BFloat16>(y, x, key); break;
    default: dropout_into<double>(y, x, key); break;
  }
  return y;
}

inline at::Tensor dropout(at::Tensor const& x, composed::dropout_key const& key);

struct dropout_function : tensors::recorded_function<dropout_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, composed::dropout_key key) {
    ctx->saved_data["probability"] = key.probability;
    ctx->saved_data["key"] = static_cast<std::int64_t>(std::uint64_t{key.numbers.k1} << 32 | key.numbers.k0);
    ctx->saved_data["row0"] = key.row0;
    ctx->saved_data["feature0"] = key.feature0;
    ctx->saved_data["position0"] = key.position0;
    return dropout_forward(x, key);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const number = [&](char const* name) { return ctx->saved_data[name].toInt(); };
    auto const bits = static_cast<std::uint64_t>(number("key"));
    random::stream const numbers{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
    composed::dropout_key const key{ctx->saved_data["probability"].toDouble(), numbers, number("row0"),
                                    number("feature0"), number("position0")};
    return {cpu::dropout(g[0], key), at::Tensor()};
  }
};

/// Applies dropout on the CPU. Backward applies the same dropout to the gradient, because dropout
/// is linear in x. Under create_graph, autograd records that call.
inline at::Tensor dropout(at::Tensor const& x, composed::dropout_key const& key) {
  return dropout_function::apply(x, key);
}

}  // namespace redco::kernel::cpu
