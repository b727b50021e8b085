#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "simulate/study/study.h"

/// What the figures of a run come from besides what the study says: the contents of the files it names, and the program
/// that computes them. Members of a point's parameters, and so of its key: "inputs" (a digest for each file, and for
/// OpenSM's program where that routes) and "computed_by".
namespace holdfast::simulate::study {

/// Raised by whoever changes what a run of this kind comes to: computation_test.cc fails until then. Throughput: 2 is
/// routes from how switches are cabled, not numbered, 3 trees in closed form, 4 updn, dnup and nue with an order of
/// their own, 5 lash by the cables alone, 6 lanes filled alike where there are few, 7 whole trees share ways by length,
/// 9 updn, dnup and nue with short ways up, 10 ftree on unevenly cabled trees, another order of large Kautz graphs,
/// 11 updn, dnup and nue with orders from several searches, 12 nue on trees begins from ftree's and updn's tables, updn
/// and dnup relieve their fullest links. Prediction: 2 and 3 likewise, 4 by host, 6 as throughput's 9, 7 as its 10, and
/// ranks that go ahead in a replay, 8 and 9 as throughput's 11 and 12.
inline constexpr unsigned throughput_computation = 12;
inline constexpr unsigned prediction_computation = 9;
inline constexpr unsigned collectives_computation = 2;  // 2: an adapter with two ports has two cables

/// "throughput 2": what stands in "computed_by" of a point of this kind today.
std::string computed_by(std::string_view kind);

/// "xxh3-128:" and 32 digits.
std::string digest_text(std::string_view bytes);

/// The same of OpenSM's program, "absent" when there is none. Read once.
const std::string& opensm_digest();

/// The parameters as text, without what they come from: two runs with one identity answer the same question.
std::string identity(const Json& parameters);

/// Tells which runs would come out otherwise today, as far as that can be seen from here: a file that is no longer
/// where it was is not looked for. Keeps the digests of files that it has seen. One thread.
class Staleness {
 public:
  explicit Staleness(std::string_view kind) : today_(computed_by(kind)) {}
  /// Why the run of these parameters is stale, in a few words; empty when it is not.
  std::string of(const Json& parameters);

 private:
  std::string digest_of_file(const std::string& path);
  std::string today_;
  std::map<std::string, std::string> digests_;  // by path; empty: there is no such file
};

/// In which way the parameters of a run are not those of a point with the same identity.
std::string difference(const Json& run, const Json& point);

}  // namespace holdfast::simulate::study
