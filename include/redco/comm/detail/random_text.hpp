#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include <sys/random.h>

namespace redco::comm::detail {

/// Fills `bytes` bytes at `to` with unpredictable random bytes from the system, for secrets. Throws
/// std::runtime_error if the system provides none.
inline void randomize(void* to, std::size_t bytes) {
  if (::getrandom(to, bytes, 0) != static_cast<ssize_t>(bytes))
    throw std::runtime_error(std::string("the system gives no random bytes: ") + std::strerror(errno));
}

/// Returns 128 unpredictable random bits as 32 hexadecimal digits.
inline std::string random_text() {
  std::uint8_t bits[16];
  randomize(bits, sizeof bits);
  std::string text;
  for (std::uint8_t const byte : bits) (text += "0123456789abcdef"[byte >> 4]) += "0123456789abcdef"[byte & 15];
  return text;
}

}  // namespace redco::comm::detail
