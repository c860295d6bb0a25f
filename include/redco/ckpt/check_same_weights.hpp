#pragma once

#include <redco/comm/rank_context.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <map>
#include <string>

namespace redco::ckpt {

/// Returns the properties by which processes compare the weights that they have opened, by name.
/// For each tensor: dtype, shape, file, offset and a digest of its first values. For config.json:
/// the value of each key. For each other file of a model folder: a digest.
std::map<std::string, std::string> identity_of(safetensors::weights_source const& weights);

/// Checks that all processes have opened equal weights, each from its own host's files. All ranks
/// must call it; the first rank of each process reads. Throws `error` with exit code 65 on every
/// rank if the weights differ; the message names both folders, their hosts, and the differences.
void check_same_weights(safetensors::weights_source const& weights, rank_context const& rank);

}  // namespace redco::ckpt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/ckpt/check_same_weights.inl.hpp>
#endif
