#include "walls/training.hpp"

#include <redco/nn/cross_entropy.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/pipeline/functions.hpp>

#include <cstdint>
#include <span>
#include <vector>

// A batch other than text: images with labels, through convolutions.

namespace {

using namespace redco;

struct picture {
  std::vector<float> pixels;  ///< 2 channels of 6 x 8
  int label;
};
struct picture_batch {
  at::Tensor pixels, labels;
};

struct classifier {
  using net =
      sequential<named<"c", conv2d<2, 4, 3, 1, 1>>, relu, max_pool<2>, named<"d", conv2d<4, 3, 3>>, flatten,
                 named<"up", linear<6, 10>>, relu, dropout<redco::layers::real{0.2}>, named<"down", linear<10, 3>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 2, 6, 8}; }
};

std::vector<picture> pictures() {
  std::vector<picture> all;
  for (int i = 0; i < 7; ++i) {
    picture p{{}, i % 3};
    for (int at = 0; at < 96; ++at) p.pixels.push_back(static_cast<float>((at * (i % 3 + 2) + i) % 11) / 11.0F);
    all.push_back(p);
  }
  return all;
}

auto classification() {
  return collate([](std::span<picture const> examples) {
           auto const n = static_cast<std::int64_t>(examples.size());
           picture_batch batch{at::empty({n, 2, 6, 8}, at::kDouble), at::empty({n}, at::kLong)};
           for (std::int64_t i = 0; i < n; ++i) {
             picture const& one = examples[static_cast<std::size_t>(i)];
             batch.pixels[i].copy_(at::tensor(one.pixels).view({2, 6, 8}));
             batch.labels[i] = one.label;
           }
           return batch;
         }) |
         loss([](auto const& net, picture_batch const& b) { return cross_entropy(net(b.pixels), b.labels); }) |
         predict([](auto const& net, picture_batch const& b) { return net(b.pixels).argmax(1); });
}

}  // namespace

TEST_CASE("images are classified the same on every mesh") {
  auto const job = classification();
  auto const all = pictures();
  auto const one = walls::check_meshes(classifier{}, adamw{.lr = 2e-2}, {.steps = 20, .examples = 7},
                                       [&](auto const& net, walls::share const& mine, int) {
                                         std::span<picture const> const examples(all.data() + mine.begin,
                                                                                 static_cast<std::size_t>(mine.size()));
                                         return job.loss(net, job.collate(examples));
                                       },
                                       {{.dp = 2}, {.tp = 2}, {.dp = 3}});
  CHECK(one.losses.back() < 0.9 * one.losses.front());
}

namespace {

struct normalised {
  using net = sequential<named<"c", conv2d<2, 4, 3, 1, 1>>, named<"bn", batch_norm<4>>, relu, average_pool<2>,
                         named<"t", conv_transpose2d<4, 3, 3, 2, 1, 1, false>>, named<"gn", group_norm<3, 3>>, relu,
                         max_pool<3>, flatten, named<"up", linear<12, 10>>, relu, named<"down", linear<10, 3>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 2, 6, 8}; }
};

/// A network that reads the rows of a picture, with both channels concatenated, as a sequence.
struct of_rows {
  using net = sequential<named<"a", lstm<16, 7>>, named<"b", gru<7, 5>>, flatten, named<"up", linear<30, 6>>, relu,
                         named<"down", linear<6, 3>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 6, 16}; }
};

template <class Model, class View>
void check_pictures(Model const& model, View const& view) {
  auto const job = classification();
  auto const all = pictures();
  auto const one = walls::check_meshes(model, adamw{.lr = 2e-2}, {.steps = 40, .examples = 7},
                                       [&](auto const& net, walls::share const& mine, int) {
                                         picture_batch const b = job.collate(std::span<picture const>(
                                             all.data() + mine.begin, static_cast<std::size_t>(mine.size())));
                                         return cross_entropy(net(view(b.pixels)), b.labels);
                                       },
                                       {{.dp = 2}, {.tp = 2}, {.dp = 3}});
  CHECK(one.losses.back() < 0.9 * one.losses.front());
}

}  // namespace

TEST_CASE("batch norm, group norm, average pooling and transposed convolutions train the same on every mesh") {
  check_pictures(normalised{}, [](at::Tensor const& x) { return x; });
}

TEST_CASE("LSTM and GRU train the same on every mesh") {
  check_pictures(of_rows{}, [](at::Tensor const& x) { return x.transpose(1, 2).flatten(2); });
}
