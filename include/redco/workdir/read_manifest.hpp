#pragma once

#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/detail/manifest_seal.hpp>
#include <redco/workdir/detail/parse_manifest.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/safetensors/safetensors_reader.hpp>
#include <redco/safetensors/tensor_table.hpp>
#include <redco/safetensors/xxh64.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::workdir::detail {

/// Largest accepted number of parts of a tensor. No mesh makes as many, and the check that compares
/// each part with each other part is still fast.
inline constexpr std::size_t most_parts = 4096;

/// Returns the reason why a tensor's parts do not cover each of its elements exactly once, or an
/// empty text if they do. Requires that the tensor's number of bytes fits into 63 bits.
inline std::string why_not_whole(safetensors::stored_tensor const& tensor) {
  if (tensor.parts.size() > most_parts) return "has more than " + std::to_string(most_parts) + " parts";
  std::int64_t covered = 0;
  for (std::size_t i = 0; i < tensor.parts.size(); ++i) {
    safetensors::box const part{tensor.parts[i].offset, tensor.parts[i].shape};
    if (!safetensors::inside(part, tensor.shape)) return "reaches outside the tensor with part " + std::to_string(i);
    for (std::size_t j = 0; j < i; ++j) {
      if (safetensors::intersect(part, {tensor.parts[j].offset, tensor.parts[j].shape}))
        return "has parts " + std::to_string(j) + " and " + std::to_string(i) + " that overlap";
    }
    covered += safetensors::count_of(part.shape);
  }
  if (covered != safetensors::count_of(tensor.shape))
    return "leaves " + std::to_string(safetensors::count_of(tensor.shape) - covered) + " elements without a part";
  return "";
}

}  // namespace redco::workdir::detail

namespace redco::workdir {

/// Returns the manifest in the text of a `manifest.json`; `source` names the text in error
/// messages. Ignores unknown keys. Throws `error` with exit code 65 for a newer format, a wrong
/// hash, a missing key, or a value of a wrong type. Also throws it if a file name is a path, or if
/// parts overlap or do not cover a tensor. Format 1 has no hash, but all other checks apply.
inline manifest read_manifest(std::string_view text, std::string const& source) {
  auto const invalid = [&](std::string const& why) {
    throw error(exit_code::data, source + " is not a valid manifest: " + why + ". Resume from another checkpoint.");
  };
  detail::seal_state const seal = detail::seal_of(text);
  if (seal == detail::seal_state::broken) invalid("its XXH64 is not the one at its end");
  manifest facts = detail::parse_manifest(text, source);
  if (facts.format > 1 && seal == detail::seal_state::absent) invalid("it does not end with its XXH64");
  if (facts.epoch_position > facts.data.examples) invalid("\"epoch_position\" is beyond the examples of an epoch");
  auto const refuse = [&](std::string const& name, std::string const& why) {
    invalid("tensor " + safetensors::shown(name) + " " + why);
  };
  for (auto const& [name, tensor] : facts.tensors) {
    if (std::string const problem = detail::why_not_whole(tensor); !problem.empty()) refuse(name, problem);
    for (safetensors::tensor_part const& part : tensor.parts) {
      if (!facts.files.contains(part.file)) refuse(name, "needs " + part.file + ", which \"files\" does not list");
    }
  }
  return facts;
}

/// Returns the manifest in a checkpoint's folder. Throws `error` with exit code 65 if the manifest
/// is invalid, or if its step is not n in a folder named step_<n>.
inline manifest read_manifest(std::filesystem::path const& directory) {
  std::filesystem::path const path = directory / "manifest.json";
  manifest facts =
      read_manifest(diag::input_file(path, diag::links::refused).text(detail::manifest_limits.bytes), path.string());
  auto const named = checkpoint_names::step_of(directory.filename().string());
  if (named && *named != facts.step)
    throw error(exit_code::data, path.string() + " says step " + std::to_string(facts.step) +
                                     ", which its directory is not named for. Resume from another checkpoint.");
  return facts;
}

/// Reads and returns a checkpoint's manifest, and checks that the checkpoint's files match it:
/// their sizes, their headers and, if `verify` is true, the hash of all bytes. Throws `error` with
/// exit code 65 and the name of a wrong file, or with 74 if the system cannot read a file.
inline manifest check_checkpoint(std::filesystem::path const& directory, bool verify = true) {
  manifest facts = read_manifest(directory);
  auto const damaged = [&](std::string const& name, std::string const& why) {
    throw error(exit_code::data,
                (directory / name).string() + " is damaged: " + why + ". Resume from another checkpoint.");
  };
  std::map<std::string, safetensors::safetensors_reader> files;
  for (auto const& [name, file] : facts.files) {
    diag::input_file const content(directory / name, diag::links::refused);
    if (content.size() != file.bytes)
      damaged(name,
              "it has " + std::to_string(content.size()) + " bytes, the manifest says " + std::to_string(file.bytes));
    if (verify && safetensors::xxh64::of(content) != file.xxh64)
      damaged(name, "its XXH64 is not the manifest's " + safetensors::xxh64::text_of(file.xxh64));
    files.try_emplace(name, directory / name, diag::links::refused);
  }
  for (auto const& [name, tensor] : facts.tensors) {
    for (safetensors::tensor_part const& part : tensor.parts)
      safetensors::check_entry(files.at(part.file), part.name.empty() ? name : part.name, tensor.type, part.shape);
  }
  return facts;
}

/// Adds the tensors and files in one rank's manifest (`share`) to `facts`, which has those of the
/// ranks before. Throws `error` with exit code 70 if ranks disagree about a tensor's dtype or
/// shape.
inline void merge(manifest& facts, manifest const& share) {
  facts.files.insert(share.files.begin(), share.files.end());
  for (auto const& [name, tensor] : share.tensors) {
    auto const [known, added] = facts.tensors.try_emplace(name, tensor);
    if (added) continue;
    if (known->second.type != tensor.type || known->second.shape != tensor.shape) {
      throw error(exit_code::internal, "ranks disagree about the dtype or the shape of tensor " +
                                           safetensors::shown(name) + ". Build the state alike on all of them.");
    }
    known->second.parts.insert(known->second.parts.end(), tensor.parts.begin(), tensor.parts.end());
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
