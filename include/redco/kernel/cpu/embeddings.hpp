#pragma once

#include <redco/kernel/composed/embeddings.hpp>
#include <redco/kernel/embeddings.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::kernel::cpu {

/// The differentiable function of table lookup. Autograd saves only the ids. Backward computes one
/// dense gradient of the table.
struct lookup_function : tensors::recorded_function<lookup_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& table, at::Tensor const& local_ids,
                            bool foreign, std::int64_t padding) {
    ctx->save_for_backward({local_ids});
    ctx->saved_data["padding"] = padding;
    ctx->saved_data["rows"] = table.size(0);
    if (!foreign) return at::embedding(table, local_ids);
    at::Tensor rows = at::embedding(table, local_ids.clamp_min(0));
    return rows.masked_fill_(local_ids.lt(0).unsqueeze(-1), 0);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradient) {
    at::Tensor const ids = ctx->get_saved_variables()[0];
    std::int64_t const padding = ctx->saved_data["padding"].toInt();
    // Grad mode is on exactly under create_graph. The gradient then must be differentiable for
    // every id.
    if (at::GradMode::is_enabled()) {
      at::Tensor const own = gradient[0].masked_fill(ids.lt(0).logical_or(ids == padding).unsqueeze(-1), 0);
      at::Tensor const none = at::zeros({ctx->saved_data["rows"].toInt(), own.size(-1)}, own.options());
      return {none.index_add(0, ids.clamp_min(0).flatten(), own.flatten(0, -2)), {}, {}, {}};
    }
    // ATen can skip one id only. Ids of other shards are -1, so the padding id becomes -1 too.
    at::Tensor const kept = padding < 0 ? ids : ids.masked_fill(ids == padding, -1);
    return {at::embedding_dense_backward(gradient[0], kept, ctx->saved_data["rows"].toInt(), -1, false), {}, {}, {}};
  }
};

/// Returns rows of this rank's shard of a table. If `foreign`, ids of other shards are given as -1,
/// and their rows are zeros. The row with the id `padding` gets no gradient.
inline at::Tensor lookup(at::Tensor const& table, at::Tensor const& local_ids, bool foreign, std::int64_t padding) {
  return lookup_function::apply(table, local_ids, foreign, padding);
}

/// A table of the cosines and sines of rotary positions, each [rows, dims / 2], for a list of
/// positions in texts of `lengths` tokens. `lengths` has one element, or one for each position.
template <class T>
struct rotation_table {
  layers::rotary_angles angles;
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> positions;
  std::vector<T> cosines, sines;

  rotation_table() = default;
  rotation_table(layers::rotary_angles const& a, std::vector<std::int64_t> const& l, std::vector<std::int64_t> const& p)
      : angles(a), lengths(l), positions(p) {
    double const amplitude = a.scaling.amplitude;
    std::size_t const half = static_cast<std::size_t>(a.dims) / 2;
    cosines.reserve(positions.size() * half), sines.reserve(positions.size() * half);
    std::map<std::int64_t, std::vector<double>> of_length;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      auto const [each, is_new] = of_length.try_emplace(lengths[lengths.size() == 1 ? 0 : i]);
      if (is_new) each->second = composed::frequencies(a, each->first);
      for (double const one : each->second) {
        double const angle = static_cast<double>(positions[i]) * one;
        cosines.push_back(static_cast<T>(amplitude * std::cos(angle)));
        sines.push_back(static_cast<T>(amplitude * std::sin(angle)));
      }
    }
  }
};

/// Returns the table of cosines and sines for these positions. Reuses this thread's last table if
/// all arguments are equal, as in all layers of one step.
template <class T>
rotation_table<T> const& rotation_table_of(layers::rotary_angles const& angles,
                                           std::vector<std::int64_t> const& lengths,
                                           std::vector<std::int64_t> const& positions) {
  thread_local rotation_table<T> last;
  if (last.angles != angles || last.lengths != lengths || last.positions != positions)
    last = rotation_table<T>(angles, lengths, positions);
  return last;
}

/// Rotates the features of one head in place, by the angles of one row if `sign` is 1, and back if
/// it is -1.
template <class T, class Sum>
void rotate_head(T* x, Sum const* cosine, Sum const* sine, Sum sign, std::int64_t half, layers::rotary_pairs pairs) {
  std::int64_t const step = pairs == layers::rotary_pairs::halves ? 1 : 2,
                     apart = pairs == layers::rotary_pairs::halves ? half : 1;
  for (std::int64_t i = 0; i < half; ++i) {
    T* const a = x + i * step;
    Sum const u = static_cast<Sum>(a[0]), v = static_cast<Sum>(a[apart]), s = sign * sine[i];
    a[0] = static_cast<T>(u * cosine[i] - v * s);
    a[apart] = static_cast<T>(v * cosine[i] + u * s);
  }
}

