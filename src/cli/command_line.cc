#include "cli/command_line.h"

#include <signal.h>

#include <algorithm>
#include <iostream>
#include <new>

#include "cli/subcommands.h"
#include "core/output/standard_output.h"
#include "core/status/exit_code.h"
#include "core/status/hint.h"
#include "core/status/printable.h"

namespace holdfast::cli {

int complain(const Status& status) {
  std::cerr << "holdfast: " << printable(status.message()) << "\n";
  return static_cast<int>(exit_for(status.code()));
}

namespace {

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

/// The subcommand that was being read when an error came up, for "see holdfast run --help".
std::string command_in_use(const CLI::App& app) {
  for (const CLI::App* chosen : app.get_subcommands()) return "holdfast " + chosen->get_name();
  return "holdfast";
}

/// A first word that is no subcommand, with a hint; ok otherwise.
Status check_command(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) return {};
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), words.front()) != names.end()) return {};
  std::vector<std::string_view> views(names.begin(), names.end());
  return {Code::bad_input, "reading the command line", "there is no command '" + words.front() + "'",
          did_you_mean(words.front(), views, "see holdfast --help")};
}

int read_and_act(std::vector<std::string> words, AddCommands add_commands) {
  auto mark = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> application(mark == words.end() ? mark : mark + 1, words.end());
  words.erase(mark, words.end());
  CLI::App app("Keeps parallel jobs correct and moving when bits flip, packets vanish, links die and switches fail.",
               "holdfast");
  app.set_version_flag("--version", "holdfast " HOLDFAST_VERSION);
  app.require_subcommand(1);
  app.footer("Begin with:\n  holdfast doctor\n  holdfast run -n 2 -- ./app arguments\n\n" + exit_code_help());
  Action action;
  add_commands(app, action, application);
  if (Status status = check_command(app, words); !status.ok()) return complain(status);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes words from the back
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return complain({Code::bad_input, "reading the command line", first_line(error.what()),
                     "see " + command_in_use(app) + " --help"});
  }
  return action();
}

/// What was asked for, which names the files; not all of many words.
std::string words_of(int argc, char** argv) {
  constexpr std::size_t enough = 200;
  std::string words = "holdfast";
  for (int i = 1; i < argc && words.size() < enough; ++i) words += " " + std::string(argv[i]);
  return words.size() < enough ? words : words.substr(0, enough) + "...";
}

/// An answer that has not arrived is none, whether it was yes or no; what else went wrong comes first.
int code_with_output(int code, output::StandardOutput& standard_output) {
  const Status status = standard_output.finish();
  const bool answered = code == 0 || code == static_cast<int>(Exit::application);
  if (!status.ok()) {
    const int unwritten = complain(status);
    return answered ? unwritten : code;
  }
  return standard_output.reader_has_gone() && answered ? static_cast<int>(Exit::signal_base) + SIGPIPE : code;
}

}  // namespace

int command_line(int argc, char** argv, AddCommands add_commands) {
  output::StandardOutput standard_output;
  int code = 0;
  try {
    code = read_and_act({argv + 1, argv + argc}, add_commands);
  } catch (const std::bad_alloc&) {
    code = complain({Code::io, "running " + words_of(argc, argv), "the memory is not enough",
                     "give it more memory, or a smaller task"});
  } catch (const std::exception& error) {
    code = complain({Code::internal, "running holdfast", error.what(), "please report this"});
  }
  return code_with_output(code, standard_output);
}

}  // namespace holdfast::cli
