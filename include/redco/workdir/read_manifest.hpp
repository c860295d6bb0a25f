#pragma once

#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/detail/manifest_seal.hpp>
#include <redco/workdir/detail/parse_manifest.hpp>
#include <redco/workdir/detail/whole.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/safetensors/names.hpp>

#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>

#include <filesystem>
#include <string>
#include <string_view>

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

}  // namespace redco::workdir