/// Returns the elements of an int64 tensor.
inline std::vector<std::int64_t> elements_of(at::Tensor const& x) {
  at::Tensor const flat = x.contiguous();
  return {flat.const_data_ptr<std::int64_t>(), flat.const_data_ptr<std::int64_t>() + flat.numel()};
}

/// Rotates x in place by the angles of its positions if `sign` is 1, and back if it is -1.
template <class T>
void rotate_in_place_as(at::Tensor const& x, rotation const& by, at::Tensor const& positions, at::Tensor const& lengths,
                        double sign) {
  using sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  std::int64_t const batch = x.size(0), rows = x.size(1), half = by.angles.dims / 2;
  at::Tensor places = positions.defined() ? positions : at::arange(by.first, by.first + rows, at::kLong).unsqueeze(0);
  std::vector<std::int64_t> of_texts{by.first + rows};
  if (lengths.defined()) {
    places = places.expand({batch, rows});
    of_texts = elements_of(lengths.expand({batch, rows}));
  }
  std::vector<std::int64_t> const at = elements_of(places);
  rotation_table<sum> const& table = rotation_table_of<sum>(by.angles, of_texts, at);
  bool const each_example = static_cast<std::int64_t>(at.size()) != rows;
  auto* const data = static_cast<T*>(x.data_ptr());
  tensors::parallel(batch * rows, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t const b = row / rows, t = row % rows, angle = (each_example ? row : t) * half;
      T* const here = data + b * x.stride(0) + t * x.stride(1);
      for (std::int64_t h = 0; h < by.heads; ++h)
        rotate_head(here + h * by.head_dim, table.cosines.data() + angle, table.sines.data() + angle,
                    static_cast<sum>(sign), half, by.angles.pairs);
    }
  });
}

inline void rotate_in_place(at::Tensor const& x, rotation const& by, at::Tensor const& positions,
                            at::Tensor const& lengths, double sign) {
  switch (x.scalar_type()) {
    case at::kDouble: return rotate_in_place_as<double>(x, by, positions, lengths, sign);
    case at::kFloat: return rotate_in_place_as<float>(x, by, positions, lengths, sign);
    default: return rotate_in_place_as<at::BFloat16>(x, by, positions, lengths, sign);
  }
}

struct rotation_state : torch::CustomClassHolder {
  rotation_state(rotation const& r, double s) : by(r), sign(s) {}
  rotation by;
  double sign;
};

/// The differentiable function of rotary positions; rotates x in place. Backward rotates the
/// gradient back by the same angles, in place if no other code holds the gradient.
struct rotate_function : tensors::recorded_function<rotate_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x,
                            std::optional<at::Tensor> const& positions, std::optional<at::Tensor> const& lengths,
                            rotation const& by, double sign) {
    rotate_in_place(x, by, positions.value_or(at::Tensor()), lengths.value_or(at::Tensor()), sign);
    ctx->mark_dirty({x});
    ctx->save_for_backward({positions.value_or(at::Tensor()), lengths.value_or(at::Tensor())});
    ctx->saved_data["rotation"] = c10::IValue::make_capsule(c10::make_intrusive<rotation_state>(by, sign));
    return x;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradients) {
    auto const saved = ctx->get_saved_variables();
    at::Tensor const &positions = saved[0], &lengths = saved[1];
    auto const& state = static_cast<rotation_state const&>(*ctx->saved_data.at("rotation").toCapsule());
    at::Tensor const& gradient = gradients[0];
    if (at::GradMode::is_enabled())
      return {rotate_function::apply(gradient.clone(), std::optional(positions), std::optional(lengths), state.by,
                                     -state.sign),
              {},
              {},
              {},
              {}};
    bool const ours = gradient.use_count() == 1 && gradient.is_contiguous();
    at::Tensor const result = ours ? gradient : gradient.clone(at::MemoryFormat::Contiguous);
    rotate_in_place(result, state.by, positions, lengths, -state.sign);
    return {result, {}, {}, {}, {}};
  }
};

inline at::Tensor rotate(at::Tensor const& x, rotation const& by, at::Tensor const& positions,
                         at::Tensor const& lengths) {
  return rotate_function::apply(x, std::optional(positions), std::optional(lengths), by, 1.0);
}

}  // namespace redco::kernel::cpu
