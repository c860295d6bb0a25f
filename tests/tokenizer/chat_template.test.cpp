#include "catch.hpp"
#include "refusal.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

#include <redco/tokenizer/chat_template.hpp>
#include <redco/tokenizer/detail/jinja.hpp>
#include <redco/tokenizer/detail/regex.hpp>
#include <redco/tokenizer/read_tokenizer.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

// Compares chat templates with the results of transformers 5.24 (make_chats.py).

namespace {

namespace rt = redco::tokenizer;
using redco::json::json_value;

constexpr bool available = rt::detail::jinja_template::available;

std::vector<rt::chat_message> messages_of(json_value const& row) {
  std::vector<rt::chat_message> all;
  for (json_value const& one : row) all.push_back({one["role"], one["content"]});
  return all;
}

rt::special_names const names{.begin = "<s>", .end = "<|endoftext|>"};

std::vector<std::string> answers_of(rt::chat_text const& text) {
  std::vector<std::string> all;
  for (auto const& [begin, end] : text.answers) all.push_back(text.text.substr(begin, end - begin));
  return all;
}

std::vector<rt::chat_message> const talk{
    {"user", "one"}, {"assistant", "two"}, {"user", "three"}, {"assistant", "four"}};

/// Returns the template of a name in chats.json.
std::string named(std::string const& name) {
  for (json_value const& entry : redco::json::read_json(test_files() / "chats.json"))
    if (entry["name"] == name) return entry["template"];
  return {};
}

}  // namespace

TEST_CASE("chat templates give the texts that transformers gives") {
  if (!available) return;
  // A file of public templates, which make_chats.py --templates writes, is compared as well.
  std::vector<std::filesystem::path> files{test_files() / "chats.json"};
  if (char const* const more = std::getenv("REDCO_CHATS")) files.emplace_back(more);
  int texts = 0;
  for (auto const& file : files)
    for (json_value const& entry : redco::json::read_json(file)) {
      INFO(entry["name"].get<std::string>());
      rt::chat_template const chat(entry["template"].get<std::string>(), names, "a test");
      for (json_value const& row : entry["conversations"]) {
        auto const messages = messages_of(row["messages"]);
        for (bool const asks : {false, true}) {
          json_value const& expected = row[asks ? "asking" : "text"];
          if (expected.is_null()) {
            CHECK_THROWS_AS(chat.text(messages, asks), redco::error);
          } else {
            CHECK(chat.text(messages, asks) == expected.get<std::string>());
            ++texts;
          }
        }
      }
    }
  CHECK(texts >= 70);
}

TEST_CASE("tags of a template enclose the answers that transformers marks, in text and in ids") {
  if (!available || !rt::detail::regex::available) return;
  rt::any_tokenizer const tokenizer = redco::read_tokenizer(test_files() / "tokenizers" / "files_qwen2");
  int answers = 0;
  for (json_value const& entry : redco::json::read_json(test_files() / "chats.json"))
    for (json_value const& row : entry["conversations"]) {
      if (!row.contains("answers")) continue;
      INFO(entry["name"].get<std::string>());
      rt::chat_template const chat(entry["template"].get<std::string>(), names, "a test");
      rt::chat_text const marked = chat.marked_text(messages_of(row["messages"]));
      CHECK(marked.text == row["text"].get<std::string>());
      CHECK(answers_of(marked) == row["answers"].get<std::vector<std::string>>());
      answers += static_cast<int>(marked.answers.size());
      rt::marked_ids const ids = rt::marked_ids_of(tokenizer, marked);
      CHECK(ids.ids == row["ids"].get<std::vector<std::int64_t>>());
      std::vector<bool> trained;
      for (json_value const& one : row["trained"]) trained.push_back(one.get<int>() != 0);
      CHECK(ids.trained == trained);
    }
  CHECK(answers == 15);
}

TEST_CASE("a token that crosses the boundary of an answer belongs to the answer") {
  if (!rt::detail::regex::available) return;
  rt::any_tokenizer const tokenizer = redco::read_tokenizer(test_files() / "tokenizers" / "files_qwen2");
  std::string const text = "they like boats";  // "they", " like" and " boats" are tokens
  auto const marked = [&](std::size_t begin, std::size_t end) {
    return rt::marked_ids_of(tokenizer, {text, {{begin, end}}}).trained;
  };
  REQUIRE(tokenizer.encode(text).size() == 3);
  CHECK(marked(0, 4) == std::vector{true, false, false});
  CHECK(marked(0, 2) == std::vector{true, false, false});
  CHECK(marked(2, 6) == std::vector{true, true, false});
  CHECK(marked(12, 15) == std::vector{false, false, true});
}

