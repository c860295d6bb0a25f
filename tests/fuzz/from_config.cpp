// Reads any text as a config.json: it is refused with exit code 65, or planned without overflow on
// every legal mesh.
#include <redco/cost/cost_of.hpp>
#include <redco/pretrained/from_config/families.hpp>
#include <redco/shard/plan.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/json/parse.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  try {
    redco::json::json_value const config = redco::json::parse_json(text, "config.json");
    redco::pretrained::model_from_config(config, "config.json", [](auto const& model) {
      for (int const width : redco::shard::legal_widths(redco::shard::facts_of(model).parameters, 4)) {
        redco::cost::setup run{.mesh = {.dp = 2, .tp = width}, .load = {3, 1 << 20}, .recompute = width > 1};
        try {
          auto const cost = redco::cost::cost_of(model, redco::adamw{}, run);
          if (cost.memory.peak() <= 0 || cost.memory.parameters <= 0 || cost.messages.wire_bytes() < 0) std::abort();
        } catch (redco::error const& e) {
          if (e.code() != redco::exit_code::usage) std::abort();
        }
      }
      return 0;
    });
  } catch (redco::error const& e) {
    if (e.code() != redco::exit_code::data) std::abort();
  }
  return 0;
}
