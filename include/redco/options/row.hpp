#pragma once

#include <redco/options/detail/option_value.hpp>
#include <redco/options/provenance.hpp>

#include <string>

namespace redco::options {

/// A row of the printed table of options: an option, its value and the source of the value.
struct row {
  std::string name;  ///< name of the option's member and JSON key
  std::string flag;
  detail::option_value value;
  provenance source;
};

}  // namespace redco::options
