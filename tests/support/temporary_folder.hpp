#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <stdlib.h>

/// A folder for one test, which the destructor removes. Its name contains a space, as users'
/// folders do.
struct temporary_folder {
  std::filesystem::path path;

  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "redco test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path = name;
  }
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;
  ~temporary_folder() { std::filesystem::remove_all(path); }

  std::filesystem::path operator/(std::string_view name) const { return path / name; }
};

inline std::string content_of(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
