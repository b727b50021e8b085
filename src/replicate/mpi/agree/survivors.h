#pragma once

namespace holdfast::replicate {

/// Takes notice of replicas that were taken out because one of their processes died (docs/design/dead-replicas.md):
/// nothing is expected from them or sent to them any more, and where the leader was among them the next one leads. From
/// progress() alone, so that state changes only where hooks wait. Cheap when there is nothing.
void notice_departures();

}  // namespace holdfast::replicate
