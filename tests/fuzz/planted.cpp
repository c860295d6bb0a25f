// Reads one byte too many of inputs that begin with "f": fuzz.py fails if this is not found.
#include <cstdint>
#include <cstring>
#include <memory>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0 || data[0] != 'f') return 0;
  auto const copy = std::make_unique<std::uint8_t[]>(size);
  std::memcpy(copy.get(), data, size);
  return copy[size] == 0 ? 0 : -1;
}
