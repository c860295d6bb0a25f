#pragma once

#include <string>

namespace redco {

/// What a saved adapter_config.json says beside the adapters themselves.
struct save_adapter_options {
  std::string base = {};  ///< name or folder of the frozen model, where PEFT looks for it; empty: nothing is said
  std::string task = "CAUSAL_LM";  ///< PEFT's task_type
};

}  // namespace redco
