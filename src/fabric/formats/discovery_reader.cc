#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/input/text_file.h"
#include "fabric/formats/cursor.h"
#include "fabric/formats/discovery.h"
#include "fabric/formats/lid_notes.h"
#include "fabric/formats/node_budget.h"
#include "fabric/formats/node_name.h"
#include "fabric/formats/notes.h"

namespace holdfast::fabric {
namespace {

constexpr std::uint64_t most_ports = 254;
constexpr std::uint64_t permissive_lid = 0xFFFF;
constexpr std::size_t most_includes = 1000;
constexpr std::size_t deepest_include = 9;    // as ibsim
constexpr std::uint64_t most_lid = 0xFFFFFF;  // beyond InfiniBand's 16 bits: large generated fabrics
constexpr std::uint64_t most_lmc = 7;

/// One end of a cable as a line says it.
struct PortLine {
  std::size_t line = 0;
  PortId port = none;
  std::string_view remote_id;
  std::uint8_t remote_number = 1;
  std::optional<std::uint64_t> remote_guid;
  std::string_view remote_name;
  Lid remote_lid = 0;
  std::optional<LinkRate> rate;
};

/// The highest width and speed of the masks that ibsim takes.
std::uint8_t lanes_of_mask(std::uint64_t mask) {
  return mask & 8 ? 12 : mask & 4 ? 8 : mask & 2 ? 4 : 1;
}
LaneSpeed speed_of_mask(std::uint64_t mask) {
  return mask & 4 ? LaneSpeed::qdr : mask & 2 ? LaneSpeed::ddr : LaneSpeed::sdr;
}

LinkRate slower(LinkRate a, LinkRate b) {
  return {std::min(a.lanes, b.lanes), std::min(a.speed, b.speed)};
}
LinkRate faster(LinkRate a, LinkRate b) {
  return {std::max(a.lanes, b.lanes), std::max(a.speed, b.speed)};
}

class DiscoveryReader {
 public:
  DiscoveryReader(std::string_view text, std::string_view file)
      : lines_(text), file_(file), cut_short_(lacks_last_line_end(text)), notes_(file) {}

  Result<Imported> read() {
    while (lines_.next()) {
      Status status = read_line();
      if (cut_short_ && lines_.at_end() && has_letters(lines_.line())) {
        note("cut short", "the file ends in the middle of this line, which is " +
                              (status.ok() ? "taken as it is: was the file cut short?"
                                           : "left out (" + status.wrong() + "): was the file cut short?"));
        status = {};
      }
      if (!status.ok()) return status;
    }
    if (imported_.fabric.nodes().empty())
      return Status(Code::bad_input, "reading " + std::string(file_), "no switch and no channel adapter in it",
                    "give the output of ibnetdiscover or an ibsim net file");
    return finish();
  }

 private:
  enum Type : std::uint8_t { adapter, switch_type, router };

  // ---- lines

  Status read_line() {
    Cursor cursor(file_, lines_.number(), lines_.line());
    if (lines_.line().find('\0') != std::string_view::npos) return cursor.wrong("a zero byte", "give a text file");
    cursor.skip_blanks();
    const std::string_view line = cursor.rest();
    if (cursor.at_end() || cursor.peek() == '#') return {};
    if (cursor.peek() == '[') return read_port(cursor);
    if (cursor.peek() == '@') return cursor.wrong("port aliases are not supported", "name both ends by their node ids");
    if (cursor.peek() == '<' || cursor.peek() == '>')
      return cursor.wrong("a difference of two discoveries, not a fabric", "give both files to holdfast fabric diff");
    if (cursor.take("Switch")) return read_node(cursor, switch_type);
    if (cursor.take("Ca") || cursor.take("Hca")) return read_node(cursor, adapter);
    if (cursor.take("Rt")) return read_node(cursor, router);
    if (cursor.take("???")) return line.starts_with("???guid") ? read_unknown_guid(cursor) : read_node(cursor, adapter);
    if (line.starts_with("include")) return read_include(cursor);
    if (line.starts_with("Chassis ") || line.starts_with("Hostname:") || line.starts_with("Non-Chassis ")) return {};
    if (line.starts_with("module") || line.starts_with("do ") || line.starts_with("pdebug"))
      return cursor.wrong("ibsim's module, do and pdebug lines are not supported", "leave them out");
    if (is_from_another_program(line)) {
      note("another program", "a line of another program, left out: " + std::string(line.substr(0, 120)));
      return {};
    }
    return read_assignment(cursor);
  }

