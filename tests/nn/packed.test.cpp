#include "nn/observation.hpp"
#include "nn/sharded.hpp"

#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/sequence_parallel.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Compares rows of several documents with the documents alone: logits, the loss, and derivatives of
// first and second order.

namespace packed_test {

using redco::text::packed_row;

struct small_gpt2 : redco::gpt2 {
  constexpr small_gpt2() : redco::gpt2{{.vocab = 23, .context = 40, .width = 12, .heads = 2, .layers = 2}} {}
};
struct small_llama : redco::llama {
  static inline redco::layers::rotary_scaling frequencies = {};
  small_llama()
      : redco::llama{{.vocab = 23,
                      .context = 40,
                      .width = 16,
                      .ffn = 12,
                      .heads = 4,
                      .kv_heads = 2,
                      .layers = 2,
                      .scaling = frequencies}} {}
};
template <class Model>
struct split_tokens : redco::models::sequence_parallel<Model> {
  split_tokens() : redco::models::sequence_parallel<Model>{Model().config} {}
};

// Three documents in the first row. The second row has two documents and padding.
std::vector<redco::tokenizer::marked_ids> documents() {
  std::vector<redco::tokenizer::marked_ids> all;
  std::int64_t id = 5;
  for (std::size_t const length : {17u, 2u, 18u, 20u, 7u}) {
    auto& one = all.emplace_back();
    for (std::size_t t = 0; t < length; ++t) {
      one.ids.push_back(id = (id * 7 + 3) % 23);
      one.trained.push_back(t % 3 != 1);
    }
  }
  return all;
}

/// Returns a batch of the documents: several in a row, or one in each row, with padding.
redco::token_batch batch_of(bool packs) {
  return redco::token_batch_of(redco::text::packed(documents(), packs ? 36 : 0), 0);
}

/// Returns the logits of all tokens of documents except the last tokens, and the loss, from one
/// call on all rows.
struct batch_call {
  bool packs;

