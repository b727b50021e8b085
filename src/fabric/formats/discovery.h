#pragma once

#include <string>
#include <string_view>

#include "core/status/status.h"
#include "fabric/formats/imported.h"

namespace holdfast::fabric {

/// Reads what ibnetdiscover prints (infiniband-diags 1.x to 44, also with --full and --grouping, old and new styles)
/// and net files of ibsim without its include, module, alias and do lines. docs/spec/fabric-formats.md has the grammar.
///
/// Nodes keep the order of the file. A name that several nodes have, or none, is made unique with the node's GUID. A
/// router is an adapter. A node that is mentioned and not described is added. When no node has a LID, LIDs are
/// assigned. A port can do what the best link of its device type (vendor and device id) does.
///
/// `name` is the file's name for messages. Errors (bad_input) have line and column. Any thread.
Result<Imported> read_discovery(std::string_view text, std::string_view name);

/// The fabric as ibnetdiscover prints it, without its date. Links that are down are left out, and with them nothing but
/// their length and the rates that ports could do is lost.
std::string write_discovery(const Fabric& fabric);

}  // namespace holdfast::fabric
