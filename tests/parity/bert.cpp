#include "parity/parity.hpp"

#include <redco/pretrained/from_config/bert.hpp>
#include <redco/pretrained/stored_names/bert.hpp>

[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::bert_from_config, parity::task::tokens_to_class>();
