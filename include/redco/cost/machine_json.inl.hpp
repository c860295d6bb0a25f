#pragma once

#include <redco/cost/machine_json.hpp>

#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <string>

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