  template <class Net>
  at::Tensor operator()(Net const& net, at::Tensor const&) const {
    redco::token_batch const b = batch_of(packs);
    auto const found = net(b.input_ids, redco::nn::documents{b.documents});
    at::Tensor const read = b.documents.ge(0).flatten().nonzero().squeeze(1);
    return at::cat({found.tensor().flatten(0, 1).index_select(0, read).flatten(),
                    redco::cross_entropy(found, b.labels).sum.reshape({1})});
  }
};

/// Returns the same from one call per document.
struct alone_call {
  template <class Net>
  at::Tensor operator()(Net const& net, at::Tensor const&) const {
    std::vector<at::Tensor> all;
    at::Tensor loss = at::zeros({1}, at::kDouble);
    for (redco::tokenizer::marked_ids const& one : documents()) {
      redco::token_batch const b = redco::token_batch_of(std::span(&one, 1), 0);
      auto const found = net(b.input_ids, redco::nn::documents{});
      all.push_back(found.tensor().flatten());
      loss = loss + redco::cross_entropy(found, b.labels).sum;
    }
    all.push_back(loss);
    return at::cat(all);
  }
};

template <class Model>
void check_batches() {
  at::Tensor const none = at::zeros({2, 1}, at::kLong);
  auto const expected = sharded::on_width(sharded::maker_of<Model>(alone_call{}), 1, none);
  for (bool const packs : {false, true})
    for (int const width : {1, 2})
      for (bool const recompute : {false, true}) {
        INFO("packs " << packs << " width " << width << " recompute " << recompute);
        sharded::settings const how{.recompute = recompute};
        sharded::check_equal(sharded::on_width(sharded::maker_of<Model>(batch_call{packs}), width, none, how),
                             expected);
        sharded::check_equal(
            sharded::on_width(sharded::maker_of<split_tokens<Model>>(batch_call{packs}), width, none, how), expected);
      }
}

TEST_CASE("packed and padded rows of documents equal the documents alone: GPT-2") { check_batches<small_gpt2>(); }

TEST_CASE("packed and padded rows of documents equal the documents alone: LLaMA with grouped heads") {
  check_batches<small_llama>();
}

TEST_CASE("packed and padded rows of documents equal the documents alone if frequencies depend on lengths") {
  using redco::layers::rotary_kind;
  for (redco::layers::rotary_scaling const& scaling :
       {redco::layers::rotary_scaling{.kind = rotary_kind::dynamic, .factor = 3, .context = 8},
        redco::layers::rotary_scaling{
            .kind = rotary_kind::longrope, .context = 16, .divisors = {{1, 1.5}, 2}, .long_divisors = {{2, 9}, 2}}}) {
    small_llama::frequencies = scaling;
    check_batches<small_llama>();
  }
  small_llama::frequencies = {};
}

/// Returns the log-probability of each document, from one call on evenly packed rows.
struct packed_probabilities {
  template <class Net>
  at::Tensor operator()(Net const& net, at::Tensor const&) const {
    auto const rows = redco::text::packed_evenly(documents(), 36);
    redco::token_batch const b = redco::token_batch_of(rows, 0);
    return redco::nn::log_probabilities(net(b.input_ids, redco::nn::documents{b.documents}), b.labels,
                                        redco::text::text_numbers(rows), 5);
  }
};

/// Returns the same from one call per document.
struct alone_probabilities {
  template <class Net>
  at::Tensor operator()(Net const& net, at::Tensor const&) const {
    std::vector<at::Tensor> all;
    for (redco::tokenizer::marked_ids const& one : documents()) {
      redco::token_batch const b = redco::token_batch_of(std::span(&one, 1), 0);
      all.push_back(redco::nn::log_probabilities(net(b.input_ids, redco::nn::documents{}), b.labels).sum(1));
    }
    return at::cat(all);
  }
};

TEST_CASE("the log-probability of each text in evenly packed rows equals that of the text alone") {
  at::Tensor const none = at::zeros({2, 1}, at::kLong);
  auto const expected = sharded::on_width(sharded::maker_of<small_gpt2>(alone_probabilities{}), 1, none);
  for (int const width : {1, 2}) {
    INFO("width " << width);
    auto const found = sharded::on_width(sharded::maker_of<small_gpt2>(packed_probabilities{}), width, none);
    sharded::check_equal(found, expected);
  }
}

TEST_CASE("packed rows save and send the planned bytes") {
  for (bool const recompute : {false, true}) {
    redco::cost::setup s{.mesh = {.tp = 2}, .load = {4, 96}, .recompute = recompute};
    s.prefetch = 0;
    auto const batch = [] {
      at::Tensor const ids = at::arange(4 * 96, at::kLong).remainder(101).view({4, 96});
      at::Tensor const places = (at::arange(4 * 96, at::kLong) + 4 * 13).remainder(13).view({4, 96}).clone();
      places.select(1, 0).fill_(0);
      for (std::int64_t t = 1; t < 96; ++t) places.select(1, t).copy_((places.select(1, t - 1) + 1).remainder(13));
      return std::vector<at::Tensor>{ids, ids.flip(0), places};
    };
    auto const loss = [](auto const& net, std::vector<at::Tensor> const& b) {
      return redco::cross_entropy(net(b[0], redco::nn::documents{b[2]}), b[1]).sum;
    };
    redco::gpt2 const learned{{.vocab = 101, .context = 96, .width = 96, .heads = 6, .layers = 3}};
    redco::llama const rotated{
        {.vocab = 101, .context = 96, .width = 96, .ffn = 128, .heads = 4, .kv_heads = 2, .layers = 3}};
    for (auto const& all :
         {saved_test::observe(learned, s, batch, loss), saved_test::observe(rotated, s, batch, loss)}) {
      saved_test::check_saved_and_sent(all);
      saved_test::check_peak(all);
    }
  }
}

TEST_CASE("documents that do not count from 0 are refused, and layers that would mix them") {
  auto const refusal = [](auto const& call) -> std::string {
    try {
      call();
    } catch (redco::error const& e) {
      return std::to_string(static_cast<int>(e.code())) + " " + e.what();
    }
    return "";
  };
  auto const run = [&](sharded::net_maker const& make, at::Tensor const& x) {
    return refusal([&] { sharded::on_width(make, 1, x, {.second_order = false}); });
  };
  auto const with = [](std::vector<std::int64_t> positions) {
    return [places = at::tensor(positions).view({1, -1})](auto const& net, at::Tensor const& x) {
      return net(x, redco::nn::documents{places});
    };
  };
  using causal = redco::causal_attention<12, 6>;
  at::Tensor const x = sharded::values_of("x", std::vector<std::int64_t>{1, 5, 12});
  CHECK(run(sharded::maker_of<causal>(with({0, 1, 0, 1, 2})), x) == "");
  CHECK(
      run(sharded::maker_of<causal>(with({0, 1, 0, 2, 3})), x) ==
      "65 rank 0: documents: token 3 of row 0 has position 2 in its document, and must have 1, or 0 at the start of a "
      "document: count the tokens of each document from 0");
  CHECK(run(sharded::maker_of<causal>(with({1, 2, 3, 4, 5})), x).starts_with("65 rank 0: documents: token 0 of row 0"));
  std::string const mixes =
      "64 rank 0: rows of several documents need causal self-attention without a cache, and this model mixes tokens in "
      "another layer: call the network without nn::documents, with one document per row";
  CHECK(run(sharded::maker_of<redco::full_attention<12, 6>>(with({0, 1, 0, 1, 2})), x) == mixes);
  CHECK(run(sharded::maker_of<redco::gru<12, 6>>(with({0, 1, 0, 1, 2})), x) == mixes);
}

}  // namespace packed_test
