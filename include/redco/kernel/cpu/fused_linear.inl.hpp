#pragma once

#include <redco/kernel/cpu/fused_linear.hpp>

#include <redco/kernel/cpu/activate.hpp>
#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cpu/f32_product.hpp>
#include <redco/kernel/cpu/panel_product.hpp>
#include <redco/kernel/cpu/small_product.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/without_dispatch.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <type_traits>

namespace redco::kernel::cpu {

/// Returns a view of `x` as a matrix of rows, with all dimensions except the last flattened. Only a
/// 2-D tensor may have gaps between rows.
template <class T>
stepped_matrix<T> rows_of(at::Tensor const& x) {
  return {x.const_data_ptr<T>(), x.dim() == 2 ? x.stride(0) : x.size(-1), 1};
}

inline std::int64_t row_count(at::Tensor const& x) { return x.numel() / x.size(-1); }

/// Returns true if rows_of can view `x` as a matrix of rows.
inline bool has_rows(at::Tensor const& x) {
  return x.dim() == 2 ? x.stride(1) == 1 || x.size(1) == 1 : x.is_contiguous();
}

/// Returns `g`, or a contiguous copy if rows_of cannot view `g`.
inline at::Tensor with_rows(at::Tensor const& g) { return has_rows(g) ? g : g.contiguous(); }

/// Returns before_activation(next, g, y), not recorded by autograd in any grad mode.
inline at::Tensor unrecorded_before(after_linear next, at::Tensor const& g, at::Tensor const& y) {
  at::NoGradGuard const unrecorded;
  return before_activation(next, g, y);
}

/// Returns the saved result of the node, for the backward of its gradients. The result of a relu is
/// detached, because the gradients do not depend on it smoothly; without activation it is
/// undefined.
inline at::Tensor result_of(fused_linear_node& node) {
  if (node.next == after_linear::nothing) return {};
  at::Tensor const y = node.y.unpack(node.shared_from_this());
  return node.next == after_linear::relu ? y.detach() : y;
}

/// A task that sums the columns of a gradient g, which gives the gradient of the bias. Sums of 64
/// rows are added up in order.
template <class T>
struct column_sums {
  static constexpr std::int64_t block = 64;

  stepped_matrix<T> g;
  std::int64_t rows, columns;
  T* sums;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    constexpr int lanes = W * static_cast<int>(sizeof(float)) / static_cast<int>(sizeof(T));
    for (std::int64_t first = 0; first < rows; first += block) {
      std::int64_t j = 0;
      for (; j + lanes <= columns; j += lanes) add<lanes>(first, j);
      for (; j < columns; ++j) add<1>(first, j);
    }
  }

 private:
  template <int L>
  [[gnu::always_inline]] void add(std::int64_t first, std::int64_t j) const {
    typedef T vector __attribute__((vector_size(L * sizeof(T))));
    vector sum = {}, x;
    for (std::int64_t i = first; i < std::min(first + block, rows); ++i) {
      std::memcpy(&x, g.data + i * g.row + j, sizeof x);
      sum += x;
    }
    bool const begins = first == 0;
    if (!begins) std::memcpy(&x, sums + j, sizeof x);
    if (!begins) sum += x;
    std::memcpy(sums + j, &sum, sizeof sum);
  }
};

/// Computes a product that fused_linear needs: on the calling thread if it is small.
template <class T>
void multiply(small_product<T> const& p) {
  if (p.m * p.n * p.k <= small_work()) return p.run();
  if constexpr (std::is_same_v<T, float>)
    if (is_packed_product(p.n, p.k)) return f32_product{p.m, p.n, p.k, p.a, p.b, p.c, p.n, p.start, p.bias}.run();
  if (p.n % panel_product<T>::panel != 0) return p.run();
  panel_product<T>{p.m, p.n, p.k, p.a, p.b, p.c, p.start, p.bias}.run();
}

/// The gradients of a linear map, given the gradient g [rows, out] of its result. Those with null
/// pointers are not computed.
template <class T>
struct linear_gradients {
  std::int64_t rows, in, out;
  stepped_matrix<T> g, x, weight;
  T *dx, *dw, *db;

  void run() const {
    small_product<T> const of_x{rows, in, out, g, weight, dx}, of_weight{out, in, rows, g.turned(), x, dw};
    if (rows * in * out > small_work() && in * out > most_panel_weights) {
      if (dx != nullptr) multiply(of_x);
      if (dw != nullptr) multiply(of_weight);
      if (db != nullptr) sum_columns();
      return;
    }
    if (rows * in * out <= small_work() || in % panel_product<T>::panel != 0) {
      if (dx != nullptr) of_x.run();
      if (dw != nullptr) of_weight.run();
      if (db != nullptr) with_lanes<float>(column_sums<T>{g, rows, out, db});
      return;
    }
    // Each thread computes a part of every gradient, because starting threads takes time.
    std::int64_t const parts = panel_product<T>::threads();
    tensors::parallel(parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) {
        auto const in_panels = [&](small_product<T> const& p) {
          if (p.c != nullptr) panel_product<T>{p.m, p.n, p.k, p.a, p.b, p.c}.run_part(part, parts);
        };
        in_panels(of_x);
        in_panels(of_weight);
        if (db != nullptr) sum_columns(out * part / parts, out * (part + 1) / parts);
      }
    });
  }

 private:
  void sum_columns(std::int64_t first, std::int64_t last) const {
    with_lanes<float>(column_sums<T>{{g.data + first, g.row, 1}, rows, last - first, db + first});
  }

  void sum_columns() const {
    constexpr std::int64_t grain = 65536;  // elements of a part
    tensors::parallel(out, std::max<std::int64_t>(16, grain / rows),
                      [&](std::int64_t first, std::int64_t last) { sum_columns(first, last); });
  }
};

