#pragma once

#include <redco/model/any_model.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace redco::pretrained {

/// A model that a config.json describes, with further information from the file.
struct configured {
  models::any_model model;
  std::string family;        ///< Value of the key model_type in the config.json
  std::string architecture;  ///< Name of the transformers class with an equal computation
  /// Keys of the config.json that change neither sizes nor the computation.
  std::vector<std::string> unused;
};

/// Returns the model that a Hugging Face config.json describes. Throws `error` with exit code 65
/// for keys that are missing, unknown, contradictory, out of range or not supported; the message
/// names the key.
configured read_config(std::filesystem::path const& file);

}  // namespace redco::pretrained

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/pretrained/read_config.inl.hpp>
#endif
