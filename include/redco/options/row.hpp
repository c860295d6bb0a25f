#pragma once

#include <redco/options/detail/option_value.hpp>
#include <redco/meta/enum_texts.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace redco::options {

/// Source of an option's value: default, file of --config, or flag. A later source in this order
/// overrides an earlier one.
enum class provenance : std::uint8_t { standard, file, flag };

inline constexpr auto provenance_texts = meta::enum_texts<provenance>({
    {provenance::standard, "default"},
    {provenance::file, "file"},
    {provenance::flag, "flag"},
});

/// Returns the name of a source of a value for the printed table: "default", "file" or "flag".
constexpr std::string_view name_of(provenance source) { return provenance_texts.text_of(source); }

/// A row of the printed table of options: an option, its value and the source of the value.
struct row {
  std::string name;  ///< name of the option's member and JSON key
  std::string flag;
  detail::option_value value;
  provenance source;
};

}  // namespace redco::options
