#pragma once

#include <redco/comm/rank_context.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <map>
#include <string>

namespace redco::ckpt {

/// Returns the values by which folders of weights differ, by name: the dtype, shape, file and place
/// of each tensor with a digest of its first values, each key of config.json, and a digest of each
/// other file of a model's folder.
std::map<std::string, std::string> identity_of(safetensors::weights_source const& weights);

/// Compares the weights of ranks that are in several processes, each of which has opened its own
/// host's files. All ranks call it; the first rank of each process reads. Errors: exit code 65, on
/// every rank, naming both folders and hosts and what differs.
void check_same_weights(safetensors::weights_source const& weights, rank_context const& rank);

}  // namespace redco::ckpt

#ifndef REDCO_COMPILED
#include <redco/ckpt/check_same_weights.inl.hpp>
#endif
