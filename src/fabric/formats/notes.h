#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::fabric {

/// What was odd about a file without stopping its reader: one note a kind, however often it was met.
class Notes {
 public:
  /// `file` says in notes where the text is from and outlives them.
  explicit Notes(std::string_view file) : file_(file) {}
  /// `kind` tells kinds apart and must stay valid; `text` says what was met here, and is kept of the first few of its
  /// kind. Line 0: no line. `file`: another one that is included.
  void add(std::string_view kind, std::size_t line, std::string text, std::string_view file = {});
  bool empty() const { return kinds_.empty(); }
  /// "FILE line 3: TEXT; and 7 more of this kind, the last in line 90", in the order in which kinds were first met.
  std::vector<std::string> texts() const;

 private:
  struct Kind {
    std::string_view kind;
    std::size_t count = 0;
    std::string first;
    std::vector<std::string> next;  ///< a few more, with their places
    std::string last_place;
  };
  std::string_view file_;
  std::vector<Kind> kinds_;
};

/// Whether a line among those of a file is one that the tools of an InfiniBand administrator print beside them:
/// warnings and errors of infiniband-diags and libibmad with their dumps of packets, and the search path of
/// ibnetdiscover -s.
bool is_from_another_program(std::string_view line);

}  // namespace holdfast::fabric
