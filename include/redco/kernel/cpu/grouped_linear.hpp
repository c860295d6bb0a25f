#pragma once

#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cpu/few_rows_product.hpp>
#include <redco/kernel/cpu/pack_pairs.hpp>
#include <redco/kernel/cpu/product.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/kernel/detail/grouped_function.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace redco::kernel::cpu {

/// A tile of a grouped product, the work of one thread: rows [begin, end) of expert `expert`.
struct expert_tile {
  std::int64_t expert, begin, end;
};

/// Returns the tiles of at most `most` rows of all experts. `offsets` are the experts' ranges of
/// rows. The tiles do not depend on the number of threads.
inline std::vector<expert_tile> tiles_of(std::vector<std::int64_t> const& offsets, std::int64_t most) {
  std::vector<expert_tile> tiles;
  for (std::size_t e = 0; e + 1 < offsets.size(); ++e)
    for (std::int64_t row = offsets[e]; row < offsets[e + 1]; row += most)
      tiles.push_back({static_cast<std::int64_t>(e), row, std::min(row + most, offsets[e + 1])});
  return tiles;
}

/// Number of rows of a tile. Smaller tiles read the weights of an expert more often.
inline constexpr std::int64_t rows_of_tile = 256;

/// One factor pair of a tile's sum of products: a [m, k] b [k, n].
template <class T>
struct tile_product {
  matrix<T> a, b;
  std::int64_t k;
};

/// Computes c [m, n] = the sum of `count` products on the calling thread, in f32 (f64 for f64).
template <class T>
void sum_of_products(std::int64_t m, std::int64_t n, tile_product<T> const* products, std::size_t count, T* c,
                     std::int64_t stride) {
  if constexpr (!std::is_same_v<T, double>) {
    auto const& [a, b, k] = *products;
    bool const in_place = count == 1 && !a.transposed && b.transposed && b.stride == k;
    if (in_place && few_rows_product<T>::is_faster(m, n, k))
      return few_rows_product<T>{m, n, k, a.data, a.stride, b.data, c, stride}.run();
  }
  if constexpr (std::is_same_v<T, at::BFloat16>)
    // Needs no scratch memory for sums in f32
    if (count == 1 && tensors::bf16_path_in_use() == tensors::bf16_path::packed)
      return packed_product<T>{m, n, products->k, products->a, products->b, c, stride}.run();
  using sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  bool const direct = std::is_same_v<T, sum>;
  sum* const to = direct ? reinterpret_cast<sum*>(c) : scratch<sum, 40>(m * n);
  std::int64_t const step = direct ? stride : n;
  for (std::size_t i = 0; i < count; ++i)
    gemm<T, sum>(m, n, products[i].k, sum{1}, products[i].a, products[i].b, i == 0 ? sum{0} : sum{1}, to, step);
  if (direct) return;
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t j = 0; j < n; ++j) c[row * stride + j] = static_cast<T>(to[row * n + j]);
}

/// A grouped product and its gradients over contiguous tensors of elements T: rows x [rows, in],
/// weights [experts, out_i, in], results y [rows, sum of out_i].
template <class T>
struct grouped_problem {
  std::vector<std::int64_t> const& offsets;
  std::vector<at::Tensor> const& weights;
  std::int64_t in;

  /// Most factors of one tile's sum; grouped_linear() joins the weights of at most as many
  /// products.
  static constexpr std::size_t most_weights = 4;

  std::int64_t out(std::size_t i) const { return weights[i].size(1); }
  std::int64_t outs() const {
    std::int64_t all = 0;
    for (at::Tensor const& weight : weights) all += weight.size(1);
    return all;
  }
  T const* weight_of(std::size_t i, std::int64_t expert) const {
    return weights[i].const_data_ptr<T>() + expert * out(i) * in;
  }

  /// Computes y from x.
  void forward(T const* x, T* y) const {
    std::int64_t const columns = outs();
    each_tile([&](expert_tile const& t) {
      std::int64_t first = 0;
      for (std::size_t i = 0; i < weights.size(); first += out(i++)) {
        tile_product<T> const one{{x + t.begin * in, in, false}, {weight_of(i, t.expert), in, true}, in};
        sum_of_products<T>(t.end - t.begin, out(i), &one, 1, y + t.begin * columns + first, columns);
      }
    });
  }

