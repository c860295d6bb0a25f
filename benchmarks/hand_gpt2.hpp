#pragma once

#include <redco/kernel/activations.hpp>
#include <redco/kernel/attention.hpp>
#include <redco/kernel/cross_entropy.hpp>
#include <redco/kernel/embeddings.hpp>
#include <redco/kernel/norms.hpp>
#include <redco/update/segment.hpp>
#include <redco/update/update.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/random/normal.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

/// A GPT-2 without dropout and its training step, written by hand over the library's kernels and
/// collectives. The baseline for the overhead of trainer, pipeline, modules and plan. The mesh must
/// divide the heads and the vocabulary.
class hand_gpt2 {
 public:
  hand_gpt2(redco::models::gpt2_config const& config, redco::rank_context& rank, redco::dtype compute)
      : config_(config), rank_(rank), blocks_(static_cast<std::size_t>(config.layers)) {
    lay_out(compute);
    auto const start = redco::random::make_stream(42, 0, 0, 0);
    for (at::Tensor const& m : {masters_.narrow(0, 0, decayed_)}) {
      at::Tensor const drawn = at::empty({decayed_}, at::kFloat);
      redco::random::fill_normal(drawn.data_ptr<float>(), 0, decayed_, start, 0.0, 0.02);
      m.copy_(drawn);
    }
    for (block const& b : blocks_)
      for (at::Tensor const& scale : {b.norm_1.weight, b.norm_2.weight}) scale.detach().fill_(1);
    norm_.weight.detach().fill_(1);
    if (masters_.scalar_type() != values_.scalar_type())
      masters_.narrow(0, decayed_, size_ - decayed_).copy_(values_.narrow(0, decayed_, size_ - decayed_));
    values_.copy_(masters_);
  }

  /// Runs one update with the rows of this replica. Returns the mean loss over all replicas.
  double step(at::Tensor const& ids, at::Tensor const& labels, std::int64_t number, redco::adamw const& optimizer) {
    gradients_.zero_();
    auto const loss =
        redco::kernel::cross_entropy(redco::comm::enter(hidden(ids), rank_.tp).local().flatten(0, -2),
                                     {tokens_, {}, config_.vocab, rank_.tp_index() * tokens_.size(0)}, labels.flatten(),
                                     rank_.tp, {.chunk_rows = redco::layers::loss_chunk_rows(config_.vocab)});
    loss.sum.backward();
    at::Tensor const totals = at::empty({2}, at::kDouble);
    totals[0] = loss.sum.detach();
    totals[1] = static_cast<double>(loss.count);
    rank_.dp.all_reduce(totals);
    rank_.dp.all_reduce(gradients_);
    double const count = totals[1].item<double>();
    for (redco::update::segment& s : segments_)
      redco::update::update(optimizer, s, optimizer.lr.peak, number, 1 / count);
    return totals[0].item<double>() / count;
  }

 private:
  struct affine {
    at::Tensor weight, bias;
  };
  struct block {
    affine norm_1, qkv, out, norm_2, up, down;
  };

  void lay_out(redco::dtype compute) {
    std::int64_t const width = config_.width, shards = rank_.mesh.tp;
    struct shaped_tensor {
      at::Tensor* leaf;
      std::vector<std::int64_t> sizes;
    };
    std::vector<shaped_tensor> matrices{{&tokens_, {config_.vocab / shards, width}},
                                        {&positions_, {config_.context, width}}},
        vectors;
    auto const norm = [&](affine& a) {
      vectors.push_back({&a.weight, {width}});
      vectors.push_back({&a.bias, {width}});
    };
    auto const linear = [&](affine& a, std::int64_t rows, std::int64_t columns) {
      matrices.push_back({&a.weight, {rows, columns}});
      vectors.push_back({&a.bias, {rows}});
    };
    for (block& b : blocks_) {
      norm(b.norm_1);
      linear(b.qkv, 3 * width / shards, width);
      linear(b.out, width, width / shards);
      norm(b.norm_2);
      linear(b.up, 4 * width / shards, width);
      linear(b.down, width, 4 * width / shards);
    }
    norm(norm_);
    for (auto const* const group : {&matrices, &vectors}) {
      for (shaped_tensor const& p : *group) size_ += c10::multiply_integers(p.sizes);
      if (group == &matrices) decayed_ = size_;
    }
    auto const type = redco::tensors::scalar_type_of(compute);
    values_ = at::zeros({size_}, type);
    gradients_ = at::zeros({size_}, type);
    masters_ = compute == redco::dtype::bf16 ? at::zeros({size_}, at::kFloat) : values_;
    std::int64_t offset = 0;
    for (auto const* const group : {&matrices, &vectors})
      for (shaped_tensor const& p : *group) {
        std::int64_t const n = c10::multiply_integers(p.sizes);
        *p.leaf = values_.narrow(0, offset, n).view(p.sizes).detach().requires_grad_();
        p.leaf->mutable_grad() = gradients_.narrow(0, offset, n).view(p.sizes);
        offset += n;
      }
    for (auto const& [begin, end, decay] :
         {std::tuple(std::int64_t{0}, decayed_, true), std::tuple(decayed_, size_, false)})
      segments_.push_back(redco::update::make_segment(
          redco::adamw{}, masters_.narrow(0, begin, end - begin), gradients_.narrow(0, begin, end - begin), decay,
          masters_.is_same(values_) ? at::Tensor() : values_.narrow(0, begin, end - begin)));
  }

  /// Returns x plus the output of a row-parallel layer for `input`.
  at::Tensor with_branch(at::Tensor const& x, at::Tensor const& input, affine const& a) const {
    if (rank_.tp.size() == 1) return x + at::linear(input, a.weight, a.bias);
    redco::tensor<redco::shape::partial> const product(at::linear(input, a.weight), {a.bias});
    return x + redco::comm::reduce(product, rank_.tp).local();
  }

  at::Tensor normed(at::Tensor const& x, affine const& a) const {
    return redco::kernel::layer_norm(x, a.weight, a.bias, 1e-5);
  }

  at::Tensor entered(at::Tensor const& x) const { return redco::comm::enter(x, rank_.tp).local(); }

  at::Tensor hidden(at::Tensor const& ids) const {
    at::Tensor const rows = redco::kernel::lookup(tokens_, ids, rank_.tp_index() * tokens_.size(0), config_.vocab);
    redco::tensor<redco::shape::partial> const embedded(rows, {positions_.narrow(0, 0, ids.size(1))});
    at::Tensor x = redco::comm::reduce(embedded, rank_.tp).local();
    redco::kernel::attention_options attention;
    attention.heads = attention.kv_heads = config_.heads / rank_.tp.size();
    attention.causal = true;
    for (block const& b : blocks_) {
      at::Tensor const qkv = at::linear(entered(normed(x, b.norm_1)), b.qkv.weight, b.qkv.bias);
      x = with_branch(x, redco::kernel::self_attention(qkv, attention), b.out);
      at::Tensor const up = at::linear(entered(normed(x, b.norm_2)), b.up.weight, b.up.bias);
      x = with_branch(x, redco::kernel::gelu(up), b.down);
    }
    return normed(x, norm_);
  }

  redco::models::gpt2_config config_;
  redco::rank_context& rank_;
  std::int64_t size_ = 0, decayed_ = 0;
  at::Tensor values_, masters_, gradients_, tokens_, positions_;
  std::vector<block> blocks_;
  affine norm_;
  std::vector<redco::update::segment> segments_;
};
