#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/data/read_conversations.hpp>

#include <redco/diag/error.hpp>

#include <fstream>
#include <string>
#include <vector>

namespace {

using redco::data::conversation;

struct rows_of : temporary_folder {
  explicit rows_of(std::string const& text) { std::ofstream(file(), std::ios::binary) << text; }
  std::filesystem::path file() const { return path / "rows.jsonl"; }
};

std::string refused_rows(std::string const& text) {
  rows_of const rows(text);
  try {
    redco::data::read_conversations(rows.file());
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    return std::string(e.what()).substr(rows.file().string().size());
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a line of JSONL is a conversation in one of three forms") {
  rows_of const rows(
      R"({"messages": [{"role": "user", "content": "a", "name": "x"}, {"role": "assistant", "content": "b"}], "id": 7})"
      "\n\n"
      R"({"prompt": [{"role": "user", "content": "c"}], "completion": [{"role": "assistant", "content": "d"}]})"
      "\r\n"
      R"({"prompt": "2 + 2 =", "completion": " 4"})");
  std::vector<conversation> const expected{{{{"user", "a"}, {"assistant", "b"}}, 0, true},
                                           {{{"user", "c"}, {"assistant", "d"}}, 1, true},
                                           {{{"user", "2 + 2 ="}, {"assistant", " 4"}}, 1, false}};
  CHECK(redco::data::read_conversations(rows.file()) == expected);
}

TEST_CASE("a line of another form is refused with its file and line") {
  std::string const good = R"({"prompt": "a", "completion": "b"})"
                           "\n";
  std::string const form = ":2: the line has neither a list \"messages\" nor \"prompt\" and \"completion\"";
  for (std::string const row : {R"({"text": "a"})", R"({"messages": "a"})", R"({"prompt": "a"})",
                                R"({"prompt": "a", "completion": [{"role": "assistant", "content": "b"}]})"}) {
    INFO(row);
    CHECK(refused_rows(good + row).starts_with(form));
  }
  CHECK(refused_rows(good + R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant"}]})") ==
        R"(:2: element 2 under "messages" has no text "content"; write {"role": "user", "content": "text"})");
  CHECK(refused_rows(R"({"messages": ["a"]})").starts_with(R"(:1: element 1 under "messages" has no text "role")"));
  CHECK(refused_rows("[1]").starts_with(":1: the line is no object"));
  CHECK(refused_rows("").starts_with(" has no line"));
  CHECK(refused_rows("{\"prompt\": \"a\xff\", \"completion\": \"b\"}").starts_with(":1: 0xFF at byte"));
}

TEST_CASE("a conversation without an answer to learn is refused") {
  std::string const why = ":1: the conversation has no message of the role \"assistant\" to learn; add one";
  CHECK(refused_rows(R"({"messages": [{"role": "user", "content": "a"}]})") == why);
  CHECK(refused_rows(R"({"messages": []})") == why);
  CHECK(
      refused_rows(
          R"({"prompt": [{"role": "assistant", "content": "a"}], "completion": [{"role": "user", "content": "b"}]})") ==
      why);
}