  /// "???guid=0x...", of a node of a type that ibnetdiscover does not know: taken as an adapter.
  Status read_unknown_guid(Cursor& cursor) {
    cursor.take("guid=");
    const std::optional<std::uint64_t> value = cursor.number_of_any_base();
    if (!value) return cursor.wrong("expected a GUID", "as in caguid=0x2c90300000001");
    return read_guid(cursor, "caguid", *value, false);
  }

  /// ibsim's include "FILE": its lines stand here. A path that is not absolute begins at the folder of this file, or at
  /// the working directory, where ibsim looks.
  Status read_include(Cursor& cursor) {
    cursor.take("include");
    cursor.skip_blanks();
    std::optional<std::string_view> quoted = cursor.quoted();
    const std::string path(quoted ? *quoted : cursor.word());
    if (path.empty()) return cursor.wrong("expected a file to include", "as in include \"rack-2.net\"");
    if (included_.size() >= most_includes || include_depth_ >= deepest_include)
      return cursor.wrong("too many files are included in one another", "is one included by itself?");
    const std::size_t slash = file_.rfind('/');
    const std::string folder(slash == std::string_view::npos ? std::string_view{} : file_.substr(0, slash + 1));
    const std::string beside = folder + path;
    std::error_code unknown;
    const std::string place = path.front() != '/' && std::filesystem::is_regular_file(beside, unknown) ? beside : path;
    if (!std::filesystem::is_regular_file(place, unknown))
      return cursor.wrong("cannot include " + path + ": there is no such file", "correct the path");
    auto text = input::read_text_file(place);
    if (!text.ok()) return cursor.wrong("cannot include " + path + ": " + text.status().wrong(), "correct the path");
    // Views into the text are kept until the end.
    const auto& [name, kept] = included_.emplace_back(place, std::move(text).value());
    const Lines outer = std::exchange(lines_, Lines(kept));
    const std::string_view outer_file = std::exchange(file_, name);
    ++include_depth_;
    Status status;
    while (status.ok() && lines_.next()) status = read_line();
    --include_depth_;
    lines_ = outer;
    file_ = outer_file;
    return status;
  }

  /// "switchguid=0x...(...)": holds for the next node; "width=" and "speed=" for all that follow.
  Status read_assignment(Cursor& cursor) {
    const std::string_view key = cursor.word("=+(");
    const bool relative = cursor.peek() == '+';
    if (!cursor.take('=') && !cursor.take('+'))
      return cursor.wrong("this line belongs to no discovery and no net file",
                          "expected a node, a port or a key=value");
    const std::optional<std::uint64_t> value = cursor.number_of_any_base();
    if (!value)
      return cursor.wrong("expected a number after " + std::string(key), "as in " + std::string(key) + "=0x2c9");
    if (key == "vendid")
      next_.vendor_id = static_cast<std::uint32_t>(*value);
    else if (key == "devid")
      next_.device_id = static_cast<std::uint32_t>(*value);
    else if (key == "sysimgguid")
      next_.system_guid = *value;
    else if (key == "width")
      default_rate_ = LinkRate{lanes_of_mask(*value), default_rate_.value_or(sdr).speed};
    else if (key == "speed")
      default_rate_ = LinkRate{default_rate_.value_or(sdr).lanes, speed_of_mask(*value)};
    else
      return read_guid(cursor, key, *value, relative);
    return {};
  }

  Status read_guid(Cursor& cursor, std::string_view key, std::uint64_t value, bool relative) {
    Type type = adapter;
    if (key.starts_with("switchguid"))
      type = switch_type;
    else if (key.starts_with("rtguid"))
      type = router;
    else if (!key.starts_with("caguid") && !key.starts_with("hcaguid"))
      return cursor.wrong("there is no key '" + std::string(key.substr(0, 40)) + "'",
                          "expected vendid, devid, sysimgguid, switchguid, caguid or rtguid");
    if (!relative) guid_base_[type] = value;
    guid_[type] = relative ? guid_base_[type] + value : value;
    next_.port_guid.reset();
    if (cursor.take('(')) next_.port_guid = cursor.hexadecimal();
    return {};
  }

