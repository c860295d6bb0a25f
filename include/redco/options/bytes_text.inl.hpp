#pragma once

#include <redco/options/bytes_text.hpp>

#include <redco/shape/saturating.hpp>
#include <redco/config.hpp>

#include <charconv>
#include <string>

namespace redco::options {

REDCO_INLINE std::int64_t parse_bytes(std::string_view text) {
  auto const refuse = [&](std::string const& why) {
    throw error(exit_code::usage, "'" + std::string(text) + "' " + why);
  };
  char const* const end = text.data() + text.size();
  std::int64_t whole = 0, thousandths = 0;
  auto [rest, failure] = std::from_chars(text.data(), end, whole);
  if (text.empty() || text.front() < '0' || text.front() > '9' || failure != std::errc{})
    refuse("is no number of bytes; write one such as 40GiB");
  if (rest != end && *rest == '.') {
    ++rest;
    for (std::int64_t place = 100; rest != end && *rest >= '0' && *rest <= '9'; ++rest, place /= 10)
      thousandths += place * (*rest - '0');
  }
  std::string_view const unit(rest, static_cast<std::size_t>(end - rest));
  constexpr std::string_view units[] = {"KiB", "MiB", "GiB", "TiB"};
  std::int64_t size = 1024;
  for (std::string_view const known : units) {
    if (unit == known) {
      std::int64_t const bytes =
          shape::saturating_add(shape::saturating_multiply(whole, size), thousandths * size / 1000);
      if (bytes == 0) refuse("is nothing; write a budget such as 40GiB");
      if (bytes == shape::saturated) refuse("is more than 63 bits can count; write a budget such as 40GiB");
      return bytes;
    }
    size *= 1024;
  }
  if (unit.empty()) refuse("has no unit; write " + std::string(text) + "GiB, or KiB, MiB or TiB");
  refuse("has the unknown unit '" + std::string(unit) + "'; use KiB, MiB, GiB or TiB");
  return 0;
}

}  // namespace redco::options
