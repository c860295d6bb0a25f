// Reads any bytes as the header of a safetensors file, the first two as the length of the data. The
// header is refused with exit code 65, or its tensors fill the file without gaps. In the second
// case, writing and reading the header again gives the same header.
#include <redco/safetensors/detail/safetensors_header.hpp>
#include <redco/safetensors/safetensors_plan.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<redco::safetensors::safetensors_entry> read(std::string_view text, std::uint64_t data_bytes) {
  redco::safetensors::detail::safetensors_header::measure size;
  size.add(text, "file");
  return redco::safetensors::detail::safetensors_header::read(text, data_bytes, "file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size < 2) return 0;
  std::uint64_t const data_bytes = data[0] + 256u * data[1];
  std::vector<redco::safetensors::safetensors_entry> entries;
  try {
    entries = read({reinterpret_cast<char const*>(data) + 2, size - 2}, data_bytes);
  } catch (redco::error const& e) {
    require(e.code() == redco::exit_code::data);
    return 0;
  }
  std::uint64_t end = 0;
  for (redco::safetensors::safetensors_entry const& entry : entries) {
    require(entry.begin == end && entry.end >= end);
    end = entry.end;
    require(static_cast<std::uint64_t>(redco::safetensors::count_of(entry.shape) * size_of(entry.type)) ==
            end - entry.begin);
  }
  require(end == data_bytes);

  auto const plan = redco::safetensors::plan_safetensors(entries);
  require(read(std::string_view(plan.header).substr(8), data_bytes).size() == entries.size());
  require(plan.bytes() == plan.header.size() + data_bytes);
  auto const names = [](std::vector<redco::safetensors::safetensors_entry> of) {
    std::sort(of.begin(), of.end(), [](auto const& a, auto const& b) { return a.name < b.name; });
    for (auto& entry : of) entry.begin = entry.end = 0;
    return of;
  };
  require(names(plan.entries) == names(entries));
  return 0;
}
