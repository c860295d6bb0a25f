#!/usr/bin/env python3
"""Writes conversations as texts and token ids, as Hugging Face transformers 5.24 computes them, to
tests/files/chats.json.

    python tests/tokenizer/make_chats.py        the Python of .deps/folders-5.24
    python tests/tokenizer/make_chats.py --templates .deps/minja/templates OUT

The first form uses the templates below, which imitate the formats of well-known models. The second
form writes the texts of the templates in a folder to OUT, in the same format.

Each entry has a template, conversations, their texts with and without the beginning of an answer,
and for templates with {% generation %} the ids and marks of the tokenizer in
tests/files/tokenizers/files_qwen2. A text is null if the template refuses the conversation.
"""
import json
import pathlib
import sys

from transformers import AutoTokenizer
from transformers.utils.chat_template_utils import render_jinja_template

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = {"bos_token": "<s>", "eos_token": "<|endoftext|>"}

TEMPLATES = {
    "chatml": "{% for message in messages %}\n    {{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}\n"
              "{% endfor %}\n{% if add_generation_prompt %}\n    {{- '<|im_start|>assistant\\n' }}\n{% endif %}\n",
    "marked": "{%- for m in messages -%}\n  {%- if m.role == 'assistant' -%}\n    {{- '<|im_start|>assistant\\n' -}}\n"
              "    {%- generation -%}\n    {{- m.content + eos_token -}}\n    {%- endgeneration -%}\n    {{- '\\n' -}}\n"
              "  {%- else -%}\n    {{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' -}}\n  {%- endif -%}\n{%- endfor -%}\n"
              "{%- if add_generation_prompt -%}\n  {{- '<|im_start|>assistant\\n' -}}\n{%- endif -%}",
    "marked_lines": "{% for m in messages %}\n{% if m.role == 'assistant' %}\nA: \n    {% generation %}\n{{ m.content }} \n"
                    "    {% endgeneration %}\nend\n{% else %}\nQ: {{ m.content }}\n{% endif %}\n{% endfor %}\n"
                    "{% if add_generation_prompt %}A: {% endif %}",
    "marked_inline": "{% for m in messages %}{% if m.role == 'assistant' %}[A]{% generation %}{{ m.content | trim }}{{ eos_token }}"
                     "{% endgeneration %}{% else %}[{{ m.role | upper }}]{{ m.content }}{% endif %}{% endfor %}",
    "brackets": "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] %}"
                "{% set turns = messages[1:] %}{% else %}{% set system = '' %}{% set turns = messages %}{% endif %}"
                "{% for m in turns %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
                "{{ raise_exception('roles must alternate user, assistant') }}{% endif %}{% if m['role'] == 'user' %}"
                "{{ '[INST] ' + (('<<SYS>>\\n' + system + '\\n<</SYS>>\\n\\n') if loop.first and system else '') + m['content'].strip() + ' [/INST]' }}"
                "{% else %}{{ ' ' + m['content'].strip() + ' ' + eos_token }}{% endif %}{% endfor %}",
    "headers": "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + message['role'] "
               "+ '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}"
               "{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}"
               "{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}",
    "turns": "{{ bos_token }}{%- macro turn(role, text) -%}<start_of_turn>{{ role }}\n{{ text | trim }}<end_of_turn>\n{% endmacro -%}\n"
             "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
             "{{ turn('model' if m.role == 'assistant' else m.role, m.content) }}{% endfor %}"
             "{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}",
    "thinking": "{% for m in messages %}{% set text = m.content.split('</think>')[-1].lstrip('\\n') %}<|{{ m.role }}|>\n"
                "{% if m.role == 'assistant' and loop.last %}<think>\n\n</think>\n\n{% endif %}{{ text }}<|end|>\n{% endfor %}"
                "{% if add_generation_prompt %}<|assistant|>\n{% else %}{{ eos_token }}{% endif %}",
}
CONVERSATIONS = [
    [("user", "How many cats?"), ("assistant", "Twelve.")],
    [("system", "Be brief."), ("user", "  Hello world\n"), ("assistant", "Hello!"), ("user", "Naïve cafés, 你好?"), ("assistant", "\nThe end. ")],
    [("user", "one"), ("assistant", "two"), ("user", "three <b>&'\" {{ x }} {% y %}"), ("assistant", "four\n\nfive")],
    [("user", "a"), ("user", "b")],
    [("system", "S"), ("user", "")],
]


def rendered(template, messages, **options):
    try:
        return render_jinja_template([messages], chat_template=template, **NAMES, **options)
    except Exception:
        return None


def entry(name, template, tokenizer):
    result = {"name": name, "template": template, "conversations": []}
    for conversation in CONVERSATIONS:
        messages = [{"role": role, "content": content} for role, content in conversation]
        texts = [rendered(template, messages, add_generation_prompt=asks) for asks in (False, True)]
        one = {"messages": messages, "text": texts[0] and texts[0][0][0], "asking": texts[1] and texts[1][0][0]}
        if "endgeneration" in template and texts[0]:
            text, ranges = rendered(template, messages, return_assistant_tokens_mask=True)
            one["answers"] = [text[0][begin:end] for begin, end in ranges[0]]
            out = tokenizer.apply_chat_template(messages, chat_template=template, return_assistant_tokens_mask=True, return_dict=True)
            one["ids"], one["trained"] = out["input_ids"], out["assistant_masks"]
        result["conversations"].append(one)
    return result


def main():
    templates, out = TEMPLATES, ROOT / "tests/files/chats.json"
    if sys.argv[1:2] == ["--templates"]:
        templates = {path.stem: path.read_text() for path in sorted(pathlib.Path(sys.argv[2]).glob("*.jinja"))}
        out = pathlib.Path(sys.argv[3])
    tokenizer = AutoTokenizer.from_pretrained(ROOT / "tests/files/tokenizers/files_qwen2", **NAMES)
    rows = [entry(name, template, tokenizer) for name, template in templates.items()]
    out.write_text("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
