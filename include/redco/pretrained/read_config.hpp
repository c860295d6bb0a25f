#pragma once

#include <redco/model/any_model.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace redco {

/// What a config.json describes.
struct configured {
  any_model model;
  std::string family;               ///< its model_type
  std::string architecture;         ///< the class of transformers that computes the same
  std::vector<std::string> unused;  ///< keys that change neither sizes nor what is computed
};

/// The model of a Hugging Face config.json. Errors: exit code 65 for what is missing, unknown, contradictory, absurd or not
/// supported, naming the key.
configured read_config(std::filesystem::path const& file);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/pretrained/read_config.inl.hpp>
#endif
