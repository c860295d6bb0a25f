#pragma once

#include <redco/safetensors/file_ops.hpp>

#include <cerrno>
#include <cstddef>
#include <span>

namespace redco::safetensors {

/// Writes all of `bytes` to `file` in as many system calls as needed. Advances `bytes` past the
/// bytes written. Returns 0, or the errno of the failed call. Returns ENOSPC if a call writes
/// nothing without an error, because repeating the call would never end.
template <file_ops Ops>
int write_all(Ops& ops, int file, std::span<std::byte const>& bytes) {
  while (!bytes.empty()) {
    ::ssize_t const put = ops.write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return put < 0 ? errno : ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return 0;
}

}  // namespace redco::safetensors
