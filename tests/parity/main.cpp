// The numbers of a reference implementation against ours:
//   parity FOLDER MESH     compares one folder on one mesh; exit code 1 with all that differs
//   parity --list FOLDER   prints "NAME MESH" for each folder of reference numbers in FOLDER and each mesh that is legal for it
#include "parity/reference.hpp"

#include <redco/options/mesh_text.hpp>

#include <redco/diag/error.hpp>

#include <exception>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>

namespace parity {

std::map<std::string, family, std::less<>>& families() {
  static std::map<std::string, family, std::less<>> all;
  return all;
}

namespace {

family const& family_of(redco::json_value const& config) {
  return families().at(config["model_type"].get<std::string>());
}

void list(std::filesystem::path const& where) {
  std::set<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator(where))
    if (std::filesystem::exists(entry.path() / "model.safetensors")) names.insert(entry.path().filename().string());
  for (std::string const& name : names) {
    redco::json_value const config = redco::read_json(where / name / "config.json");
    for (redco::mesh const on : {redco::mesh{1, 1}, {2, 1}, {1, 2}, {1, 3}, {1, 4}})
      if (family_of(config).legal(config, on)) std::cout << name << ' ' << redco::options::to_text(on) << '\n';
  }
}

int compare(std::filesystem::path const& where, redco::mesh const& on) {
  folder const data(where);
  family_of(data.config).compare(data, on);
  for (std::string const& complaint : data.complaints()) std::cerr << complaint << '\n';
  std::cout << data.compared() << " numbers and tensors compared, " << data.complaints().size() << " differ\n";
  return data.complaints().empty() ? 0 : 1;
}

}  // namespace

}  // namespace parity

int main(int argc, char** argv) try {
  if (argc == 3 && std::string(argv[1]) == "--list") {
    parity::list(argv[2]);
    return 0;
  }
  if (argc != 3) throw redco::error(redco::exit_code::usage, "parity FOLDER MESH, or parity --list FOLDER");
  return parity::compare(argv[1], redco::options::parse_mesh(argv[2]));
} catch (std::exception const& e) {
  std::cerr << e.what() << std::endl;
  return 1;
}
