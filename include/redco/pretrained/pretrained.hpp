#pragma once

#include <redco/pretrained/any_stored_names.hpp>
#include <redco/pretrained/generation_config.hpp>
#include <redco/pretrained/save_model_options.hpp>
#include <redco/model/any_model.hpp>
#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/data/read_conversations.hpp>
#include <redco/safetensors/weights_source.hpp>
#include <redco/tokenizer/chat_template.hpp>
#include <redco/tokenizer/tokenizer.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/type_name.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace redco::pretrained::detail {

/// A value that is computed when it is first used, once for all threads. Copies of the object share
/// the value.
template <class T>
class first_use {
 public:
  /// Returns the shared value. The first call computes it by `make()`. If `make` throws, the
  /// exception propagates, and the next call computes the value again.
  template <class Make>
  T const& get(Make const& make) const {
    std::lock_guard const lock(held_->mutex);
    if (!held_->value) held_->value.emplace(make());
    return *held_->value;
  }

 private:
  struct held {
    std::mutex mutex;
    std::optional<T> value;
  };
  std::shared_ptr<held> held_ = std::make_shared<held>();
};

/// Token ids that several threads collect, each once. Copies of the object share the ids.
class collected_ids {
 public:
  void add(std::int64_t id) const {
    std::lock_guard const lock(held_->mutex);
    if (std::find(held_->ids.begin(), held_->ids.end(), id) == held_->ids.end()) held_->ids.push_back(id);
  }
  std::vector<std::int64_t> ids() const {
    std::lock_guard const lock(held_->mutex);
    return held_->ids;
  }

 private:
  struct held {
    std::mutex mutex;
    std::vector<std::int64_t> ids;
  };
  std::shared_ptr<held> held_ = std::make_shared<held>();
};

}  // namespace redco::pretrained::detail

namespace redco::pretrained {

/// A model that a config.json describes, with further information from the file.
struct configured {
  models::any_model model;
  std::string family;        ///< Value of the key model_type in the config.json
  std::string architecture;  ///< Name of the transformers class with an equal computation
  /// Keys of the config.json that change neither sizes nor the computation.
  std::vector<std::string> unused;
  /// Reason for which redco can run the model but not train it; empty: redco can train it.
  std::string untrainable = {};
};

/// Returns the model that a Hugging Face config.json, `file`, describes. Throws `error` with exit
/// code 65 for keys that are missing, unknown, contradictory, out of range or not supported; the
/// message names the key.
configured read_config(std::filesystem::path const& file);

}  // namespace redco::pretrained

namespace redco {

/// A set of options for reading a Hugging Face model folder.
struct pretrained_options {
  /// Names of layers that keep their random initial values instead of being loaded: .fresh =
  /// {"classifier"}.
  std::vector<std::string> fresh = {};
  /// Names of a classifier's classes, which replace the names in config.json.
  std::vector<std::string> labels = {};
};

/// A Hugging Face model folder.
///   redco::pretrained_folder const folder("Qwen2-0.5B");
///   folder.visit<redco::models::decoders>([&](auto const& model) {  // of any size
///     redco::trainer trainer(deployer, model, lm, redco::adamw{.lr = 5e-5});
///     trainer.start_from(folder.weights());  // then trainer.fit(texts)
///   });
/// The constructor reads config.json. Other files are read at first use, once for all threads and
/// copies. Throws `error` with exit code 65 if a file is missing or broken.
class pretrained_folder {
 public:
  /// Opens a model folder. `path` is the folder or its config.json. Throws the errors of
  /// `read_config`, and `error` with exit code 64 if `options.labels` is set and the model has no
  /// classes.
  explicit pretrained_folder(std::filesystem::path const& path, pretrained_options options = {});

  std::filesystem::path const& folder() const { return folder_; }

  /// Returns the value of the key model_type in config.json, such as "gpt2". unused() returns the
  /// keys that change neither sizes nor the computation.
  std::string const& family() const { return config_.family; }
  std::vector<std::string> const& unused() const { return config_.unused; }

  /// Returns the folder's model, for a program that expects the model type `M`. Throws `error` with
  /// exit code 65 if the folder contains a model of another type.
  template <redco::model M>
  M const& model() const {
    if (M const* const found = std::get_if<M>(&config_.model)) return *found;
    refuse({name_of_model<M>()});
  }

