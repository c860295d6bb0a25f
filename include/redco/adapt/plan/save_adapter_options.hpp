#pragma once

#include <string>

namespace redco {

/// Entries of a saved adapter_config.json that do not follow from the adapters.
struct save_adapter_options {
  /// Name or folder of the frozen model, for PEFT; empty for none.
  std::string base = {};
  std::string task = "CAUSAL_LM";  ///< task_type of PEFT
};

}  // namespace redco
