#pragma once

// Functions for reject tests of pipelines: a collate of texts, two batch types, a loss and a net.
#include <redco/pipeline/functions.hpp>
#include <redco/pipeline/results.hpp>

#include <span>
#include <string>
#include <vector>

struct text_batch {
  std::vector<std::string> texts;
};
struct image_batch {
  std::vector<float> pixels;
};
struct my_loss {
  double sum;
};
struct my_net {};

template <>
inline constexpr bool redco::pipelines::enable_loss<my_loss> = true;

inline constexpr auto collate = redco::collate([](std::span<std::string const> texts) {
  return text_batch{{texts.begin(), texts.end()}};
});
