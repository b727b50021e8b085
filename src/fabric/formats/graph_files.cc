#include "fabric/formats/graph_files.h"

#include <fmt/format.h>

#include <iterator>

#include "fabric/formats/node_name.h"

namespace holdfast::fabric {

namespace {

/// For a string in quotation marks of the DOT language.
std::string dot_text(std::string_view text) {
  std::string safe;
  for (char letter : text) {
    if (letter == '"' || letter == '\\') safe += '\\';
    safe += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
  }
  return safe;
}

}  // namespace

std::string write_dot(const Fabric& fabric) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "graph fabric {{\n  node [fontsize=10];\n");
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    const Node& node = fabric.node(id);
    fmt::format_to(out, "  n{} [label=\"{}\", shape={}];\n", id, dot_text(node.name),
                   node.kind == NodeKind::switch_ ? "box" : "ellipse");
  }
  for (const Link& link : fabric.links()) {
    fmt::format_to(out, "  n{} -- n{} [taillabel=\"{}\", headlabel=\"{}\", tooltip=\"{}\"{}];\n",
                   fabric.port(link.a).node, fabric.port(link.b).node, fabric.number_of(link.a),
                   fabric.number_of(link.b), format(link.rate), link.up ? "" : ", style=dashed");
  }
  fmt::format_to(out, "}}\n");
  return fmt::to_string(text);
}

std::string write_graphml(const Fabric& fabric) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(
      out,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
      "<key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n"
      "<key id=\"kind\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n"
      "<key id=\"guid\" for=\"node\" attr.name=\"guid\" attr.type=\"string\"/>\n"
      "<key id=\"rate\" for=\"edge\" attr.name=\"rate\" attr.type=\"string\"/>\n"
      "<key id=\"up\" for=\"edge\" attr.name=\"up\" attr.type=\"boolean\"/>\n"
      "<key id=\"port_a\" for=\"edge\" attr.name=\"source_port\" attr.type=\"int\"/>\n"
      "<key id=\"port_b\" for=\"edge\" attr.name=\"target_port\" attr.type=\"int\"/>\n"
      "<graph id=\"fabric\" edgedefault=\"undirected\">\n");
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    const Node& node = fabric.node(id);
    fmt::format_to(out,
                   "<node id=\"n{}\"><data key=\"name\">{}</data><data key=\"kind\">{}</data><data "
                   "key=\"guid\">0x{:016x}</data></node>\n",
                   id, xml_name(node.name), node.kind == NodeKind::switch_ ? "switch" : "adapter", node.guid);
  }
  for (LinkId id = 0; id < fabric.links().size(); ++id) {
    const Link& link = fabric.link(id);
    fmt::format_to(out,
                   "<edge id=\"e{}\" source=\"n{}\" target=\"n{}\"><data key=\"rate\">{}</data><data "
                   "key=\"up\">{}</data><data key=\"port_a\">{}</data><data key=\"port_b\">{}</data></edge>\n",
                   id, fabric.port(link.a).node, fabric.port(link.b).node, format(link.rate), link.up,
                   fabric.number_of(link.a), fabric.number_of(link.b));
  }
  fmt::format_to(out, "</graph>\n</graphml>\n");
  return fmt::to_string(text);
}

}  // namespace holdfast::fabric
