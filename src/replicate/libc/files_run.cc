// Functions that run a file: execve(2) and its kin, posix_spawn(3), dlopen(3). The C library and the kernel open it by
// ways of their own, so they are given the path on disk of what this replica sees.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicate/libc/files.h"

namespace holdfast::replicate {

namespace {

using Exec = int (*)(const char*, char* const[], char* const[]);
using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const[],
                      char* const[]);

using OpenLibrary = void* (*)(const char*, int);

/// The C library's own functions.
struct RealFunctions {
  Exec execve = next_function<Exec>("execve");
  Exec execvpe = next_function<Exec>("execvpe");
  Spawn posix_spawn = next_function<Spawn>("posix_spawn");
  Spawn posix_spawnp = next_function<Spawn>("posix_spawnp");
  OpenLibrary dlopen = next_function<OpenLibrary>("dlopen");
};

const RealFunctions& real_run_functions() {
  static const RealFunctions functions;
  return functions;
}

/// Where the file is that this replica sees under this path; the path itself where that is the same, or there is none.
std::string path_on_disk(const char* path) {
  std::string found = path;
  std::string name;
  if (!file_call(AT_FDCWD, path, name) || file_view().leader()) return found;
  const Depth inside;
  const int before = errno;
  const auto take = [&](const char* at) {
    if (name != at) found = at;
    return true;
  };
  (void)read_in_view(name, true, take, [] {});
  errno = before;
  return found;
}

/// The interpreter and its argument of a file that begins with #!, as the kernel reads them; none of others.
std::vector<std::string> interpreter_of(const std::string& file) {
  const Depth inside;
  std::array<char, 256> text{};
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t length = descriptor < 0 ? -1 : ::read(descriptor, text.data(), text.size() - 1);
  if (descriptor >= 0) ::close(descriptor);
  if (length < 2 || text[0] != '#' || text[1] != '!') return {};
  std::string_view line(text.data() + 2, static_cast<std::size_t>(length - 2));
  line = line.substr(0, line.find('\n'));
  const auto trim = [](std::string_view part) {
    const std::size_t first = part.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view()
                                           : part.substr(first, part.find_last_not_of(" \t") - first + 1);
  };
  line = trim(line);
  const std::size_t end = line.find_first_of(" \t");
  std::vector<std::string> words{std::string(line.substr(0, end))};
  if (end != std::string_view::npos) words.emplace_back(trim(line.substr(end)));
  if (words[0].empty()) words.clear();
  return words;
}

/// What to run instead of a file that is somewhere else on disk than the program says.
struct Command {
  std::string path;
  std::vector<std::string> before;  ///< arguments instead of the program's first one
  std::vector<char*> arguments;

