#pragma once

#include <redco/update/detail/update_elements.hpp>

#include <redco/update/detail/element_kernel.hpp>
#include <redco/update/detail/element_rules.hpp>
#include <redco/update/detail/run_kernel.hpp>
#include <redco/update/detail/update_by.hpp>
#include <redco/update/matrix.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

namespace redco::update::detail {

/// Updates a segment by a rule that treats each element alone. `exact` has the rule's constants in
/// f64.
template <template <class> class Rule>
void update_elements(segment& s, Rule<double> const& exact) {
  run_kernel(s, [&]<class T, class Grad>(T* param, Grad const* grad, c10::BFloat16* copy) {
    element_arrays<T, Grad, Rule<T>::slots> arrays{param, grad, {}, copy};
    for (std::size_t i = 0; i < Rule<T>::slots; ++i) arrays.slots[i] = s.slots[i].mutable_data_ptr<T>();
    Rule<T> const rule = exact.template rounded<T>();
    tensors::parallel(s.param.numel(), update_grain, [&](std::int64_t begin, std::int64_t end) {
      element_kernel(arrays, begin, end, rule, has_avx2());
    });
  });
}

REDCO_INLINE void update_by(optimizer::lion const& d, segment& s, double lr, std::int64_t, double grad_scale) {
  lion_rule<double> const exact{grad_scale, 1 - lr * decay_of(d, s), d.beta1, 1 - d.beta1, d.beta2, 1 - d.beta2, -lr};
  if (!tensors::takes_cpu_kernels(s.param)) return composed_lion(s, exact);
  update_elements(s, exact);
}

REDCO_INLINE void update_by(optimizer::ademamix const& d, segment& s, double lr, std::int64_t step, double grad_scale) {
  double const t = static_cast<double>(step), beta3 = d.beta3_at(step);
  ademamix_rule<double> const exact{grad_scale,
                                    decay_of(d, s),
                                    d.beta1,
                                    1 - d.beta1,
                                    beta3,
                                    1 - beta3,
                                    d.beta2,
                                    1 - d.beta2,
                                    1 / (1 - std::pow(d.beta1, t)),
                                    d.alpha_at(step),
                                    1 / std::sqrt(1 - std::pow(d.beta2, t)),
                                    d.eps,
                                    -lr};
  if (!tensors::takes_cpu_kernels(s.param)) return composed_ademamix(s, exact);
  update_elements(s, exact);
}

REDCO_INLINE void update_by(optimizer::schedule_free const& d, segment& s, double lr, std::int64_t step,
                            double grad_scale) {
  double const pull = d.weight_at(step);
  schedule_free_rule<double> const exact{grad_scale,
                                         decay_of(d, s),
                                         d.beta2,
                                         1 - d.beta2,
                                         1 / std::sqrt(1 - std::pow(d.beta2, static_cast<double>(step))),
                                         d.eps,
                                         pull,
                                         lr * (d.beta1 * (1 - pull) - 1),
                                         -lr,
                                         step == 1};
  if (!tensors::takes_cpu_kernels(s.param)) return composed_schedule_free(s, exact);
  update_elements(s, exact);
}

/// Returns the factor of the orthogonal update of a matrix `[rows, columns]`.
inline double scale_of(optimizer::muon_scale scale, std::int64_t rows, std::int64_t columns) {
  double const r = static_cast<double>(rows), c = static_cast<double>(columns);
  return scale == optimizer::muon_scale::original ? std::sqrt(std::max(1.0, r / c)) : 0.2 * std::sqrt(std::max(r, c));
}

REDCO_INLINE void update_by(optimizer::muon const& d, segment& s, double lr, std::int64_t step, double grad_scale,
                            rank_context* on) {
  if (s.matrices.empty()) {
    adamw const other{
        .beta1 = d.beta1, .beta2 = d.beta2, .eps = d.eps, .weight_decay = d.weight_decay, .decay_all = d.decay_all};
    return update_by(other, s, d.adam_rate * lr, step, grad_scale);
  }
  double const decay = decay_of(d, s);
  at::NoGradGuard const no_grad;
  for (matrix const& m : s.matrices) {
    at::Tensor const param = m.part(s.param), momentum = m.part(s.slots[0]),
                     grad = m.part(s.grad).to(param.scalar_type()) * grad_scale;
    momentum.lerp_(grad, 1 - d.momentum);
    at::Tensor const whole = m.gathered(d.nesterov ? grad.lerp(momentum, d.momentum) : momentum, on);
    double const rate = lr * scale_of(d.scale, whole.size(0), whole.size(1));
    param.mul_(1 - lr * decay);
    m.held(param).sub_(m.own(orthogonal(whole, d.iterations)), rate);
  }
  if (s.compute.defined()) s.compute.copy_(s.param);
}

/// The sums of Adafactor over a whole parameter, of which `m` is this rank's part.
struct whole_sums {
  matrix const& m;
  rank_context* on;

  /// Calls f(place) for each cut of the parameter over several ranks. Throws `error` with exit code
  /// 70 if there is one and no rank.
  template <class F>
  void for_each_cut(F const& f) const {
    for (shape::place const& p : m.plan.fact.places) {
      if (p.dim < 0 || !m.plan.is_split(p.axis)) continue;
      if (on == nullptr) refuse_segment("has a split parameter and no ranks that hold its parts");
      f(p);
    }
  }

