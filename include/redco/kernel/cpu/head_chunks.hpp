#pragma once

#include <redco/kernel/cpu/product.hpp>
#include <redco/kernel/cpu/vocabulary_rows.hpp>
#include <redco/kernel/vocabulary_shard.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::kernel::cpu {

/// Computes target [n, d] = a^T b, or adds the product to `target` if `add`. `target` is f32, or
/// f64 for f64 operands.
template <class T>
void outer(at::Tensor const& target, at::Tensor const& a, at::Tensor const& b, bool add) {
  using sum = sum_of<T>;
  gemm(a.size(1), b.size(1), a.size(0), sum(1), matrix<T>{a.const_data_ptr<T>(), row_step(a), true},
       matrix<T>{b.const_data_ptr<T>(), row_step(b)}, sum(add ? 1 : 0), target.mutable_data_ptr<sum>(), target.size(1));
}

/// Returns the stride in elements between rows of `columns` logits. Large rows are padded to a
/// multiple of 16 elements, because products are a third slower if many rows begin at odd
/// addresses.
inline std::int64_t logits_stride(std::int64_t columns) { return columns < 4096 ? columns : (columns + 15) / 16 * 16; }

/// The rows of a head's input [N, d], in chunks. If at least half of the labels are ignored, as of
/// prompts with short answers, no logits are computed for these rows, and the others are copied.
/// Messages between ranks have the sizes of all rows, which do not depend on the labels.
template <class T>
class head_chunks {
 public:
  using sum = sum_of<T>;

  /// Some of the rows, with their logits on this rank.
  struct chunk {
    std::int64_t begin;   ///< number of rows in the chunks before
    at::Tensor index;     ///< index of each row in the input; undefined if no row is left out
    at::Tensor hidden;    ///< input of the head, [rows, d]
    at::Tensor logits;    ///< logits [rows, columns], in memory that the next chunk overwrites
    logit_chunk<T> rows;  ///< view of `logits`, with memory for statistics
  };

  /// All tensors must be contiguous. A chunk has at most `most` rows.
  head_chunks(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
              label_targets const& targets, std::int64_t most)
      : hidden_(hidden), head_(head), labels_(labels), targets_(targets), all_(labels.size(0)) {
    auto const* const first = labels.const_data_ptr<std::int64_t>();
    std::int64_t const ignored = std::count(first, first + labels.size(0), targets.ignored);
    if (2 * ignored >= all_ && ignored > 0) {
      index_ = labels.ne(targets.ignored).nonzero().squeeze(1);
      labels_ = labels.index_select(0, index_);
    }
    std::int64_t const columns = head.weight.size(0);
    most_ = std::clamp<std::int64_t>(most, 1, std::max<std::int64_t>(all_, 1));
    std::int64_t const largest = std::clamp<std::int64_t>(rows(), 1, most_);
    workspace_ = at::empty({largest, logits_stride(columns)}, hidden.options()).narrow(1, 0, columns);
    statistics_ = at::zeros({3 * most_}, hidden.options().dtype(c10::CppTypeToScalarType<sum>::value));
  }

  /// Returns the number of rows that are not left out.
  std::int64_t rows() const { return labels_.size(0); }

  /// Returns the index in the head's input of the row with number `row` among those that are not
  /// left out.
  std::int64_t index(std::int64_t row) const {
    return index_.defined() ? index_.const_data_ptr<std::int64_t>()[row] : row;
  }

  /// Computes the logits of each chunk and calls f(chunk).
  template <class F>
  void each(F const& f) const {
    for (std::int64_t begin = 0; begin < rows(); begin += most_) {
      std::int64_t const count = std::min(most_, rows() - begin);
      sum* const statistics = statistics_.template mutable_data_ptr<sum>();
      at::Tensor logits = workspace_.narrow(0, 0, count), index;
      if (index_.defined()) index = index_.narrow(0, begin, count);
      at::Tensor const hidden = index.defined() ? hidden_.index_select(0, index) : hidden_.narrow(0, begin, count);
      product(logits, hidden, head_.weight.t(), head_.bias);
      chunk const one{begin,
                      index,
                      hidden,
                      logits,
                      {.logits = logits.template mutable_data_ptr<T>(),
                       .rows = count,
                       .columns = workspace_.size(1),
                       .stride = workspace_.stride(0),
                       .valid = head_.valid(),
                       .labels = labels_.template const_data_ptr<std::int64_t>() + begin,
                       .first = head_.first,
                       .targets = typed_targets<sum>(targets_),
                       .soft_cap = static_cast<sum>(head_.soft_cap),
                       .top = statistics,
                       .stats = statistics + sent_of(begin)}};
      f(one);
    }
  }

  /// Applies the soft cap to the chunk's logits, and computes the maximum and the sums of each row
  /// over the columns of all ranks.
  void count_exponentials(chunk const& one, comm::group& ranks) const {
    over_rows<top_of_rows>(one.rows);
    reduce_tops(one.begin, ranks);
    over_rows<sums_of_rows>(one.rows);
    reduce_sums(one.begin, ranks);
  }

  /// Sends the messages of chunks that only rows left out would fill.
  void send_rest(comm::group& ranks) const {
    for (std::int64_t begin = (rows() + most_ - 1) / most_ * most_; begin < all_; begin += most_) {
      reduce_tops(begin, ranks);
      reduce_sums(begin, ranks);
    }
  }

  /// Returns memory for the gradient of the head's input, [N, d]: zeros if rows are left out.
  at::Tensor empty_gradient() const { return index_.defined() ? at::zeros_like(hidden_) : at::empty_like(hidden_); }

  /// Writes the chunk's rows of the gradient of the head's input: `logits`, which must hold the
  /// gradient of the logits, times the head's weight.
  void write_gradient(at::Tensor const& gradient, chunk const& one) const {
    at::Tensor part = one.index.defined() ? at::empty_like(one.hidden) : gradient.narrow(0, one.begin, one.rows.rows);
    product(part, one.logits, head_.weight);
    if (one.index.defined()) gradient.index_copy_(0, one.index, part);
  }

 private:
  /// Returns the number of rows in the messages of the chunk that begins at row `begin`.
  std::int64_t sent_of(std::int64_t begin) const { return std::min(most_, all_ - begin); }
  void reduce_tops(std::int64_t begin, comm::group& ranks) const {
    ranks.all_reduce(statistics_.narrow(0, 0, sent_of(begin)), comm::reduce_op::max);
  }
  void reduce_sums(std::int64_t begin, comm::group& ranks) const {
    std::int64_t const sent = sent_of(begin);
    ranks.all_reduce(statistics_.narrow(0, sent, 2 * sent), comm::reduce_op::sum);
  }

  at::Tensor hidden_;
  vocabulary_shard head_;
  at::Tensor labels_, index_;
  label_targets targets_;
  std::int64_t all_, most_ = 1;
  at::Tensor workspace_, statistics_;
};

}  // namespace redco::kernel::cpu
