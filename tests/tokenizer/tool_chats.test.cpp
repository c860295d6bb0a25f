#include "catch.hpp"
#include "refusal.hpp"
#include "skip.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

#include <redco/tokenizer/chat_template.hpp>
#include <redco/tokenizer/detail/jinja.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

// Compares conversations with tools, thoughts and parts of text with the texts of transformers 5.24
// (make_tool_chats.py). The public templates are downloaded by scripts/setup.

namespace {

namespace rt = redco::tokenizer;
using redco::json::json_value;

std::vector<rt::chat_message> messages_in(json_value const& list) {
  std::vector<rt::chat_message> all;
  for (json_value const& one : list) {
    rt::chat_message& message = all.emplace_back(rt::chat_message{one["role"], "", redco::json::dump_json(one)});
    if (one["content"].is_string()) message.content = one["content"].get<std::string>();
    if (one["content"].is_array())
      for (json_value const& part : one["content"]) message.content += part["text"].get<std::string>();
  }
  return all;
}

/// Returns the variables of a row, and those that make_tool_chats.py gives to all templates.
std::string variables_in(json_value row) {
  json_value variables = {{"date_string", "26 Jul 2024"}, {"functions", "[]"}, {"datetime", "now"}};
  for (auto const& [name, value] : row["variables"].items()) variables[name] = value;
  return redco::json::dump_json(variables);
}

rt::special_names const special{.begin = "<s>", .end = "</s>"};

rt::chat_template in_jinja(std::string const& jinja) { return {jinja, special, "a/chat_template.jinja"}; }

}  // namespace

TEST_CASE("conversations with tools, thoughts and parts have the texts of transformers in public templates") {
  if (!rt::detail::jinja_template::available) return;
  std::filesystem::path const folder = test_files() / ".." / ".." / ".deps" / "minja" / "templates";
  if (!std::filesystem::is_directory(folder)) return skip("no public templates: run scripts/setup");
  int texts = 0, templates = 0;
  for (json_value const& entry : redco::json::read_json(test_files() / "tool_chats.json")) {
    std::string const name = entry["template"];
    std::ifstream in(folder / (name + ".jinja"), std::ios::binary);
    std::string jinja{std::istreambuf_iterator<char>(in), {}};
    jinja = std::regex_replace(jinja, std::regex(R"(strftime_now\(("[^"]*"|'[^']*')\))"), "\"a day\"");
    rt::chat_template const chat(jinja, special, name);
    int number = 0;
    for (json_value const& row : entry["rows"]) {
      INFO(name << ", row " << ++number);
      if (row["text"].is_null()) continue;
      std::string const plain = row["text"];
      // transformers writes a list as Python prints it, if the template expects a text
      if (plain.find("{'type': 'text'") != std::string::npos) continue;
      auto const messages = messages_in(row["messages"]);
      std::string const variables = variables_in(row);
      CHECK(chat.text(messages, false, variables) == plain);
      json_value const& asking = row["asking"];
      if (!asking.is_null())
        CHECK(chat.text(messages, true, variables) ==
              (asking.is_object() ? plain + asking["added"].get<std::string>() : asking.get<std::string>()));
      ++texts;
      rt::chat_text const marked = chat.marked_text(messages, 0, variables);
      CHECK(marked.text == plain);
      std::size_t answers = 0;
      for (auto const& message : messages) answers += message.role == "assistant" ? 1 : 0;
      REQUIRE(marked.answers.size() == answers);
      for (auto const& [begin, end] : marked.answers) {
        std::string const answer = plain.substr(begin, end - begin);
        CHECK(answer.find_last_not_of("|>]\n") + 1 < answer.size());  // a closing tag
        CHECK(answer.find("user") == std::string::npos);
      }
    }
    ++templates;
  }
  CHECK(templates >= 8);
  CHECK(texts >= 60);
}

TEST_CASE("the marked answers of a conversation with tools have the calls and their closing tags") {
  if (!rt::detail::jinja_template::available) return;
  rt::chat_template const chat = in_jinja(
      "{% for m in messages %}<|{{ m.role }}|>{% if m.content %}{{ m.content }}{% endif %}"
      "{% for c in m.tool_calls %}<call>{{ c.function.name }}({{ c.function.arguments | tojson }})</call>{% endfor %}"
      "<|end|>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}");
  std::vector<rt::chat_message> rows{
      {"user", "f"},
      {"assistant", "",
       R"({"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"f": "<|end|>"}}}]})"},
      {"tool", "f"},
      {"assistant", "f"}};
  rt::chat_text const found = chat.marked_text(rows);
  std::vector<std::string> answers;
  for (auto const& [begin, end] : found.answers) answers.push_back(found.text.substr(begin, end - begin));
  CHECK(answers == std::vector<std::string>{R"(<call>f({"f": "<|end|>"})</call><|end|>)", "f<|end|>"});
  // an answer of weight 0 is not marked
  rows[1].trained = false;
  CHECK(chat.marked_text(rows).answers == std::vector{found.answers[1]});
}