  /// "Switch	36 "S-..."		# "name" base port 0 lid 4 lmc 0"
  Status read_node(Cursor& cursor, Type type) {
    cursor.skip_blanks();
    if (cursor.peek() == ':')
      return cursor.wrong("a list of nodes, which says nothing of cables",
                          "run ibnetdiscover without -l, -S, -H and -R");
    const std::optional<std::uint64_t> ports = cursor.decimal();
    if (!ports || *ports == 0 || *ports > most_ports)
      return cursor.wrong("expected the number of ports, from 1 to 254", "as in Switch 36 \"S-0002c90000000001\"");
    cursor.skip_blanks();
    const std::optional<std::string_view> id = cursor.quoted();
    if (!id || id->empty())
      return cursor.wrong("expected the node's id in quotation marks", "as in \"S-0002c90000000001\"");
    if (const auto known = nodes_.find(*id); known != nodes_.end())
      return read_node_again(cursor, known->second, *ports, type);
    const std::uint64_t guid = guid_[type];
    if (guid == 0)
      return cursor.wrong("the node's GUID is 0",
                          "give a " + std::string(type == switch_type ? "switch" : "ca") + "guid= line");
    if (!guids_.insert(guid).second)
      note("GUID", "GUID " + hex(guid) + " of \"" + std::string(*id) + "\" belongs to another node as well");
    guid_[type] += type == switch_type ? 1 : *ports + 1;
    if (Status status = budget_.afford(file_, *ports); !status.ok()) return status;
    current_ = imported_.fabric.add_node(type == switch_type ? NodeKind::switch_ : NodeKind::adapter,
                                         static_cast<std::uint8_t>(*ports), "", guid);
    nodes_.emplace(*id, current_);
    Node& made = imported_.fabric.mutable_node(current_);
    made.vendor_id = next_.vendor_id;
    made.device_id = next_.device_id;
    made.system_guid = next_.system_guid.value_or(guid);
    if (type == switch_type && next_.port_guid) set_port_guid(current_, *next_.port_guid);
    next_ = {};
    if (type == router) note("router", "router \"" + std::string(*id) + "\" is taken as a channel adapter");
    return read_new_node_comment(cursor, type);
  }

  /// With --grouping ibnetdiscover prints the switches of a chassis twice, with the same words.
  Status read_node_again(Cursor& cursor, NodeId node, std::uint64_t ports, Type type) {
    if (imported_.fabric.node(node).port_count != ports)
      return cursor.wrong("this node stood here before with another number of ports", "leave one of the two out");
    current_ = node;
    next_ = {};
    const auto comment = read_node_comment(cursor, type);
    if (!comment.ok()) return comment.status();
    if (!comment.value()) return {};
    const Node& before = imported_.fabric.node(node);
    if (before.name == comment.value()->name &&
        (type != switch_type || imported_.fabric.port(before.first_port).lid == comment.value()->lid))
      return {};
    note("described again", "\"" + std::string(comment.value()->name) + "\" stood here before as \"" + before.name +
                                "\" with the same GUID, and is taken for it: do two nodes have one GUID, or are these "
                                "two files?");
    return {};
  }

  /// What stands behind the # of a node.
  struct NodeComment {
    std::string_view name;
    Lid lid = 0;
    std::uint8_t lmc = 0;
  };

  Result<std::optional<NodeComment>> read_node_comment(Cursor& cursor, Type type) const {
    const std::size_t hash = cursor.rest().find('#');
    if (hash == std::string_view::npos) return std::optional<NodeComment>();
    cursor.skip(hash + 1);
    cursor.skip_blanks();
    NodeComment comment;
    comment.name = take_name(
        cursor, type == switch_type ? std::array{"\" base port", "\" enhanced port"} : std::array{"\"", "\""});
    if (type == switch_type) {
      if (Status status = read_lid(cursor, comment.lid, comment.lmc); !status.ok()) return status;
    }
    return std::optional(comment);
  }

