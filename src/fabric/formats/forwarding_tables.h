#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "fabric/tables/forwarding.h"

namespace holdfast::fabric {

/// Forwarding tables from a file, and what was odd about it: switches without a table, LIDs that the fabric has not.
struct ImportedTables {
  Forwarding forwarding;
  std::vector<std::string> notes;
};

/// Whether a text looks like a dump of linear forwarding tables.
bool is_forwarding_dump(std::string_view text);

/// Reads linear forwarding tables as ibroute, dump_lfts and OpenSM (opensm-lfts.dump, opensm.fdbs) write them, by
/// switch GUID, onto a fabric with the same LIDs. What is not in the text stays no_port. Time: about 1 GB/s. Errors
/// (bad_input), with line and column: a malformed line, a port that the switch has not, tables in which a LID is
/// another node's than in the fabric.
Result<ImportedTables> read_forwarding(std::string_view text, std::string_view name, const Fabric& fabric);

/// As opensm-lfts.dump; OpenSM loads it with its routing engine "file" (-R file -U FILE).
std::string write_lfts(const Fabric& fabric, const Forwarding& tables);

/// As opensm.fdbs, which ibdmchk reads. Hops are counted along the tables.
std::string write_fdbs(const Fabric& fabric, const Forwarding& tables);

/// Reads SL to VL tables as OpenSM writes them (opensm-sl2vl.dump) into `tables`. Those of channel adapters, which say
/// the lane of a packet's first link, are left out. Notes are appended. Errors (bad_input) have line and column.
Status read_sl2vl(std::string_view text, std::string_view name, const Fabric& fabric, ImportedTables& tables);
std::string write_sl2vl(const Fabric& fabric, const Forwarding& tables);

/// Reads path records as saquery prints them (saquery -p, --src-to-dst) and takes the service level of every pair of
/// adapters from them; pairs without a record have no_path. Errors (bad_input) have line and column.
Status read_path_records(std::string_view text, std::string_view name, const Fabric& fabric, ImportedTables& tables);
std::string write_path_records(const Fabric& fabric, const Forwarding& tables);

/// Sets Forwarding::lanes_used from the service levels and lane maps that were read: one more than the largest lane
/// that any map of a switch has for a level that some path uses, which no path may reach.
void settle_lanes(const Fabric& fabric, Forwarding& tables);

/// The files in which a subnet manager's tables come; paths, empty where there is none.
struct TableFiles {
  std::string forwarding;    ///< for read_forwarding()
  std::string lanes;         ///< for read_sl2vl()
  std::string path_records;  ///< for read_path_records()
};

/// Reads them all and settles the lanes. Errors: bad_input, not_found, io.
Result<ImportedTables> open_tables(const Fabric& fabric, const TableFiles& files);

}  // namespace holdfast::fabric
