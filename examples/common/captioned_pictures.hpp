#pragma once

// Pictures with captions, those of tables or drawn scenes, and pictures that show what a model has
// learnt about them.

#include <redco/tensor/torch.hpp>
#include <redco/report/pictures/contact_sheet.hpp>
#include <redco/data/image_processor.hpp>
#include <redco/data/images.hpp>
#include <redco/tokenizer/tokenizer.hpp>

#include "scenes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace captioned {

/// A caption, and the index of its picture in the data.
struct example {
  std::string caption;
  std::int64_t index;
  bool held_out;
  std::int64_t covered = -1;  ///< Patch of the picture that the model does not see; -1: none

  operator std::string() const { return caption; }
};

/// A caption that a model writes, and the log-probabilities of the true caption's tokens.
struct answer {
  std::string written;
  std::vector<float> log_p;

  operator std::string() const { return written; }
  template <class Archive>
  void serialize(Archive& all) {
    all(written, log_p);
  }
};

/// Converts colours from 0 to 1, `[height, width, 3]`, to an image.
inline redco::data::image image_of(at::Tensor const& colours) {
  at::Tensor const bytes = colours.mul(255).round().to(at::kByte).contiguous();
  auto const* const first = bytes.const_data_ptr<std::uint8_t>();
  return {bytes.size(0), bytes.size(1), {first, first + bytes.numel()}};
}

/// Returns the colours of an image from 0 to 1, `[height, width, 3]`.
inline at::Tensor colours_of(redco::data::image const& picture) {
  return at::tensor(picture.pixels).view({picture.height, picture.width, 3}).to(at::kFloat) / 255;
}

inline redco::report::picture_tile tile_of(redco::data::image const& picture, std::string caption) {
  return {static_cast<int>(picture.width), static_cast<int>(picture.height), 3, picture.pixels, std::move(caption)};
}

/// Pictures with captions, to learn and to measure: those of two tables, or drawn scenes.
struct pictures {
  std::uint64_t seed;                           ///< Seed of the scenes
  redco::data::image_processor processor = {};  ///< Shapes the pictures of the tables
  std::optional<redco::data::image_set> train = {}, eval = {};

  /// Returns the examples of a table, or `count` scenes. Reads every picture of a table, and so
  /// throws the errors of redco::data::image_set.
  std::vector<example> examples(bool held_out, std::int64_t count) const {
    std::vector<example> all;
    auto const add = [&](std::string caption) { all.push_back({std::move(caption), std::ssize(all), held_out}); };
    if (train) {
      for (redco::data::image_example const& one : held_out ? *eval : *train) add(one.text);
    } else {
      while (std::ssize(all) < count) {
        scenes::choices random(seed, all.size(), held_out);
        add(scenes::describe(random, held_out).caption());
      }
    }
    return all;
  }

  redco::data::image operator()(example const& one) const {
    if (train) return processor.shaped((one.held_out ? *eval : *train)[one.index].picture);
    scenes::scene const drawn = scenes::example(seed, static_cast<std::uint64_t>(one.index), one.held_out, 1.5);
    return image_of(at::tensor(drawn.pixels).view({3, scenes::side, scenes::side}).permute({1, 2, 0}));
  }
};

/// Returns the numbers that a model reads of a picture, `[height, width, 3]`.
inline at::Tensor seen(redco::data::image_processor const& processor, redco::data::image const& picture) {
  return at::tensor(processor.values(picture)).view({picture.height, picture.width, 3});
}

/// Returns a picture once for each token of its caption. A patch is dark unless the token becomes
/// less likely when the patch is covered. `answers`: the answer to the whole picture, then the
/// answers with each patch covered, row by row. A row has `columns` patches.
inline std::vector<redco::report::picture_tile> likely_patches(example const& one, redco::data::image const& picture,
                                                               std::int64_t columns,
                                                               redco::tokenizer::any_tokenizer const& tokenizer,
                                                               std::span<answer const> answers) {
  std::vector<at::Tensor> all;
  for (answer const& a : answers) all.push_back(at::tensor(a.log_p));
  at::Tensor const log_p = at::stack(all), loss = (log_p[0] - log_p.slice(0, 1)).clamp_min(0);
  at::Tensor const light = (loss / loss.amax(0, true).clamp_min(0.1) * 0.8 + 0.2).view({-1, columns, log_p.size(1)});
  std::vector<redco::report::picture_tile> tiles;
  std::vector<std::int64_t> const ids = tokenizer.encode(one.caption);
  for (std::int64_t t = 0; t < std::min(log_p.size(1), std::ssize(ids)); ++t) {
    at::Tensor const shade = light.select(2, t)
                                 .repeat_interleave(picture.height / light.size(0), 0)
                                 .repeat_interleave(picture.width / columns, 1);
    tiles.push_back(tile_of(image_of(colours_of(picture) * shade.unsqueeze(2)),
                            tokenizer.decode(std::span(ids).subspan(static_cast<std::size_t>(t), 1))));
  }
  return tiles;
}

}  // namespace captioned
