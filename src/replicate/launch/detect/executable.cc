#include "replicate/launch/detect/executable.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace holdfast::launch {
namespace {

enum class Found { nothing, folder, not_executable, executable };

Found look_at(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return Found::nothing;
  if (S_ISDIR(facts.st_mode)) return Found::folder;
  return access(path.c_str(), X_OK) == 0 ? Found::executable : Found::not_executable;
}

Result<std::string> at_path(const std::string& path) {
  const std::string doing = "looking for the program " + path;
  switch (look_at(path)) {
    case Found::executable:
      return path;
    case Found::folder:
      return Status(Code::bad_input, doing, "it is a folder", "name a program file");
    case Found::not_executable:
      return Status(Code::bad_input, doing, "it has no execute permission", "chmod +x " + path);
    case Found::nothing:
      break;
  }
  return Status(Code::not_found, doing, "no such file", "check the path");
}

}  // namespace

Result<std::string> find_executable(std::string_view name, std::string_view search) {
  if (name.find('/') != std::string_view::npos) return at_path(std::string(name));
  while (!name.empty()) {
    std::size_t colon = search.find(':');
    std::string folder(search.substr(0, colon));
    if (folder.empty()) folder = ".";
    std::string path = folder + "/" + std::string(name);
    if (look_at(path) == Found::executable) return path;
    if (colon == std::string_view::npos) break;
    search.remove_prefix(colon + 1);
  }
  std::string doing = "looking for the program " + std::string(name);
  if (!name.empty() && look_at(std::string(name)) == Found::executable)
    return Status(Code::not_found, doing, "not in PATH", "did you mean ./" + std::string(name) + "?");
  return Status(Code::not_found, doing, "not in PATH", "check the name or give its path");
}

Result<std::string> find_executable(std::string_view name) {
  const char* search = std::getenv("PATH");
  return find_executable(name, search != nullptr ? search : "/usr/local/bin:/usr/bin:/bin");
}

}  // namespace holdfast::launch
