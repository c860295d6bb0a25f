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

/// Options for reading a folder.
struct pretrained_options {
  std::vector<std::string> fresh = {};   ///< layers that start as in a training from scratch: .fresh = {"classifier"}
  std::vector<std::string> labels = {};  ///< names of a classifier's classes, instead of those of config.json
};

/// A model's folder as Hugging Face transformers keep it: what its files mean, and how such a folder is saved again.
///
///   redco::pretrained const folder("Qwen2-0.5B");
///   folder.visit<redco::decoders>([&](auto const& model) {  // one compiled program for every size of each
///     redco::trainer trainer(deployer, model, lm, redco::adamw{.lr = 5e-5});
///     trainer.start_from(folder.weights());
///     trainer.fit(texts);  // lm encodes them by folder.tokenizer()
///     trainer.save_model("run/model", folder.save_options());
///   });
///
/// config.json is read at once, any other file when it is first asked for, once for all threads and copies. Errors: exit code
/// 65 for a file that is missing or broken, with its name, what is wrong and what to do.
class pretrained {
 public:
  /// The folder, or the file in it that is its config.json. Errors: those of `read_config`; exit
  /// code 64 for labels of a model without classes.
  explicit pretrained(std::filesystem::path const& path, pretrained_options options = {});

  std::filesystem::path const& folder() const { return folder_; }

  /// model_type of config.json, and its keys that change neither sizes nor what is computed.
  std::string const& family() const { return config_.family; }
  std::vector<std::string> const& unused() const { return config_.unused; }

  /// The model, where the program knows which it is. Errors: exit code 65 naming the one that the folder describes.
  template <redco::model M>
  M const& model() const {
    if (M const* const found = std::get_if<M>(&config_.model)) return *found;
    refuse({name_of_model<M>()});
  }

  /// Calls `use` with the model, one of the std::variant `Models`, and returns what it returns. Errors: exit code 65 for
  /// another, naming those that are taken.
  template <class Models = any_model, class Use>
  auto visit(Use&& use) const {
    return visit_of(std::forward<Use>(use), static_cast<Models const*>(nullptr));
  }

  /// Lines for a log: keys, tensors and files that change nothing here.
  std::vector<std::string> notices() const;

  /// The safetensors files, for `trainer::start_from`, `inference` and `load_model`. Tensors have
  /// the names that transformers give them in the whole model; layers that are `fresh` keep the
  /// values that they start with.
  safetensors::weights_source const& weights() const;

  /// Errors besides 65 for what is missing: those of `read_tokenizer`.
  any_tokenizer const& tokenizer() const;

  /// Returns the ids of each text to learn from. A text without an end gets the folder's first end
  /// id, if there is one; a text that the tokenizer's template, or its author, has ended keeps that
  /// end.
  std::vector<std::vector<std::int64_t>> encoded(std::span<std::string const> texts) const;

  /// Ids with which texts end, are padded and begin, and all of how the folder says that it should be decoded: a setting that
  /// is not computed here is refused by the second only.
  token_ids const& ids() const;
  generation_config const& generation() const;

  /// Returns the options with which `trainer::save_model` writes such a folder. Each tensor keeps
  /// the type of this folder's weights, if there are any. The files of this folder are copied;
  /// config.json gets the labels and the class of a fresh head. Set `type` for another type, such
  /// as f32 to train further without rounding.
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

  /// config.json with the class and the labels of the head; nothing where it tells these already.
  std::optional<std::string> config_text() const;

  /// generation_config.json, or config.json where there is none.
  std::filesystem::path generation_file() const;

  /// Errors: that the folder's model is none of those that are taken.
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
