#pragma once

#include <redco/options/detail/option_value.hpp>
#include <redco/options/provenance.hpp>

#include <string>

namespace redco::options {

/// A row of the printed table: an option, its value and the source of the value.
struct row {
  std::string name;  ///< name of the member and of the JSON key
  std::string flag;
  detail::option_value value;
  provenance source;
};

}  // namespace redco::options
