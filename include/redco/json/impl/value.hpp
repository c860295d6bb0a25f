#pragma once

#include <redco/json/value.hpp>

#include <nlohmann/json.hpp>