  Status read_new_node_comment(Cursor& cursor, Type type) {
    const auto read = read_node_comment(cursor, type);
    if (!read.ok() || !read.value()) return read.status();
    const NodeComment& comment = *read.value();
    imported_.fabric.mutable_node(current_).name = std::string(comment.name);
    if (type != switch_type) return {};
    for (std::uint32_t number = 0; number <= imported_.fabric.node(current_).port_count; ++number) {
      Port& port = imported_.fabric.mutable_port(imported_.fabric.node(current_).first_port + number);
      port.lid = comment.lid;
      port.lmc = comment.lmc;
    }
    return {};
  }

  /// The name that stands in quotation marks here and may have some inside: it ends at the last of `ends` on the line.
  /// Without quotation marks it is the rest, up to " base port", " enhanced port", " port 0" or " lid".
  template <std::size_t n>
  static std::string_view take_name(Cursor& cursor, std::array<const char*, n> ends) {
    if (cursor.take('"')) {
      std::size_t end = std::string_view::npos;
      for (const char* mark : ends) {
        const std::size_t found = cursor.rest().rfind(mark);
        if (found != std::string_view::npos && (end == std::string_view::npos || found > end)) end = found;
      }
      if (end == std::string_view::npos) end = cursor.rest().find('"');
      const std::string_view name = cursor.rest().substr(0, end);
      cursor.skip(end == std::string_view::npos ? name.size() : end + 1);
      return name;
    }
    std::size_t end = cursor.rest().size();
    for (const char* mark : {" base port ", " enhanced port ", " port 0 ", " lid "})
      end = std::min(end, cursor.rest().find(mark));
    std::string_view name = cursor.rest().substr(0, end);
    cursor.skip(end);
    while (name.ends_with(' ') || name.ends_with('\t')) name.remove_suffix(1);
    return name;
  }

  /// "lid 4 lmc 0" anywhere before the next quotation mark; both may be missing.
  Status read_lid(Cursor& cursor, Lid& lid, std::uint8_t& lmc) const {
    const std::string_view before_name = cursor.rest().substr(0, cursor.rest().find('"'));
    const std::size_t at = before_name.starts_with("lid ") ? 0 : before_name.find(" lid ");
    if (at == std::string_view::npos) return {};
    cursor.skip(at + (at == 0 && before_name.starts_with("lid ") ? 4 : 5));
    const std::optional<std::uint64_t> value = cursor.number_of_any_base();
    if (!value || *value > most_lid) return cursor.wrong("expected a LID", "as in lid 4");
    lid = *value == permissive_lid ? 0 : static_cast<Lid>(*value);  // 0xffff: it has none yet
    cursor.skip_blanks();
    if (!cursor.take("lmc ")) return {};
    const std::optional<std::uint64_t> mask = cursor.decimal();
    if (!mask || *mask > most_lmc) return cursor.wrong("expected an LMC, from 0 to 7", "as in lmc 0");
    lmc = static_cast<std::uint8_t>(*mask);
    return {};
  }

  /// "[1](guid) 	"S-..."[2]	w=2 s=4		# lid 10 lmc 0 "name" lid 1 4xQDR"
  Status read_port(Cursor& cursor) {
    if (current_ == none) return cursor.wrong("a port before any node", "a Switch or Ca line comes first");
    std::uint8_t number = 0;
    if (Status status = read_port_number(cursor, imported_.fabric.node(current_).port_count, number); !status.ok())
      return status;
    PortLine end;
    end.line = lines_.number();
    end.port = imported_.fabric.port_of(current_, number);
    take_external(cursor);
    if (cursor.take('(')) {
      const std::optional<std::uint64_t> guid = cursor.hexadecimal();
      if (!guid || !cursor.take(')')) return cursor.wrong("expected a port GUID and ')'", "as in [1](2c90000000002)");
      if (!imported_.fabric.is_switch(current_)) imported_.fabric.mutable_port(end.port).guid = *guid;
    }
    cursor.skip_blanks();
    const std::optional<std::string_view> id = cursor.quoted();
    if (!id || id->empty())
      return cursor.wrong("expected the id of the node at the other end", "as in \"S-0002c90000000001\"[2]");
    if (id->find('@') != std::string_view::npos)
      return cursor.wrong("port aliases are not supported", "name both ends by their node ids");
    end.remote_id = *id;
    if (cursor.peek() == '[') {
      if (Status status = read_port_number(cursor, most_ports, end.remote_number); !status.ok()) return status;
    }
    take_external(cursor);
    cursor.skip_blanks();
    if (cursor.take('(')) {
      end.remote_guid = cursor.hexadecimal();
      if (!end.remote_guid || !cursor.take(')'))
        return cursor.wrong("expected a port GUID and ')'", "as in (2c90000000002)");
    }
    if (Status status = read_port_options(cursor, end); !status.ok()) return status;
    if (Status status = read_port_comment(cursor, end); !status.ok()) return status;
    const auto [known, fresh] = described_.try_emplace(end.port, ends_.size());
    if (!fresh) {
      const PortLine& before = ends_[known->second];
      if (before.remote_id == end.remote_id && before.remote_number == end.remote_number) return {};
      return cursor.wrong("port " + std::to_string(number) + " of this node stood in line " +
                              std::to_string(before.line) + " with another end",
                          "leave one of the two out");
    }
    ends_.push_back(end);
    return budget_.afford_end(file_, sizeof end);
  }

