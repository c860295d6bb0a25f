// Reads any bytes as the text of a manifest, followed by the hash that the file would need. The
// manifest is refused with exit code 65, or read. If it is read, writing and reading it again gives
// the same manifest.
#include <redco/workdir/detail/manifest_seal.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/workdir/write_manifest.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void read(std::string const& text) {
  redco::workdir::manifest facts;
  try {
    facts = redco::workdir::read_manifest(text, "manifest");
  } catch (redco::error const& e) {
    require(e.code() == redco::exit_code::data);
    return;
  }
  facts.format = redco::workdir::manifest::newest_format;
  std::string const again = redco::workdir::write_manifest(facts);
  require(redco::workdir::read_manifest(again, "again") == facts);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text(reinterpret_cast<char const*>(data), size);
  read(text);
  read(text + redco::workdir::detail::manifest_seal(text));
  return 0;
}
