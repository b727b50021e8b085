#include "simulate/study/messages.h"

#include <dlfcn.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/event/json.h"
#include "simulate/study/mpi/module.h"

namespace holdfast::simulate::study {
namespace {

constexpr const char* doing = "passing messages between the ranks of the study";

std::optional<std::size_t> number_of(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  std::size_t value = 0;
  const char* end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

class MpiMessages final : public Messages {
 public:
  MpiMessages(const HoldfastMessages& functions, const JobPlace& place) : functions_(functions), place_(place) {}

  Status begin() override {
    int rank = 0, size = 1;
    if (const int error = functions_.begin(&rank, &size); error != 0) return failed(error, "does mpirun work?");
    const bool same = static_cast<std::size_t>(rank) == place_.rank && static_cast<std::size_t>(size) == place_.size;
    if (same) return {};
    return {Code::unavailable, doing,
            "MPI says rank " + std::to_string(rank) + " of " + std::to_string(size) + ", its launcher rank " +
                std::to_string(place_.rank) + " of " + std::to_string(place_.size),
            "start it with the mpirun of an MPI that Holdfast was built for, or srun --mpi=pmix or --mpi=pmi2"};
  }
  std::size_t rank() const override { return place_.rank; }
  std::size_t size() const override { return place_.size; }

  Status send(std::size_t to, const Json& message) override {
    const std::string text = event::json_line(message);
    const int error = functions_.send(static_cast<int>(to), text.data(), text.size());
    return error == 0 ? Status() : failed(error, "is rank " + std::to_string(to) + " alive?");
  }
  Result<std::optional<Json>> receive(std::size_t from) override {
    int there = 0;
    const char* bytes = nullptr;
    std::size_t size = 0;
    const int error = functions_.receive(static_cast<int>(from), &there, &bytes, &size);
    if (error != 0) return failed(error, "is rank " + std::to_string(from) + " alive?");
    if (there == 0) return std::optional<Json>();
    return std::optional<Json>(event::parse_json({bytes, size}));
  }
  void end(bool all_alive) override { functions_.end(all_alive ? 1 : 0); }

 private:
  Status failed(int error, const std::string& remedy) const {
    std::array<char, 256> text{};
    functions_.words(error, text.data(), text.size());
    return {Code::unavailable, doing, text.data(), remedy};
  }

  const HoldfastMessages& functions_;
  JobPlace place_;
};

}  // namespace

JobPlace job_place() {
  struct Launcher {
    const char* rank;
    const char* size;
    std::vector<std::string> libraries;
  };
  const bool pmix = std::getenv("PMIX_RANK") != nullptr;
  const std::vector<std::string> openmpi_first = {"openmpi", "mpich"}, mpich_first = {"mpich", "openmpi"};
  const Launcher launchers[] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", {"openmpi"}},
      {"PMI_RANK", "PMI_SIZE", mpich_first},
      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", pmix ? openmpi_first : mpich_first},
  };
  for (const Launcher& each : launchers) {
    const auto rank = number_of(each.rank), size = number_of(each.size);
    if (rank && size && *rank < *size) return {*rank, *size, each.libraries};
  }
  return {};
}

Result<std::unique_ptr<Messages>> load_mpi(const JobPlace& place, const std::vector<std::string>& folders) {
  std::string why;
  for (const std::string& library : place.libraries) {
    for (const std::string& folder : folders) {
      const std::string path = folder + "/libholdfast-study-" + library + ".so";
      std::error_code none;
      if (!std::filesystem::exists(path, none)) continue;
      void* loaded = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);  // an MPI's own plugins look for it
      void* found = loaded != nullptr ? ::dlsym(loaded, "holdfast_messages") : nullptr;
      if (found == nullptr) {
        why += std::string(why.empty() ? "" : "; ") + ::dlerror();
        continue;
      }
      const auto functions = reinterpret_cast<const HoldfastMessages* (*)()>(found);
      return std::unique_ptr<Messages>(std::make_unique<MpiMessages>(*functions(), place));
    }
  }
  std::string searched;
  for (const std::string& folder : folders) searched += (searched.empty() ? "" : ", ") + folder;
  if (why.empty()) why = "libholdfast-study-*.so for this launcher is in none of " + searched;
  return Status(Code::unavailable, "loading MPI for a study of " + std::to_string(place.size) + " ranks", why,
                "install Holdfast for that MPI, set HOLDFAST_LIBRARY_PATH, or use --share");
}

}  // namespace holdfast::simulate::study