  static Status read_port_number(Cursor& cursor, std::uint64_t most, std::uint8_t& number) {
    cursor.take('[');
    const std::optional<std::uint64_t> value = cursor.decimal();
    if (!value || *value == 0 || *value > most)
      return cursor.wrong("expected a port number, from 1 to " + std::to_string(most), "as in [1]");
    if (!cursor.take(']')) return cursor.wrong("expected ']' after the port number");
    number = static_cast<std::uint8_t>(*value);
    return {};
  }

  /// "[ext 7]": the number on the case of a chassis.
  static void take_external(Cursor& cursor) {
    if (!cursor.rest().starts_with("[ext")) return;
    const std::size_t end = cursor.rest().find(']');
    if (end != std::string_view::npos) cursor.skip(end + 1);
  }

  /// "w=2 s=4": what ibsim enables on the port.
  Status read_port_options(Cursor& cursor, PortLine& end) {
    std::optional<LinkRate> rate = default_rate_;
    for (cursor.skip_blanks(); !cursor.at_end() && cursor.peek() != '#'; cursor.skip_blanks()) {
      const std::string_view key = cursor.word("=#");
      const std::optional<std::uint64_t> value = cursor.take('=') ? cursor.number_of_any_base() : std::nullopt;
      if (!value || (!key.starts_with('w') && !key.starts_with('s')))
        return cursor.wrong("expected w=, s= or a comment", "as in w=2 s=4");
      if (!rate) rate = sdr;
      if (key.starts_with('w'))
        rate->lanes = lanes_of_mask(*value);
      else
        rate->speed = speed_of_mask(*value);
    }
    end.rate = rate;
    return {};
  }

  Status read_port_comment(Cursor& cursor, PortLine& end) {
    if (!cursor.take('#')) return {};
    cursor.skip_blanks();
    Port& port = imported_.fabric.mutable_port(end.port);
    if (!imported_.fabric.is_switch(current_)) {
      if (Status status = read_lid(cursor, port.lid, port.lmc); !status.ok()) return status;
    }
    cursor.skip_blanks();
    if (cursor.peek() != '"') return {};
    end.remote_name = take_name(cursor, std::array{"\" lid "});
    cursor.skip_blanks();
    if (!cursor.take("lid ")) return {};
    const std::optional<std::uint64_t> lid = cursor.number_of_any_base();
    if (!lid || *lid > most_lid) return cursor.wrong("expected a LID", "as in lid 4");
    end.remote_lid = *lid == permissive_lid ? 0 : static_cast<Lid>(*lid);
    cursor.skip_blanks();
    const std::string_view rate = cursor.word();
    if (std::optional<LinkRate> read = find_rate(rate))
      end.rate = read;
    else if (!rate.empty())
      note("rate", "unknown rate '" + std::string(rate.substr(0, 20)) + "'");
    return {};
  }

  // ---- the whole

