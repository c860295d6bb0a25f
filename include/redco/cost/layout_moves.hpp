#pragma once

#include <span>

namespace redco::cost {

/// A way to cut the weight of a dense layer over the tensor-parallel ranks: not at all, by outputs
/// (column-parallel), or by inputs (row-parallel). Used by moves_of(), which computes the
/// communication that such cuts cause.
enum class weight_cut : unsigned char { replicated, outputs, inputs };

/// A dense layer in the computation of moves_of(): the cut of its weight, and its number of outputs
/// per token (`width`).
struct cut_weight {
  weight_cut cut = weight_cut::replicated;
  double width = 0;
};

/// Two consecutive dense computations in moves_of(), such as first q, k and v and then o of
/// attention. All layers in `first` read one unsplit activation. The layer `second` reads their
/// combined results, which have `between` elements per token.
struct dense_pair {
  std::span<cut_weight const> first;
  double between = 0;
  cut_weight second;
};

/// The number of collectives in one forward or backward pass, and their number of elements per
/// token, as moves_of() counts them. In a ring of n ranks, each rank sends `numbers` * (n - 1) / n
/// elements per token.
struct layout_moves {
  int calls = 0;
  double numbers = 0;

  constexpr void add(double factor, double width) {
    if (factor > 0 && width > 0) ++calls, numbers += factor * width;
  }
  constexpr layout_moves& operator+=(layout_moves const& other) {
    calls += other.calls;
    numbers += other.numbers;
    return *this;
  }
};

/// The collectives of forward and the collectives of backward, as moves_of() counts them.
struct pass_moves {
  layout_moves forward, backward;

  constexpr pass_moves& operator+=(pass_moves const& other) {
    forward += other.forward;
    backward += other.backward;
    return *this;
  }
};

}  // namespace redco::cost

namespace redco::cost::detail {

/// Distributions of an activation over the tensor-parallel ranks: complete on every rank, cut along
/// its features, or a pending sum over the ranks.
enum class spread : unsigned char { replicated, cut, pending };

constexpr spread output_of(weight_cut w) {
  return w == weight_cut::outputs ? spread::cut : w == weight_cut::inputs ? spread::pending : spread::replicated;
}
constexpr spread input_of(weight_cut w) { return w == weight_cut::inputs ? spread::cut : spread::replicated; }

/// Returns the cost of the cheapest collective that changes the distribution `from` into `to`, per
/// feature: 2 for an all-reduce, 1 for a reduce-scatter or all-gather, 0 for none.
constexpr double change(spread from, spread to) {
  if (from == to || from == spread::replicated) return 0;
  if (from == spread::pending) return to == spread::replicated ? 2 : 1;
  return 1;
}

/// Returns the distribution of the gradient of a dense layer's input, for the cut `w` of the
/// layer's weight. output_gradient_of() returns the distribution in which the layer needs the
/// gradient of its output.
constexpr spread input_gradient_of(weight_cut w) {
  return w == weight_cut::outputs ? spread::pending : w == weight_cut::inputs ? spread::cut : spread::replicated;
}
constexpr spread output_gradient_of(weight_cut w) {
  return w == weight_cut::outputs ? spread::cut : spread::replicated;
}

}  // namespace redco::cost::detail

namespace redco::cost {

/// Returns the collectives of several pairs of dense layers that read one replicated activation of
/// `width` elements per token and whose results are added. All pairs share one reduction of their
/// results in forward, and one reduction of the activation's gradients in backward.
constexpr pass_moves moves_of(std::span<dense_pair const> parallel, double width) {
  using detail::spread;
  pass_moves m;
  bool pending = false, cut = false, gradient_pending = false, gradient_cut = false;
  for (dense_pair const& pair : parallel) {
    detail::spread const wanted = detail::input_of(pair.second.cut);
    detail::spread middle = detail::spread::replicated;
    for (cut_weight const& w : pair.first)
      if (w.cut == weight_cut::outputs || (w.cut == weight_cut::inputs && wanted == detail::spread::cut))
        middle = detail::spread::cut;
    m.forward.add(detail::change(middle, wanted), pair.between);
    m.backward.add(detail::change(detail::input_gradient_of(pair.second.cut), middle), pair.between);
    for (cut_weight const& w : pair.first) {
      m.forward.add(detail::change(detail::output_of(w.cut), middle), w.width);
      m.backward.add(detail::change(middle, detail::output_gradient_of(w.cut)), w.width);
      gradient_pending = gradient_pending || w.cut == weight_cut::outputs;
      gradient_cut = gradient_cut || w.cut == weight_cut::inputs;
    }
    pending = pending || pair.second.cut == weight_cut::inputs;
    cut = cut || pair.second.cut == weight_cut::outputs;
  }
  m.forward.add(pending ? 2 : 0, width);
  m.forward.add(cut ? 1 : 0, width);
  m.backward.add(gradient_pending ? 2 : 0, width);
  m.backward.add(gradient_cut ? 1 : 0, width);
  return m;
}

/// Returns the collectives of an embedding table [vocabulary, width] that is cut along dimension
/// `dim`; -1 means replicated.
constexpr pass_moves embedding_moves(int dim, double width) {
  pass_moves m;
  m.forward.add(dim == 0 ? 2 : dim == 1 ? 1 : 0, width);
  return m;
}

/// Returns the collectives of a language head [vocabulary, width] that is cut along dimension
/// `dim`; -1 means replicated. If the head is cut by vocabulary, the loss is computed on the cut
/// logits.
constexpr pass_moves head_moves(int dim, double vocabulary, double width) {
  pass_moves m;
  m.forward.add(dim == 1 ? 1 : 0, vocabulary);
  m.backward.add(dim == 1 ? 1 : 0, vocabulary);
  m.backward.add(dim == 0 ? 2 : dim == 1 ? 1 : 0, width);
  return m;
}

}  // namespace redco::cost
