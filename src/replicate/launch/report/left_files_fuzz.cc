// Any bytes are what each process of a job left in its run directory: the job is judged, and its record is JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/event/json.h"
#include "core/event/record.h"
#include "core/scratch/scratch_folder.h"
#include "replicate/launch/compare/closing.h"
#include "replicate/launch/compare/record_merge.h"
#include "replicate/launch/plan/left_file.h"
#include "replicate/launch/plan/transport.h"
#include "replicate/launch/report/launched.h"
#include "replicate/launch/report/summary.h"
#include "replicate/launch/report/tally.h"
#include "replicate/launch/supervise/lost_peers.h"

namespace {

using namespace holdfast;
using namespace holdfast::launch;

void require(bool held) {
  if (!held) std::abort();
}

bool one_line(const std::string& text) {
  return text.find('\n') == std::string::npos;
}

Evidence read_all(const std::string& folder, const replicate::ReplicaMap& map) {
  Evidence evidence;
  evidence.goes_on = true;
  evidence.record = merge_records(folder, "job", map.degree());
  evidence.tally = read_tallies(folder, "job");
  evidence.incidents = read_incidents(folder, "job");
  evidence.corruption = read_corruption(folder, "job");
  evidence.faults = {"flip rank 1 message 3"};
  name_lost_peers(evidence.incidents, folder, map);
  evidence.ranks = map.ranks();
  evidence.degree = map.degree();
  evidence.missing = missing_record(folder, "job", {0, 1});
  if (evidence.missing.empty()) evidence.missing = missing_evidence(folder, "job", map, {0, 1});
  evidence.launched = launched_status(folder, "job", map, {0, 1});
  return evidence;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const scratch::ScratchFolder folder;
  static const replicate::ReplicaMap map = replicate::ReplicaMap::of_degrees({2, 2}).value();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* name :
       {"incident-1.0.json", "incident-lost-peer-1-00aa.json", "endpoint-00aa.json", "record.0.json", "record.1.json",
        "evidence-1.1", "counted-0.1", "counted-1.1", "finished-0.0", "finished-0.1", "finished-1.0", "finished-1.1",
        "launched-0.0", "launched-0.1", "launched-1.0", "launched-1.1", "transport-1.json"})
    std::ofstream(folder.file(name), std::ios::binary | std::ios::trunc) << text;
  const Evidence evidence = read_all(folder.path(), map);
  require(evidence.incidents.size() == 2);
  for (const Incident& incident : evidence.incidents) require(one_line(incident.kind) && one_line(incident.message));
  for (const Corruption& seen : evidence.corruption) {
    require(seen.at_ns >= 0 && seen.rank >= 0 && seen.replica >= 0);
    require(one_line(corruption_line(seen, evidence.faults)));
  }
  const Outcome outcome = judge(evidence);
  require(outcome.code != 0);  // there are incidents
  require(!event::parse_json(event::record_text(final_record(evidence, outcome, {}))).is_discarded());
  require(one_line(summary_line(evidence)) && one_line(missed_line(evidence)));
  const auto transport = read_transport_counters(folder.path());
  require(transport.is_null() || one_line(transport_line(transport)));
  (void)messages_lost(transport);
  return 0;
}
