#pragma once

#include <redco/tensor/torch.hpp>

#include <redco/shape/layout.hpp>

#include <cstdint>
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
