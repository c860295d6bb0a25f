#pragma once

#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/model/vit.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>

#include <cstdint>

// Models that accuracy.cpp trains. Each subject has a model, a global batch, batches of any size,
// and a loss.

/// An MLP: blocks of linear, relu, linear between an input and an output layer.
struct mlp_subject {
  struct batch {
    at::Tensor x, labels;
  };
  using block = redco::sequential<redco::linear<64, 256>, redco::relu, redco::linear<256, 64>, redco::relu>;
  using net = redco::sequential<redco::linear<40, 64>, redco::relu, redco::named<"h", redco::repeat<4, block>>,
                                redco::linear<64, 12>>;

  redco::model_of<net> model;
  redco::workload load{8192, 1};

  batch batch_of(std::int64_t rows, redco::dtype compute) const {
    return {at::ones({rows, 40}, redco::tensors::scalar_type_of(compute)), at::arange(rows).remainder(12)};
  }
  static redco::mean loss(auto const& net, batch const& b) {
    auto const logits = net(b.x).to(at::kFloat);
    return {at::cross_entropy_loss(logits, b.labels, {}, at::Reduction::Sum), static_cast<double>(b.labels.size(0))};
  }
};

/// Returns ids `[rows, length]`.
inline at::Tensor some_ids(std::int64_t rows, std::int64_t length) {
  return at::arange(rows * length).remainder(120).view({rows, length});
}

/// Batch and loss of the language models.
struct text_subject {
  using batch = redco::token_batch;
  redco::workload load{64, 64};

  batch batch_of(std::int64_t rows, redco::dtype) const {
    auto const ids = some_ids(rows, load.sequence + 1);
    return {ids.narrow(1, 0, load.sequence).contiguous(), ids.narrow(1, 1, load.sequence).contiguous()};
  }
  static auto loss(auto const& net, batch const& b) { return redco::cross_entropy(net(b.input_ids), b.labels); }
};

struct gpt2_subject : text_subject {
  redco::gpt2 model{{.vocab = 123, .context = 64, .width = 64, .heads = 4, .layers = 4, .dropout = 0.1}};
};

/// The model of gpt2_subject with sequence parallelism.
struct split_gpt2_subject : text_subject {
  redco::models::sequence_parallel<redco::gpt2> model{gpt2_subject{}.model.config};
};

/// A decoder with gated blocks, four heads over two key-value heads, and an untied head.
struct decoder_subject : text_subject {
  using attention = redco::residual<redco::sequential<
      redco::named<"norm_1", redco::rms_norm<64>>,
      redco::named<"attn", redco::causal_attention<64, 4, redco::key_value_heads<2>, redco::layers::biased<false>>>>>;
  using gated = redco::sequential<redco::gated<64, 176>, redco::linear<176, 64, false>>;
  using mlp =
      redco::residual<redco::sequential<redco::named<"norm_2", redco::rms_norm<64>>, redco::named<"mlp", gated>>>;
  using net = redco::sequential<redco::named<"embed", redco::embedding<123, 64>>,
                                redco::named<"h", redco::repeat<4, redco::sequential<attention, mlp>>>,
                                redco::named<"norm", redco::rms_norm<64>>,
                                redco::named<"head", redco::layers::language_head<123, 64>>>;

  redco::model_of<net> model;
};

struct llama_subject : text_subject {
  redco::llama model{{.vocab = 123, .context = 64, .width = 64, .ffn = 176, .heads = 4, .kv_heads = 2, .layers = 4}};
};

/// A BART whose sources are longer than its targets.
struct bart_subject {
  struct batch {
    at::Tensor source;
    redco::token_batch target;
  };

  redco::bart model{{.vocab = 123,
                     .context = 80,
                     .width = 64,
                     .ffn = 256,
                     .decoder_ffn = 192,
                     .heads = 4,
                     .decoder_heads = 4,
                     .layers = 3,
                     .decoder_layers = 2,
                     .dropout = 0.1}};
  redco::workload load{64, 48, 80};

  batch batch_of(std::int64_t rows, redco::dtype) const {
    return {some_ids(rows, load.source), {some_ids(rows, load.sequence), some_ids(rows, load.sequence)}};
  }
  static auto loss(auto const& net, batch const& b) {
    return redco::cross_entropy(net(b.target.input_ids, redco::encoder_input{b.source}), b.target.labels);
  }
};

/// A ViT that classifies images of 7 x 7 patches.
struct vit_subject {
  struct batch {
    at::Tensor pixels, labels;
  };

  redco::vit model{
      {.image = 28, .patch = 4, .width = 64, .ffn = 256, .heads = 4, .layers = 4, .classes = 12, .dropout = 0.1}};
  redco::workload load{64, 1};

  batch batch_of(std::int64_t rows, redco::dtype compute) const {
    return {at::ones({rows, 3, 28, 28}, redco::tensors::scalar_type_of(compute)), at::arange(rows).remainder(12)};
  }
  static redco::mean loss(auto const& net, batch const& b) {
    return redco::cross_entropy(net(b.pixels).to(at::kFloat), b.labels);
  }
};