/// Returns true if fused_linear can compute x W^T + b of any size.
inline bool fits_fused_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  at::ScalarType const type = x.scalar_type();
  if ((type != at::kFloat && type != at::kDouble) || weight.scalar_type() != type || x.layout() != at::kStrided ||
      x.dim() < 2 || weight.dim() != 2 || x.size(-1) != weight.size(1) || x.numel() == 0 || weight.numel() == 0)
    return false;
  bool const fits = !bias.defined() || (bias.scalar_type() == type && bias.dim() == 1 &&
                                        bias.size(0) == weight.size(0) && bias.is_contiguous());
  return fits && has_rows(x) && has_rows(weight);
}

REDCO_INLINE bool is_small_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  return fits_fused_linear(x, weight, bias) && x.numel() * weight.size(0) <= small_work();
}

REDCO_INLINE bool is_panel_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 20;
  if (!fits_fused_linear(x, weight, bias) || small_work() == 0) return false;
  std::int64_t const in = weight.size(1), out = weight.size(0), rows = row_count(x);
  return in % panel_product<float>::panel == 0 && out % panel_product<float>::panel == 0 &&
         weight.numel() <= most_panel_weights && rows * std::max(in, out) <= most_elements &&
         rows * in * out > small_work();
}

REDCO_INLINE bool is_packed_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  return x.scalar_type() == at::kFloat && fits_fused_linear(x, weight, bias) &&
         is_packed_product(weight.size(0), weight.size(1));
}

REDCO_INLINE at::Tensor fused_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                                     after_linear next) {
  c10::SmallVector<std::int64_t, 5> sizes(x.sizes().begin(), x.sizes().end());
  std::int64_t const out = weight.size(0), in = weight.size(1);
  sizes.back() = out;
  at::Tensor const y = tensors::empty_on_cpu(sizes, x.scalar_type());
  with_real(x.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    auto const start = bias.defined() ? product_start::bias : product_start::zero;
    T const* const b = bias.defined() ? bias.const_data_ptr<T>() : nullptr;
    multiply(small_product<T>{row_count(x), out, in, rows_of<T>(x), rows_of<T>(weight).turned(),
                              y.mutable_data_ptr<T>(), start, b});
  });
  activate(next, y);
  if (!tensors::is_recorded(x, weight, bias)) return y;
  auto const node = tensors::recorded_node<fused_linear_node>(x, weight, bias);
  node->x = {x, false};
  node->weight = {weight, false};
  node->next = next;
  torch::autograd::set_history(y, node);
  return y;
}

REDCO_INLINE torch::autograd::variable_list fused_linear_node::apply(torch::autograd::variable_list&& gradients) {
  std::lock_guard<std::mutex> const lock(mutex_);
  if (!gradients[0].defined()) return {{}, {}, {}};
  at::Tensor const &gradient = gradients[0], x_saved = x.unpack(), w = weight.unpack();
  at::Tensor const y_saved = result_of(*this);
  at::Tensor const g = unrecorded_before(next, with_rows(gradient), y_saved);
  std::int64_t const rows = row_count(g), out = w.size(0), in = w.size(1);
  at::Tensor dx, dw, db;
  if (task_should_compute_output(0)) dx = tensors::empty_on_cpu(x_saved.sizes(), w.scalar_type());
  if (task_should_compute_output(1)) dw = tensors::empty_on_cpu(w.sizes(), w.scalar_type());
  if (task_should_compute_output(2)) db = tensors::empty_on_cpu({out}, w.scalar_type());
  with_real(w.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    auto const to = [](at::Tensor const& of) { return of.defined() ? of.mutable_data_ptr<T>() : nullptr; };
    linear_gradients<T>{rows, in, out, rows_of<T>(g), rows_of<T>(x_saved), rows_of<T>(w), to(dx), to(dw), to(db)}.run();
  });
  if (tensors::is_recorded(gradient, x_saved, w, y_saved)) {
    auto const node = tensors::recorded_node<fused_linear_gradients_node>(gradient, x_saved, w, y_saved);
    node->g = {gradient, false};
    node->y = {y_saved, false};
    node->next = next;
    node->x = {x_saved, false};
    node->weight = {w, false};
    for (at::Tensor const* const one : {&dx, &dw, &db}) torch::autograd::set_history(*one, node);
  }
  return {dx, dw, db};
}

