#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Returns an empty text if `xml` is one well-formed XML element with its content, otherwise the
/// first mistake. Checks tags, attributes, characters and references, but no document type.
inline std::string well_formed(std::string_view xml) {
  std::vector<std::string> open;
  std::size_t at = 0;
  auto const name = [&] {
    std::size_t const begin = at;
    while (at < xml.size() && (std::isalnum(static_cast<unsigned char>(xml[at])) || xml[at] == '-' || xml[at] == ':'))
      ++at;
    return std::string(xml.substr(begin, at - begin));
  };
  auto const spaces = [&] {
    while (at < xml.size() && (xml[at] == ' ' || xml[at] == '\n')) ++at;
  };
  // Checks text up to one of `ends`.
  auto const text = [&](std::string_view ends) -> std::string {
    for (; at < xml.size() && ends.find(xml[at]) == std::string_view::npos; ++at) {
      auto const byte = static_cast<unsigned char>(xml[at]);
      if (byte < 0x20 && byte != '\n' && byte != '\t') return "a control character";
      if (xml[at] == '<') return "'<' in a text";
      if (xml[at] == '>') return "'>' in a text";
      if (xml[at] != '&') continue;
      bool known = false;
      for (std::string_view const one : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
        known = known || xml.substr(at).starts_with(one);
      if (!known) return "an unknown reference";
    }
    return "";
  };
  while (at < xml.size()) {
    if (open.empty() && at > 0) {
      spaces();
      if (at < xml.size()) return "content after the end";
      break;
    }
    if (std::string const mistake = text("<"); !mistake.empty()) return mistake + " at " + std::to_string(at);
    if (at == xml.size()) break;
    ++at;
    if (at < xml.size() && xml[at] == '/') {
      ++at;
      std::string const closed = name();
      if (open.empty() || open.back() != closed) return "</" + closed + "> closes nothing";
      open.pop_back();
      if (at == xml.size() || xml[at++] != '>') return "no '>' after " + closed;
      continue;
    }
    open.push_back(name());
    if (open.back().empty()) return "an element without a name at " + std::to_string(at);
    std::vector<std::string> seen;
    for (spaces(); at < xml.size() && xml[at] != '>' && xml[at] != '/'; spaces()) {
      std::string const attribute = name();
      for (std::string const& other : seen)
        if (other == attribute) return "two attributes " + attribute;
      seen.push_back(attribute);
      if (attribute.empty() || !xml.substr(at).starts_with("=\"")) return "a wrong attribute at " + std::to_string(at);
      at += 2;
      if (std::string const mistake = text("\""); !mistake.empty()) return mistake + " at " + std::to_string(at);
      ++at;
    }
    if (at < xml.size() && xml[at] == '/') open.pop_back(), ++at;
    if (at == xml.size() || xml[at++] != '>') return "an open tag at the end";
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}