TEST_CASE("content in parts is given as a list to templates that read lists, and as a text to others") {
  if (!rt::detail::jinja_template::available) return;
  std::vector<rt::chat_message> const rows{
      {"user", "ab", R"({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})"},
      {"assistant", "c", R"({"role": "assistant", "content": [{"type": "text", "text": "c"}]})"}};
  CHECK(in_jinja("{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
                 "{% for p in m.content %}[{{ p.text }}]{% endfor %}{% endif %};{% endfor %}")
            .text(rows) == "ab;c;");
  CHECK(
      in_jinja(
          "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
          "{% for p in m.content %}{{ p.text }}{% if not loop.last %}+{% endif %}{% endfor %}{% endif %};{% endfor %}")
          .text(rows) == "a+b;c;");
  CHECK(in_jinja("{% for m in messages %}{{ m.content | trim }};{% endfor %}").text(rows) == "ab;c;");
}

TEST_CASE("an empty object of a tool is false, and JSON of empty values has no line breaks") {
  if (!rt::detail::jinja_template::available) return;
  auto const text = [&](std::string const& jinja, std::string const& tool = R"({"name": "f", "parameters": {}})") {
    return in_jinja(jinja).text(std::vector<rt::chat_message>{{"user", "a"}}, false, "{\"tools\": [" + tool + "]}");
  };
  std::string const tested = "{% for t in tools %}{% if t.parameters %}yes{% else %}no{% endif %}";
  std::string const with_list = R"({"name": "f", "parameters": {}, "required": []})";
  CHECK(text(tested + " {{ t.parameters | tojson }}{% endfor %}") == "no {}");
  CHECK(text(tested + "{% endfor %}", with_list) == "no");
  CHECK(text("{{ tools | tojson(indent=2) }}") == "[\n  {\n    \"name\": \"f\",\n    \"parameters\": {}\n  }\n]");
  CHECK(text("{{ tools[0] | tojson }}", with_list) == with_list);
  CHECK(text("{% for t in tools %}{{ t.parameters }}{% endfor %}") == "{}");
  CHECK(refusal([&] {
          text(tested + "{{ t.required | tojson }}{% endfor %}", with_list);
        }).starts_with("a/chat_template.jinja tests an empty object, and writes an empty list"));
}

TEST_CASE("thoughts of a message have each name that templates read") {
  if (!rt::detail::jinja_template::available) return;
  std::vector<rt::chat_message> rows;
  for (std::string const keys :
       {R"("thinking": "t")", R"("reasoning": "r")", R"("reasoning_content": "c")",
        R"("reasoning_content": null, "thinking": "t")", R"("thinking": null, "reasoning": "r")",
        R"("reasoning_content": "c", "thinking": "t")"})
    rows.push_back({"user", "", R"({"role": "user", "content": "", )" + keys + "}"});
  // The expected text is that of transformers 5.24.
  CHECK(in_jinja("{% for m in messages %}{% if m.reasoning_content %}{{ m.reasoning_content }}{% endif %},"
                 "{% if m.thinking %}{{ m.thinking }}{% endif %};{% endfor %}")
            .text(rows) == "t,t;r,r;c,c;t,t;r,;c,t;");
}