  Command(std::string on_disk, const char* name, char* const given[]) : path(std::move(on_disk)) {
    // An interpreter gets the name that the program knows: it reads the script by this replica's view as well.
    before = interpreter_of(path);
    if (!before.empty()) {
      path = path_on_disk(before[0].c_str());
      before.emplace_back(name);
    }
    for (std::string& each : before) arguments.push_back(each.data());
    for (char* const* each = given; each && *each; ++each) {
      if (before.empty() || each != given) arguments.push_back(*each);
    }
    arguments.push_back(nullptr);
  }
};

int run_file(const char* name, char* const arguments[], char* const variables[]) {
  const Exec real = real_run_functions().execve;
  if (depth > 0 || !name) return real(name, arguments, variables);
  const std::string path = path_on_disk(name);
  if (path == name) return real(name, arguments, variables);
  const Command command(path, name, arguments);
  return real(command.path.c_str(), command.arguments.data(), variables);
}

int spawn_file(pid_t* process, const char* name, const posix_spawn_file_actions_t* actions,
               const posix_spawnattr_t* attributes, char* const arguments[], char* const variables[]) {
  const Spawn real = real_run_functions().posix_spawn;
  if (depth > 0 || !name) return real(process, name, actions, attributes, arguments, variables);
  const std::string path = path_on_disk(name);
  if (path == name) return real(process, name, actions, attributes, arguments, variables);
  const Command command(path, name, arguments);
  return real(process, command.path.c_str(), actions, attributes, command.arguments.data(), variables);
}

/// The first file of this name along PATH that this replica may run, where it is somewhere else on disk; empty: the
/// C library finds what there is.
std::string found_along_path(const char* name) {
  const char* const folders = std::getenv("PATH");
  if (depth > 0 || !folders || !name || *name == '\0') return {};
  for (std::string_view rest = folders;;) {
    const std::size_t end = rest.find(':');
    const std::string folder(rest.substr(0, end));
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    const std::string path = path_on_disk(file.c_str());
    const Depth inside;
    struct stat status {};
    if (::access(path.c_str(), X_OK) == 0 && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode))
      return path == file ? std::string() : file;
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
}

/// execvp(3): along PATH, and by a shell what the kernel does not know how to run.
int run_along_path(const char* name, char* const arguments[], char* const variables[]) {
  const Exec real = real_run_functions().execvpe;
  const bool is_path = name && std::strchr(name, '/');
  const std::string found = is_path ? name : found_along_path(name);
  if (found.empty() || path_on_disk(found.c_str()) == found) return real(name, arguments, variables);
  run_file(found.c_str(), arguments, variables);
  if (errno != ENOEXEC) return -1;
  std::vector<char*> shell{const_cast<char*>("/bin/sh"), const_cast<char*>(found.c_str())};
  for (char* const* each = arguments; *each; ++each) {
    if (each != arguments) shell.push_back(*each);
  }
  shell.push_back(nullptr);
  return run_file("/bin/sh", shell.data(), variables);
}

/// The arguments of execl(3) and its kin.
std::vector<char*> listed(const char* first, va_list& rest) {
  std::vector<char*> arguments{const_cast<char*>(first)};
  while (arguments.back()) arguments.push_back(va_arg(rest, char*));
  return arguments;
}

/// Those that the system has are no program's, and no program of a job changes them.
bool belongs_to_system(std::string_view path) {
  for (const std::string_view folder : {"/usr/", "/lib", "/opt/"}) {
    if (path.starts_with(folder)) return true;
  }
  return false;
}

/// Where a library is for this replica that the program names by a path; the leader says whether it is there.
std::string library_on_disk(const char* path) {
  const Answering answering;
  std::string on_disk = path;
  std::string name;
  if (!file_call(AT_FDCWD, path, name)) return on_disk;
  const auto act = [&](Manner) {
    const auto take = [&](const char* at) {
      if (::access(at, R_OK) != 0) return false;
      if (name != at) on_disk = at;
      return true;
    };
    return read_in_view(name, true, take, [] {});
  };
  (void)agree_on_file(FileCall::look, name, act);
  return on_disk;
}

/// Opens a library that is somewhere else on disk than the program says; nothing where it is not. In registers, so that
/// dlopen() can pass on its call by a jump.
std::optional<void*> open_elsewhere(const char* path, int mode) {
  if (depth > 0 || !path || !std::strchr(path, '/') || std::strchr(path, '$') || belongs_to_system(path)) return {};
  const std::string on_disk = library_on_disk(path);
  if (on_disk == path) return {};
  return real_run_functions().dlopen(on_disk.c_str(), mode);
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] int execve(const char* path, char* const arguments[], char* const variables[]) {
  return hr::run_file(path, arguments, variables);
}

[[gnu::visibility("default")]] int execv(const char* path, char* const arguments[]) {
  return hr::run_file(path, arguments, environ);
}

[[gnu::visibility("default")]] int execvpe(const char* name, char* const arguments[], char* const variables[]) {
  return hr::run_along_path(name, arguments, variables);
}

[[gnu::visibility("default")]] int execvp(const char* name, char* const arguments[]) {
  return hr::run_along_path(name, arguments, environ);
}

[[gnu::visibility("default")]] int execl(const char* path, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::vector<char*> arguments = hr::listed(first, rest);
  va_end(rest);
  return hr::run_file(path, arguments.data(), environ);
}

[[gnu::visibility("default")]] int execlp(const char* name, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::vector<char*> arguments = hr::listed(first, rest);
  va_end(rest);
  return hr::run_along_path(name, arguments.data(), environ);
}

[[gnu::visibility("default")]] int execle(const char* path, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::vector<char*> arguments = hr::listed(first, rest);
  char* const* const variables = va_arg(rest, char* const*);
  va_end(rest);
  return hr::run_file(path, arguments.data(), variables);
}

[[gnu::visibility("default")]] int posix_spawn(pid_t* process, const char* path,
                                               const posix_spawn_file_actions_t* actions,
                                               const posix_spawnattr_t* attributes, char* const arguments[],
                                               char* const variables[]) {
  return hr::spawn_file(process, path, actions, attributes, arguments, variables);
}

[[gnu::visibility("default")]] int posix_spawnp(pid_t* process, const char* name,
                                                const posix_spawn_file_actions_t* actions,
                                                const posix_spawnattr_t* attributes, char* const arguments[],
                                                char* const variables[]) {
  const hr::Spawn real = hr::real_run_functions().posix_spawnp;
  const std::string found = std::strchr(name, '/') ? name : hr::found_along_path(name);
  if (found.empty()) return real(process, name, actions, attributes, arguments, variables);
  return hr::spawn_file(process, found.c_str(), actions, attributes, arguments, variables);
}

/// The C library searches for a name without a slash by what it knows of the object that calls: a call that is left to
/// it is passed on by a jump.
[[gnu::visibility("default")]] void* dlopen(const char* path, int mode) {
  const hr::OpenLibrary real = hr::real_run_functions().dlopen;
  if (const std::optional<void*> library = hr::open_elsewhere(path, mode)) return *library;
  return real(path, mode);
}

}  // extern "C"
