#pragma once

// Hugging Face folders of classifiers and of base models that get a new head.

#include <redco/pretrained/pretrained.hpp>
#include <redco/model/bert.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

/// A Hugging Face folder as a classifier, with the names of its classes. If the folder has a
/// classifier's weights, its classes stay; otherwise, or if `fresh`, its head starts from nothing.
struct classifier_folder {
  std::vector<std::string> names;
  redco::pretrained_folder folder;

  /// Opens the folder `path`. A new head has the classes `wanted`. Throws `error` with exit code 65
  /// if one output is wanted and the finished classifier has classes, or conversely.
  classifier_folder(std::filesystem::path const& path, std::vector<std::string> const& wanted, bool fresh)
      : names(fresh ? std::vector<std::string>{} : finished(opened(path))),
        folder(names.empty() ? redco::pretrained_folder(path, {.fresh = heads_of(path), .labels = wanted})
                             : redco::pretrained_folder(path)) {
    if (names.empty()) names = wanted;
    if ((names.size() == 1) != (wanted.size() == 1))
      throw redco::error(redco::exit_code::data,
                         path.string() + " has a head with " + std::to_string(names.size()) +
                             (names.size() == 1 ? " output, for regression" : " outputs, for classification") +
                             "; add --new-head, or choose the other --task");
  }

 private:
  /// Opens a folder, and refuses families other than BERT and RoBERTa.
  static redco::pretrained_folder opened(std::filesystem::path const& path) {
    redco::pretrained_folder folder(path);
    folder.visit<std::variant<redco::bert, redco::roberta>>([](auto const&) {});
    return folder;
  }

  /// Returns the names of the classes of a finished classifier; empty for a base model.
  static std::vector<std::string> finished(redco::pretrained_folder const& folder) {
    auto const& tensors = folder.weights().tensors;
    bool const whole = std::any_of(tensors.begin(), tensors.end(),
                                   [](auto const& tensor) { return tensor.first.starts_with("classifier."); });
    if (!whole) return {};
    auto const config = redco::json::read_json(folder.folder() / "config.json");
    std::vector<std::string> names;
    if (auto const labels = config.find("id2label"); labels != config.end() && labels->is_object())
      for (std::size_t i = 0; i < labels->size(); ++i)
        names.push_back(labels->value(std::to_string(i), "LABEL_" + std::to_string(i)));
    if (!names.empty()) return names;
    for (std::size_t i = 0; i < config.value("num_labels", std::size_t{2}); ++i)
      names.push_back("LABEL_" + std::to_string(i));
    return names;
  }

  /// Returns the layers of the folder's model that get new weights: the classifier, and BERT's
  /// pooler if the folder has none.
  static std::vector<std::string> heads_of(std::filesystem::path const& path) {
    redco::pretrained_folder const folder = opened(path);
    bool const pooled = folder.weights().tensors.contains("bert.pooler.dense.weight");
    if (folder.family() == "bert" && !pooled) return {"classifier", "pooler"};
    return {"classifier"};
  }
};
