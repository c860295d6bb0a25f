#include "nn/observation.hpp"
#include "nn/sharded.hpp"

#include <redco/nn/convolutions.hpp>
#include <redco/nn/norms.hpp>
#include <redco/model/model.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

// Compares layers of images with compositions of plain operators: values, first and second
// derivatives, on one to three shards. A diffusion transformer is also compared with its facts.

namespace image_test {

using namespace redco;
using sharded::check_module;
using sharded::tensor_map;

at::Tensor images(std::vector<std::int64_t> const& sizes) { return sharded::values_of("images", sizes); }

TEST_CASE("average pooling takes means of windows and leaves the edge out") {
  check_module<model_of<average_pool<2>, input<2, 5, 7>>>(
      images({3, 2, 5, 7}), [](tensor_map const&, at::Tensor const& x) {
        return x.narrow(2, 0, 4).narrow(3, 0, 6).unflatten(3, {3, 2}).unflatten(2, {2, 2}).mean(at::IntArrayRef{3, 5});
      });
}

TEST_CASE("group norm normalizes each group of channels of each example") {
  using net = sequential<named<"c", conv2d<2, 6, 2>>, named<"n", group_norm<3, 6, redco::layers::real{1e-3}>>>;
  check_module<model_of<net, input<2, 4, 5>>>(images({3, 2, 4, 5}), [](tensor_map const& p, at::Tensor const& x) {
    at::Tensor const runs = at::conv2d(x, p.at("c.weight"), p.at("c.bias")).view({3, 3, 2 * 3 * 4});
    at::Tensor const centered = runs - runs.mean(2, true);
    at::Tensor const hat = centered / (centered.square().mean(2, true) + 1e-3).sqrt();
    return hat.view({3, 6, 3, 4}) * p.at("n.weight").view({6, 1, 1}) + p.at("n.bias").view({6, 1, 1});
  });
}

/// Returns a transposed convolution by plain operators: zeros between and around the elements, then
/// a convolution with flipped kernels.
at::Tensor transposed(at::Tensor const& x, at::Tensor const& weight, std::int64_t stride, std::int64_t padding,
                      std::int64_t more) {
  std::int64_t const height = (x.size(2) - 1) * stride + 1, width = (x.size(3) - 1) * stride + 1;
  at::Tensor const apart = at::constant_pad_nd(x.unsqueeze(3).unsqueeze(5), {0, stride - 1, 0, 0, 0, stride - 1})
                               .flatten(4, 5)
                               .flatten(2, 3)
                               .narrow(2, 0, height)
                               .narrow(3, 0, width);
  std::int64_t const before = weight.size(2) - 1 - padding, after = before + more;
  return at::conv2d(at::constant_pad_nd(apart, {before, after, before, after}),
                    weight.flip(at::IntArrayRef{2, 3}).transpose(0, 1));
}

TEST_CASE("a transposed convolution adds its kernels at strided positions") {
  using net =
      sequential<named<"a", conv_transpose2d<2, 3, 3, 2, 1, 1>>, named<"b", conv_transpose2d<3, 2, 2, 1, 0, 0, false>>>;
  check_module<model_of<net, input<2, 3, 4>>>(images({2, 2, 3, 4}), [](tensor_map const& p, at::Tensor const& x) {
    at::Tensor const y = transposed(x, p.at("a.weight"), 2, 1, 1) + p.at("a.bias").view({3, 1, 1});
    return transposed(y, p.at("b.weight"), 1, 0, 0);
  });
}

/// A diffusion transformer (Peebles and Xie 2023) of images with 2 x 3 patches of 2 x 3 pixels. Its
/// condition is a text and a time: the text's first token, or with `Split` the mean of its tokens.
/// With `Split`, the tokens of the image are split over the ranks, and the result is the patches.
template <bool Split>
struct painter {
  using text =
      sequential<named<"words", embedding<7, 12>>,
                 std::conditional_t<Split, redco::layers::mean_of_tokens, redco::layers::first_token>,
                 named<"time", residual<sequential<redco::layers::timestep_embedding<6>, named<"up", linear<6, 10>>,
                                                   silu, named<"down", linear<10, 12>>>>>,
                 silu>;
  template <redco::meta::fixed_string Name>
  using norm = named<Name, redco::layers::adaptive_layer_norm<8, 12, redco::layers::real{1e-3}>>;
  template <redco::meta::fixed_string Name>
  using gate = named<Name, redco::layers::adaptive_gate<8, 12>>;
  using block = sequential<
      residual<sequential<norm<"n">, named<"attn", full_attention<8, 2>>, gate<"g">>>,
      residual<sequential<norm<"m">, named<"up", linear<8, 20>>, gelu, named<"down", linear<20, 8>>, gate<"k">>>>;
  using blocks = sequential<named<"h", repeat<2, block>>, norm<"last">>;
  using cut = named<"cut", patch_embedding<2, 2, 8, 3>>;
  using out = named<"out", redco::layers::replicated_linear<8, 12>>;
  using image = std::conditional_t<Split, sequential<cut, redco::layers::with_split_tokens<sequential<blocks, out>>>,
                                   sequential<cut, blocks, out, redco::layers::image_of_patches<2, 2, 2, 3>>>;
  using net = redco::layers::encoder_decoder<text, image>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, 2, 4, 9}; }
  constexpr redco::extents source(redco::workload const& load) const { return {load.batch, 3}; }
};

