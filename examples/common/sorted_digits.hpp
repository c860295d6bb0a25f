#pragma once

// Pairs of answers to a request that a program can judge: to sort some digits.

#include <redco/data/read_conversations.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sorted_digits {

/// Returns a random pair, such as "8305>" with the chosen answer "0358." and a rejected answer. The
/// rejected answer has the digits in another order ("0538."), a digit that the prompt lacks
/// ("0357.") or a digit too few ("035.").
inline redco::data::preference drawn(std::mt19937& random) {
  std::string prompt = "0123456789";
  std::shuffle(prompt.begin(), prompt.end(), random);
  std::size_t const digits = 4 + random() % 5, one = random() % digits;
  std::string const others = prompt.substr(digits);
  prompt.resize(digits);
  std::string chosen = prompt;
  std::sort(chosen.begin(), chosen.end());
  std::string rejected = chosen;
  switch (random() % 3) {
    case 0:
      while (rejected == chosen) std::shuffle(rejected.begin(), rejected.end(), random);
      break;
    case 1:
      rejected[one] = others[random() % others.size()];
      std::sort(rejected.begin(), rejected.end());
      break;
    default: rejected.erase(one, 1);
  }
  auto const answered = [&](std::string const& answer) {
    return redco::data::conversation{{{"user", prompt + ">"}, {"assistant", answer + "."}}, 1, false};
  };
  return {answered(chosen), answered(rejected)};
}

/// Pairs in two lists. No prompt occurs in both.
struct split {
  std::vector<redco::data::preference> train, held_out;
};

/// Returns `train` pairs for training and `held_out` pairs for evaluation.
inline split pairs(std::int64_t train, std::int64_t held_out, std::uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  auto const prompt_of = [](redco::data::preference const& one) { return one.chosen.messages.front().content; };
  split all;
  std::set<std::string> kept;
  while (std::ssize(all.held_out) < held_out) kept.insert(prompt_of(all.held_out.emplace_back(drawn(random))));
  while (std::ssize(all.train) < train)
    if (auto one = drawn(random); !kept.contains(prompt_of(one))) all.train.push_back(std::move(one));
  return all;
}

}  // namespace sorted_digits
