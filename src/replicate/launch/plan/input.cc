#include "replicate/launch/plan/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "core/output/write_all.h"

namespace holdfast::launch {
namespace {

InputPlan file(std::string path) {
  return {InputPlan::Kind::file, std::move(path), {}};
}

/// A path that opens the same file as the descriptor; empty when there is none, or none that can be handed over.
std::string path_of(int descriptor, const struct stat& facts) {
  std::array<char, PATH_MAX> target{};
  std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  ssize_t length = readlink(link.c_str(), target.data(), target.size());
  if (length <= 0 || length >= static_cast<ssize_t>(target.size())) return {};
  std::string path(target.data(), static_cast<std::size_t>(length));
  struct stat found {};
  bool same = stat(path.c_str(), &found) == 0 && found.st_ino == facts.st_ino && found.st_dev == facts.st_dev;
  bool literal = path.find('%') == std::string::npos;  // a '%r' in a name would be taken for the replica
  return same && literal ? path : std::string();
}

InputPlan tee(const std::string& folder, int degree) {
  InputPlan plan{InputPlan::Kind::tee, folder + "/stdin.replica-%r", {}};
  for (int replica = 0; replica < degree; ++replica)
    plan.fifos.push_back(folder + "/stdin.replica-" + std::to_string(replica));
  return plan;
}

}  // namespace

InputPlan plan_input(int descriptor, const std::string& folder, int degree, bool several_hosts) {
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0) return file("/dev/null");
  const InputPlan spool{InputPlan::Kind::spool, folder + "/stdin", {}};
  bool terminal = isatty(descriptor) == 1;
  bool device = S_ISCHR(facts.st_mode) && !terminal;
  if (S_ISREG(facts.st_mode) || device) {
    bool at_start = device || lseek(descriptor, 0, SEEK_CUR) == 0;
    std::string path = at_start ? path_of(descriptor, facts) : std::string();
    return path.empty() ? spool : file(path);
  }
  if (!several_hosts) return tee(folder, degree);
  return terminal ? file("/dev/null") : spool;
}

Status spool_input(int descriptor, const InputPlan& plan) {
  const std::string doing = "keeping standard input in " + plan.path;
  int spool = open(plan.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (spool < 0) return {Code::io, doing, std::strerror(errno), "choose another --output folder"};
  std::array<char, 65536> buffer;
  Status status;
  while (status.ok()) {
    ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    const int error = got < 0 ? errno : output::write_all(spool, {buffer.data(), static_cast<std::size_t>(got)});
    if (error != 0) status = {Code::io, doing, std::strerror(error), "choose another --output folder"};
  }
  close(spool);
  return status;
}

}  // namespace holdfast::launch
