#pragma once

// A folder of reference numbers and the tolerances for comparing with them.

#include <redco/ckpt/read_parts.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/safetensors/safetensors_reader.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/shape/mesh.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace parity {

using tensors = std::map<std::string, at::Tensor, std::less<>>;

inline tensors read_all(std::filesystem::path const& path) {
  redco::safetensors::safetensors_reader const file(path);
  tensors all;
  for (redco::safetensors::safetensors_entry const& entry : file.entries()) {
    at::Tensor const value = at::empty(entry.shape, redco::ckpt::scalar_type_of(entry.type));
    std::vector<std::int64_t> const corner(entry.shape.size(), 0);
    file.read(entry.name, {corner, entry.shape}, redco::ckpt::detail::bytes_of(value), entry.shape, corner);
    all[entry.name] = value;
  }
  return all;
}

class folder {
 public:
  explicit folder(std::filesystem::path const& where)
      : path(where),
        inputs(read_all(where / "inputs.safetensors")),
        expected(read_all(where / "expected.safetensors")),
        config(redco::json::read_json(where / "config.json")),
        meta(redco::json::read_json(where / "meta.json")),
        generation(std::filesystem::exists(where / "generation_config.json")
                       ? redco::json::read_json(where / "generation_config.json")
                       : redco::json::json_value::object()) {}

  std::filesystem::path path;
  /// Folder for the model that is saved again; empty: a temporary folder
  std::filesystem::path keep = {};
  /// Layers that start fresh; the model is then saved and not compared
  std::vector<std::string> fresh = {};
  tensors inputs, expected;
  redco::json::json_value config, meta, generation;

  redco::adamw optimizer() const {
    auto const& a = meta["adamw"];
    redco::adamw result;
    result.lr = a["lr"].get<double>();
    result.beta1 = a["betas"][0].get<double>();
    result.beta2 = a["betas"][1].get<double>();
    result.eps = a["eps"].get<double>();
    result.weight_decay = a["weight_decay"].get<double>();
    result.decay_all = true;
    return result;
  }

  std::int64_t generation_id(char const* key, std::int64_t otherwise = -1) const {
    return generation.contains(key) && generation[key].is_number() ? generation[key].get<std::int64_t>() : otherwise;
  }

  std::vector<std::int64_t> end_ids() const {
    auto const& ends = generation["eos_token_id"];
    if (ends.is_array()) return ends.get<std::vector<std::int64_t>>();
    return {ends.get<std::int64_t>()};
  }

  void expect_ids(std::string const& name, at::Tensor const& found) const {
    note(found.equal(expected.at(name)), name + " are other ids than the reference's");
  }

  void expect_scores(std::string const& name, at::Tensor const& found) const {
    double const worst = (found - expected.at(name)).abs().max().item<double>();
    note(worst <= tolerance("scores_atol"), name + " differ by " + std::to_string(worst));
  }

  void expect_loss(std::string const& name, double found) const {
    double const wanted = expected.at(name).item<double>();
    note(std::abs(found - wanted) <= tolerance("loss_rtol") * std::abs(wanted),
         name + " is " + std::to_string(found) + ", the reference's " + std::to_string(wanted));
  }

  /// Compares logits. `seen` [B, T] is true at positions that count; undefined: all count.
  void expect_logits(at::Tensor const& found, at::Tensor const& wanted, at::Tensor const& seen) const {
    at::Tensor off = (found - wanted).abs();
    if (seen.defined()) off = off.masked_fill(seen.logical_not().unsqueeze(-1), 0);
    double const worst = off.max().item<double>();
    note(worst <= tolerance("logits_atol"), "logits differ by " + std::to_string(worst));
  }

  void expect_gradient(std::string const& name, at::Tensor const& found, at::Tensor const& wanted,
                       double largest) const {
    if (found.numel() == 0) return;
    double const worst = (found - wanted).abs().max().item<double>();
    note(worst <= tolerance("grad_rtol_of_max") * largest + tolerance("grad_atol"),
         "the gradient of " + name + " differs by " + std::to_string(worst) + ", its largest is " +
             std::to_string(largest));
  }

  /// Records a complaint if another condition does not hold.
  void expect(bool fits, std::string const& complaint) const { note(fits, complaint); }

  /// All complaints; empty if everything agreed.
  std::vector<std::string> const& complaints() const { return complaints_; }
  int compared() const { return compared_; }

 private:
  double tolerance(char const* name) const { return meta["tolerances"][name].get<double>(); }

  void note(bool fits, std::string const& complaint) const {
    std::lock_guard const lock(mutex_);
    ++compared_;
    if (!fits) complaints_.push_back(complaint);
  }

  mutable std::mutex mutex_;
  mutable int compared_ = 0;
  mutable std::vector<std::string> complaints_;
};

/// A family unchanged, or wrapped in `redco::models::sequence_parallel`.
enum class form { plain, sequence_parallel };

/// A function that compares a folder on a mesh with the results of a family.
using comparison = void (*)(folder const& data, redco::mesh const& on, form as);
/// Comparisons of all families by model_type. Each is compiled in a file of its own.
std::map<std::string, comparison, std::less<>>& families();

}  // namespace parity
