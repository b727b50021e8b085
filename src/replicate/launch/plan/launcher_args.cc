#include "replicate/launch/plan/launcher_args.h"

#include <algorithm>
#include <optional>
#include <span>

namespace holdfast::launch {
namespace {

using Names = std::span<const std::string_view>;

// Without the dashes in front, of which mpirun and hydra take one or two.
constexpr std::string_view openmpi_own[] = {"n",
                                            "np",
                                            "c",
                                            "hostfile",
                                            "machinefile",
                                            "default-hostfile",
                                            "H",
                                            "host",
                                            "map-by",
                                            "bynode",
                                            "byslot",
                                            "rank-by",
                                            "rankfile",
                                            "rf",
                                            "npernode",
                                            "N",
                                            "npersocket",
                                            "app",
                                            "enable-recovery",
                                            "disable-recovery",
                                            "xterm",
                                            "stdin",
                                            "oversubscribe",
                                            "nooversubscribe",
                                            "h",
                                            "help",
                                            "V",
                                            "version"};
constexpr std::string_view hydra_own[] = {
    "n",       "np",         "f",    "hosts",   "host",     "hostfile", "machinefile",
    "machine", "configfile", "ppn",  "perhost", "genvnone", "envnone",  "disable-auto-cleanup",
    "s",       "h",          "help", "info",    "version"};
constexpr std::string_view srun_own[] = {"n",   "ntasks",     "export", "i",        "input",  "m",       "distribution",
                                         "mpi", "multi-prog", "w",      "nodelist", "x",      "exclude", "Q",
                                         "h",   "help",       "usage",  "V",        "version"};
constexpr std::string_view setters[] = {"x", "genv", "env"};  ///< that give variables to the program

Status wrong(const std::string& what, const std::string& remedy) {
  return {Code::bad_input, "reading --launcher-args", what, remedy};
}

/// Nothing where a quote does not end.
std::optional<std::vector<std::string>> split(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == 0 && blank) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (c == quote)
      quote = 0;
    else if (c == '\\' && quote != '\'' && i + 1 < text.size())
      words.back() += text[++i];
    else
      words.back() += c;
  }
  return quote == 0 ? std::optional(words) : std::nullopt;
}

std::string_view name_of(std::string_view word) {
  const std::string_view name = word.substr(std::min(word.size(), word.find_first_not_of('-')));
  return name.substr(0, name.find('='));
}

bool is_one_of(std::string_view name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// srun takes the value of a short option in the same word: -n4.
bool is_short_own(std::string_view word) {
  return word.size() > 2 && word[0] == '-' && word[1] != '-' && is_one_of(word.substr(1, 1), srun_own);
}

}  // namespace

Result<std::vector<std::string>> launcher_args(std::string_view text, Mpi mpi, bool srun) {
  const auto words = split(text);
  if (!words) return wrong("a quote does not end", "quote it as for a shell");
  const Names own = srun ? Names(srun_own) : mpi == Mpi::openmpi ? Names(openmpi_own) : Names(hydra_own);
  for (std::size_t i = 0; i < words->size(); ++i) {
    const std::string& word = (*words)[i];
    const bool option = word.size() > 1 && word[0] == '-';
    if (i == 0 && !option) return wrong("'" + word + "' is no option", "options of the launcher begin with '-'");
    if (word == ":" || word == "--" || word == "-")
      return wrong("'" + word + "' is not for one program", "give options of the launcher only");
    if (!option) continue;
    const std::string_view name = name_of(word);
    if (is_one_of(name, own) || (srun && is_short_own(word)))
      return wrong("holdfast sets or needs " + word + " itself",
                   "see holdfast run --help for -n, --hostfile and the like");
    if (srun || !is_one_of(name, setters) || i + 1 == words->size()) continue;
    const std::string& variable = (*words)[i + 1];
    if (variable.starts_with("HOLDFAST_") || variable.starts_with("LD_PRELOAD"))
      return wrong("holdfast sets " + variable.substr(0, variable.find('=')) + " itself",
                   "give it to holdfast as an option or in its own environment");
  }
  return *words;
}

}  // namespace holdfast::launch
