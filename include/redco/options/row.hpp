#pragma once

#include <redco/options/detail/option_value.hpp>
#include <redco/options/provenance.hpp>

#include <string>

namespace redco::options {

/// One row of the printed table: an option, its value and where that came from.
struct row {
  std::string name;  ///< of the member, as in JSON
  std::string flag;
  detail::option_value value;
  provenance source;
};

}  // namespace redco::options