  /// Sums `x` over the ranks of the cut `p`, in place. Each rank's part counts once, though
  /// neighbouring ranks may hold equal parts.
  void add_ranks(at::Tensor const& x, shape::place const& p) const {
    comm::collective_label const label("sums of factored state");
    on->group(p.axis).all_reduce(x.div_(m.plan.sharers(p.axis)), comm::reduce_op::sum);
  }

  /// Adds the squares `rows` and `columns` of other ranks, and the sum of squares `own` [1].
  void add_squares(at::Tensor& rows, at::Tensor& columns, at::Tensor& own) const {
    int const rank = m.plan.fact.shape.rank;
    for_each_cut([&](shape::place const& p) {
      at::Tensor* const some = rank < 2 || p.dim < rank - 2 ? nullptr : p.dim == rank - 1 ? &rows : &columns;
      at::Tensor const all = some == nullptr ? own.clone() : at::cat({some->flatten(), own});
      add_ranks(all, p);
      if (some != nullptr) *some = all.narrow(0, 0, some->numel()).view(some->sizes());
      own = all.narrow(0, all.numel() - 1, 1);
    });
  }

  /// Returns the mean of each matrix's rows `rows`, and the sum of squares of the update, whose
  /// squares without the factor of this mean are `squares`: one number per matrix.
  std::pair<at::Tensor, at::Tensor> update_sums(at::Tensor const& rows, at::Tensor const& squares) const {
    int const rank = m.plan.fact.shape.rank;
    at::Tensor both = at::stack({rows.sum(-1), squares.sum({-2, -1})});
    for_each_cut([&](shape::place const& p) {
      if (p.dim < rank - 2) return;
      // The state of rows is equal on the ranks of a cut through columns.
      if (p.dim == rank - 1) both[0].mul_(m.plan.sharers(p.axis)).div_(m.plan.mesh[p.axis]);
      add_ranks(both, p);
    });
    at::Tensor const mean = both[0] / m.plan.fact.shape[-2];
    at::Tensor total = (mean * both[1]).sum().reshape({1});
    for_each_cut([&](shape::place const& p) {
      if (p.dim < rank - 2) add_ranks(total, p);
    });
    return {mean, total};
  }
};

/// Returns the update of a factored parameter without rate, and the sum of its squares. Advances
/// the state of rows and columns, whose averages keep `kept`.
inline std::pair<at::Tensor, at::Tensor> factored_update(segment const& s, whole_sums const& sums,
                                                         at::Tensor const& grad, double eps, double kept,
                                                         at::Tensor& own) {
  using optimizer::slot_form;
  matrix const& m = sums.m;
  auto const state = [&](std::size_t i, slot_form form) {
    matrix const of_slot{0, m.plan_of(form), m.rank};
    return of_slot.held(m.slot(s.slots[i], form));
  };
  at::Tensor const row = state(0, slot_form::rows), column = state(1, slot_form::columns), square = grad.square() + eps;
  at::Tensor rows = square.sum(-1), columns = square.sum(-2);
  sums.add_squares(rows, columns, own);
  row.mul_(kept).add_(rows, (1 - kept) / static_cast<double>(m.plan.fact.shape[-1]));
  column.mul_(kept).add_(columns, (1 - kept) / static_cast<double>(m.plan.fact.shape[-2]));
  at::Tensor const u = grad * row.rsqrt().unsqueeze(-1) * column.rsqrt().unsqueeze(-2);
  auto const [mean, total] = sums.update_sums(row, u.square());
  return {u.mul_(mean.sqrt().unsqueeze(-1).unsqueeze(-1)), total};
}

REDCO_INLINE void update_by(optimizer::adafactor const& d, segment& s, double lr, std::int64_t step, double grad_scale,
                            rank_context* on) {
  double const decay = decay_of(d, s), kept = 1 - std::pow(static_cast<double>(step), d.decay_rate);
  at::NoGradGuard const no_grad;
  for (matrix const& m : s.matrices) {
    at::Tensor const param = m.held(m.part(s.param)),
                     grad = m.held(m.part(s.grad)).to(param.scalar_type()) * grad_scale;
    double const count = static_cast<double>(m.plan.fact.shape.count());
    whole_sums const sums{m, on};
    at::Tensor own = param.square().sum().reshape({1}), u, total, none;
    if (m.plan.fact.shape.rank > 1) {
      std::tie(u, total) = factored_update(s, sums, grad, d.eps1, kept, own);
    } else {
      at::Tensor const square = m.held(m.part(s.slots[0]));
      square.mul_(kept).add_(grad.square() + d.eps1, 1 - kept);
      u = grad * square.rsqrt();
      total = u.square().sum().reshape({1});
      sums.add_squares(none, none, own);
      sums.for_each_cut([&](shape::place const& p) { sums.add_ranks(total, p); });
    }
    at::Tensor rate = at::full({1}, lr, param.options());
    if (d.scale_parameter) rate.mul_((own / count).sqrt_().clamp_min_(d.eps2));
    u.div_((total / count).sqrt_().div_(d.clip_threshold).clamp_min_(1)).mul_(rate);
    if (d.beta1 > 0) {
      at::Tensor const average = m.held(m.part(s.slots.back()));
      u = average.mul_(d.beta1).add_(u, 1 - d.beta1);
    }
    param.mul_(1 - rate * decay).sub_(u);
  }
  if (s.compute.defined()) s.compute.copy_(s.param);
}

}  // namespace redco::update::detail
