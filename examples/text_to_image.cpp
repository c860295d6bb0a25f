// Text-conditioned diffusion: a diffusion transformer (Peebles and Xie 2023) paints pictures of
// 32 x 32 pixels from captions such as "a red circle at the top left". It learns a rectified flow
// (Lipman et al. 2023), whose velocities turn noise into pictures. A tenth of the captions are
// dropped in training, so that sampling can move away from pictures of no caption (classifier-free
// guidance, Ho and Salimans 2022). Pictures show one shape: two shapes, as in common/scenes.hpp,
// take several times as many steps to learn.
//
// A convolutional network that learned from true pictures judges the painted ones: it names shape,
// color and corner. Exit code 1 if fewer than 85 of 100 painted pictures or fewer than 98 of 100
// held-out true ones are named rightly with the default options. Seeds 42, 1 and 2 reach 98.6, 99
// and 94.6. The workdir has contact sheets: pictures/painted.png, and painted.svg with captions.
//
//   text_to_image --seed 42 --workdir run ...     all options: --help

#include "common/scenes.hpp"
#include "common/word_tokenizer.hpp"

#include <redco/train.hpp>

#include <redco/tensor/parallel.hpp>
#include <redco/report/pictures/contact_sheet.hpp>
#include <redco/random/normal.hpp>

#include <fstream>
#include <iostream>

using namespace redco;

constexpr std::int64_t side = scenes::side, words = 8;  // of a picture; of a caption and its end

struct painter {
  struct sizes {
    std::int64_t vocabulary;
  };
  static constexpr std::int64_t width = 128, heads = 4, patch = 8, patches = side / patch;

  template <class Norm, class... Last>
  using block =
      sequential<residual<sequential<named<"norm", Norm>, named<"attention", full_attention<width, heads>>, Last...>>,
                 residual<named<"mlp", sequential<named<"norm", Norm>, named<"up", linear<width, 4 * width>>, gelu,
                                                  named<"down", linear<4 * width, width>>, Last...>>>>;
  using time = sequential<layers::timestep_embedding<width>, linear<width, width>, silu, linear<width, width>>;
  using reader = sequential<named<"words", embedding<&sizes::vocabulary, width>>,
                            residual<named<"order", positions<words, width>>>,
                            named<"block", repeat<2, block<layer_norm<width>>>>, named<"norm", layer_norm<width>>,
                            layers::mean_of_tokens, layers::scale<words>, residual<named<"time", time>>, silu>;
  using norm = layers::adaptive_layer_norm<width>;
  using artist = sequential<named<"patches", patch_embedding<3, patch, width>>,
                            residual<named<"places", positions<patches * patches, width>>>,
                            named<"block", repeat<4, block<norm, named<"gate", layers::adaptive_gate<width>>>>>,
                            named<"norm", norm>, named<"out", linear<width, 3 * patch * patch>>,
                            layers::image_of_patches<3, patch, patches>>;
  using net = layers::encoder_decoder<reader, artist>;

  constexpr extents input(workload const& load) const { return {load.batch, 3, side, side}; }
  constexpr extents source(workload const& load) const { return {load.batch, words}; }

  sizes config;
};

/// A network that names shape, color and corner.
constexpr std::array<std::int64_t, 3> kinds{3, 6, 4};
template <auto In, auto Out>
using convolution = sequential<conv2d<In, Out, 3, 1, 1>, batch_norm<Out>, relu, max_pool<2>>;
model_of<sequential<named<"a", convolution<3, 16>>, named<"b", convolution<16, 32>>, named<"c", convolution<32, 64>>,
                    flatten, linear<64 * 4 * 4, 13>>,
         input<3, side, side>> const judge;

/// A picture of the scene with a number: a painted one, or the true one if `painted` is undefined.
struct picture {
  std::uint64_t number;
  bool held_out = false;
  at::Tensor painted = {};
};

struct picture_batch {
  std::vector<std::uint64_t> numbers;
  at::Tensor pixels;   // [B, 3, side, side], -1 to 1
  at::Tensor caption;  // [B, words]
  at::Tensor content;  // [B, 3], indices of names
};

struct my_options {
  deployer_options deployer;
  training_flags training{.global_batch = 32, .warmup = 20, .lr = 2e-3};
  std::int64_t scenes = 128'000, judge_scenes = 20'000, held_out = 500, steps = 20;
  double dropped = 0.1, guidance = 2;