TEST_CASE("a null of a tool or a call that Jinja treats in another way is refused") {
  if (!rt::detail::jinja_template::available) return;
  auto const refused = [](std::string const& jinja) {
    std::vector<rt::chat_message> const rows{
        {"assistant", "",
         R"({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"a": null}}}]})"}};
    return refusal([&] { in_jinja(jinja).text(rows, false, R"({"tools": [{"default": null, "parameters": {}}]})"); });
  };
  CHECK(refused("{{ tools | tojson }}{{ messages | tojson }}{% if tools[0].absent %}x{% endif %}").empty());
  CHECK(refused("{% for t in tools %}{% if t.default is none %}null{% endif %}{% endfor %}").empty());
  CHECK(refused("{% for a in [messages[0].tool_calls[0].function.arguments.a] %}"
                "{{ a if a is string else a | tojson }}{% endfor %}")
            .empty());
  // transformers 5.24 writes "None" and "x"
  for (std::string const jinja : {"{{ messages[0].tool_calls[0].function.arguments.a | string }}",
                                  "{% for t in tools %}{% if t.default is defined %}x{% endif %}{% endfor %}"})
    CHECK(refused(jinja).starts_with("a/chat_template.jinja treats null in \"tools\""));
}

TEST_CASE("a template may mark JSON as safe if it adds no text to the JSON") {
  if (!rt::detail::jinja_template::available) return;
  auto const text = [](std::string const& jinja) {
    return in_jinja(jinja).text(std::vector<rt::chat_message>{{"user", "a"}}, false, R"({"tools": [{"name": "f"}]})");
  };
  CHECK(text("{{ '<' ~ (tools | tojson | safe) ~ '>' }}") == R"(<[{"name": "f"}]>)");
  CHECK(text("{% for t in tools %}{% set v = t.name | safe if true else '+' %}{{- v }}{{ 'a' + '<' }}{% endfor %}") ==
        "fa<");
  // transformers 5.24 writes "&lt;" in the place of "<"
  for (std::string const jinja :
       {"{{ '<' + (tools | tojson | safe) }}", "{% set v = tools[0].name | safe %}{{ '<' + v }}",
        "{{ (tools[0].name | safe).replace('f', '<') }}"})
    CHECK(refusal([&] { text(jinja); }).starts_with("a/chat_template.jinja adds a text to one that is marked as safe"));
}

TEST_CASE("values that Jinja cannot append to a text are refused") {
  if (!rt::detail::jinja_template::available) return;
  rt::chat_template const chat = in_jinja(
      "{% for m in messages %}{{ '[' + m.role + ']' + m.content }}{% for c in m.tool_calls %}"
      "{{ 'call ' + c.function.arguments }}{% endfor %}{% endfor %}");
  auto const refused = [&](std::string const& content, std::string const& arguments) {
    std::vector<rt::chat_message> const rows{
        {"user", "None"},
        {"assistant", "",
         R"({"role": "assistant", "content": )" + content +
             R"(, "tool_calls": [{"function": {"name": "f", "arguments": )" + arguments + "}}]}"}};
    return refusal([&] { chat.text(rows); });
  };
  CHECK(
      refused("null", "\"x\"") ==
      R"(a/chat_template.jinja writes the missing content of message 2 as "None": write "content": "" in this message)");
  CHECK(refused("\"\"", R"({"x": 1})")
            .starts_with("a/chat_template.jinja writes the arguments of a tool call of message 2"));
  CHECK(refused("\"\"", "\"x\"").empty());
}

TEST_CASE("a folder's template for tools is used for conversations with tools") {
  if (!rt::detail::jinja_template::available) return;
  temporary_folder const folder;
  std::vector<rt::chat_message> const rows{{"user", "a"}};
  auto const texts = [&] {
    rt::chat_template const chat(folder.path);
    return chat.text(rows) + ", " + chat.text(rows, false, R"({"tools": [{"name": "f"}]})");
  };
  std::ofstream(folder.path / "tokenizer_config.json") << R"({"chat_template": [
    {"name": "tool_use", "template": "{{ tools[0].name }}"}, {"name": "default", "template": "plain"}]})";
  CHECK(texts() == "plain, f");
  std::ofstream(folder.path / "chat_template.jinja") << "file";
  CHECK(texts() == "file, file");
  std::filesystem::create_directory(folder.path / "additional_chat_templates");
  std::ofstream(folder.path / "additional_chat_templates" / "tool_use.jinja") << "tools";
  CHECK(texts() == "file, tools");
}
