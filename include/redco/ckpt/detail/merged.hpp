#pragma once

#include <redco/ckpt/detail/parse_manifest.hpp>
#include <redco/ckpt/detail/whole.hpp>
#include <redco/ckpt/manifest.hpp>
#include <redco/safetensors/names.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <vector>

namespace redco::detail {

/// Adds the tensors and files of a rank to those of the ranks before. Error 70 when ranks disagree about a tensor.
inline void merge(manifest& facts, manifest const& share) {
  facts.files.insert(share.files.begin(), share.files.end());
  for (auto const& [name, tensor] : share.tensors) {
    auto const [place, added] = facts.tensors.try_emplace(name, tensor);
    if (added) continue;
    if (place->second.type != tensor.type || place->second.shape != tensor.shape) {
      throw error(exit_code::internal, "ranks disagree about the dtype or the shape of tensor " + shown(name) +
                                           ". Build the state alike on all of them.");
    }
    place->second.parts.insert(place->second.parts.end(), tensor.parts.begin(), tensor.parts.end());
  }
}

/// The manifest of a checkpoint: the facts of the run and the text of what every rank wrote. Error 70 when a tensor is
/// not whole.
inline manifest merged(manifest facts, std::vector<std::string> const& shares) {
  facts.tensors.clear();
  facts.files.clear();
  for (std::string const& share : shares) merge(facts, parse_manifest(share, "a rank's share"));
  for (auto const& [name, tensor] : facts.tensors) {
    if (std::string const problem = why_not_whole(tensor); !problem.empty()) {
      throw error(exit_code::internal, "tensor " + shown(name) + " cannot be saved: it " + problem +
                                           ". Let each element have one owner among the ranks.");
    }
  }
  return facts;
}

}  // namespace redco::detail
