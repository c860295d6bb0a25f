#pragma once

#include <redco/pretrained/any_stored_names.hpp>
#include <redco/pretrained/detail/first_use.hpp>
#include <redco/pretrained/generation_config.hpp>
#include <redco/pretrained/read_config.hpp>
#include <redco/pretrained/save_model_options.hpp>
#include <redco/pretrained/token_ids.hpp>

#include <redco/model/any_model.hpp>
#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/safetensors/weights_source.hpp>
#include <redco/tokenizer/any_tokenizer.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/type_name.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace redco {

/// Options for reading a model folder.
struct pretrained_options {
  /// Layers that keep their random initialisation: .fresh = {"classifier"}
  std::vector<std::string> fresh = {};
  /// Class names of a classifier that replace those of config.json
  std::vector<std::string> labels = {};
};

/// A Hugging Face model folder. Reads its files and returns the options to save such a folder.
///   redco::pretrained const folder("Qwen2-0.5B");
///   folder.visit<redco::decoders>([&](auto const& model) {  // one program serves every size
///     redco::trainer trainer(deployer, model, lm, redco::adamw{.lr = 5e-5});
///     trainer.start_from(folder.weights());  // then trainer.fit(texts)
///   });
/// Reads config.json in the constructor and other files at first use, once for all threads and
/// copies. Throws `error` with exit code 65 if a file is missing or broken.
class pretrained {
 public:
  /// Opens a folder, or the folder of the given config.json. Throws the errors of `read_config`,
  /// and `error` with exit code 64 for labels of a model without classes.
  explicit pretrained(std::filesystem::path const& path, pretrained_options options = {});

  std::filesystem::path const& folder() const { return folder_; }

  /// Returns model_type of config.json; unused() returns the keys that change neither sizes nor the
  /// computation.
  std::string const& family() const { return config_.family; }
  std::vector<std::string> const& unused() const { return config_.unused; }

  /// Returns the model, for a program that expects the type M. Throws `error` with exit code 65 if
  /// the folder describes another model.
  template <redco::model M>
  M const& model() const {
    if (M const* const found = std::get_if<M>(&config_.model)) return *found;
    refuse({name_of_model<M>()});
  }

  /// Calls `use` with the model, which must be a type of the std::variant `Models`, and returns the
  /// result of `use`. Throws `error` with exit code 65 for any other model and names the accepted
  /// types.
  template <class Models = any_model, class Use>
  auto visit(Use&& use) const {
    return visit_of(std::forward<Use>(use), static_cast<Models const*>(nullptr));
  }

  /// Returns log lines that name the keys, tensors and files without effect in redco.
  std::vector<std::string> notices() const;

  /// Returns the safetensors files, for `trainer::start_from`, `inference` and `load_model`.
  /// Tensors have the names of the full transformers model. Layers in `fresh` are not loaded.
  safetensors::weights_source const& weights() const;

  /// Returns the folder's tokenizer. Throws `error` with exit code 65 if its files are missing, and
  /// the errors of `read_tokenizer`.
  any_tokenizer const& tokenizer() const;

  /// Returns the ids of each text for training. Appends the folder's first end id, if there is one,
  /// to texts that do not already end in an end id.
  std::vector<std::vector<std::int64_t>> encoded(std::span<std::string const> texts) const;

  /// Returns the ids that end, pad and begin texts. generation() returns all decoding settings and,
  /// unlike ids(), throws `error` with exit code 65 for settings that redco does not compute.
  token_ids const& ids() const;
  generation_config const& generation() const;

  /// Returns the options with which `trainer::save_model` writes a folder like this one. Each
  /// tensor keeps the type of this folder's weights, if the folder has weights. The folder's other
  /// files are copied; config.json gets the new labels and the class of a fresh head. Set `type`
  /// for another type, such as f32 to train further without rounding.
  save_model_options save_options() const;

 private:
  template <redco::model M>
  static std::string name_of_model() {
    return std::string(meta::type_name<M>().substr(std::string_view("redco::").size()));
  }

  template <class Use, class First, class... Others>
  auto visit_of(Use&& use, std::variant<First, Others...> const*) const {
    using result = std::invoke_result_t<Use&, First const&>;
    return std::visit(
        [&]<class M>(M const& model) -> result {
          if constexpr ((std::is_same_v<M, First> || ... || std::is_same_v<M, Others>)) {
            return use(model);
          } else {
            refuse({name_of_model<First>(), name_of_model<Others>()...});
          }
        },
        config_.model);
  }

  stored_table table() const;

  /// Returns config.json with the class and the labels of the head, or nullopt if the file already
  /// contains both.
  std::optional<std::string> config_text() const;

  /// Returns the path of generation_config.json, or of config.json if the folder has no
  /// generation_config.json.
  std::filesystem::path generation_file() const;

  /// Throws `error` with exit code 65: the folder's model is none of the accepted types.
  [[noreturn]] void refuse(std::vector<std::string> const& taken) const;

  std::filesystem::path folder_, config_file_;
  pretrained_options options_;
  configured config_;
  detail::first_use<safetensors::weights_source> weights_;
  detail::first_use<any_tokenizer> tokenizer_;
  detail::first_use<token_ids> ids_;
  detail::first_use<generation_config> generation_;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/pretrained/pretrained.inl.hpp>
#endif
