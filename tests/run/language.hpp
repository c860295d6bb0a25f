#pragma once

#include "mlp.hpp"

#include "../../benchmarks/short_sequences.hpp"

#include <redco/model/gpt2.hpp>

// A small language model that no mesh divides evenly, and its job, for tests that compare meshes.

namespace run_test {

/// A model with tied weights, dropout, and 11 token ids, which do not divide by 2 or 3.
inline redco::gpt2 const tied{{.vocab = 11, .context = 16, .width = 12, .heads = 6, .layers = 2, .dropout = 0.1}};

using short_sequences::language;

}  // namespace run_test
