#pragma once

#include <redco/cost/machine_file.hpp>

#include <redco/json/value.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redco::cost {

REDCO_INLINE json::json_value machine_json(machine const& m) {
  json::json_value compute = json::json_value::array(), groups = json::json_value::array();
  for (compute_speed const& one : m.compute)
    compute.push_back({{"dtype", std::string(name_of(one.compute))},
                       {"ranks", one.ranks},
                       {"operations_per_second", one.operations_per_second},
                       {"activation_bytes_per_second", one.activation_bytes_per_second},
                       {"weight_bytes_per_second", one.weight_bytes_per_second},
                       {"seconds_per_tensor", one.seconds_per_tensor}});
  for (group_speed const& one : m.groups)
    groups.push_back({{"group", one.group},
                      {"ranks", one.ranks},
                      {"seconds_per_call", one.seconds_per_call},
                      {"bytes_per_second", one.bytes_per_second}});
  json::json_value file = {{"schema", "redco.machine"}, {"version", 1},
                           {"device", m.device},        {"compute", compute},
                           {"all_reduce", groups},      {"update_bytes_per_second", m.update_bytes_per_second}};
  for (host_link const& one : m.links)
    file["links"].push_back({{"between", "hosts"},
                             {"hosts", one.hosts},
                             {"of", one.of},
                             {"hosts_of_machine", one.hosts_of_machine},
                             {"seconds_per_call", one.seconds_per_call},
                             {"bytes_per_second", one.bytes_per_second},
                             {"busy", one.busy}});
  return file;
}

}  // namespace redco::cost

namespace redco::cost::detail {

/// A JSON object of a machine file. Records the keys that were read, so that unknown keys can be
/// reported.
class machine_object {
 public:
  machine_object(json::json_value const& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) refuse("is no JSON object");
  }

  [[noreturn]] void refuse(std::string const& why) const {
    throw error(exit_code::data, where_ + " " + why + "; write the file anew with redco-plan --calibrate");
  }

  json::json_value const& at(std::string const& key) {
    known_.push_back(key);
    auto const found = object_.find(key);
    if (found == object_.end()) refuse("has no \"" + key + "\"");
    return *found;
  }
  bool has(std::string const& key) const { return object_.contains(key); }
  std::string text(std::string const& key) {
    json::json_value const& value = at(key);
    if (!value.is_string()) refuse("has a \"" + key + "\" that is no text");
    return value.get<std::string>();
  }
  json::json_value const& list(std::string const& key) {
    json::json_value const& value = at(key);
    if (!value.is_array()) refuse("has a \"" + key + "\" that is no list");
    return value;
  }
  /// Returns the number under `key`, which must be finite and above 0; if `zero` is true, it may be
  /// 0. Throws `error` with exit code 65 for any other value.
  double number(std::string const& key, bool zero = false) {
    json::json_value const& value = at(key);
    double const x = value.is_number() ? value.get<double>() : -1;
    if (!std::isfinite(x) || x < 0 || (x == 0 && !zero))
      refuse("has a \"" + key + "\" that is no " + (zero ? "number from 0" : "positive number"));
    return x;
  }
  int count(std::string const& key, int least) {
    json::json_value const& value = at(key);
    std::int64_t const n = value.is_number_integer() ? value.get<std::int64_t>() : 0;
    if (n < least || n > 1'000'000) refuse("has a \"" + key + "\" that is no integer from " + std::to_string(least));
    return static_cast<int>(n);
  }
  void finish() const {
    for (auto const& [key, value] : object_.items())
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) refuse("has the unknown key \"" + key + "\"");
  }

 private:
  json::json_value const& object_;
  std::string where_;
  std::vector<std::string> known_;
};

inline dtype dtype_in(machine_object& object) {
  json::json_value const& value = object.at("dtype");
  for (dtype const one : {dtype::f32, dtype::bf16, dtype::f64, dtype::f16})
    if (value == std::string(name_of(one))) return one;
  object.refuse("has a \"dtype\" that is none of f32, bf16, f64 and f16");
}

inline compute_speed compute_speed_in(machine_object object) {
  compute_speed s;
  s.compute = dtype_in(object);
  s.ranks = object.count("ranks", 1);
  s.operations_per_second = object.number("operations_per_second");
  s.activation_bytes_per_second = object.number("activation_bytes_per_second");
  s.weight_bytes_per_second = object.number("weight_bytes_per_second");
  s.seconds_per_tensor = object.number("seconds_per_tensor", true);
  object.finish();
  return s;
}

inline group_speed group_speed_in(machine_object object) {
  group_speed s;
  s.group = object.count("group", 2);
  s.ranks = object.count("ranks", 2);
  s.seconds_per_call = object.number("seconds_per_call", true);
  s.bytes_per_second = object.number("bytes_per_second");
  object.finish();
  return s;
}

inline host_link host_link_in(machine_object object) {
  host_link s;
  if (object.at("between") != "hosts") object.refuse("has a \"between\" other than \"hosts\"");
  s.hosts = object.count("hosts", 2);
  s.of = object.count("of", s.hosts);
  s.hosts_of_machine = object.count("hosts_of_machine", 1);
  s.seconds_per_call = object.number("seconds_per_call", true);
  s.bytes_per_second = object.number("bytes_per_second");
  s.busy = object.number("busy", true);
  if (s.busy > 1) object.refuse("has a \"busy\" above 1");
  object.finish();
  return s;
}

}  // namespace redco::cost::detail

namespace redco::cost {

REDCO_INLINE machine read_machine(json::json_value const& content, std::string const& source) {
  detail::machine_object file(content, source + ":");
  if (file.at("schema") != "redco.machine") file.refuse("is no machine file: its schema is not \"redco.machine\"");
  if (file.at("version") != 1) file.refuse("has a version other than 1");
  machine m;
  if (file.has("device")) m.device = file.text("device");
  auto const location = [&](char const* list, std::size_t i) {
    return source + ": " + list + "[" + std::to_string(i) + "]";
  };
  for (json::json_value const& one : file.list("compute")) {
    compute_speed const s = detail::compute_speed_in({one, location("compute", m.compute.size())});
    for (compute_speed const& other : m.compute)
      if (other.compute == s.compute && other.ranks == s.ranks)
        file.refuse("has the speed of " + std::string(name_of(s.compute)) + " with " + std::to_string(s.ranks) +
                    " ranks twice");
    m.compute.push_back(s);
  }
  for (json::json_value const& one : file.list("all_reduce")) {
    group_speed const s = detail::group_speed_in({one, location("all_reduce", m.groups.size())});
    for (group_speed const& other : m.groups)
      if (other.group == s.group && other.ranks == s.ranks)
        file.refuse("has the all-reduce of " + std::to_string(s.group) + " among " + std::to_string(s.ranks) +
                    " ranks twice");
    m.groups.push_back(s);
  }
  if (file.has("links"))
    for (json::json_value const& one : file.list("links")) {
      host_link const s = detail::host_link_in({one, location("links", m.links.size())});
      for (host_link const& other : m.links)
        if (other.hosts == s.hosts && other.of == s.of)
          file.refuse("has the link of " + std::to_string(s.hosts) + " of " + std::to_string(s.of) + " hosts twice");
      m.links.push_back(s);
    }
  m.update_bytes_per_second = file.number("update_bytes_per_second");
  file.finish();
  if (m.compute.empty() || m.groups.empty()) file.refuse("has no speed in \"compute\" or \"all_reduce\"");
  return m;
}

}  // namespace redco::cost
