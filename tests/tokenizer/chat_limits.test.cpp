#include "catch.hpp"
#include "refusal.hpp"

#include <redco/tokenizer/chat_template.hpp>
#include <redco/tokenizer/detail/jinja.hpp>

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

// Templates that would crash, hang or fill the memory of a program that renders them itself.

namespace {

namespace rt = redco::tokenizer;

std::vector<rt::chat_message> const short_talk{{"user", "a"}, {"assistant", "b"}};

rt::chat_limits const small{.memory = std::size_t{64} << 20, .bytes = 1000, .cpu_seconds = 1, .seconds = 120};

std::string refused_by_limits(std::string const& jinja, rt::chat_limits const& limits = small) {
  return refusal([&] { rt::chat_template(jinja, {}, "a/chat_template.jinja", limits).text(short_talk); });
}

std::string repeated(std::string const& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("a template that calls itself without end is refused with its file") {
  if (!rt::detail::jinja_template::available) return;
  std::string const why =
      refused_by_limits("{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}", {.memory = std::size_t{1} << 30});
  CHECK(why.starts_with("a/chat_template.jinja "));
  CHECK((says(why, "overflows the stack") || says(why, "MiB of memory")));
}

TEST_CASE("a template that fills the memory is refused with its file") {
  if (!rt::detail::jinja_template::available) return;
  std::string const doubled =
      "{% set n = namespace(s='0123456789') %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}";
  for (std::string const& jinja : {std::string("{{ range(100000000) | length }}"), doubled})
    CHECK(refused_by_limits(jinja).starts_with("a/chat_template.jinja needs more than 64 MiB of memory"));
}

TEST_CASE("a template that computes without end or writes too much is refused with its file") {
  if (!rt::detail::jinja_template::available) return;
  std::string const loops = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}";
  CHECK(refused_by_limits(loops).starts_with("a/chat_template.jinja takes more than 1 seconds of computation"));
  CHECK(refused_by_limits("{% for a in range(9999) %}word{% endfor %}") ==
        "a/chat_template.jinja writes more than 1000 bytes for one conversation: use the template of another revision "
        "of the model");
  CHECK(refused_by_limits("word").empty());
}

TEST_CASE("a template that divides by zero is refused with its file") {
  if (!rt::detail::jinja_template::available) return;
#if defined(__SANITIZE_ADDRESS__)  // UndefinedBehaviorSanitizer ends the process first
  std::string const why = "a/chat_template.jinja ";
#else
  std::string const why = "a/chat_template.jinja divides by zero for one conversation";
#endif
  CHECK(refused_by_limits("{{ 5 % 0 }}").starts_with(why));
  CHECK(refused_by_limits("{{ 5 // 0 }}").starts_with(why));
}

TEST_CASE("a template with brackets or blocks in each other is refused before it is parsed") {
  if (!rt::detail::jinja_template::available) return;
  auto const nested = [](int depth) { return "{{ " + repeated("(", depth) + "1" + repeated(")", depth) + " }}"; };
  std::string const why = "a/chat_template.jinja has brackets or blocks nested more than 100 deep";
  CHECK(refused_by_limits(nested(20000)).starts_with(why));
  CHECK(refused_by_limits(nested(101)).starts_with(why));
  CHECK(refused_by_limits(nested(20)).empty());
  CHECK(refused_by_limits(repeated("{% if 1 %}", 101) + repeated("{% endif %}", 101)).starts_with(why));
  CHECK(refused_by_limits(repeated("{% if 1 %}{% set a = '((((' %}{% endif %}{# {{ (((( #}{{ '((((' }}", 200),
                          {.memory = std::size_t{1} << 28})
            .empty());
  // recursion that brackets do not show
  CHECK(refused_by_limits("{{ " + repeated("not ", 50000) + "1 }}").starts_with("a/chat_template.jinja "));
}

TEST_CASE("several threads render texts concurrently, and an error names its conversation") {
  if (!rt::detail::jinja_template::available) return;
  rt::chat_template const chat(
      "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% if m.content == 'x' %}{{ raise_exception('no') }}"
      "{% endif %}{% endfor %}",
      {}, "a/chat_template.jinja");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // During a fork, another thread can hold a lock of the sanitizer, for which the child would wait.
  std::vector<std::string> found(1);
#else
  std::vector<std::string> found(4);
#endif
  {
    std::vector<std::jthread> threads;
    for (std::string& one : found)
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) one += chat.text(short_talk);
      });
  }
  for (std::string const& one : found) CHECK(one == repeated("[user]a[assistant]b", 5));
  std::vector<rt::chat_message> const wrong{{"user", "x"}};
  std::vector<rt::chat_request> const requests{{short_talk, 0, "", "chats:1"}, {wrong, 0, "", "chats:2"}, {short_talk}};
  CHECK(refusal([&] { chat.marked_texts(requests); }).starts_with("chats:2: a/chat_template.jinja refuses"));
  CHECK(chat.marked_texts(std::span(requests).first(1)).front().text == "[user]a[assistant]b");
}
