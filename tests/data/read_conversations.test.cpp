#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/data/read_conversations.hpp>

#include <redco/diag/error.hpp>

#include <fstream>
#include <string>
#include <utility>
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
  std::vector<conversation> const expected{
      {{{"user", "a", R"({"role":"user","content":"a","name":"x"})"}, {"assistant", "b"}}, 0, true},
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

TEST_CASE("messages keep all keys, and tools and settings of a line go to the chat template") {
  rows_of const rows(
      R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a "}, {"type": "text", "text": "b"}]}, )"
      R"({"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}]}, )"
      R"({"role": "tool", "content": "7", "tool_call_id": "1"}, )"
      R"({"role": "assistant", "content": "c", "reasoning_content": "r", "weight": 0}, )"
      R"({"role": "assistant", "content": "d", "train": true, "weight": null}], )"
      R"("tools": [{"name": "f"}], "documents": null, "chat_template_kwargs": {"enable_thinking": false}, "id": 7})"
      "\n"
      R"({"system": "S", "tools": "[{\"name\": \"f\"}]", "prompt": [{"role": "user", "content": "a"}], )"
      R"("completion": [{"role": "assistant", "content": "b"}], "weight": 1})");
  auto const all = redco::data::read_conversations(rows.file());
  REQUIRE(all.size() == 2);
  CHECK(all[0].where == rows.file().string() + ":1");
  CHECK(all[0].variables == R"({"tools":[{"name":"f"}],"enable_thinking":false})");
  auto const& messages = all[0].messages;
  REQUIRE(messages.size() == 5);
  CHECK(messages[0].content == "a b");
  CHECK(messages[0].object == R"({"role":"user","content":[{"type":"text","text":"a "},{"type":"text","text":"b"}]})");
  CHECK(messages[1].content.empty());
  CHECK(messages[1].object.find(R"("tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}])") !=
        std::string::npos);
  CHECK(messages[3].object.find(R"("reasoning_content":"r")") != std::string::npos);
  CHECK(messages[1].trained);
  CHECK_FALSE(messages[3].trained);
  CHECK(messages[4].trained);
  CHECK(all[1].where == rows.file().string() + ":2");
  CHECK(all[1].variables == R"({"tools":[{"name":"f"}]})");
  CHECK(all[1].messages ==
        std::vector<redco::tokenizer::chat_message>{{"system", "S"}, {"user", "a"}, {"assistant", "b"}});
  CHECK(all[1].first_answer == 2);
}

TEST_CASE("keys of conversations that cannot be obeyed are refused by name") {
  auto const answer = [](std::string const& keys) {
    return R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", )" + keys + "}]}";
  };
  auto const line = [](std::string const& keys) {
    return R"({"messages": [{"role": "assistant", "content": "b"}], )" + keys + "}";
  };
  auto const texts = [](std::string const& keys) { return R"({"prompt": "a", "completion": "b", )" + keys + "}"; };
  std::vector<std::pair<std::string, std::string>> const refusals{
      {answer(R"("weight": 0.5)"), R"(element 2 under "messages" has "weight": 0.5, which is not obeyed; write 0)"},
      {answer(R"("weight": "1")"), R"(element 2 under "messages" has "weight": "1")"},
      {answer(R"("train": 1)"), R"(element 2 under "messages" has "train": 1; write true or false)"},
      {answer(R"("train_detail": [1])"), R"(element 2 under "messages" has "train_detail", which is not obeyed)"},
      {R"({"messages": [{"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}}]})",
       R"(element 1 under "messages" has "function_call", which is not obeyed; write "tool_calls": [)"},
      {answer(R"("weight": 0)"), R"(the conversation has no message of the role "assistant" to learn)"},
      {R"({"messages": [{"role": "user", "content": "a", "weight": 1}, {"role": "assistant", "content": "b"}]})",
       R"(element 1 under "messages" has "weight" in a message of the role "user")"},
      {R"({"messages": [{"role": "user", "content": [{"type": "image"}]}]})",
       R"(element 1 under "messages" has a part of the type "image" in its content)"},
      {R"({"messages": [{"role": "assistant", "content": null}]})",
       R"(element 1 under "messages" has no text "content")"},
      {line(R"("weight": 0)"), R"(the line has a "weight" or "train" with which nothing is learned)"},
      {line(R"("train": false)"), R"(the line has a "weight" or "train")"},
      {line(R"("weight": 2)"), R"(the line has "weight": 2, which is not obeyed)"},
      {line(R"("label": false)"), R"(the line has "label": false)"},
      {line(R"("functions": [{"name": "f"}])"), R"(the line has "functions", which is not obeyed; write "tools")"},
      {line(R"("images": ["a.png"])"), R"(the line has "images", which is not obeyed)"},
      {line(R"("tools": {"name": "f"})"), R"("tools" is no list)"},
      {line(R"("chat_template_kwargs": [1])"), R"("chat_template_kwargs" is no object)"},
      {line(R"("chat_template_kwargs": {"messages": [1]})"), R"("chat_template_kwargs" has "messages")"},
      {R"({"system": "S", "messages": [{"role": "system", "content": "T"}, {"role": "assistant", "content": "b"}]})",
       R"("system" is no text, or stands beside a message of this role)"},
      {texts(R"("system": "S")"), R"(the line has "system", which is not obeyed; texts have no template)"},
      {texts(R"("tools": [{"name": "f"}])"), R"(the line has "tools", which is not obeyed)"}};
  for (auto const& [row, why] : refusals) {
    INFO(row);
    CHECK(refused_rows(row).starts_with(":1: " + why));
  }
  for (std::string const& row : {texts(R"("system": "", "tools": [], "images": null)"), line(R"("label": true)"),
                                 answer(R"("weight": 1, "function_call": null)")}) {
    INFO(row);
    CHECK(refused_rows(row) == "accepted");
  }
}