TEST_CASE("without tags, an answer ends with the tag that closes its message") {
  if (!available) return;
  using list = std::vector<std::string>;
  std::map<std::string, list> const expected{
      {"chatml", {"two<|im_end|>", "four<|im_end|>"}},
      {"brackets", {" two <|endoftext|>", " four <|endoftext|>"}},
      {"headers", {"two<|eot_id|>", "four<|eot_id|>"}},
      {"turns", {"two<end_of_turn>", "four<end_of_turn>"}},
      // an earlier answer has no thoughts; an end token of the conversation belongs to no answer
      {"thinking", {"two<|end|>", "<think>\n\n</think>\n\nfour<|end|>"}}};
  for (auto const& [name, answers] : expected) {
    INFO(name);
    CHECK(answers_of(rt::chat_template(named(name), names, "a test").marked_text(talk)) == answers);
  }
}

TEST_CASE("only answers from the first message on are marked") {
  if (!available) return;
  for (std::string const name : {"chatml", "marked"}) {
    INFO(name);
    rt::chat_template const chat(named(name), names, "a test");
    std::string const end = name == "marked" ? "<|endoftext|>" : "<|im_end|>";
    CHECK(answers_of(chat.marked_text(talk, 2)) == std::vector<std::string>{"four" + end});
    CHECK(answers_of(chat.marked_text(talk, 1)) == std::vector<std::string>{"two" + end, "four" + end});
    CHECK(chat.marked_text(talk, 4).answers.empty());
  }
}

TEST_CASE("templates that hide where an answer begins or ends are refused by name") {
  if (!available) return;
  auto const refused = [](std::string const& jinja) {
    return refusal([&] { rt::chat_template(jinja, names, "a/chat_template.jinja").marked_text(talk); });
  };
  std::string const cure =
      "a/chat_template.jinja does not show where message 2 of a conversation begins and ends: enclose";
  // an answer is left out, and the text before an answer depends on its words
  CHECK(refused("{% for m in messages if m.role == 'user' %}{{ m.content }}|{% endfor %}").starts_with(cure));
  CHECK(refused("{% for m in messages %}{{ messages[1].content[:1] }}{{ m.content }}|{% endfor %}").starts_with(cure));
}

TEST_CASE("a template indexes the letters of a text as Jinja does") {
  if (!available) return;
  // The expected text is that of Jinja 3.1.6.
  std::string const jinja =
      "{% set a = messages[0].content %}{% set list = [[1, 'h\u00E9\u00E9'], {'k': 'ab'}] %}"
      "{{ a[0] }}{{ a[1] | upper }}{{ a [ -1 ] }}|{{ a[9] }}{{ a[-9] }}|{{ list[0][1][1] }}"
      "{{ (list[-1]['k'] ~ 'c')[2] }}{{ list[1].k[list[0][0]] }}{{ 'x]y'[1] }}|"
      "{{ a[1:][0] }}{{ a[:1] }}{{ [5, 6][1] }}{{ 'a[0]' }}|"
      "{% for m in messages if m.role[0] == 'a' %}{{ m.role[-1] }}{% endfor %}|"
      "{{ a if a[0] in ['o'] else 'none' }}{% if not a[7] %}empty{% endif %} a[0] {# a[0] #}";
  CHECK(rt::chat_template(jinja, names, "a.jinja").text(talk) == "oNe||\u00E9cb]|no6a[0]|tt|oneempty a[0] ");
}

TEST_CASE("blanks before an expression that begins a line are kept as in Jinja") {
  if (!available) return;
  // The expected text is that of transformers 5.24.
  std::string const jinja =
      "  {{ 'a' }}\n{% for m in messages[:2] %}\n    {{ m.role }}:\n\t{{- m.content }}\n{% if true %}\n  {% if true %}\n"
      " \t {{ 'x' -}}\n  {{ 'y' }} {{ 'z' }}\n  {%- endif -%}\n  {{ 'w' }}\n{% endif %}\n{% endfor %}\n  {# c #}\n"
      "  {{ 'end' }}";
  CHECK(rt::chat_template(jinja, names, "a.jinja").text(talk) ==
        "  a\n    user:one\n \t xy zw\n    assistant:two\n \t xy zw\n  end");
}

