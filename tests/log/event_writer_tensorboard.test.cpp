#include "catch.hpp"
#include "python.hpp"
#include "skip.hpp"
#include "temporary_folder.hpp"

#include <redco/log/event_writer.hpp>

#include <cstdlib>
#include <fstream>
#include <string>

namespace {

// A Python program that prints TensorBoard's view of a folder of event files.
constexpr char const* tensorboard_reader = R"python(
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

folder, out = sys.argv[1:]
events = EventAccumulator(folder)
events.Reload()
with open(out, "w") as file:
    # Recent versions hand everything over as tensors, older ones scalars as scalars.
    for tag in sorted(events.Tags()["scalars"]):
        for event in events.Scalars(tag):
            print(tag, event.step, f"{event.value:.9g}", file=file)
    for tag in sorted(events.Tags()["tensors"]):
        plugin = events.SummaryMetadata(tag).plugin_data.plugin_name
        for event in events.Tensors(tag):
            value = event.tensor_proto
            shown = value.string_val[0].decode() if plugin == "text" else f"{value.float_val[0]:.9g}"
            print(tag, event.step, shown, file=file)
    for tag in sorted(events.Tags()["images"]):
        for event in events.Images(tag):
            print(tag, event.step, event.width, event.height, event.encoded_image_string.decode(), file=file)
)python";

}  // namespace

TEST_CASE("TensorBoard reads redco's event files, and a resumed run's file replaces the steps that it repeats",
          "[outside]") {
  std::string const python = python_with("tensorboard");
  if (python.empty()) return skip("no Python with tensorboard (scripts/setup --tests, or REDCO_TEST_PYTHON)");
  temporary_folder folder;
  std::ofstream(folder.path / "reader.py") << tensorboard_reader;
  auto const events = folder.path / "events";
  redco::log::event_writer_options options;
  options.now = [] { return std::chrono::system_clock::time_point(std::chrono::seconds(1700000000)); };
  {
    redco::log::event_writer writer(events, options);
    redco::log::event_writer::named_value const first[] = {{"loss", 5.5}, {"lr", 0.25}};
    redco::log::event_writer::named_value const second[] = {{"loss", 4.25}, {"lr", 0.5}};
    writer.scalars(1, first);
    writer.scalars(2, second);
    writer.scalar("loss", 99, 3);  // the checkpoint does not have this step
    writer.text("sample", "To be, or *not* to be", 2);
  }
  options.now = [] { return std::chrono::system_clock::time_point(std::chrono::seconds(1700000060)); };
  options.purge_from_step = 3;
  redco::log::event_writer resumed(events, options);
  resumed.scalar("loss", 3.125, 3);
  resumed.image("digit", {.width = 3, .height = 2, .png = "PNG"}, 4);
  REQUIRE(resumed.lost() == 0);

  std::string command = python;
  for (auto const& path : {folder / "reader.py", events, folder / "seen"}) command += " '" + path.string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(
      content_of(folder.path / "seen") ==
      "loss 1 5.5\nloss 2 4.25\nloss 3 3.125\nlr 1 0.25\nlr 2 0.5\nsample 2 To be, or *not* to be\ndigit 4 3 2 PNG\n");
}
