// Compares the numbers of Hugging Face transformers with ours. Exit code 1 and a list of the
// differences if there are any.
// - `parity FOLDER MESH [sequence_parallel]`: compares one folder on one mesh
// - `parity FOLDER MESH --keep OUT`: also keeps the model that was saved again in the folder OUT
// - `parity FOLDER MESH --fresh LAYER OUT`: loads FOLDER with a fresh layer, saves it in OUT
// - `parity --list FOLDER`: prints "NAME MESH" for each folder in FOLDER and each of its meshes
//
// The meshes of a folder are those under "meshes" in its meta.json, else those in
// tests/files/meshes.txt. Meshes with several model shards are listed again as "NAME MESH
// sequence_parallel".
#include "parity/reference.hpp"
#include "test_files.hpp"

#include <redco/options/value_text.hpp>

#include <redco/diag/error.hpp>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace parity {

std::map<std::string, comparison, std::less<>>& families() {
  static std::map<std::string, comparison, std::less<>> all;
  return all;
}

namespace {

/// Returns the lines of meshes.txt: names and their meshes.
std::map<std::string, std::vector<std::string>> listed_meshes() {
  std::filesystem::path const file = test_files() / "meshes.txt";
  std::ifstream lines(file);
  std::map<std::string, std::vector<std::string>> all;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, mesh;
    for (words >> name; words >> mesh;) all[name].push_back(mesh);
  }
  return all;
}

void list(std::filesystem::path const& where) {
  std::set<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator(where))
    if (std::filesystem::exists(entry.path() / "model.safetensors")) names.insert(entry.path().filename().string());
  auto const listed = listed_meshes();
  for (std::string const& name : names) {
    redco::json::json_value const meta = redco::json::read_json(where / name / "meta.json");
    std::vector<std::string> meshes;
    if (meta.contains("meshes")) meshes = meta["meshes"].get<std::vector<std::string>>();
    else if (listed.contains(name)) meshes = listed.at(name);
    else throw redco::error(redco::exit_code::data, name + " lists no meshes: name them in its meta.json");
    for (std::string const& mesh : meshes) {
      std::cout << name << ' ' << mesh << '\n';
      if (redco::options::parse_mesh(mesh).tp > 1) std::cout << name << ' ' << mesh << " sequence_parallel\n";
    }
  }
}

int compare(std::filesystem::path const& where, redco::mesh const& on, form as, std::filesystem::path const& keep,
            std::vector<std::string> const& fresh) {
  folder data(where);
  data.keep = keep;
  data.fresh = fresh;
  families().at(data.config["model_type"].get<std::string>())(data, on, as);
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
  bool const split = argc == 4 && std::string(argv[3]) == "sequence_parallel";
  bool const kept = argc == 5 && std::string(argv[3]) == "--keep";
  bool const fresh = argc == 6 && std::string(argv[3]) == "--fresh";
  if (argc != 3 && !split && !kept && !fresh)
    throw redco::error(
        redco::exit_code::usage,
        "parity FOLDER MESH [sequence_parallel | --keep OUT | --fresh LAYER OUT], or parity --list FOLDER");
  return parity::compare(
      argv[1], redco::options::parse_mesh(argv[2]), split ? parity::form::sequence_parallel : parity::form::plain,
      kept || fresh ? argv[argc - 1] : "", fresh ? std::vector<std::string>{argv[4]} : std::vector<std::string>{});
} catch (std::exception const& e) {
  std::cerr << e.what() << std::endl;
  return 1;
}
