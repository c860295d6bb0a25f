#pragma once

#include <redco/workdir/detail/manifest_seal.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/safetensors/xxh64.hpp>

#include <redco/diag/error.hpp>

#include <cereal/archives/json.hpp>
#include <cereal/cereal.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace redco::workdir::detail {

// Views that define how cereal writes a manifest in format 2. Reading a manifest is strict and does
// not use cereal.

/// A serializer that writes a map as a JSON object with the map's keys, for the manifest. `View`
/// serializes a value.
template <class Map, class View>
struct keyed_view {
  Map const& map;

  template <class Archive>
  void save(Archive& archive) const {
    for (auto const& [name, value] : map) archive(cereal::make_nvp(name.c_str(), View{value}));
  }
};

struct text_view {
  std::string const& text;

  std::string save_minimal(auto const&) const { return text; }
};

/// A serializer that writes a metric's best value as the JSON list `[value, step]`, for the
/// manifest.
struct best_view {
  manifest::best_value const& best;

  template <class Archive>
  void save(Archive& archive) const {
    archive(cereal::make_size_tag(static_cast<cereal::size_type>(2)), best.value, best.step);
  }
};

struct file_view {
  manifest::file_facts const& file;

  template <class Archive>
  void save(Archive& archive) const {
    archive(cereal::make_nvp("bytes", file.bytes), cereal::make_nvp("xxh64", safetensors::xxh64::text_of(file.xxh64)));
  }
};

struct part_view {
  safetensors::tensor_part const& part;

  template <class Archive>
  void save(Archive& archive) const {
    archive(cereal::make_nvp("file", part.file), cereal::make_nvp("offset", part.offset),
            cereal::make_nvp("shape", part.shape));
    if (!part.name.empty()) archive(cereal::make_nvp("name", part.name));
  }
};

struct tensor_view {
  safetensors::stored_tensor const& tensor;

  template <class Archive>
  void save(Archive& archive) const {
    std::vector<part_view> parts;
    for (safetensors::tensor_part const& part : tensor.parts) parts.push_back({part});
    archive(cereal::make_nvp("dtype", std::string(safetensors::name_of(tensor.type))),
            cereal::make_nvp("shape", tensor.shape), cereal::make_nvp("parts", parts));
  }
};

/// A serializer that writes a mesh as a JSON object, for the manifest. The size of the axis tp has
/// the key `mp`, as in the first format. The axes pp, ds, ep and cp are written only if they have
/// more than one rank.
struct mesh_view {
  mesh const& of;

  template <class Archive>
  void save(Archive& archive) const {
    archive(cereal::make_nvp("dp", of.dp), cereal::make_nvp("mp", of.tp));
    if (of.pp > 1) archive(cereal::make_nvp("pp", of.pp));
    if (of.ds > 1) archive(cereal::make_nvp("ds", of.ds));
    if (of.ep > 1) archive(cereal::make_nvp("ep", of.ep));
    if (of.cp > 1) archive(cereal::make_nvp("cp", of.cp));
  }
};

struct random_view {
  manifest::random_facts const& rng;

  template <class Archive>
  void save(Archive& archive) const {
    archive(cereal::make_nvp("seed", rng.seed), cereal::make_nvp("step", rng.step));
  }
};

struct data_view {
  manifest::data_facts const& data;

  template <class Archive>
  void save(Archive& archive) const {
    archive(cereal::make_nvp("seed", data.seed), cereal::make_nvp("examples", data.examples));
  }
};

struct branch_view {
  manifest::branch_facts const& branch;

  template <class Archive>
  void save(Archive& archive) const {
    archive(cereal::make_nvp("path", branch.path), cereal::make_nvp("step", branch.step));
  }
};

struct patience_view {
  manifest::patience_facts const& patience;

  template <class Archive>
  void save(Archive& archive) const {
    archive(cereal::make_nvp("metric", patience.metric), cereal::make_nvp("stale", patience.stale));
  }
};

struct count_view {
  std::int64_t const& count;

  std::int64_t save_minimal(auto const&) const { return count; }
};

/// Returns the hash of a run's settings: of the lines `name=value`, sorted by name.
inline std::uint64_t config_hash(std::map<std::string, std::string> const& config) {
  std::string lines;
  for (auto const& [name, value] : config) lines += name + "=" + value + "\n";
  return safetensors::xxh64::of(lines);
}

}  // namespace redco::workdir::detail

namespace redco::workdir {

/// Returns the manifest as the text of `manifest.json`. Keys have a fixed order and names are
/// sorted, so that equal manifests give equal bytes. Throws `error` with exit code 70 if a best
/// value is not finite or a metric's name is invalid.
inline std::string write_manifest(manifest const& facts) {
  for (auto const& [metric, best] : facts.best) {
    if (!safetensors::tensor_name(metric) || !std::isfinite(best.value)) {
      throw error(
          exit_code::internal,
          "the best value of metric " + safetensors::shown(metric) +
              " cannot be saved: its name is empty or its value is not finite. Skip values that are not finite.");
    }
  }
  std::ostringstream text;
  {
    // The first option is the number of decimal places that rapidjson keeps; its default loses
    // small numbers.
    cereal::JSONOutputArchive archive(
        text, cereal::JSONOutputArchive::Options(324, cereal::JSONOutputArchive::Options::IndentChar::space, 1));
    archive(
        cereal::make_nvp("format", facts.format), cereal::make_nvp("redco", facts.redco),
        cereal::make_nvp("run", facts.run), cereal::make_nvp("step", facts.step),
        cereal::make_nvp("branch", detail::branch_view{facts.branch}), cereal::make_nvp("epoch", facts.epoch),
        cereal::make_nvp("epoch_position", facts.epoch_position),
        cereal::make_nvp("mesh", detail::mesh_view{facts.mesh}),
        cereal::make_nvp("rng", detail::random_view{facts.rng}),
        cereal::make_nvp("data", detail::data_view{facts.data}),
        cereal::make_nvp("best", detail::keyed_view<decltype(facts.best), detail::best_view>{facts.best}),
        cereal::make_nvp("patience", detail::patience_view{facts.patience}),
        cereal::make_nvp("interrupted", facts.interrupted),
        cereal::make_nvp("updates", detail::keyed_view<decltype(facts.updates), detail::count_view>{facts.updates}),
        cereal::make_nvp("names", facts.names),
        cereal::make_nvp("digests", detail::keyed_view<decltype(facts.digests), detail::text_view>{facts.digests}),
        cereal::make_nvp("config", detail::keyed_view<decltype(facts.config), detail::text_view>{facts.config}),
        cereal::make_nvp("config_xxh64", safetensors::xxh64::text_of(detail::config_hash(facts.config))),
        cereal::make_nvp("tensors", detail::keyed_view<safetensors::tensor_table, detail::tensor_view>{facts.tensors}),
        cereal::make_nvp("files", detail::keyed_view<decltype(facts.files), detail::file_view>{facts.files}));
  }
  std::string all = text.str();
  all.resize(all.rfind("\n}"));
  return all + detail::manifest_seal(all);
}

}  // namespace redco::workdir
