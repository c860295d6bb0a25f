#!/usr/bin/env python3
"""Checks that every header includes the standard headers of the names that it uses: `std::vector`
needs <vector>.

  includes.py ROOT [--planted]      prints FILE: NAME needs <HEADER> for each missing header; exit
                                    code 1 if there is one

Definitions, X.inl.hpp, may rely on X.hpp. With --planted the script must find a mistake in a header
that it makes up.
"""

import pathlib
import re
import sys

NAMES = {
    "algorithm": "min max clamp sort stable_sort copy copy_n fill any_of all_of none_of find find_if count count_if equal "
                 "reverse shuffle transform max_element min_element lower_bound upper_bound binary_search search unique "
                 "rotate replace remove_if",
    "array": "array",
    "atomic": "atomic",
    "bit": "bit_cast countr_zero",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "compare": "strong_ordering partial_ordering",
    "cmath": "sqrt exp isfinite isnan isinf cos floor ceil pow round tanh lround llround",
    "concepts": "same_as convertible_to derived_from integral floating_point invocable copyable constructible_from",
    "condition_variable": "condition_variable condition_variable_any",
    "cstddef": "size_t ptrdiff_t byte nullptr_t",
    "cstdint": "int64_t uint64_t int32_t uint32_t uint8_t int8_t uint16_t int16_t uintptr_t",
    "cstring": "memcpy memset memcmp",
    "deque": "deque",
    "exception": "exception exception_ptr current_exception rethrow_exception uncaught_exceptions",
    "filesystem": "filesystem",
    "fstream": "ofstream ifstream",
    "functional": "function less",
    "initializer_list": "initializer_list",
    "iostream": "cout cerr",
    "iterator": "ssize back_inserter distance advance make_move_iterator",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map",
    "memory": "unique_ptr shared_ptr make_unique make_shared weak_ptr addressof",
    "mutex": "mutex lock_guard unique_lock scoped_lock once_flag call_once",
    "numbers": "numbers",
    "numeric": "accumulate iota gcd lcm",
    "optional": "optional nullopt",
    "ostream": "ostream",
    "random": "mt19937",
    "set": "set",
    "span": "span",
    "sstream": "ostringstream istringstream stringstream",
    "stdexcept": "runtime_error logic_error invalid_argument out_of_range",
    "stop_token": "stop_token",
    "string": "string to_string getline",
    "string_view": "string_view",
    "system_error": "error_code system_error",
    "thread": "thread jthread this_thread",
    "tuple": "tuple tie tuple_size apply make_tuple",
    "type_traits": "is_same_v is_void_v conditional_t remove_cvref_t decay_t enable_if_t is_base_of_v true_type false_type "
                   "is_enum_v underlying_type_t is_arithmetic_v is_invocable_v type_identity is_lvalue_reference_v "
                   "integral_constant void_t",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "move forward pair exchange swap declval index_sequence make_index_sequence as_const",
    "variant": "variant visit get_if holds_alternative monostate",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in NAMES.items() for name in names.split()}
ALSO = {"exception": {"stdexcept"}, "initializer_list": {"vector", "string"}, "move": {"algorithm"},
        "ostream": {"iostream", "sstream", "fstream", "iosfwd"}, "pair": {"map"}, "size_t": {"cstdint"}}


def includes_of(text):
    return set(re.findall(r"^ *# *include <([a-z_]+)>", text, re.M))


def missing(text, declared=""):
    """Returns (name, header) for each name whose header is included neither here nor in the header
    that declares these definitions."""
    there = includes_of(text) | includes_of(declared)
    code = re.sub(r'"(\\.|[^"\\\n])*"', '""', re.sub(r"//[^\n]*", "", text))
    for name in sorted(set(re.findall(r"\bstd::(\w+)", code))):
        header = HEADER_OF.get(name)
        if header and not there & ({header} | ALSO.get(name, set())):
            yield name, header


def main():
    root = pathlib.Path(sys.argv[1])
    if "--planted" in sys.argv:
        found = list(missing("#include <string>\nstd::vector<std::string> f();  // std::map\nchar const* s = \"std::set\";\n"))
        return 0 if found == [("vector", "vector")] else 1
    known = includes_of((root / "tests/build/standard.hpp").read_text())
    if known != set(NAMES):
        print("standard.hpp and includes.py differ in", sorted(known ^ set(NAMES)))
        return 1
    status = 0
    for path in sorted((root / "include/redco").rglob("*.hpp")):
        own = path.with_name(path.name.replace(".inl.hpp", ".hpp"))
        declared = own.read_text() if own != path and own.exists() else ""
        for name, header in missing(path.read_text(), declared):
            print(f"{path.relative_to(root)}: std::{name} needs <{header}>")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
