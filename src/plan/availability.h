#pragma once

namespace holdfast::plan {

/// Availability, the share of time in which something works: A = MTTF / (MTTF + MTTR) (RedMPI section 7, after
/// C. Engelmann, H. Ong and S. Scott, PDCN 2009). Nodes fail and are repaired each for itself.

/// Both in one unit, at least one above 0.
double availability(double mttf, double mttr);

/// The rating: 0.999 has three nines; not cut to a whole number.
double nines(double availability);

/// Of a system of `ranks` nodes that needs all of them, each `degree` times, of which one suffices:
/// (1 - (1 - A)^degree)^ranks.
double system_availability(double ranks, int degree, double node_availability);

/// The node that such a system needs in order to be available so much; the inverse of the above.
double needed_node_availability(double ranks, int degree, double system_availability);

}  // namespace holdfast::plan
