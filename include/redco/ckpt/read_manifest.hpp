#pragma once

#include <redco/ckpt/detail/names.hpp>
#include <redco/ckpt/detail/parse_manifest.hpp>
#include <redco/ckpt/detail/whole.hpp>
#include <redco/ckpt/input_file.hpp>
#include <redco/ckpt/manifest.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace redco {

/// Reads the text of a `manifest.json`; `source` names it in messages. Unknown keys are ignored; a key that is missing
/// or of the wrong type, a file name that is a path, parts that overlap or leave a hole, and a newer format are
/// refused: error 65.
inline manifest read_manifest(std::string_view text, std::string const& source) {
  manifest facts = detail::parse_manifest(text, source);
  auto const refuse = [&](std::string const& name, std::string const& why) {
    throw error(exit_code::data, source + " is not a valid manifest: tensor " + detail::shown(name) + " " + why +
                                     ". Resume from another checkpoint.");
  };
  for (auto const& [name, tensor] : facts.tensors) {
    if (std::string const problem = detail::why_not_whole(tensor); !problem.empty()) refuse(name, problem);
    for (tensor_part const& part : tensor.parts) {
      if (!facts.files.contains(part.file)) refuse(name, "needs " + part.file + ", which \"files\" does not list");
    }
  }
  return facts;
}

/// The manifest of the checkpoint in this directory.
inline manifest read_manifest(std::filesystem::path const& directory) {
  std::filesystem::path const path = directory / "manifest.json";
  return read_manifest(input_file(path, links::refused).text(detail::manifest_limits.bytes), path.string());
}

}  // namespace redco
