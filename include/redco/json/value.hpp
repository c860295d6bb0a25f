#pragma once

#include <redco/json/value_fwd.hpp>

#include <nlohmann/json.hpp>
