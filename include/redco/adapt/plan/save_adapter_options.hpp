#pragma once

#include <string>

namespace redco::adapt {

/// Entries of PEFT's adapter_config.json that redco cannot derive from the adapters.
struct save_adapter_options {
  /// Name or folder of the frozen model (PEFT's base_model_name_or_path); empty for none.
  std::string base = {};
  std::string task = "CAUSAL_LM";  ///< PEFT's task_type
};

}  // namespace redco::adapt