  Result<Imported> finish() {
    if (Status status = add_mentioned_nodes(); !status.ok()) return status;
    for (const PortLine& end : ends_) {
      if (Status status = connect(end); !status.ok()) return status;
    }
    note_half_links();
    if (const Lid top = imported_.fabric.top_lid(); top > 0xFFFF && top > imported_.fabric.ports().size())
      return Status(Code::bad_input, "reading " + std::string(file_),
                    "LID " + std::to_string(top) + ", which is above 65535",
                    "only a fabric with that many ports may have it");
    set_lids();
    set_names();
    set_capabilities();
    imported_.notes = notes_.texts();
    return std::move(imported_);
  }

  /// Nodes that no line describes: adapters, or switches as large as their highest port mentioned.
  Status add_mentioned_nodes() {
    std::unordered_map<std::string_view, std::uint8_t> highest;
    for (const PortLine& end : ends_) {
      if (nodes_.contains(end.remote_id)) continue;
      std::uint8_t& ports = highest[end.remote_id];
      ports = std::max(ports, end.remote_number);
    }
    for (const PortLine& end : ends_) {
      if (highest.empty() || nodes_.contains(end.remote_id)) continue;
      if (Status status = budget_.afford(file_, highest[end.remote_id]); !status.ok()) return status;
      add_mentioned_node(end, highest[end.remote_id]);
    }
    return {};
  }

  void add_mentioned_node(const PortLine& end, std::uint8_t ports) {
    const bool is_switch = end.remote_id.starts_with("S-");
    std::uint64_t guid = 0;
    if (end.remote_id.size() > 2 && end.remote_id[1] == '-')
      guid = Cursor(file_, end.line, end.remote_id.substr(2)).hexadecimal().value_or(0);
    const NodeId node = imported_.fabric.add_node(is_switch ? NodeKind::switch_ : NodeKind::adapter, ports,
                                                  std::string(end.remote_name), guid);
    nodes_.emplace(end.remote_id, node);
    note_at(is_switch ? "missing switch" : "missing adapter", end.line,
            "\"" + std::string(end.remote_id) + "\" is mentioned and not described; it is taken as " +
                (is_switch ? "a switch" : "an adapter") + " of " + std::to_string(ports) + " ports");
  }

  Status connect(const PortLine& end) {
    Fabric& fabric = imported_.fabric;
    const NodeId node = nodes_.find(end.remote_id)->second;
    if (end.remote_number > fabric.node(node).port_count)
      return Status(Code::bad_input, "reading " + std::string(file_) + " line " + std::to_string(end.line),
                    "port " + std::to_string(end.remote_number) + " of \"" + std::string(end.remote_id) +
                        "\", which has " + std::to_string(fabric.node(node).port_count) + " ports",
                    "correct one of the two numbers");
    const PortId other = fabric.port_of(node, end.remote_number);
    learn_about(other, end);
    if (other == end.port) {
      note_at("own port", end.line, "a port that is cabled to itself, left out");
      return {};
    }
    const LinkId here = fabric.port(end.port).link;
    const LinkId there = fabric.port(other).link;
    if (here == none && there == none) {
      fabric.add_link(end.port, other, end.rate.value_or(LinkRate{}));
      sides_.push_back({1, end.rate.has_value()});
    } else if (here == there) {
      Sides& sides = sides_[here];
      if (end.rate)
        fabric.mutable_link(here).rate = sides.rated ? slower(fabric.link(here).rate, *end.rate) : *end.rate;
      sides.rated = sides.rated || end.rate;
      ++sides.lines;
    } else {
      note_at("ends", end.line, "the two ends of a cable disagree, or two cables share a port; the first line holds");
    }
    return {};
  }

  /// What a line says of the port at its other end, where that end's own line says nothing.
  void learn_about(PortId id, const PortLine& end) {
    Port& port = imported_.fabric.mutable_port(id);
    if (described_.contains(id) || imported_.fabric.is_switch(port.node)) return;
    if (end.remote_guid) port.guid = *end.remote_guid;
    if (port.lid == 0) port.lid = end.remote_lid;
  }

  void note_half_links() {
    std::size_t half = 0;
    for (const Sides& sides : sides_) half += sides.lines == 1 ? 1 : 0;
    if (half > 0) note_at("half", 0, std::to_string(half) + " links are described at one end only");
  }

