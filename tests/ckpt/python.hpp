#pragma once

#include <cstdlib>
#include <string>

namespace ckpt_test {

/// The python of the environment variable, of the working copy or of the system, if it has safetensors.
inline std::string python_with_safetensors() {
  char const* const chosen = std::getenv("REDCO_TEST_PYTHON");
  for (std::string const python : {chosen ? chosen : "", ".deps/peers/bin/python", "python3"}) {
    if (!python.empty() && std::system((python + " -c 'import safetensors' >/dev/null 2>&1").c_str()) == 0)
      return python;
  }
  return "";
}

}  // namespace ckpt_test