  /// Calls `use` with the folder's model, whose type must be one of the std::variant `Models`, and
  /// returns the result of `use`. Throws `error` with exit code 65, and names the accepted types,
  /// for a model of any other type.
  template <class Models = models::any_model, class Use>
  auto visit(Use&& use) const {
    return visit_of(std::forward<Use>(use), static_cast<Models const*>(nullptr));
  }

  /// Throws `error` with exit code 65 if redco computes the model's outputs but not the loss with
  /// which config.json trains it. trainer::start_from calls it.
  void check_trainable() const;

  /// Returns lines for a log that name the keys, tensors and files of the folder that have no
  /// effect in redco. Also names tokens that end encoded answers and do not stop generation.
  std::vector<std::string> notices() const;

  /// Returns the weights in the folder's safetensors files, for `trainer::start_from`, `inference`
  /// and `load_model`. Tensors have the names of the full transformers model. Layers listed in the
  /// option `fresh` are not loaded.
  safetensors::weights_source const& weights() const;

  /// Returns the folder's tokenizer. Throws `error` with exit code 65 if the tokenizer's files are
  /// missing, and the errors of `read_tokenizer`.
  tokenizer::any_tokenizer const& tokenizer() const;

  /// Returns the token ids of each text, for training. If the folder has ids that end a text, each
  /// text ends with exactly one end token, as tokenizer::ended appends it.
  std::vector<std::vector<std::int64_t>> encoded(std::span<std::string const> texts) const;

  /// Returns the folder's chat template. Throws the errors of tokenizer::chat_template.
  tokenizer::chat_template const& chat_template() const;

  /// Returns the token ids of each conversation with its answers marked, for training. The chat
  /// template surrounds conversations with roles. A prompt and a completion that are texts are
  /// joined, after the id that begins a text and before exactly one id that ends one, if the folder
  /// has them. Throws the errors of chat_template() and of its `marked_text`.
  std::vector<tokenizer::marked_ids> encoded(std::span<data::conversation const> conversations) const;

  /// Returns the ids of the tokens that end, pad and begin texts. generation() returns all decoding
  /// settings and, unlike ids(), throws `error` with exit code 65 for settings that redco does not
  /// support.
  pretrained::token_ids const& ids() const;
  pretrained::generation_config const& generation() const;

  /// Returns the options with which `trainer::save_model` writes a folder like this one. Each
  /// tensor keeps the type that it has in this folder, if there are weights. The folder's other
  /// files are copied; config.json gets the labels and the class of a head that was not loaded, and
  /// generation_config.json the end tokens of the answers that were encoded before. Set the member
  /// `type` of the result to save in another type, such as f32 to continue training.
  save_model_options save_options() const;

 private:
  template <redco::model M>
  static std::string name_of_model() {
    std::string_view const type = meta::type_name<M>();
    return std::string(type.substr(type.rfind(':') + 1));
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

  models::stored_table table() const;

  /// Returns the text of config.json with the class and the labels of the model's head inserted, or
  /// nullopt if the file already contains both.
  std::optional<std::string> config_text() const;

  /// Returns the ids that end encoded answers and are no end ids of the folder. `special`: the
  /// special tokens among them, or the others.
  std::vector<std::int64_t> learned_ends(bool special) const;

  /// Returns the text of generation_config.json with the learned end tokens inserted, or nullopt if
  /// there are none.
  std::optional<std::string> generation_text() const;

  /// Returns the path of the folder's generation_config.json, or of config.json if there is no
  /// generation_config.json.
  std::filesystem::path generation_file() const;

  /// Throws `error` with exit code 65, because the folder's model has none of the accepted types
  /// `taken`.
  [[noreturn]] void refuse(std::vector<std::string> const& taken) const;

  std::filesystem::path folder_, config_file_;
  pretrained_options options_;
  pretrained::configured config_;
  pretrained::detail::first_use<safetensors::weights_source> weights_;
  pretrained::detail::first_use<tokenizer::any_tokenizer> tokenizer_;
  pretrained::detail::first_use<tokenizer::chat_template> chat_template_;
  pretrained::detail::first_use<pretrained::token_ids> ids_;
  pretrained::detail::first_use<pretrained::generation_config> generation_;
  pretrained::detail::collected_ids answer_ends_;
};

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/pretrained/pretrained.inl.hpp>
#endif
