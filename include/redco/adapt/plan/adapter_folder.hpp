#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/safetensors/weights_source.hpp>
#include <redco/adapt/plan/adapter_location.hpp>
#include <redco/adapt/plan/lora_options.hpp>
#include <redco/adapt/plan/with_lora.hpp>

#include <filesystem>
#include <span>
#include <string>

namespace redco::adapt {

/// Returns the text of PEFT's file adapter_config.json. `locations`: positions of the adapters'
/// tensors in PEFT's file.
std::string adapter_config_text(lora_options const& adapters, std::span<adapter_location const> locations,
                                save_adapter_options const& options);

inline constexpr char const* adapter_config_name = "adapter_config.json";
inline constexpr char const* adapter_weights_name = "adapter_model.safetensors";

}  // namespace redco::adapt

namespace redco {

/// A folder in which PEFT (Mangrulkar et al. 2022) has saved a LoRA. Throws `error` with exit code
/// 65 if a file is missing or broken, or needs an unsupported feature (listed in README.md).
///
///   redco::adapter_folder const adapter("my-lora");
///   auto const model = adapter.model(folder.model<redco::llama>());
///   redco::trainer trainer(deployer, model, lm, redco::adamw{.lr = 1e-4});
///   trainer.start_from(folder);
///   trainer.start_from(adapter);
class adapter_folder {
 public:
  /// Opens the folder at `path`.
  explicit adapter_folder(std::filesystem::path const& path);

  /// Returns the adapters' options. `names`: the frozen model's weights under Hugging Face's names.
  /// The targets are the shortest suffixes of the weight paths that name exactly the adapted
  /// weights. Throws `error` with exit code 65 if the file adapts a module that the model lacks, or
  /// has a tensor that belongs to no plain LoRA.
  lora_options options(std::span<models::stored_name const> names) const;

  /// Returns the model `frozen` with the folder's adapters. Throws the errors of options().
  template <model M>
  with_lora<M> model(M const& frozen) const {
    return {{frozen.config, options(models::stored_names_of(frozen))}};
  }

  safetensors::weights_source const& weights() const { return weights_; }

 private:
  std::filesystem::path folder_;
  lora_options read_;
  safetensors::weights_source weights_;
};

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/adapt/plan/adapter_folder.inl.hpp>
#endif
