#include "fabric/opensm/programs.h"

#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace holdfast::fabric::opensm {
namespace {

std::vector<std::string> split_folders(const char* text) {
  std::vector<std::string> folders;
  std::string rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) folders.push_back(rest.substr(0, colon));
    rest.erase(0, colon + 1);
  }
  return folders;
}

Status missing(const std::string& what, const std::string& remedy) {
  return {Code::unavailable, "looking for " + what, "it is not installed", remedy};
}

std::string find_umad2sim() {
  glob_t found = {};
  std::string path;
  for (const char* pattern : {"/usr/lib/*/umad2sim/libumad2sim.so", "/usr/lib*/umad2sim/libumad2sim.so"}) {
    if (path.empty() && glob(pattern, 0, nullptr, &found) == 0) path = found.gl_pathv[0];
    globfree(&found);
    found = {};
  }
  return path;
}

std::string find_tap() {
  std::vector<std::string> folders = split_folders(std::getenv("HOLDFAST_LIBRARY_PATH"));
  std::error_code failed;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char* relative : {"../lib", HOLDFAST_INSTALLED_PLUGINS})
    folders.push_back((own / relative).lexically_normal().string());
  folders.push_back(own.string());
  for (const std::string& folder : folders) {
    std::string path = folder + "/libholdfast-opensm-tap.so";
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return {};
}

}  // namespace

std::string find_program(const std::string& name) {
  std::vector<std::string> folders = split_folders(std::getenv("PATH"));
  folders.push_back("/usr/sbin");
  for (const std::string& folder : folders) {
    std::string path = folder + "/" + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

Result<Programs> find_programs() {
  Programs programs;
  programs.opensm = find_program("opensm");
  programs.ibsim = find_program("ibsim");
  programs.umad2sim = find_umad2sim();
  programs.tap = find_tap();
  if (programs.opensm.empty()) return missing("opensm", "install the package opensm");
  if (programs.ibsim.empty()) return missing("ibsim", "install the package ibsim-utils");
  if (programs.umad2sim.empty()) return missing("libumad2sim.so", "install the package libumad2sim0");
  if (programs.tap.empty())
    return missing("libholdfast-opensm-tap.so",
                   "build Holdfast with the packages libopensm-dev and libibumad-dev, or set HOLDFAST_LIBRARY_PATH");
  return programs;
}

}  // namespace holdfast::fabric::opensm