  static constexpr auto fields() {
    using o = my_options;
    return redco::fields(
        field<"deployer">(&o::deployer, "where to run"), field<"training">(&o::training, "how to train the painter"),
        field<"scenes">(&o::scenes, "number of scenes that the painter learns from").at_least(1),
        field<"judge_scenes">(&o::judge_scenes, "number of scenes that the judge learns from").at_least(2),
        field<"held_out">(&o::held_out, "number of captions to paint, and of true scenes to judge").at_least(1),
        field<"dropped">(&o::dropped, "share of captions that are dropped in training").at_least(0).at_most(1),
        field<"guidance">(&o::guidance, "1: follow the caption as learnt; more: exaggerate what it changes")
            .at_least(0),
        field<"steps">(&o::steps, "steps of Euler's method from noise to a picture").at_least(1));
  }
};

/// Returns noise [B, 3, side, side] that depends only on the stream and the numbers of the scenes.
at::Tensor noise_of(random::stream stream, std::vector<std::uint64_t> const& numbers) {
  constexpr std::int64_t each = 3 * side * side;
  at::Tensor const noise = at::empty({std::ssize(numbers), 3, side, side});
  tensors::parallel(noise.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      random::fill_normal(noise.data_ptr<float>() + i * each, numbers[static_cast<std::size_t>(i)] * each, each,
                          stream);
  });
  return noise;
}

/// Returns the velocity at time t [B] that brings `seen` to `pixels` at time 1.
at::Tensor velocity_to(at::Tensor const& pixels, at::Tensor const& seen, at::Tensor const& t) {
  return (pixels - seen) / (1 - t).clamp_min(0.05).view({-1, 1, 1, 1});
}

/// Returns the velocity to the picture that the network expects. A network that returns pictures
/// learns faster than one that returns velocities, which contain noise (Li and He 2025).
at::Tensor velocity(auto const& net, at::Tensor const& seen, at::Tensor const& caption, at::Tensor const& t) {
  at::Tensor const pixels = net(seen, encoder_input{caption}, nn::timesteps{1000 * t});
  return velocity_to(pixels.scalar_type() == at::kDouble ? pixels : pixels.to(at::kFloat), seen, t);
}

report::picture_tile tile_of(at::Tensor const& image, std::string caption = {}) {
  at::Tensor const bytes = (image * 127.5 + 127.5).round().to(at::kByte).permute({1, 2, 0}).contiguous();
  auto const* const first = bytes.const_data_ptr<std::uint8_t>();
  return {static_cast<int>(bytes.size(1)), static_cast<int>(bytes.size(0)), 3, {first, first + bytes.numel()}, caption};
}

std::vector<picture> pictures(std::int64_t count, bool held_out) {
  std::vector<picture> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back({static_cast<std::uint64_t>(i), held_out});
  return all;
}

