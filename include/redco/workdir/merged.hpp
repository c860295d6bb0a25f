#pragma once

#include <redco/workdir/detail/parse_manifest.hpp>
#include <redco/workdir/detail/whole.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/safetensors/names.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <utility>
#include <vector>

namespace redco::workdir {

/// Adds the tensors and files in one rank's manifest (`share`) to `facts`, which has those of the
/// ranks before. Throws `error` with exit code 70 if ranks disagree about a tensor's dtype or
/// shape.
inline void merge(manifest& facts, manifest const& share) {
  facts.files.insert(share.files.begin(), share.files.end());
  for (auto const& [name, tensor] : share.tensors) {
    auto const [place, added] = facts.tensors.try_emplace(name, tensor);
    if (added) continue;
    if (place->second.type != tensor.type || place->second.shape != tensor.shape) {
      throw error(exit_code::internal, "ranks disagree about the dtype or the shape of tensor " +
                                           safetensors::shown(name) + ". Build the state alike on all of them.");
    }
    place->second.parts.insert(place->second.parts.end(), tensor.parts.begin(), tensor.parts.end());
  }
}

/// Merges the manifests that the ranks have written (`shares`, as texts) into one, with the tensors
/// and files of all ranks. Throws `error` with exit code 70 if ranks disagree about a tensor's
/// dtype or shape.
inline manifest put_together(std::vector<std::string> const& shares) {
  manifest all;
  for (std::string const& share : shares) merge(all, detail::parse_manifest(share, "a rank's share"));
  return all;
}

/// Returns the manifest of a checkpoint: `facts` about the run, plus the tensors and files in the
/// ranks' manifests (`shares`, as texts). Throws `error` with exit code 70 if the ranks' parts of a
/// tensor overlap or do not cover it.
inline manifest merged(manifest facts, std::vector<std::string> const& shares) {
  manifest all = put_together(shares);
  facts.tensors = std::move(all.tensors);
  facts.files = std::move(all.files);
  for (auto const& [name, tensor] : facts.tensors) {
    if (std::string const problem = detail::why_not_whole(tensor); !problem.empty()) {
      throw error(exit_code::internal, "tensor " + safetensors::shown(name) + " cannot be saved: it " + problem +
                                           ". Let each element have one owner among the ranks.");
    }
  }
  return facts;
}

}  // namespace redco::workdir