TEST_CASE("a template strips the blanks of Unicode as Python does") {
  if (!available) return;
  std::vector<rt::chat_message> const rows{{"user", "\u00A0\u3000\n x\u2028\u0085\f"},
                                           {"assistant", "\x1F\u2003 \u1680"}};
  auto const text = [&](std::string const& jinja) {
    return rt::chat_template("{% for m in messages %}[" + jinja + "]{% endfor %}", names, "a.jinja").text(rows);
  };
  // The expected texts are those of transformers 5.24.
  CHECK(text("{{ m.content | trim }}|{{ m.content.strip() }}|{{ m.content.lstrip() }}|{{ m.content . rstrip( ) }}") ==
        "[x|x|x\u2028\u0085\f|\u00A0\u3000\n x][|||]");
  CHECK(text("{{ (m.content ~ ' y').strip()[-1] }}|{{ m.content.strip().strip('x').split('x')[0].strip() }}") ==
        "[y|][y|]");
  CHECK(text("{{ '\u200Bx '.strip() }}|{{ ' a b '.lstrip() + 'c ' . rstrip() }}") == "[\u200Bx|a b c][\u200Bx|a b c]");
}

TEST_CASE("templates call members of results, and use filters that minja lacks") {
  if (!available) return;
  auto const text = [](std::string const& jinja) { return rt::chat_template(jinja, names, "a.jinja").text(talk); };
  // The expected texts are those of transformers 5.24.
  CHECK(text("{% macro f(x) %}{{ x }}!{% endmacro %}{{ f('a').endswith('!') }}{{ f('a-b').split('-')[1] }}"
             "{{ 'yes' if (true and not f('a').endswith('b')) else '' }}") == "Trueb!yes");
  CHECK(text("{{ 'a' 'b\n' \n 'c' ~ \"d\" \"'\" }}") == "ab\ncd'");
  CHECK(text("{{ 'aB cD' | capitalize }}|{{ 'aB cD-e' | title }}|{{ 'aXbX' | replace('X', '<>') }}") ==
        "Ab cd|Ab Cd-E|a<>b<>");
  CHECK(text("{{ ['p', 'q'] | first }}{{ messages[0].content | first }}|{{ 2.5 | string }}{{ 7 | string }}") ==
        "po|2.57");
}

TEST_CASE("a template's own refusal and wrong syntax are errors that name the template") {
  if (!available) return;
  rt::chat_template const chat(named("brackets"), names, "a/tokenizer_config.json: chat_template");
  std::vector<rt::chat_message> const wrong{{"user", "a"}, {"user", "b"}};
  CHECK(refusal([&] { chat.text(wrong); }) ==
        "a/tokenizer_config.json: chat_template refuses the conversation (roles must alternate user, assistant): "
        "change the roles or the number of its messages");
  CHECK(refusal([] {
          rt::chat_template("{% for m in messages %}", names, "a.jinja");
        }).starts_with("a.jinja is no template that minja can read ("));
}

TEST_CASE("a folder's template is chat_template.jinja, or that of tokenizer_config.json") {
  if (!available) return;
  temporary_folder const folder;
  auto const text = [&] { return rt::chat_template(folder.path).text(talk); };
  CHECK(refusal(text).find("has no chat template") != std::string::npos);
  std::ofstream(folder.path / "tokenizer_config.json")
      << R"({"eos_token": {"content": "<e>"}, "chat_template": "{{ messages | length }}{{ eos_token }}"})";
  CHECK(text() == "4<e>");
  std::ofstream(folder.path / "tokenizer_config.json")
      << R"({"chat_template": [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": "plain"}]})";
  CHECK(text() == "plain");
  std::ofstream(folder.path / "tokenizer_config.json")
      << R"({"chat_template": [{"name": "tool_use", "template": "tools"}]})";
  CHECK(refusal(text).find("tokenizer_config.json: chat_template has no template named \"default\"") !=
        std::string::npos);
  std::ofstream(folder.path / "chat_template.jinja") << "{{ messages[1].content }} of the file\n";
  CHECK(text() == "two of the file");
}

TEST_CASE("without minja, reading a template names the script that downloads it") {
  if (available) return;
  CHECK(refusal([] { rt::chat_template("x", names, "a.jinja"); }) ==
        "a.jinja needs minja; run scripts/setup, which downloads it, configure again and rebuild");
}
