#pragma once

#include <redco/kernel/cpu/small_linear.hpp>

#include <redco/kernel/cpu/small_product.hpp>
#include <redco/kernel/cpu/small_relu.hpp>
#include <redco/kernel/cpu/small_work.hpp>
#include <redco/kernel/cpu/with_element.hpp>
#include <redco/tensor/empty_on_host.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <mutex>

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

/// Returns the gradient of a relu's input, given the gradient `g` of the relu's result `y`. Returns
/// `g` if `y` is undefined (no relu). Not recorded by autograd.
inline at::Tensor through_relu(at::Tensor const& g, at::Tensor const& y) {
  if (!y.defined()) return g;
  at::NoGradGuard const unrecorded;
  return masked_gradient(g, y);
}

/// A task that sums the columns of a gradient g, which gives the gradient of the bias.
template <class T>
struct column_sums {
  stepped_matrix<T> g;
  std::int64_t rows, columns;
  T* sums;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    for (std::int64_t j = 0; j < columns; ++j) sums[j] = g.data[j];
    for (std::int64_t i = 1; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) sums[j] += g.data[i * g.row + j];
  }
};

REDCO_INLINE bool is_small_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  at::ScalarType const type = x.scalar_type();
  if ((type != at::kFloat && type != at::kDouble) || weight.scalar_type() != type || x.layout() != at::kStrided ||
      x.dim() < 2 || weight.dim() != 2 || x.size(-1) != weight.size(1) || x.numel() == 0 ||
      x.numel() * weight.size(0) > small_work() || weight.numel() == 0)
    return false;
  bool const fits = !bias.defined() || (bias.scalar_type() == type && bias.dim() == 1 &&
                                        bias.size(0) == weight.size(0) && bias.is_contiguous());
  return fits && has_rows(x) && has_rows(weight);
}

REDCO_INLINE at::Tensor small_linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                                     bool rectify) {
  c10::SmallVector<std::int64_t, 5> sizes(x.sizes().begin(), x.sizes().end());
  std::int64_t const out = weight.size(0), in = weight.size(1);
  sizes.back() = out;
  at::Tensor const y = empty_on_host(sizes, x.scalar_type());
  with_real(x.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    auto const start = bias.defined() ? product_start::bias : product_start::zero;
    T const* const b = bias.defined() ? bias.const_data_ptr<T>() : nullptr;
    small_product<T>{row_count(x), out, in, rows_of<T>(x), rows_of<T>(weight).turned(), y.mutable_data_ptr<T>(),
                     start,        b}
        .run();
    if (rectify) with_lanes<float>(rectified<T>{y.const_data_ptr<T>(), y.mutable_data_ptr<T>(), y.numel()});
  });
  if (!is_recorded(x, weight, bias)) return y;
  auto const node = recorded_node<small_linear_node>(x, weight, bias);
  node->x = {x, false};
  node->weight = {weight, false};
  node->rectified = rectify;
  torch::autograd::set_history(y, node);
  return y;
}

REDCO_INLINE bool save_rectified(at::Tensor const& y) {
  auto* const node = dynamic_cast<small_linear_node*>(y.grad_fn().get());
  if (node == nullptr || !node->rectified || node->saved) return false;
  node->y = {y, true};
  node->saved = true;
  return true;
}

REDCO_INLINE torch::autograd::variable_list small_linear_node::apply(torch::autograd::variable_list&& gradients) {
  std::lock_guard<std::mutex> const lock(mutex_);
  if (!gradients[0].defined()) return {{}, {}, {}};
  at::Tensor const &given = gradients[0], x_saved = x.unpack(), w = weight.unpack();
  at::Tensor const y_saved = rectified ? y.unpack(shared_from_this()).detach() : at::Tensor();
  at::Tensor const g = through_relu(with_rows(given), y_saved);
  std::int64_t const rows = row_count(g), out = w.size(0), in = w.size(1);
  at::Tensor dx, dw, db;
  if (task_should_compute_output(0)) dx = empty_on_host(x_saved.sizes(), w.scalar_type());
  if (task_should_compute_output(1)) dw = empty_on_host(w.sizes(), w.scalar_type());
  if (task_should_compute_output(2)) db = empty_on_host({out}, w.scalar_type());
  with_real(w.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    auto const of_g = rows_of<T>(g);
    if (dx.defined()) small_product<T>{rows, in, out, of_g, rows_of<T>(w), dx.mutable_data_ptr<T>()}.run();
    if (dw.defined())
      small_product<T>{out, in, rows, of_g.turned(), rows_of<T>(x_saved), dw.mutable_data_ptr<T>()}.run();
    if (db.defined()) with_lanes<float>(column_sums<T>{of_g, rows, out, db.mutable_data_ptr<T>()});
  });
  if (is_recorded(given, x_saved, w)) {
    auto const node = recorded_node<small_linear_gradients_node>(given, x_saved, w);
    node->g = {given, false};
    node->y = {y_saved, false};
    node->rectified = rectified;
    node->x = {x_saved, false};
    node->weight = {w, false};
    for (at::Tensor const* const one : {&dx, &dw, &db}) torch::autograd::set_history(*one, node);
  }
  return {dx, dw, db};
}

