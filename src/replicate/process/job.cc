#include "replicate/process/job.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace holdfast::replicate {

const std::string& job_identity() {
  static const std::string identity = [] {
    const char* text = std::getenv("HOLDFAST_RUN_JOB");
    std::string name = text ? text : "";
    std::erase_if(name, [](unsigned char letter) { return std::isalnum(letter) == 0; });
    return name.substr(0, 64);
  }();
  return identity;
}

}  // namespace holdfast::replicate