at::Tensor words() { return at::tensor({5, 1, 0, 2, 6, 6}, at::kLong).view({2, 3}); }
at::Tensor times() { return at::tensor({0.25, 3.5}, at::kDouble); }

at::Tensor plain_patches(tensor_map const& p, at::Tensor const& x, bool mean = true) {
  auto const at = [&](std::string const& name, at::Tensor const& y) {
    return at::linear(y, p.at(name + ".weight"), p.at(name + ".bias"));
  };
  auto const heads = [](at::Tensor const& y) { return y.unflatten(2, {2, -1}).transpose(1, 2); };
  std::vector<double> features;
  for (double const t : {0.25, 3.5}) {
    for (int i = 0; i < 3; ++i) features.push_back(std::cos(t * std::pow(10000, -i / 3.0)));
    for (int i = 0; i < 3; ++i) features.push_back(std::sin(t * std::pow(10000, -i / 3.0)));
  }
  at::Tensor const rows = at::embedding(p.at("encoder.words.weight"), words());
  at::Tensor const read = mean ? (rows.select(1, 0) + rows.select(1, 1) + rows.select(1, 2)) / 3 : rows.select(1, 0);
  at::Tensor const timed = at("encoder.time.up", at::tensor(features, at::kDouble).view({2, 6}));
  at::Tensor const condition = at::silu(read + at("encoder.time.down", at::silu(timed)));
  auto const normed = [&](std::string const& name, at::Tensor const& y) {
    auto const parts = at(name, condition).unsqueeze(1).split(8, 2);
    at::Tensor const centered = y - y.mean(2, true);
    return centered / (centered.square().mean(2, true) + 1e-3).sqrt() * (1 + parts[0]) + parts[1];
  };
  at::Tensor y = at::conv2d(x, p.at("decoder.cut.weight"), p.at("decoder.cut.bias"), {2, 3}).flatten(2).transpose(1, 2);
  for (std::string const block : {"decoder.h.0.", "decoder.h.1."}) {
    at::Tensor const n = normed(block + "n", y);
    at::Tensor const scores =
        at::matmul(heads(at(block + "attn.q", n)), heads(at(block + "attn.k", n)).transpose(2, 3)) / 2;
    at::Tensor const seen = at::matmul(scores.softmax(3), heads(at(block + "attn.v", n))).transpose(1, 2).flatten(2);
    y = y + at(block + "attn.o", seen) * at(block + "g", condition).unsqueeze(1);
    at::Tensor const m = at(block + "up", normed(block + "m", y));
    at::Tensor const active = at::gelu(m, "tanh");
    y = y + at(block + "down", active) * at(block + "k", condition).unsqueeze(1);
  }
  return at("decoder.out", normed("decoder.last", y));
}

at::Tensor plain_image(tensor_map const& p, at::Tensor const& x) {
  at::Tensor const out = plain_patches(p, x, false);  // [2, 6, 12]
  std::vector<at::Tensor> rows;
  for (int down = 0; down < 2; ++down) {
    std::vector<at::Tensor> row;
    for (int across = 0; across < 3; ++across) row.push_back(out.select(1, 3 * down + across).view({2, 2, 2, 3}));
    rows.push_back(at::cat(row, 3));
  }
  return at::cat(rows, 2);
}

TEST_CASE("a diffusion transformer is modulated by a text and a time") {
  auto const use = [](auto const& net, at::Tensor const& x) {
    return net(x, encoder_input{words()}, redco::nn::timesteps{times()});
  };
  at::Tensor const x = images({2, 2, 4, 9});
  check_module<painter<false>>(x, plain_image, {1, 2}, use);
  check_module<painter<false>>(x, plain_image, {2}, use, {.recompute = true});
  check_module<painter<true>>(
      x, [](tensor_map const& p, at::Tensor const& pixels) { return plain_patches(p, pixels); }, {1, 2}, use);
}

TEST_CASE("a diffusion transformer saves and sends what its facts state") {
  auto const check = [](auto const& model, int tp, saved_test::product_case const& product) {
    redco::tensors::forced_bf16_path const forced(product.path);
    INFO("shards " << tp << " " << product.name());
    saved_test::check_saved_and_sent(saved_test::observe(
        model, {.mesh = {.tp = tp}, .load = {2, 6}, .compute = product.compute, .prefetch = 0},
        [&] {
          at::Tensor const x = images({2, 2, 4, 9}).to(tensors::scalar_type_of(product.compute));
          return std::vector<at::Tensor>{x, words(), times()};
        },
        [](auto const& net, std::vector<at::Tensor> const& b) {
          return net(b[0], encoder_input{b[1]}, redco::nn::timesteps{b[2]}).sum();
        }));
  };
  for (int const tp : {1, 2}) {
    check(painter<false>{}, tp, saved_test::product_cases[0]);
    check(painter<true>{}, tp, saved_test::product_cases[3]);
  }
}

}  // namespace image_test