REDCO_INLINE void small_linear_node::release_variables() {
  std::lock_guard<std::mutex> const lock(mutex_);
  x.reset_data();
  weight.reset_data();
  y.reset_data();
}

/// Computes the backward of small_linear's gradients dx = h W, dW = h^T x and db = 1^T h. Here h =
/// g, or, for a rectified result y, h = g where y > 0 and else 0.
///
/// Let u, v, t be the gradients of dx, dW, db. The gradients are
/// - of h: u W^T + x v^T + t
/// - of x: h v
/// - of W: h^T u
REDCO_INLINE torch::autograd::variable_list small_linear_gradients_node::apply(
    torch::autograd::variable_list&& gradients) {
  std::lock_guard<std::mutex> const lock(mutex_);
  at::Tensor const &u_given = gradients[0], v_given = gradients[1], t_given = gradients[2];
  at::Tensor const g_saved = g.unpack(), x_saved = x.unpack(), w = weight.unpack();
  std::int64_t const out = w.size(0), in = w.size(1);
  if (at::GradMode::is_enabled()) {  // ATen records higher derivatives
    at::Tensor const h = rectified ? masked_gradient(g_saved, y.unpack()) : g_saved;
    at::Tensor const g2 = h.reshape({-1, out}), x2 = x_saved.reshape({-1, in});
    at::Tensor const u2 = u_given.defined() ? u_given.reshape({-1, in}) : u_given;
    at::Tensor dg, dx, dw;
    auto const plus = [](at::Tensor const& a, at::Tensor const& b) { return a.defined() ? a + b : b; };
    if (u2.defined()) dg = at::mm(u2, w.t()), dw = at::mm(g2.t(), u2);
    if (v_given.defined()) dg = plus(dg, at::mm(x2, v_given.t())), dx = at::mm(g2, v_given).view(x_saved.sizes());
    if (t_given.defined()) dg = plus(dg, t_given.expand_as(g2));
    if (dg.defined()) dg = dg.view(g_saved.sizes());
    return {dg.defined() && rectified ? masked_gradient(dg, y.unpack()) : dg, dx, dw};
  }
  at::Tensor const y_saved = rectified ? y.unpack() : at::Tensor(), gm = through_relu(with_rows(g_saved), y_saved);
  std::int64_t const rows = row_count(gm);
  at::Tensor const u = u_given.defined() ? with_rows(u_given) : u_given,
                   v = v_given.defined() ? with_rows(v_given) : v_given,
                   t = t_given.defined() ? t_given.contiguous() : t_given;
  at::Tensor dg, dx, dw;
  if ((u.defined() || v.defined() || t.defined()) && task_should_compute_output(0))
    dg = empty_on_host(g_saved.sizes(), w.scalar_type());
  if (v.defined() && task_should_compute_output(1)) dx = empty_on_host(x_saved.sizes(), w.scalar_type());
  if (u.defined() && task_should_compute_output(2)) dw = empty_on_host(w.sizes(), w.scalar_type());
  with_real(w.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    auto const of_g = rows_of<T>(gm), of_x = rows_of<T>(x_saved), of_w = rows_of<T>(w);
    if (dg.defined()) {
      T* const to = dg.mutable_data_ptr<T>();
      auto start = t.defined() ? product_start::bias : product_start::zero;
      T const* const begin = t.defined() ? t.const_data_ptr<T>() : nullptr;
      if (u.defined()) {
        small_product<T>{rows, out, in, rows_of<T>(u), of_w.turned(), to, start, begin}.run();
        start = product_start::sum;
      }
      if (v.defined()) {
        small_product<T>{rows, out, in, of_x, rows_of<T>(v).turned(), to, start, begin}.run();
      } else if (!u.defined()) {
        dg.copy_(t.expand_as(dg));
      }
    }
    if (dg.defined() && rectified)
      with_lanes<float>(
          masked<T>{dg.const_data_ptr<T>(), y_saved.const_data_ptr<T>(), dg.mutable_data_ptr<T>(), dg.numel()});
    if (dx.defined()) small_product<T>{rows, in, out, of_g, rows_of<T>(v), dx.mutable_data_ptr<T>()}.run();
    if (dw.defined()) small_product<T>{out, in, rows, of_g.turned(), rows_of<T>(u), dw.mutable_data_ptr<T>()}.run();
  });
  return {dg, dx, dw};
}

REDCO_INLINE void small_linear_gradients_node::release_variables() {
  std::lock_guard<std::mutex> const lock(mutex_);
  g.reset_data();
  x.reset_data();
  weight.reset_data();
  y.reset_data();
}

}  // namespace redco::kernel::cpu
