#include "nn/sharded.hpp"

#include <redco/model/model.hpp>
#include <redco/layer/attention_traits.hpp>

#include <cmath>
#include <string>
#include <vector>

// Compares attention layers on several widths, and encoder-decoders, with plain operators.

namespace attention_modules_test {

using namespace redco;
using sharded::check_module;
using sharded::tensor_map;

inline at::Tensor project(tensor_map const& p, std::string const& name, at::Tensor const& x, bool biased = true) {
  return at::linear(x, p.at(name + ".weight"), biased ? p.at(name + ".bias") : at::Tensor());
}

struct shape_of_attention {
  std::int64_t heads = 6, kv_heads = 6;
  bool causal = false, biased = true, normed = false;
  at::Tensor mask = {};
};

inline at::Tensor plain_attention(tensor_map const& p, std::string const& at, at::Tensor const& x,
                                  at::Tensor const& from, shape_of_attention const& s) {
  auto const by_head = [](at::Tensor const& y, std::int64_t heads) {
    return y.unflatten(2, {heads, -1}).transpose(1, 2);
  };
  auto const norm = [&](at::Tensor const& y, char const* name) {
    return s.normed ? y * (y * y).mean(-1, true).add(0.1).rsqrt() * p.at(at + name) : y;
  };
  at::Tensor const q = norm(by_head(project(p, at + "q", x, s.biased), s.heads), "q_norm.weight");
  at::Tensor const k = norm(by_head(project(p, at + "k", from, s.biased), s.kv_heads), "k_norm.weight")
                           .repeat_interleave(s.heads / s.kv_heads, 1);
  at::Tensor const v =
      by_head(project(p, at + "v", from, s.biased), s.kv_heads).repeat_interleave(s.heads / s.kv_heads, 1);
  at::Tensor scores = at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
  if (s.causal) scores = scores.masked_fill(at::ones_like(scores, at::kBool).tril().logical_not(), -1e300);
  if (s.mask.defined()) scores = scores.masked_fill(s.mask.logical_not().unsqueeze(1).unsqueeze(1), -1e300);
  return project(p, at + "o", at::matmul(scores.softmax(-1), v).transpose(1, 2).flatten(2), s.biased);
}

inline at::Tensor layer_normed(tensor_map const& p, std::string const& name, at::Tensor const& x) {
  return at::layer_norm(x, {x.size(-1)}, p.at(name + ".weight"), p.at(name + ".bias"), 1e-5);
}

inline at::Tensor sequence_x() { return sharded::values_of("x", std::vector<std::int64_t>{2, 5, 12}) * 2; }

inline at::Tensor source_ids() { return at::tensor({8, 0, 3, 5, 1, 2, 4, 8}, at::kLong).view({2, 4}); }
inline at::Tensor target_ids() { return at::tensor({6, 1, 0, 2, 2, 5}, at::kLong).view({2, 3}); }
inline at::Tensor source_mask() { return at::tensor({1, 1, 1, 1, 1, 1, 0, 0}, at::kLong).view({2, 4}).to(at::kBool); }

using encoder =
    sequential<named<"wte", embedding<9, 12>>,
               named<"h", repeat<2, residual<sequential<named<"n", layer_norm<12>>, full_attention<12, 6>>>>>>;
using decoder_block = sequential<
    residual<sequential<named<"n", layer_norm<12>>, named<"self", causal_attention<12, 6, key_value_heads<2>>>>>,
    residual<sequential<named<"m", layer_norm<12>>, named<"cross", redco::cross_attention<12, 6>>>>>;
using translator =
    redco::layers::encoder_decoder<encoder,
                                   sequential<named<"wte", embedding<7, 12>>, named<"h", repeat<2, decoder_block>>,
                                              named<"head", redco::layers::replicated_linear<12, 7>>>>;

inline at::Tensor plain_translator(tensor_map const& p, at::Tensor const& target) {
  at::Tensor states = at::embedding(p.at("encoder.wte.weight"), source_ids());
  for (std::string const at : {"encoder.h.0.", "encoder.h.1."}) {
    at::Tensor const y = layer_normed(p, at + "n", states);
    states = states + plain_attention(p, at, y, y, {.mask = source_mask()});
  }
  at::Tensor x = at::embedding(p.at("decoder.wte.weight"), target);
  for (std::string const at : {"decoder.h.0.", "decoder.h.1."}) {
    at::Tensor const y = layer_normed(p, at + "n", x);
    x = x + plain_attention(p, at + "self.", y, y, {.kv_heads = 2, .causal = true});
    x = x + plain_attention(p, at + "cross.", layer_normed(p, at + "m", x), states, {.mask = source_mask()});
  }
  return project(p, "decoder.head", x);
}

TEST_CASE("attention is cut by whole heads") {
  static_assert(
      std::is_same_v<redco::layers::out_t<causal_attention<12, 6>, redco::shape::replicated>, redco::shape::partial>);
  check_module<causal_attention<12, 6>>(sequence_x(), [](tensor_map const& p, at::Tensor const& x) {
    return plain_attention(p, "", x, x, {.causal = true});
  });
  check_module<full_attention<12, 6, redco::layers::head_dim<3>, redco::layers::biased<false>>>(
      sequence_x(),
      [](tensor_map const& p, at::Tensor const& x) { return plain_attention(p, "", x, x, {.biased = false}); });
}

TEST_CASE("a key mask hides keys on every rank") {
  at::Tensor const mask = at::tensor({1, 1, 1, 1, 0, 1, 0, 1, 1, 1}, at::kLong).view({2, 5}).to(at::kBool);
  check_module<full_attention<12, 6>>(
      sequence_x(),
      [&](tensor_map const& p, at::Tensor const& x) { return plain_attention(p, "", x, x, {.mask = mask}); }, {1, 2},
      [&](auto const& net, at::Tensor const& x) { return net.with(key_mask{mask.logical_not()})(x, key_mask{mask}); });
}

TEST_CASE("key-value heads are grouped, and shared by neighbouring ranks if there are fewer heads than ranks") {
  check_module<causal_attention<12, 6, key_value_heads<2>>>(sequence_x(),
                                                            [](tensor_map const& p, at::Tensor const& x) {
                                                              return plain_attention(p, "", x, x,
                                                                                     {.kv_heads = 2, .causal = true});
                                                            },
                                                            {1, 2, 6});
  check_module<full_attention<12, 6, key_value_heads<1>>>(
      sequence_x(),
      [](tensor_map const& p, at::Tensor const& x) { return plain_attention(p, "", x, x, {.kv_heads = 1}); },
      {1, 2, 3, 6});
}

TEST_CASE("queries and keys are normed in each head, by weights that all heads share") {
  check_module<
      causal_attention<12, 6, key_value_heads<2>, redco::layers::query_key_norm<true, redco::layers::real{0.1}>>>(
      sequence_x(),
      [](tensor_map const& p, at::Tensor const& x) {
        return plain_attention(p, "", x, x, {.kv_heads = 2, .causal = true, .normed = true});
      },
      {1, 2, 6});
}

TEST_CASE("attention dropout draws by head and position: every width drops the same") {
  using net = causal_attention<12, 6, redco::layers::attention_dropout<redco::layers::real{0.3}>, key_value_heads<2>>;
  auto const one = sharded::on_width(sharded::maker_of<net>(), 1, sequence_x(), {.training = true});
  auto const off = sharded::on_width(sharded::maker_of<net>(), 1, sequence_x());
  CHECK(sharded::distance(one.y, off.y) > 1e-3);
  sharded::check_equal(sharded::on_width(sharded::maker_of<net>(), 2, sequence_x(), {.training = true}), one);
}

TEST_CASE("attention, a feed-forward pair and replicated layers are parallel branches of one norm") {
  using pair = named<"mlp", sequential<named<"up", linear<12, 18>>, relu, named<"down", linear<18, 12>>>>;
  using branches =
      sum<named<"whole", redco::layers::replicated_linear<12, 12>>, named<"attn", causal_attention<12, 6>>, pair>;
  using net = named<"h", repeat<2, residual<sequential<named<"n", layer_norm<12>>, branches>>>>;
  sharded::dense_function const expected = [](tensor_map const& p, at::Tensor x) {
    for (std::string const at : {"h.0.", "h.1."}) {
      at::Tensor const y = layer_normed(p, at + "n", x);
      x = x + project(p, at + "whole", y) + plain_attention(p, at + "attn.", y, y, {.causal = true}) +
          project(p, at + "mlp.down", at::relu(project(p, at + "mlp.up", y)));
    }
    return x;
  };
  using model = model_of<net, input<5, 12>>;
  check_module<model>(sequence_x(), expected);
  check_module<model>(sequence_x(), expected, {1, 2, 3}, sharded::call{}, {.recompute = true});
}

TEST_CASE("a decoder reads its encoder through the context") {
  auto const use = [](auto const& net, at::Tensor const& x) {
    return net(x, encoder_input{source_ids()}, encoder_mask{source_mask()});
  };
  check_module<translator>(target_ids(), plain_translator, {1, 2}, use);
  check_module<translator>(target_ids(), plain_translator, {1, 2}, use, {.recompute = true});
}

}  // namespace attention_modules_test