int main(int argc, char** argv) {
  return main_of<my_options>(argc, argv, "Paints pictures from captions.", [](my_options const& o) {
    auto const scene_of = [&](picture const& p) { return scenes::lone_example(o.deployer.seed, p.number, p.held_out); };
    auto const train = pictures(o.scenes, false), held_out = pictures(o.held_out, true);
    std::vector<std::string> captions;
    for (std::size_t i = 0; i < 2000; ++i) captions.push_back(scene_of({i}).caption());
    word_tokenizer const tokenizer(captions, 100);
    auto const ids_of = [&](std::string const& caption) {
      auto ids = tokenizer.encode(caption);
      ids.resize(words, tokenizer.padding);
      return ids;
    };
    auto const whole = collate([&](std::span<picture const> some) {
      std::vector<std::int64_t> ids, content;
      std::vector<at::Tensor> pixels;
      picture_batch made;
      for (picture const& p : some) {
        scenes::lone_thing const scene = scene_of(p);
        made.numbers.push_back(p.number);
        pixels.push_back(p.painted.defined() ? p.painted : at::tensor(scene.pixels).view({3, side, side}) * 2 - 1);
        auto const caption = ids_of(scene.caption());
        ids.insert(ids.end(), caption.begin(), caption.end());
        for (std::size_t const one : {scene.shown.shape, scene.shown.color, scene.corner})
          content.push_back(static_cast<std::int64_t>(one));
      }
      made.pixels = at::stack(pixels);
      made.caption = at::tensor(ids).view({-1, words});
      made.content = at::tensor(content).view({-1, 3});
      return made;
    });
    at::Tensor const nothing = at::tensor(ids_of(""));

    auto const flow =
        whole | loss([&](auto const& net, picture_batch const& b) {
          auto const stream = [&](char const* name) {
            return random::make_stream(net.pass().seed, random::site_of(name), net.pass().step, 0);
          };
          at::Tensor const noise = noise_of(stream("noise"), b.numbers), t = at::empty({std::ssize(b.numbers)});
          at::Tensor const caption = b.caption.clone();
          for (std::int64_t i = 0; i < t.size(0); ++i) {
            std::uint64_t const number = b.numbers[static_cast<std::size_t>(i)];
            t.data_ptr<float>()[i] =
                static_cast<float>(1 / (1 + std::exp(0.8 - random::normal_at(stream("time"), number))));
            if (random::uniform_at(stream("dropped"), number) < o.dropped) caption[i].copy_(nothing);
          }
          at::Tensor const at = t.view({-1, 1, 1, 1}), seen = noise + at * (b.pixels - noise);
          at::Tensor const off = velocity(net, seen, caption, t) - velocity_to(b.pixels, seen, t);
          return mean{off.square().mean({1, 2, 3}).sum(), static_cast<double>(t.size(0))};
        }) |
        predict([&](auto const& net, picture_batch const& b) {
          at::Tensor x =
              noise_of(random::make_stream(o.deployer.seed, random::site_of("first noise"), 0, 0), b.numbers);
          at::Tensor const caption = at::cat({b.caption, nothing.expand_as(b.caption)});
          for (std::int64_t k = 0; k < o.steps; ++k) {
            at::Tensor const t = at::full({caption.size(0)}, static_cast<double>(k) / static_cast<double>(o.steps));
            auto const v = velocity(net, at::cat({x, x}), caption, t).chunk(2);
            x = x + (v[1] + o.guidance * (v[0] - v[1])) / o.steps;
          }
          return x.clamp(-1, 1);
        });
    std::vector<picture> painted = held_out;
    {
      deployer where(o.deployer);
      trainer learner(where, painter{{tokenizer.vocabulary_size()}}, flow, o.training);
      auto const end = learner.fit(train, {.unit = "pictures", .eval = held_out, .config = options::to_json(o)});
      std::cout << "held-out loss " << end.evaluation.at("loss") << '\n';
      auto const made = predictor(learner).predict(held_out, 100);
      std::vector<report::picture_tile> tiles;
      std::vector<at::Tensor> rows;
      for (std::size_t i = 0; i < made.size(); ++i) {
        painted[i].painted = made[i];
        if (i < 40) tiles.push_back(tile_of(made[i], scene_of(held_out[i]).caption()));
        if (i < 40 && i % 8 == 7) rows.push_back(at::cat(at::TensorList(&made[i - 7], 8), 2));
      }
      where.keep_images("painted", tiles, end.steps);
      where.write_last_page();
      if (where.speaks() && !rows.empty())
        std::ofstream(where.workdir() / "pictures" / "painted.png", std::ios::binary)
            << report::png_of(tile_of(at::cat(rows, 1)));
    }

    auto const naming = whole | loss([](auto const& net, picture_batch const& b) {
                          auto const parts = net(b.pixels).split_with_sizes(kinds, 1);
                          std::vector<at::Tensor> losses;
                          for (std::size_t i = 0; i < kinds.size(); ++i)
                            losses.push_back(at::cross_entropy_loss(
                                parts[i], b.content.select(1, static_cast<std::int64_t>(i)), {}, at::Reduction::Sum));
                          return mean{at::stack(losses).sum(), static_cast<double>(b.content.size(0))};
                        }) |
                        predict([](auto const& net, picture_batch const& b) {
                          // [B], true if shape, color and corner are named rightly
                          std::vector<at::Tensor> said;
                          for (at::Tensor const& part : net(b.pixels).split_with_sizes(kinds, 1))
                            said.push_back(part.argmax(1));
                          return at::stack(said, 1).eq(b.content).all(1);
                        });
    deployer_options judging = o.deployer;
    judging.workdir /= "judge";
    deployer where(judging);
    trainer learner(where, judge, naming, training_flags{.global_batch = 50, .warmup = 50, .lr = 3e-3});
    learner.fit(pictures(o.judge_scenes, false), {.unit = "pictures"});
    auto const right = [&](std::vector<picture> const& all) {
      double sum = 0;
      for (at::Tensor const& one : predictor(learner).predict(all, 100)) sum += one.item<bool>();
      return 100 * sum / static_cast<double>(all.size());
    };
    double const of_true = right(held_out), of_painted = right(painted);
    std::cout << of_painted << " of 100 painted pictures are recognised (bound 85), of true pictures " << of_true
              << " (bound 98)\n";
    my_options const standard;
    auto const stated = [](my_options const& x) {
      return std::tuple(x.scenes, x.judge_scenes, x.steps, x.dropped, x.guidance);
    };
    bool const as_stated = o.training == standard.training && stated(o) == stated(standard);
    return (of_painted >= 85 && of_true >= 98) || !as_stated ? 0 : 1;
  });
}
