#pragma once

#include <redco/json/read.hpp>

#include <redco/json/parse.hpp>
#include <redco/config.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

namespace redco {

REDCO_INLINE json_value read_json(std::filesystem::path const& path, json_limits limits) {
  auto const fail = [&path](std::string const& why) {
    throw error(exit_code::data, path.string() + ": " + why + "; give the path of a readable JSON file");
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) fail(std::strerror(errno));
  std::string text;
  char part[65536];
  while (text.size() <= limits.bytes) {
    std::size_t const count = std::fread(part, 1, sizeof part, file.get());
    text.append(part, count);
    if (count < sizeof part) break;
  }
  if (std::ferror(file.get()) != 0) fail(std::strerror(errno));
  return parse_json(text, path.string(), limits);
}

}  // namespace redco
