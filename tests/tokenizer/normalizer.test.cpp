#include "catch.hpp"

#include <redco/tokenizer/detail/normalizer.hpp>
#include <redco/tokenizer/detail/unicode.hpp>

#include <utf8proc.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

std::string nfc(std::string const& text) { return redco::tokenizer::detail::normal_form(text, true); }
std::string nfd(std::string const& text) { return redco::tokenizer::detail::normal_form(text, false); }

/// Returns FNV-1a of the results of `each` for every code point except surrogates.
template <class Each>
std::uint64_t fingerprint(Each const& each) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    redco::meta::append_code_point(text, c);
    for (char const byte : each(c, text)) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  }
  return hash;
}

}  // namespace

// The numbers are hashes of tables that the tokenizers library (0.22) filled, code point by code
// point. utf8proc 2.7 to 2.11 (Unicode 14 to 17) gives the numbers. A utf8proc with a later Unicode
// may need rows in unicode.hpp.
TEST_CASE("every code point is normalized as in the reference, with any installed Unicode", "[parity]") {
  using namespace redco::tokenizer::detail;
  INFO("utf8proc " << utf8proc_version() << " with Unicode " << utf8proc_unicode_version());
  CHECK(fingerprint([](char32_t c, std::string const&) {
          int const classes = (redco::tokenizer::detail::is_bert_punctuation(c) ? 1 : 0) +
                              (redco::tokenizer::detail::is_bert_mark(c) ? 2 : 0) +
                              (redco::tokenizer::detail::is_bert_control(c) ? 4 : 0);
          return std::string(1, static_cast<char>('0' + classes));
        }) == 0x5C31E4DD2CA53365U);
  CHECK(fingerprint([](char32_t, std::string const& text) {
          return redco::tokenizer::detail::lower_cased(text) + '\n';
        }) == 0xC1EBFCE7DDD214BCU);
  CHECK(fingerprint([](char32_t, std::string const& text) {
          return nfd(text + "\u0301") + '\n' + nfd("a\u0315" + text + "\u0327") + '\n';
        }) == 0xF04CB8D6A4186CD7U);
  CHECK(fingerprint([](char32_t, std::string const& text) {
          return nfc(text) + '\n' + nfc("a" + text + "\u0301") + '\n' + nfc("\uAC00" + text) + '\n';
        }) == 0xBC50D33367C8318BU);
}

TEST_CASE("normal forms C and D follow UAX 15") {
  // Pairs of composed and decomposed text: examples of UAX 15 and each special case of the
  // algorithm.
  std::vector<std::pair<std::string, std::string>> const pairs{
      {"", ""},
      {"plain ascii", "plain ascii"},
      {"\u00E9", "e\u0301"},
      {"\u1E69", "s\u0323\u0307"},
      {"\uAC01", "\u1100\u1161\u11A8"},
      {"\uAC00", "\u1100\u1161"},
      {"\u01D5", "U\u0308\u0304"},
      {"x\u0315\u0300", "x\u0300\u0315"},
  };
  for (auto const& [composed, decomposed] : pairs) {
    CAPTURE(decomposed);
    CHECK(nfd(composed) == decomposed);
    CHECK(nfd(decomposed) == decomposed);
    CHECK(nfc(nfc(composed)) == nfc(decomposed));
  }
  CHECK(nfc("e\u0301") == "\u00E9");
  CHECK(nfc("s\u0307\u0323") == "\u1E69");
  CHECK(nfc("d\u0307\u0323") == "\u1E0D\u0307");
  CHECK(nfc("\u1100\u1161\u11A8") == "\uAC01");
  CHECK(nfc("\uAC00\u11A8") == "\uAC01");
  CHECK(nfc("\uAC01\u11A8") == "\uAC01\u11A8");
  CHECK(nfc("\u212B") == "\u00C5");        // Angstrom sign
  CHECK(nfc("\u0958") == "\u0915\u093C");  // excluded from composition
  CHECK(nfc("\u0344") == "\u0308\u0301");
  CHECK(nfc("\u0301e") == "\u0301e");  // no base character
  CHECK(nfc("a\u0300b\u0300") == "\u00E0b\u0300");
  CHECK(nfc("x\u0300\u0315") == "x\u0300\u0315");
  CHECK(nfc("ascii e\u0301 ascii") == "ascii \u00E9 ascii");
  CHECK(nfc("\U0002F800") == "\u4E3D");
}

TEST_CASE("lower case is that of each code point") {
  using redco::tokenizer::detail::lower_cased;
  CHECK(lower_cased("ABC xyz 12") == "abc xyz 12");
  CHECK(lower_cased("ÀÉÖØß") == "àéöøß");
  CHECK(lower_cased("ΑΣ") == "ασ");  // no final sigma
  CHECK(lower_cased("\u0130\u0178\u1E9E\u212A") == "i\u0307\u00FF\u00DFk");
  CHECK(lower_cased("ĀāĂ\U00010400") == "āāă\U00010428");
}
