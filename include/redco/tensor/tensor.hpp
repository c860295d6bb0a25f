#pragma once

#include <redco/tensor/torch.hpp>

#include <redco/shape/layout.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace redco {

/// One rank's part of an activation whose layout over the tensor-parallel group is `Layout`, known to the compiler.
///
/// A `replicated` tensor is an ordinary at::Tensor and converts both ways by itself; every other layout is named when
/// it is made (`tensor<partial>{x}`) and opened with `local()`, so that a partial sum is never used as a value by
/// mistake.
template <layout Layout>
class tensor {
 public:
  tensor() = default;
  explicit tensor(at::Tensor local) : local_(std::move(local)) {}

  /// This rank's part.
  at::Tensor const& local() const { return local_; }

  /// `other` in this tensor's layout.
  tensor like(at::Tensor other) const { return tensor(std::move(other)); }

 private:
  at::Tensor local_;
};

/// A run of tokens of every example, [B, tokens / ranks rounded up, features]. Where the tokens do not divide, the last
/// runs are padded, and `tokens` says how many there are.
template <>
class tensor<token_split> {
 public:
  tensor() = default;
  tensor(at::Tensor local, std::int64_t tokens) : local_(std::move(local)), tokens_(tokens) {}

  at::Tensor const& local() const { return local_; }
  /// Of an example, over all ranks.
  std::int64_t tokens() const { return tokens_; }

  tensor like(at::Tensor other) const { return tensor(std::move(other), tokens_); }

 private:
  at::Tensor local_;
  std::int64_t tokens_ = 0;
};

template <>
class tensor<replicated> {
 public:
  tensor() = default;
  tensor(at::Tensor value) : value_(std::move(value)) {}

  at::Tensor const& local() const { return value_; }
  operator at::Tensor const&() const { return value_; }

  tensor like(at::Tensor other) const { return tensor(std::move(other)); }

 private:
  at::Tensor value_;
};

/// A pending sum over the ranks. Its addends (biases of row-parallel layers, replicated branches) are equal on all
/// ranks and are added once, after the reduction.
template <>
class tensor<partial> {
 public:
  tensor() = default;
  explicit tensor(at::Tensor local, std::vector<at::Tensor> addends = {})
      : local_(std::move(local)), addends_(std::move(addends)) {}

  at::Tensor const& local() const { return local_; }
  std::vector<at::Tensor> const& addends() const { return addends_; }

  /// Returns this sum with another addend, a replicated value.
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
