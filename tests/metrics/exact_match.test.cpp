#include "catch.hpp"

#include <redco/metrics/exact_match.hpp>
#include <redco/diag/error.hpp>

#include <string>
#include <vector>

namespace exact_match_test {

using redco::metrics::exact_match;
using redco::metrics::squad_text;
using redco::metrics::text_comparison;
using texts = std::vector<std::string>;

TEST_CASE("exact match is the share of equal texts") {
  texts const predicted{"a cat", "the dog", "", "é"}, expected{"a cat", "The dog", "", "e\u0301"};
  CHECK(exact_match(predicted, expected) == Approx(2.0 / 4));
  CHECK(exact_match(predicted, expected, text_comparison::squad) == Approx(3.0 / 4));
}

// Questions of SQuAD 1.1 about Super Bowl 50, each with its three accepted answers.
TEST_CASE("a prediction may equal any accepted answer of SQuAD") {
  std::vector<texts> const accepted{
      {"Denver Broncos", "Denver Broncos", "Denver Broncos"},
      {"Santa Clara, California", "Levi's Stadium",
       "Levi's Stadium in the San Francisco Bay Area at Santa Clara, California."},
      {"gold", "gold", "gold"},
      {"February 7, 2016", "February 7", "February 7, 2016"},
  };
  texts const predicted{"The Denver  Broncos.", "levis stadium", "golden", "february 7 2016"};
  CHECK(exact_match(predicted, accepted, text_comparison::squad) == Approx(3.0 / 4));
  CHECK(exact_match(predicted, accepted) == 0);
}

TEST_CASE("an unanswerable question of SQuAD 2 accepts the empty text") {
  std::vector<texts> const accepted{{""}, {""}};
  CHECK(exact_match(texts{"", "France"}, accepted, text_comparison::squad) == Approx(0.5));
}

// Printed by make_scores.py, except for the last check: Python ends a word with a final sigma.
TEST_CASE("SQuAD's texts are in lower case without punctuation and articles") {
  CHECK(squad_text("The  Quick-brown fox, an  A.") == "quickbrown fox");
  CHECK(squad_text("a").empty());
  CHECK(squad_text("Theatre and the An-other a-b") == "theatre and another ab");
  CHECK(squad_text("“the” cat—a dog…") == "“ ” cat— dog…");
  CHECK(squad_text("a\u0301 the\u00a0ЁЖ") == "\u0301 ёж");
  CHECK(squad_text("ＡＢ ẞ Ṽ") == "ａｂ ß ṽ");
  CHECK(squad_text("ÉCOLE à la Ÿ") == "école à la ÿ");
  CHECK(squad_text("Σίσυφος ΟΔΌΣ") == "σίσυφοσ οδόσ");
}

TEST_CASE("bytes that are not UTF-8 stay as they are") { CHECK(squad_text("The \xff\xc3!") == "\xff\xc3"); }

TEST_CASE("exact match refuses empty and mismatched lists and predictions without accepted text") {
  auto const message_of = [](texts const& predicted, std::vector<texts> const& accepted) {
    try {
      exact_match(predicted, accepted);
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::data);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  CHECK(message_of({}, {}).find("0 predictions") != std::string::npos);
  CHECK(message_of({"a", "b"}, {{"a"}}).find("2 predictions and 1 expected") != std::string::npos);
  CHECK(message_of({"a", "b"}, {{"a"}, {}}).find("prediction 1 of 2") != std::string::npos);
}

}  // namespace exact_match_test
