#!/usr/bin/env python3
"""Writes conversations with tools, thoughts and parts of text to tests/files/tool_chats.json,
as Hugging Face transformers 5.24 renders them by public chat templates.

    python tests/tokenizer/make_tool_chats.py [TEMPLATES] [--all OUT]

Runs in the Python of .deps/folders-5.24. TEMPLATES is the folder .deps/minja/templates, which
scripts/setup downloads. The first form takes the templates named below, the second one all of them.

A row has messages, further variables of the template, and the texts without and with the beginning
of an answer. The second text may be what it adds to the first one. A text is null if the template
refuses the conversation. The test replaces calls of strftime_now by the same fixed text.
"""
import json
import pathlib
import re
import sys

from transformers.utils.chat_template_utils import render_jinja_template

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = {"bos_token": "<s>", "eos_token": "</s>"}
CHOSEN = """Mistral-Small-3.2-24B-Instruct-2506 NousResearch-Hermes-3-Llama-3.1-8B-tool_use Qwen-QwQ-32B Qwen-Qwen2.5-7B-Instruct
    Qwen-Qwen3-0.6B deepseek-ai-DeepSeek-R1-Distill-Qwen-32B ibm-granite-granite-3.3-2B-Instruct
    meetkai-functionary-medium-v3.2     meta-llama-Llama-3.1-8B-Instruct mistralai-Mistral-Nemo-Instruct-2407 moonshotai-Kimi-K2 openai-gpt-oss-120b""".split()

WEATHER = {"type": "function", "function": {"name": "weather", "description": "Weather of a city, \"today\" & <later>: 5° ≤ t",
           "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "a city's name"},
                          "days": {"type": "integer", "default": 1}, "share": {"type": "number", "default": 0.5}},
                          "required": ["city"]}}}
CLOCK = {"type": "function", "function": {"name": "clock", "description": "The time", "parameters": {"type": "object", "properties": {}}}}


def call(name, arguments, number=1):
    return {"id": f"call0000{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def says(role, content, **others):
    return {"role": role, "content": content, **others}


def answers(name, content, number=1):
    return says("tool", content, name=name, tool_call_id=f"call0000{number}")


PARIS = call("weather", {"city": "Paris", "days": 2})
CONVERSATIONS = [
    # a call, its result, an answer, and a later question
    ([says("system", "Be brief."), says("user", "Weather in Paris?"), says("assistant", "", tool_calls=[PARIS]),
      answers("weather", "{\"sky\": \"grey\"}"), says("assistant", "Grey."), says("user", "Thanks."), says("assistant", "Bye.")],
     {"tools": [WEATHER, CLOCK]}),
    # no content, values of all kinds, two calls
    ([says("user", "Both?"), says("assistant", None, tool_calls=[call("weather", {"city": "Zürich \"1\" 'a'", "share": 1.5, "on": True,
      "off": None, "list": [1, {"a": []}]}), call("clock", {}, 2)]), answers("weather", "a"), answers("clock", "12:00", 2),
      says("assistant", "Noon.")], {"tools": [WEATHER, CLOCK]}),
    # thoughts in a key and in the content; an earlier call with thoughts
    ([says("user", "q"), says("assistant", "", reasoning_content="I call.", tool_calls=[PARIS]), answers("weather", "grey"),
      says("assistant", "a", reasoning_content="I see."), says("user", "r"), says("assistant", "<think>\nWhy?\n</think>\n\nb")],
     {"tools": [WEATHER]}),
    ([says("user", "q"), says("assistant", "a", reasoning_content="First.\nThen.", thinking="First.")], {}),
    ([says("user", "q"), says("assistant", "a")], {"enable_thinking": False, "thinking": True}),
    # content in parts, and names
    ([says("user", [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}], name="Ann"), says("assistant", "three")], {}),
    ([says("user", "no call"), says("assistant", "four")], {"tools": [CLOCK], "documents": [{"title": "t", "text": "x"}]}),
]


def rendered(template, messages, variables, asks):
    options = dict(variables)
    tools, documents = options.pop("tools", None), options.pop("documents", None)
    try:
        return render_jinja_template([messages], tools=tools, documents=documents, chat_template=template, add_generation_prompt=asks,
                                     **NAMES, date_string="26 Jul 2024", functions="[]", datetime="now", **options)[0][0]
    except Exception:
        return None


def main():
    arguments = sys.argv[1:]
    every = "--all" in arguments
    out = pathlib.Path(arguments.pop()) if every else ROOT / "tests/files/tool_chats.json"
    folder = pathlib.Path(arguments[0]) if arguments and arguments[0] != "--all" else ROOT / ".deps/minja/templates"
    entries = []
    for path in sorted(folder.glob("*.jinja")):
        if not every and path.stem not in CHOSEN:
            continue
        template = re.sub(r"""strftime_now\(("[^"]*"|'[^']*')\)""", '"a day"', path.read_text())
        rows = []
        for messages, variables in CONVERSATIONS:
            plain, asking = (rendered(template, messages, variables, asks) for asks in (False, True))
            row = {"messages": messages, "variables": variables, "text": plain, "asking": asking}
            if plain is not None and asking is not None and asking.startswith(plain):
                row["asking"] = {"added": asking[len(plain):]}
            rows.append(row)
        entries.append({"template": path.stem, "rows": rows})
    out.write_text("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in entries) + "\n]\n")


if __name__ == "__main__":
    main()