REDCO_INLINE void fused_linear_node::release_variables() {
  std::lock_guard<std::mutex> const lock(mutex_);
  x.reset_data();
  weight.reset_data();
  y.reset_data();
}

/// Returns the gradients of g, x, W and y of fused_linear_gradients_node, computed with ATen's
/// operators, which autograd records.
inline torch::autograd::variable_list recorded_curvature(torch::autograd::variable_list const& gradients,
                                                         at::Tensor const& g, at::Tensor const& x, at::Tensor const& w,
                                                         at::Tensor const& y, after_linear next) {
  std::int64_t const out = w.size(0), in = w.size(1);
  at::Tensor const &u = gradients[0], v = gradients[1], t = gradients[2];
  at::Tensor const h = before_activation(next, g, y).reshape({-1, out}), x2 = x.reshape({-1, in});
  at::Tensor const u2 = u.defined() ? u.reshape({-1, in}) : u;
  at::Tensor dh, dx, dw;
  auto const plus = [](at::Tensor const& a, at::Tensor const& b) { return a.defined() ? a + b : b; };
  if (u2.defined()) dh = at::mm(u2, w.t()), dw = at::mm(h.t(), u2);
  if (v.defined()) dh = plus(dh, at::mm(x2, v.t())), dx = at::mm(h, v).view(x.sizes());
  if (t.defined()) dh = plus(dh, t.expand_as(h));
  if (!dh.defined()) return {dh, dx, dw, {}};
  dh = dh.view(g.sizes());
  return {before_activation(next, dh, y), dx, dw, next == after_linear::tanh ? -2 * g * y * dh : at::Tensor()};
}

/// Computes the backward of fused_linear's gradients dx = h W, dW = h^T x and db = 1^T h. Here h is
/// the gradient before the activation f: h = g f'(y), or g without an activation.
///
/// Let u, v, t be the gradients of dx, dW, db. The gradients are
/// - of h: u W^T + x v^T + t
/// - of x: h v
/// - of W: h^T u
REDCO_INLINE torch::autograd::variable_list fused_linear_gradients_node::apply(
    torch::autograd::variable_list&& gradients) {
  std::lock_guard<std::mutex> const lock(mutex_);
  at::Tensor const &gradient_of_u = gradients[0], gradient_of_v = gradients[1], gradient_of_t = gradients[2];
  at::Tensor const g_saved = g.unpack(), x_saved = x.unpack(), w = weight.unpack(), y_saved = y.unpack();
  if (at::GradMode::is_enabled())  // derivatives of higher order are ATen's
    return recorded_curvature(gradients, g_saved, x_saved, w, y_saved, next);
  std::int64_t const out = w.size(0), in = w.size(1);
  at::Tensor const g_rows = with_rows(g_saved), h = before_activation(next, g_rows, y_saved);
  std::int64_t const rows = row_count(h);
  at::Tensor const u = gradient_of_u.defined() ? with_rows(gradient_of_u) : gradient_of_u,
                   v = gradient_of_v.defined() ? with_rows(gradient_of_v) : gradient_of_v,
                   t = gradient_of_t.defined() ? gradient_of_t.contiguous() : gradient_of_t;
  at::Tensor dg, dx, dw, dy;
  if ((u.defined() || v.defined() || t.defined()) && (task_should_compute_output(0) || task_should_compute_output(3)))
    dg = tensors::empty_on_cpu(g_saved.sizes(), w.scalar_type());
  if (v.defined() && task_should_compute_output(1)) dx = tensors::empty_on_cpu(x_saved.sizes(), w.scalar_type());
  if (u.defined() && task_should_compute_output(2)) dw = tensors::empty_on_cpu(w.sizes(), w.scalar_type());
  with_real(w.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    auto const of_h = rows_of<T>(h), of_x = rows_of<T>(x_saved), of_w = rows_of<T>(w);
    if (dg.defined()) {
      T* const to = dg.mutable_data_ptr<T>();
      auto start = t.defined() ? product_start::bias : product_start::zero;
      T const* const begin = t.defined() ? t.const_data_ptr<T>() : nullptr;
      if (u.defined()) {
        multiply(small_product<T>{rows, out, in, rows_of<T>(u), of_w.turned(), to, start, begin});
        start = product_start::sum;
      }
      if (v.defined()) {
        multiply(small_product<T>{rows, out, in, of_x, rows_of<T>(v).turned(), to, start, begin});
      } else if (!u.defined()) {
        dg.copy_(t.expand_as(dg));
      }
      dy = curve_activation(next, dg, g_rows, y_saved);
    }
    if (dx.defined()) multiply(small_product<T>{rows, in, out, of_h, rows_of<T>(v), dx.mutable_data_ptr<T>()});
    if (dw.defined()) multiply(small_product<T>{out, in, rows, of_h.turned(), rows_of<T>(u), dw.mutable_data_ptr<T>()});
  });
  return {dg, dx, dw, dy};
}

REDCO_INLINE void fused_linear_gradients_node::release_variables() {
  std::lock_guard<std::mutex> const lock(mutex_);
  g.reset_data();
  x.reset_data();
  weight.reset_data();
  y.reset_data();
}

}  // namespace redco::kernel::cpu
