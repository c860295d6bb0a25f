#pragma once

#include <redco/model/any_model.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace redco {

/// A model read from a config.json, with the family and the keys of the file.
struct configured {
  any_model model;
  std::string family;               ///< model_type of the config.json
  std::string architecture;         ///< class of transformers with an equal computation
  std::vector<std::string> unused;  ///< keys that change neither sizes nor the computation
};

/// Returns the model that a Hugging Face config.json describes. Throws `error` with exit code 65
/// for keys that are missing, unknown, contradictory, out of range or not supported; the message
/// names the key.
configured read_config(std::filesystem::path const& file);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/pretrained/read_config.inl.hpp>
#endif
