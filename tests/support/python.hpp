#pragma once

#include <cstdlib>
#include <string>

/// Returns the path of a python that imports `module`: $REDCO_TEST_PYTHON, else that of
/// scripts/setup --tests, else the system's; "" if none does.
inline std::string python_with(std::string const& module) {
  auto const imports = [&](std::string const& python) {
    return std::system(("'" + python + "' -c 'import " + module + "' >/dev/null 2>&1").c_str()) == 0;
  };
  if (char const* const chosen = std::getenv("REDCO_TEST_PYTHON")) return imports(chosen) ? chosen : "";
  for (std::string const python : {".deps/tests/bin/python", "python3"})
    if (imports(python)) return python;
  return "";
}
