#include "parity/parity.hpp"

#include <redco/pretrained/from_config/roberta.hpp>
#include <redco/pretrained/stored_names/roberta.hpp>

[[maybe_unused]] static bool const known =
    parity::register_family<redco::pretrained::roberta_from_config, parity::task::tokens_to_class>();