  void set_lids() {
    Fabric& fabric = imported_.fabric;
    if (fabric.top_lid() == 0) {
      fabric.assign_lids();
      return;
    }
    note_odd_lids(fabric, notes_);
  }

  void set_names() {
    Fabric& fabric = imported_.fabric;
    std::unordered_map<std::string_view, int> uses;
    for (const Node& node : fabric.nodes()) ++uses[node.name];
    std::vector<NodeId> ambiguous;
    for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
      const std::string& name = fabric.node(id).name;
      if (name.empty() || uses[name] > 1) ambiguous.push_back(id);
    }
    std::unordered_set<std::string> taken;
    for (const Node& node : fabric.nodes()) taken.insert(node.name);
    for (NodeId id : ambiguous) {
      Node& node = fabric.mutable_node(id);
      std::string base = node.name.empty() ? node_id(node) : node.name + " " + hex(node.guid);
      std::string name = base;
      for (int again = 2; !taken.insert(name).second; ++again) name = base + " " + std::to_string(again);
      node.name = name;
    }
  }

  void set_capabilities() {
    Fabric& fabric = imported_.fabric;
    std::map<std::array<std::uint32_t, 3>, LinkRate> best;
    auto type_of = [&](PortId port) {
      const Node& node = fabric.node(fabric.port(port).node);
      return std::array{node.vendor_id, node.device_id, static_cast<std::uint32_t>(node.kind)};
    };
    for (const Link& link : fabric.links()) {
      for (PortId end : {link.a, link.b}) {
        auto [known, fresh] = best.try_emplace(type_of(end), link.rate);
        if (!fresh) known->second = faster(known->second, link.rate);
      }
    }
    for (PortId id = 0; id < fabric.ports().size(); ++id) {
      const auto known = best.find(type_of(id));
      if (known != best.end()) fabric.mutable_port(id).capable = known->second;
    }
  }

  // ---- notes

  static std::string hex(std::uint64_t number) {
    std::string text = "0x";
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[number >> shift & 15];
    return text;
  }

  static bool has_letters(std::string_view line) { return line.find_first_not_of(" \t\r") != std::string_view::npos; }

  void note(std::string_view kind, std::string text) { note_at(kind, lines_.number(), std::move(text)); }
  void note_at(std::string_view kind, std::size_t line, std::string text) {
    notes_.add(kind, line, std::move(text), file_);
  }

  void set_port_guid(NodeId node, std::uint64_t guid) {
    for (std::uint32_t number = 0; number <= imported_.fabric.node(node).port_count; ++number)
      imported_.fabric.mutable_port(imported_.fabric.node(node).first_port + number).guid = guid;
  }

  /// What the lines before a node say of it.
  struct Ahead {
    std::uint32_t vendor_id = 0;
    std::uint32_t device_id = 0;
    std::optional<std::uint64_t> system_guid;
    std::optional<std::uint64_t> port_guid;
  };

  /// How many ends of a link have a line, and whether one of them has its rate.
  struct Sides {
    int lines = 0;
    bool rated = false;
  };

  static constexpr LinkRate sdr{4, LaneSpeed::sdr};  // ibsim's own default

  Lines lines_;
  std::string_view file_;
  bool cut_short_;  // the last line of the first file has no end
  Notes notes_;
  std::deque<std::pair<std::string, std::string>> included_;  // paths and texts
  std::size_t include_depth_ = 0;
  Imported imported_;
  Ahead next_;
  std::array<std::uint64_t, 3> guid_base_ = {0x100000, 0x200000, 0x300000};  // adapters and switches: ibsim's own
  std::array<std::uint64_t, 3> guid_ = guid_base_;
  std::optional<LinkRate> default_rate_;
  NodeId current_ = none;
  std::unordered_map<std::string_view, NodeId> nodes_;
  std::unordered_set<std::uint64_t> guids_;
  std::unordered_map<PortId, std::size_t> described_;  // index in ends_
  std::vector<PortLine> ends_;
  std::vector<Sides> sides_;  // by link
  NodeBudget budget_;
};

}  // namespace

Result<Imported> read_discovery(std::string_view text, std::string_view name) {
  return DiscoveryReader(text, name).read();
}

}  // namespace holdfast::fabric
