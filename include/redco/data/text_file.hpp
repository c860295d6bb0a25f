#pragma once

#include <string>

namespace redco {

/// The path and all bytes of a file.
struct text_file {
  std::string path;
  std::string text;
};

}  // namespace redco
