#pragma once

#include <redco/workdir/manifest.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/safetensors/check_entry.hpp>
#include <redco/safetensors/safetensors_reader.hpp>
#include <redco/safetensors/xxh64.hpp>

#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace redco::workdir {

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
      safetensors::check_entry(files.at(part.file), name, tensor.type, part.shape);
  }
  return facts;
}

}  // namespace redco::workdir