  /// Computes the gradient dx of x from the gradient g of y.
  void input_gradient(T const* g, T* dx) const {
    std::int64_t const columns = outs();
    each_tile([&](expert_tile const& t) {
      std::array<tile_product<T>, most_weights> all{};
      std::int64_t first = 0;
      for (std::size_t i = 0; i < weights.size(); first += out(i++))
        all[i] = {{g + t.begin * columns + first, columns, false}, {weight_of(i, t.expert), in, false}, out(i)};
      sum_of_products<T>(t.end - t.begin, in, all.data(), weights.size(), dx + t.begin * in, in);
    });
  }

  /// Computes the gradient dw of weight number `i` from the gradient g of y. The gradient of an
  /// expert without rows is 0.
  void weight_gradient(std::size_t i, T const* x, T const* g, T* dw) const {
    std::int64_t const columns = outs(), rows = out(i);
    std::int64_t first = 0;
    for (std::size_t before = 0; before < i; ++before) first += out(before);
    std::vector<expert_tile> tiles;
    for (std::int64_t e = 0; e < weights[i].size(0); ++e)
      for (std::int64_t row = 0; row < rows; row += rows_of_tile)
        tiles.push_back({e, row, std::min(row + rows_of_tile, rows)});
    tensors::parallel(static_cast<std::int64_t>(tiles.size()), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at) {
        auto const& [expert, row, row_end] = tiles[static_cast<std::size_t>(at)];
        T* const to = dw + (expert * rows + row) * in;
        auto const e = static_cast<std::size_t>(expert);
        std::int64_t const from = offsets[e], inner = offsets[e + 1] - from;
        if (inner == 0) {
          std::fill(to, to + (row_end - row) * in, T(0));
          continue;
        }
        tile_product<T> const one{{g + from * columns + first + row, columns, true}, {x + from * in, in, false}, inner};
        sum_of_products<T>(row_end - row, in, &one, 1, to, in);
      }
    });
  }

 private:
  template <class F>
  void each_tile(F const& f) const {
    std::vector<expert_tile> const tiles = tiles_of(offsets, rows_of_tile);
    tensors::parallel(static_cast<std::int64_t>(tiles.size()), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at) f(tiles[static_cast<std::size_t>(at)]);
    });
  }
};

/// The differentiable function kernel::grouped_linear on CPUs.
struct grouped_linear_function : detail::grouped_function<grouped_linear_function> {
  static at::Tensor products(at::Tensor const& x, at::TensorList weights, std::vector<std::int64_t> const& offsets) {
    std::vector<at::Tensor> const all = weights.vec();
    std::int64_t outs = 0;
    for (at::Tensor const& weight : all) outs += weight.size(1);
    at::Tensor const y = at::empty({x.size(0), outs}, x.options());
    with_element(x.scalar_type(), [&]<class T>(T) {
      grouped_problem<T>{offsets, all, x.size(1)}.forward(x.const_data_ptr<T>(), y.mutable_data_ptr<T>());
    });
    return y;
  }

  static torch::autograd::variable_list gradients(torch::autograd::variable_list const& saved,
                                                  std::vector<std::int64_t> const& offsets, at::Tensor const& g) {
    at::Tensor const& x = saved[0];
    std::vector<at::Tensor> const weights(saved.begin() + 1, saved.end());
    torch::autograd::variable_list result(saved.size());
    with_element(x.scalar_type(), [&]<class T>(T) {
      grouped_problem<T> const all{offsets, weights, x.size(1)};
      auto const* const from = g.const_data_ptr<T>();
      if (x.requires_grad()) {
        result[0] = at::empty_like(x);
        all.input_gradient(from, result[0].template mutable_data_ptr<T>());
      }
      for (std::size_t i = 0; i < weights.size(); ++i) {
        if (!weights[i].requires_grad()) continue;
        result[i + 1] = at::empty_like(weights[i], at::MemoryFormat::Contiguous);
        all.weight_gradient(i, x.const_data_ptr<T>(), from, result[i + 1].template mutable_data_ptr<T>());
      }
    });
    return result;
  }
};

}  // namespace redco::kernel::cpu
