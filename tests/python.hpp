#pragma once

#include <cstdlib>
#include <string>

/// A python that imports `module`, or "": that of $REDCO_TEST_PYTHON; else of scripts/setup --tests or of the system.
inline std::string python_with(std::string const& module) {
  auto const imports = [&](std::string const& python) {
    return std::system(("'" + python + "' -c 'import " + module + "' >/dev/null 2>&1").c_str()) == 0;
  };
  if (char const* const chosen = std::getenv("REDCO_TEST_PYTHON")) return imports(chosen) ? chosen : "";
  for (std::string const python : {".deps/tests/bin/python", "python3"})
    if (imports(python)) return python;
  return "";
}
