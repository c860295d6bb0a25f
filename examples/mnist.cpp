// A convolutional network that names digits of 28 x 28 pixels: the files of MNIST with --data, else
// drawn digits, each turned, moved and stretched, with noise. Every sixth training image is held
// out. The checkpoint with the best accuracy on these images is loaded again to name unseen digits.
// Exit code 1 if fewer than 98 of 100 are named rightly with the default options. Seeds 42, 1 and 2
// reach 99.7, 99.65 and 99.55 of 100 drawn digits, each in less than a minute on two cores.
//
//   mnist --seed 42 --workdir run ...     all options: --help

#include "common/drawn_digits.hpp"

#include <redco/train.hpp>

#include <redco/report/pictures/confusion_matrix.hpp>
#include <redco/data/read_idx.hpp>
#include <redco/data/read_texts.hpp>
#include <redco/metrics/scores.hpp>

#include <algorithm>
#include <iostream>

constexpr int side = 28;

/// Reads a part of MNIST: "train" or "t10k".
digits read_digits(std::filesystem::path const& folder, std::string const& part) {
  auto const images = redco::data::read_idx(folder / (part + "-images-idx3-ubyte"));
  auto const labels = redco::data::read_idx(folder / (part + "-labels-idx1-ubyte"));
  auto const &pixels = images.as<std::uint8_t>(), &shown = labels.as<std::uint8_t>();
  auto const wrong = std::ranges::find_if(shown, [](int label) { return label > 9; });
  std::string const count = std::to_string(images.shape[0]);
  auto const check = [](bool good, std::string const& problem) {
    if (!good) throw redco::error(redco::exit_code::data, problem + "; give files like those of MNIST");
  };
  check(images.shape == std::vector<std::int64_t>{images.shape[0], side, side},
        images.path + " has no images of 28 x 28 pixels");
  check(images.shape[0] >= 6, images.path + " has " + count + " images, fewer than 6");
  check(std::ssize(shown) == images.shape[0],
        labels.path + " has " + std::to_string(shown.size()) + " labels for " + count + " images");
  check(wrong == shown.end(), labels.path + " has a label over 9 at index " + std::to_string(wrong - shown.begin()));
  return {at::tensor(pixels).view({-1, side * side}).to(at::kFloat).div(255), at::tensor(shown).to(at::kLong)};
}

struct my_options {
  redco::options::blockless_options deployer;
  std::string data;
  int images = 12'000;
  redco::training_flags training{.epochs = 4, .global_batch = 50, .lr = 3e-3};

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        redco::field<"deployer">(&o::deployer, "where to run"),
        redco::field<"data">(&o::data, "folder with the four unpacked files of MNIST; empty: digits are drawn"),
        redco::field<"images">(&o::images, "number of training images that are drawn without --data").at_least(12),
        redco::field<"training">(&o::training, "how to train"));
  }
};

redco::model_of<
    redco::sequential<redco::conv2d<1, 16, 3, 1, 1>, redco::batch_norm<16>, redco::relu, redco::max_pool<2>,
                      redco::conv2d<16, 32, 3, 1, 1>, redco::batch_norm<32>, redco::relu, redco::max_pool<2>,
                      redco::flatten, redco::linear<32 * 7 * 7, 64>, redco::relu, redco::linear<64, 10>>,
    redco::input<1, side, side>> const classifier;

int main(int argc, char** argv) {
  return redco::main_of<my_options>(argc, argv, "Trains a CNN on digits.", [](my_options const& o) {
    auto const job =
        redco::collate([](std::span<digits const> some) {
          auto const [pixels, labels] = digits::joined(some);
          return digits{pixels.view({-1, 1, side, side}), labels};
        }) |
        redco::loss([](auto const& net, digits const& b) { return redco::cross_entropy(net(b.pixels), b.labels); }) |
        redco::predict([](auto const& net, digits const& b) { return values(net(b.pixels).argmax(1)); });
    auto const score = [](std::span<digits const> all, std::span<std::int64_t const> said) {
      double const right = redco::metrics::accuracy(said, values(digits::joined(all).labels));
      return redco::options::metric_map{{"accuracy", right}};
    };
    drawing const draw{.side = side, .turn = 0.4, .move = 4, .stretch = 0.3, .noise = 0.5F};
    auto const known = o.data.empty() ? draw(o.images, o.deployer.seed) : read_digits(o.data, "train");
    auto const unseen = o.data.empty() ? draw(o.images / 6, o.deployer.seed + 1) : read_digits(o.data, "t10k");
    auto const [train, held_out] = redco::data::hold_out_every(known.singles(), 6);

    redco::deployer deployer(o.deployer);
    redco::trainer trainer(deployer, classifier, job, o.training);
    std::cout << trainer.report({.batch = o.training.global_batch}, o.training.micro_batch) << '\n';
    trainer.fit(train, {.eval = held_out, .metrics = score, .save_argmin = {}, .save_argmax = {"accuracy"}});
    redco::inference const best(deployer, classifier, job, deployer.workdir() / "ckpts" / "max_accuracy");
    auto const said = redco::predictor(best).predict(unseen.singles(), 50);
    double const right = score(unseen.singles(), said).at("accuracy");
    deployer.keep_picture("confusion", redco::report::confusion_matrix(said, values(unseen.labels), digit_names));
    deployer.conclude("the best checkpoint names " + std::to_string(right * 100) +
                      " of 100 unseen digits rightly (bound 98)");
    bool const standard = o.training == my_options{}.training && o.images == my_options{}.images;
    return right >= 0.98 || !standard ? 0 : 1;
  });
}
