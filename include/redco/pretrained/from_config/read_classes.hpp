#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>

#include <cstdint>
#include <string>

namespace redco::pretrained {

/// Returns the number of classes of a classifier from its config.json: the size of id2label, else
/// num_labels, else 2.
inline std::int64_t read_classes(config_reader& c) {
  json::json_value const* const labels = c.find("id2label");
  std::int64_t named = 2;
  bool const given = labels != nullptr && !says_nothing(*labels);
  if (given) {
    if (!labels->is_object()) c.refuse("\"id2label\" names no label; write {\"0\": \"name\", ...}");
    named = static_cast<std::int64_t>(labels->size());
  }
  std::int64_t const classes = c.extent({"num_labels", "num_classes"}, named);
  if (given && classes != named)
    c.refuse("\"id2label\" names " + std::to_string(named) + " labels and \"num_labels\" says " +
             std::to_string(classes) + "; correct one of them");
  return classes;
}

}  // namespace redco::pretrained
