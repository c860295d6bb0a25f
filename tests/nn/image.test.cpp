#include "nn/sharded.hpp"

#include <redco/nn/convolutions.hpp>
#include <redco/nn/norms.hpp>
#include <redco/nn/pools.hpp>
#include <redco/model/model.hpp>

#include <cstdint>
#include <vector>

// Compares layers of images with compositions of plain operators: values, first and second
// derivatives, on one to three shards.

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

}  // namespace image_test
