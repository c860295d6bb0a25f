#pragma once

#include "test_files.hpp"

#include <redco/update/segment.hpp>
#include <redco/update/update.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// The updates that make_optimizers.py records, and the same problem for an optimizer of redco.

namespace recorded {

inline redco::json::json_value updates_of(std::string const& name) {
  std::ifstream file(test_files() / "optimizers" / (name + ".json"), std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  return redco::json::parse_json(text, name + ".json");
}

inline at::Tensor tensor_of(redco::json::json_value const& values) {
  return at::tensor(values.get<std::vector<double>>(), at::kDouble);
}

inline at::Tensor first_values(std::int64_t n) { return at::sin(at::arange(n, at::kDouble) * 0.7 + 1); }

/// Returns the gradient of the values `p` at update `t`.
inline at::Tensor gradient_at(at::Tensor const& p, std::int64_t t) {
  return p * 0.3 + at::cos(at::arange(p.numel(), at::kDouble) * 1.7 + static_cast<double>(t));
}

inline double largest_difference(at::Tensor const& a, at::Tensor const& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

}  // namespace recorded
