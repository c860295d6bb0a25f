#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/shape/layout.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco {

/// One rank's part of an activation. The template argument `Layout` says how the activation is
/// distributed over the tensor-parallel ranks.
///
/// A `replicated` tensor converts to and from at::Tensor implicitly. Other layouts are constructed
/// explicitly (`tensor<partial>{x}`) and read through `local()`. A pending sum is therefore never
/// used as a value by mistake.
template <shape::layout Layout>
class tensor {
 public:
  tensor() = default;
  explicit tensor(at::Tensor local) : local_(std::move(local)) {}

  /// Returns this rank's part of the activation.
  at::Tensor const& local() const { return local_; }

  /// Returns `other`, this rank's part of another activation, as a tensor with the layout of this
  /// one.
  tensor like(at::Tensor other) const { return tensor(std::move(other)); }

 private:
  at::Tensor local_;
};

/// An activation of which each rank holds a contiguous range of the tokens of every example. The
/// local shape is [B, ceil(tokens / ranks), features]. If the division leaves a remainder, the last
/// ranges are padded. `tokens()` returns the number of tokens without padding.
template <>
class tensor<shape::token_split> {
 public:
  tensor() = default;
  tensor(at::Tensor local, std::int64_t tokens) : local_(std::move(local)), tokens_(tokens) {}

  at::Tensor const& local() const { return local_; }
  /// Returns the number of tokens of one example over all ranks, without padding.
  std::int64_t tokens() const { return tokens_; }

  tensor like(at::Tensor other) const { return tensor(std::move(other), tokens_); }

 private:
  at::Tensor local_;
  std::int64_t tokens_ = 0;
};

template <>
class tensor<shape::replicated> {
 public:
  tensor() = default;
  tensor(at::Tensor value) : value_(std::move(value)) {}

  at::Tensor const& local() const { return value_; }
  operator at::Tensor const&() const { return value_; }

  tensor like(at::Tensor other) const { return tensor(std::move(other)); }

 private:
  at::Tensor value_;
};

/// An activation whose value is a pending sum over the ranks. It carries addends (biases of
/// row-parallel layers, replicated branches), which are equal on all ranks and added once, after
/// the sum.
template <>
class tensor<shape::partial> {
 public:
  tensor() = default;
  explicit tensor(at::Tensor local, std::vector<at::Tensor> addends = {})
      : local_(std::move(local)), addends_(std::move(addends)) {}

  at::Tensor const& local() const { return local_; }
  std::vector<at::Tensor> const& addends() const { return addends_; }

  /// Returns a copy of this pending sum with one more addend, a replicated value.
  tensor with_addend(at::Tensor const& x) const {
    tensor more = *this;
    more.addends_.push_back(x);
    return more;
  }

 private:
  at::Tensor local_;
  std::vector<at::Tensor> addends_;
};

}  // namespace redco

namespace redco::tensors::detail {

template <class A, class B>
inline constexpr bool one_is_pending = (std::is_same_v<A, shape::partial> && std::is_same_v<B, shape::replicated>) ||
                                       (std::is_same_v<A, shape::replicated> && std::is_same_v<B, shape::partial>);

/// Layout of the sum of two tensors with the layouts A and B. Equal layouts give the common layout.
/// A replicated tensor plus a partial tensor (a pending sum over ranks) is partial.
template <class A, class B>
using added_t = std::conditional_t<std::is_same_v<A, B>, A, shape::partial>;

inline tensor<shape::partial> add_pending(tensor<shape::partial> const& a, tensor<shape::partial> const& b) {
  std::vector<at::Tensor> addends = a.addends();
  addends.insert(addends.end(), b.addends().begin(), b.addends().end());
  return tensor<shape::partial>(a.local() + b.local(), std::move(addends));
}
inline tensor<shape::partial> add_pending(tensor<shape::partial> const& a, tensor<shape::replicated> const& b) {
  std::vector<at::Tensor> addends = a.addends();
  addends.push_back(b.local());
  return tensor<shape::partial>(a.local(), std::move(addends));
}
inline tensor<shape::partial> add_pending(tensor<shape::replicated> const& a, tensor<shape::partial> const& b) {
  return add_pending(b, a);
}

/// Checks that two activations can be combined element by element. Throws `error` with exit code 70
/// (`exit_code::internal`) if both are split over tokens and their token counts differ.
template <shape::layout A>
void check_tokens(tensor<A> const&, tensor<A> const&) {}
inline void check_tokens(tensor<shape::token_split> const& a, tensor<shape::token_split> const& b) {
  if (a.tokens() != b.tokens())
    throw error(exit_code::internal, "split activations of " + std::to_string(a.tokens()) + " and " +
                                         std::to_string(b.tokens()) +
                                         " tokens are combined; gather one of them, or make both of one input");
}

}  // namespace redco::tensors::detail

namespace redco {

/// Returns the elementwise sum of two activations of equal layout. A replicated tensor added to a
/// partial tensor (a pending sum over ranks) becomes an addend of the partial tensor.
///
/// Any other mix of layouts does not compile (redco[S008]). Throws `error` with exit code 70 if two
/// token splits have different token counts.
template <shape::layout A, shape::layout B>
tensor<tensors::detail::added_t<A, B>> operator+(tensor<A> const& a, tensor<B> const& b) {
  constexpr bool legal = std::is_same_v<A, B> || tensors::detail::one_is_pending<A, B>;
  static_assert(legal, "redco[S008]: two layouts are mixed; convert one of them with enter, reduce or gather first");
  if constexpr (!legal) {
    return {};
  } else if constexpr (std::is_same_v<tensors::detail::added_t<A, B>, shape::partial>) {
    return tensors::detail::add_pending(a, b);
  } else {
    tensors::detail::check_tokens(a, b);
    return a.like(a.local() + b.local());
  }
}

/// Returns the elementwise product of two activations of equal layout. A partial tensor (a pending
/// sum over ranks) cannot be multiplied by another tensor.
///
/// A partial operand does not compile (redco[S005]), nor do two different layouts (redco[S008]).
/// Throws `error` with exit code 70 if two token splits have different token counts.
template <shape::layout A, shape::layout B>
tensor<A> operator*(tensor<A> const& a, tensor<B> const& b) {
  constexpr bool pending = std::is_same_v<A, shape::partial> || std::is_same_v<B, shape::partial>;
  static_assert(!pending, "redco[S005]: a partial value is used as replicated; reduce it before this layer");
  static_assert(pending || std::is_same_v<A, B>,
                "redco[S008]: two layouts are mixed; convert one of them with enter, reduce or gather first");
  if constexpr (pending || !std::is_same_v<A, B>) {
    return {};
  } else {
    tensors::detail::check_tokens(a, b);
    return a.like(a.local() * b.local());
  }
}

/// Returns an activation of any layout multiplied by a number. The addends of a partial tensor are
/// multiplied too.
template <shape::layout A>
tensor<A> operator*(tensor<A> const& a, double factor) {
  if constexpr (std::is_same_v<A, shape::partial>) {
    std::vector<at::Tensor> addends;
    for (at::Tensor const& addend : a.addends()) addends.push_back(addend * factor);
    return tensor<shape::partial>(a.local() * factor, std::move(addends));
  } else {
    return a.like(a.local() * factor);
  }
}

/// Returns the elementwise difference a - b, with the layout rules and errors of operator+.
template <shape::layout A, shape::layout B>
tensor<tensors::detail::added_t<A, B>> operator-(tensor<A> const& a, tensor<B> const& b) {
  return a + b * -1.0;
}

}  // namespace redco
