// Trains a convolutional network on noisy 16 x 16 images that the program draws: four shapes.
// Then loads the best checkpoint again and classifies 500 images that training has not seen.
// Exit code 1 if fewer than 96 of 100 are right with the default options.
//
//   classify --mesh 2x1 --workdir run ...     all options: --help

#include <redco/train.hpp>

#include <redco/metrics/scores.hpp>

#include <array>
#include <iostream>
#include <random>
#include <span>
#include <sstream>
#include <vector>

constexpr int side = 16;

struct picture {
  std::array<float, side * side> pixels;
  std::int64_t shape;  ///< 0: filled square, 1: frame, 2: cross, 3: diagonal cross
};

std::vector<picture> draw_pictures(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, 0.3F);
  std::vector<picture> all(count);
  for (picture& p : all) {
    p.shape = static_cast<std::int64_t>(random() % 4);
    int const half = 3 + static_cast<int>(random() % 3);
    auto const range = static_cast<unsigned>(side - 2 * half);
    int const row = half + static_cast<int>(random() % range), column = half + static_cast<int>(random() % range);
    for (int r = 0; r < side; ++r)
      for (int c = 0; c < side; ++c) {
        int const y = std::abs(r - row), x = std::abs(c - column);
        bool const inside = y <= half && x <= half;
        bool const on[] = {true, y == half || x == half, y == 0 || x == 0, x == y};
        p.pixels[static_cast<std::size_t>(r * side + c)] = noise(random) + (inside && on[p.shape] ? 1.0F : 0.0F);
      }
  }
  return all;
}

struct picture_batch {
  at::Tensor pixels, shapes;  ///< [B, 1, 16, 16], [B]
};

struct classifier {
  using net =
      redco::sequential<redco::conv2d<1, 16, 3, 1, 1>, redco::batch_norm<16>, redco::relu, redco::max_pool<2>,
                        redco::conv2d<16, 32, 3, 1, 1>, redco::batch_norm<32>, redco::relu, redco::average_pool<4>,
                        redco::flatten, redco::linear<32 * 2 * 2, 64>, redco::relu, redco::linear<64, 4>>;
  redco::no_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, 1, side, side}; }
};

struct my_options {
  redco::options::blockless_options deployer;
  int epochs = 6, images = 2000;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(redco::field<"deployer">(&o::deployer, "where to run"),
                         redco::field<"epochs">(&o::epochs, "passes over the images").at_least(0),
                         redco::field<"images">(&o::images, "number of images that are drawn to train on").at_least(1));
  }
};

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, "Trains a CNN on drawn shapes.", [](my_options const& o) {
    auto const job = redco::collate([](std::span<picture const> all) {
                       auto const n = static_cast<std::int64_t>(all.size());
                       picture_batch b{at::empty({n, 1, side, side}), at::empty({n}, at::kLong)};
                       for (std::int64_t i = 0; i < n; ++i) {
                         picture const& p = all[static_cast<std::size_t>(i)];
                         b.pixels[i].copy_(at::tensor(at::ArrayRef<float>(p.pixels)).view({1, side, side}));
                         b.shapes[i] = p.shape;
                       }
                       return b;
                     }) |
                     redco::loss([](auto const& net, picture_batch const& b) {
                       return redco::cross_entropy(net(b.pixels), b.shapes);
                     }) |
                     redco::predict([](auto const& net, picture_batch const& b) {
                       at::Tensor const best = net(b.pixels).argmax(1);
                       return std::vector<std::int64_t>(best.const_data_ptr<std::int64_t>(),
                                                        best.const_data_ptr<std::int64_t>() + best.numel());
                     });
    auto const shapes_of = [](std::span<picture const> all) {
      std::vector<std::int64_t> shapes;
      for (picture const& p : all) shapes.push_back(p.shape);
      return shapes;
    };

    redco::deployer deployer(o.deployer);
    redco::trainer trainer(deployer, classifier{}, job, redco::adamw{.lr = 3e-3});
    std::cout << trainer.report({.batch = 50}) << '\n';
    auto const train = draw_pictures(static_cast<std::size_t>(o.images), 1), held_out = draw_pictures(500, 2);
    trainer.fit(train,
                {.epochs = o.epochs,
                 .global_batch = 50,
                 .eval = held_out,
                 .metrics =
                     [&](std::span<picture const> all, std::span<std::int64_t const> said) {
                       return redco::options::metric_map{{"accuracy", redco::metrics::accuracy(said, shapes_of(all))}};
                     },
                 .save_argmin = {},
                 .save_argmax = {"accuracy"}});

    redco::inference const best(deployer, classifier{}, job, deployer.workdir() / "ckpts" / "max_accuracy");
    auto const unseen = draw_pictures(500, 3);
    double const right = redco::metrics::accuracy(redco::predictor(best).predict(unseen, 50), shapes_of(unseen));
    std::ostringstream said;
    said << "the best checkpoint names " << right * 100 << " of 100 shapes that it has not seen (bound 96)";
    deployer.conclude(said.str());
    bool const standard = o.epochs == my_options{}.epochs && o.images == my_options{}.images;
    return right >= 0.96 || !standard ? 0 : 1;
  });
}
