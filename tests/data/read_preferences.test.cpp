#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/data/read_conversations.hpp>

#include <redco/diag/error.hpp>

#include <fstream>
#include <string>
#include <vector>

namespace {

using redco::data::preference;

struct pairs_of : temporary_folder {
  explicit pairs_of(std::string const& text) { std::ofstream(file(), std::ios::binary) << text; }
  std::filesystem::path file() const { return path / "pairs.jsonl"; }
};

std::string why_refused(std::string const& text) {
  pairs_of const pairs(text);
  try {
    redco::data::read_preferences(pairs.file());
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    return std::string(e.what()).substr(pairs.file().string().size());
  }
  return "accepted";
}

std::string const good_pair = R"({"prompt": "a", "chosen": "b", "rejected": "c"})"
                              "\n";

}  // namespace

TEST_CASE("a line of JSONL is a prompt with a chosen and a rejected answer") {
  pairs_of const pairs(
      R"({"prompt": "2 + 2 =", "chosen": " 4", "rejected": " 5", "score": 7})"
      "\n\n"
      R"({"prompt": [{"role": "assistant", "content": "Ask."}, {"role": "user", "content": "a"}], )"
      R"("chosen": [{"role": "assistant", "content": "b"}], "rejected": [{"role": "assistant", "content": "c"}]})"
      "\r\n");
  std::vector<preference> const expected{
      {{{{"user", "2 + 2 ="}, {"assistant", " 4"}}, 1, false}, {{{"user", "2 + 2 ="}, {"assistant", " 5"}}, 1, false}},
      {{{{"assistant", "Ask."}, {"user", "a"}, {"assistant", "b"}}, 2, true},
       {{{"assistant", "Ask."}, {"user", "a"}, {"assistant", "c"}}, 2, true}}};
  CHECK(redco::data::read_preferences(pairs.file()) == expected);
}

TEST_CASE("a line that is no pair is refused with its file and line") {
  for (std::string const row :
       {R"({"chosen": "b", "rejected": "c"})", R"({"prompt": "a", "rejected": "c"})", R"({"prompt": "a", "chosen": 1})",
        R"({"prompt": "a", "chosen": [{"role": "assistant", "content": "b"}], "rejected": "c"})"}) {
    INFO(row);
    CHECK(why_refused(good_pair + row).starts_with(":2: the line has no \"prompt\" and \"chosen\" that are two texts"));
  }
  CHECK(why_refused(good_pair + R"({"prompt": "a", "chosen": "b"})")
            .starts_with(":2: the line has no \"prompt\" and \"rejected\" that are two texts"));
  CHECK(why_refused(R"({"prompt": [{"role": "user"}], "chosen": [], "rejected": []})") ==
        R"(:1: element 1 under "prompt" has no text "content"; write {"role": "user", "content": "text"})");
  CHECK(why_refused("[1]").starts_with(":1: the line is no object"));
  CHECK(why_refused(good_pair + "Fog\n").starts_with(":2:1:2: syntax error"));
  CHECK(why_refused("").starts_with(" has no line"));
  CHECK(why_refused("{\"prompt\": \"a\xff\", \"chosen\": \"b\", \"rejected\": \"c\"}").starts_with(":1: 0xFF at byte"));
}

TEST_CASE("an empty answer is refused with its key") {
  CHECK(why_refused(good_pair + R"({"prompt": "a", "chosen": "b", "rejected": ""})") ==
        ":2: the answer under \"rejected\" is empty; write the assistant's text");
  std::string const prompt = R"({"prompt": [{"role": "assistant", "content": "a"}], "rejected": [], "chosen": [)";
  for (std::string const answer : {R"({"role": "assistant", "content": ""})", R"({"role": "user", "content": "b"})"})
    CHECK(why_refused(prompt + answer + "]}") ==
          ":1: the answer under \"chosen\" is empty; write the assistant's text");
}

TEST_CASE("the system message and the tools of a line belong to both answers of a pair") {
  pairs_of const pairs(
      R"({"system": "S", "tools": [{"name": "f"}], "prompt": [{"role": "user", "content": "a"}], )"
      R"("chosen": [{"role": "assistant", "content": "b"}], "rejected": [{"role": "assistant", "content": "c"}]})");
  auto const all = redco::data::read_preferences(pairs.file());
  REQUIRE(all.size() == 1);
  for (auto const* const one : {&all[0].chosen, &all[0].rejected}) {
    CHECK(one->messages.front() == redco::tokenizer::chat_message{"system", "S"});
    CHECK(one->first_answer == 2);
    CHECK(one->variables == R"({"tools":[{"name":"f"}]})");
  }
  CHECK(why_refused(R"({"system": "S", "prompt": "a", "chosen": "b", "rejected": "c"})")
            .starts_with(":1: the line has \"system\", which is not obeyed"));
}
