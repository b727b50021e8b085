#include "replicate/launch/report/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace holdfast::launch {
namespace {

using testing::HasSubstr;

Incident incident(const char* kind, int rank, int replica, int signal = 0) {
  Incident made;
  made.kind = kind;
  made.rank = rank;
  made.replica = replica;
  made.signal = signal;
  made.message = std::string(kind) + " at " + std::to_string(rank) + "." + std::to_string(replica);
  return made;
}

Evidence evidence(std::vector<Incident> incidents, int status = 1) {
  Evidence made;
  made.ended.exit_status = status;
  made.record = nlohmann::ordered_json::object();
  made.incidents = std::move(incidents);
  made.ranks = 2;
  made.degree = 3;
  return made;
}

TEST(Judge, Success) {
  Outcome outcome = judge(evidence({}, 0));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.message, "");
}

TEST(Judge, SuccessWithoutARecordIsADefect) {
  Evidence unverified = evidence({}, 0);
  unverified.record = nullptr;
  EXPECT_EQ(judge(unverified).code, 7);
  unverified.degree = 1;
  EXPECT_EQ(judge(unverified).code, 0) << "one replica is never verified";
}

TEST(Judge, AProgramThatCallsNoMpiIsNotTheOneThatWasMeant) {
  Evidence other = evidence({}, 0);
  other.record = nullptr;
  other.entered = false;
  EXPECT_EQ(judge(other).code, 2);
  EXPECT_THAT(judge(other).message, HasSubstr("no process called MPI_Init"));
  other.goes_on = true;  // no process says a status then
  EXPECT_EQ(judge(other).code, 2);
  other.launched = 3;
  EXPECT_EQ(judge(other).code, 1);
  other.launched = 0;
  EXPECT_EQ(judge(other).code, 2);
  other.disk_full = true;
  EXPECT_EQ(judge(other).code, 5);
  other.degree = 1;
  EXPECT_EQ(judge(other).code, 0);
}

TEST(Judge, AProgramThatEndsWithoutMpiFinalizeFailedByItself) {
  Evidence early = evidence({}, 0);
  early.record = nullptr;
  early.early_end = "rank 1 ended with status 0 without MPI_Finalize, in 2 of its 2 replicas";
  EXPECT_EQ(judge(early).code, 1);
  EXPECT_THAT(judge(early).message, HasSubstr("without MPI_Finalize"));
}

TEST(Judge, EvidenceThatVanishedIsNoAgreement) {
  Evidence incomplete = evidence({}, 0);
  incomplete.missing = "the record of replica 1 is missing";
  EXPECT_EQ(judge(incomplete).code, 7);
  EXPECT_THAT(judge(incomplete).message, HasSubstr("the record of replica 1 is missing"));
  incomplete.goes_on = true;
  incomplete.status = 0;
  EXPECT_EQ(judge(incomplete).code, 7);
  incomplete.degree = 1;
  EXPECT_EQ(judge(incomplete).code, 0) << "one replica is never verified";
}

TEST(Judge, AFullDiskIsWhyARecordIsMissing) {
  Evidence unverified = evidence({}, 0);
  unverified.disk_full = true;
  EXPECT_EQ(judge(unverified).code, 0) << "nothing is missing";
  unverified.record = nullptr;
  EXPECT_EQ(judge(unverified).code, 5);
  EXPECT_THAT(judge(unverified).message, HasSubstr("the disk of the run directory is full"));
}

TEST(Judge, WhereNobodyDiedTheLaunchersStatusCountsToo) {
  Evidence script = evidence({}, 5);
  script.goes_on = true;
  script.status = 0;
  EXPECT_EQ(judge(script).code, 1) << "of the script around the program";
  script.deaths = {{0, 1, 1.0, 2}};
  EXPECT_EQ(judge(script).code, 0) << "after a death it is the dead one's";
}

TEST(Judge, OfAScriptAroundTheProgramItsOwnStatusCounts) {
  Evidence script = evidence({}, 0);
  script.goes_on = true;
  script.status = 0;
  script.launched = 4;
  EXPECT_EQ(judge(script).code, 1) << "it failed after the program";
  script.deaths = {{0, 1, 1.0, 2}};
  EXPECT_EQ(judge(script).code, 1);
  script.status.reset();
  script.record = nullptr;
  script.deaths.clear();
  EXPECT_EQ(judge(script).code, 1) << "before it";
  EXPECT_THAT(judge(script).message, HasSubstr("its status is 4"));
  script.launched = 0;
  EXPECT_EQ(judge(script).code, 7) << "no program was there";
}

Corruption struck(int rank, int replica, std::int64_t at_ns) {
  return {at_ns, 0, rank, replica};
}

TEST(Judge, AnEndAfterCorruptionIsNotTheApplicationsOwn) {
  Evidence silent = evidence({}, 5);
  silent.record = nullptr;
  EXPECT_EQ(judge(silent).code, 1);
  silent.corruption = {struck(0, 1, 100)};
  silent.faults = {"flip rank 0"};
  Outcome outcome = judge(silent);
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.message, HasSubstr("before that the injected 'flip rank 0' had struck rank 0 replica 1"));
  silent.record = nlohmann::ordered_json::object();
  EXPECT_EQ(judge(silent).code, 1) << "statuses were compared at the end";
}

TEST(Judge, TheCauseIsTheReplicasOwnCorruptionOrWhatWasSeenFirst) {
  Evidence crashed = evidence({incident("crash", 1, 0, SIGSEGV), incident("crash", 1, 2, SIGBUS)});
  crashed.incidents[0].written_ns = 500'000'000;
  crashed.incidents[1].written_ns = 400'000'000;
  crashed.corruption = {struck(0, 1, 100'000'000), struck(1, 2, 200'000'000), struck(0, 0, 600'000'000)};
  EXPECT_THAT(judge(crashed).message,
              HasSubstr("crash at 1.2; before that the injected fault had struck rank 1 replica 2"))
      << "the first that ended, and what had struck it";
  crashed.incidents.pop_back();
  EXPECT_THAT(judge(crashed).message,
              HasSubstr("crash at 1.0; before that the injected fault had struck rank 0 replica 1"))
      << "a good one that a corrupt one brought down";
  crashed.corruption = {struck(0, 0, 600'000'000)};
  EXPECT_EQ(judge(crashed).message, "crash at 1.0") << "what came later is no cause";
}

TEST(Judge, ReplicasThatCrashAlikeAfterCorruptionMayHaveBeenBroughtDown) {
  for (const char* kind : {"crash", "abort"}) {
    Evidence all = evidence({incident(kind, 1, 0), incident(kind, 1, 1), incident(kind, 1, 2)});
    EXPECT_EQ(judge(all).code, 1);
    all.corruption = {struck(0, 1, 0)};
    EXPECT_EQ(judge(all).code, std::string(kind) == "crash" ? 4 : 1);
  }
}

TEST(Judge, AProgramThatEndsBeforeMpiInEveryReplicaFailedByItself) {
  Evidence ended = evidence({}, 1);
  ended.verdict = "rank 1 ended";
  EXPECT_EQ(judge(ended).code, 4);
  ended.programs_doing = true;
  EXPECT_EQ(judge(ended).code, 1);
}

TEST(Judge, TheApplicationsOwnStatusIsInTheMessage) {
  Outcome outcome = judge(evidence({}, 9));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.message, HasSubstr("its status is 9"));
  EXPECT_THAT(judge(evidence({}, 139)).message, HasSubstr("signal 11 (Segmentation fault)"));
}

TEST(Judge, ALauncherThatASignalEndedIsNotTheApplicationsFailure) {
  Evidence lost = evidence({}, 0);
  lost.ended.signal = SIGPIPE;
  EXPECT_EQ(judge(lost).code, 4);
  EXPECT_THAT(judge(lost).message, HasSubstr("the launcher itself was lost: signal 13 (Broken pipe) ended it"));
}

TEST(Judge, AStatusThatFollowsFromADeathInMpiInitIsNotTheApplications) {
  Evidence died = evidence({}, 1);
  died.deaths = {{1, 1, 0.3, 0}};
  EXPECT_EQ(judge(died).code, 1) << "it may have ended by _exit(1)";
  died.died_at_start = true;
  EXPECT_EQ(judge(died).code, 4);
  EXPECT_THAT(judge(died).message, HasSubstr("rank 1 replica 1 died 0.3 s after the start"));
}

TEST(Judge, ALauncherThatStartedNothingFailedItself) {
  Evidence nothing = evidence({}, 213);
  nothing.record = nullptr;
  nothing.began = false;
  Outcome outcome = judge(nothing);
  EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcome.message, HasSubstr("no process of the job began"));
  for (const int killed : {9, 137}) {
    nothing.ended.exit_status = killed;
    EXPECT_EQ(judge(nothing).code, 4);
    EXPECT_THAT(judge(nothing).message, HasSubstr("killed before any had begun"));
  }
  nothing.ended.exit_status = 1;  // as mpirun's of an option that it does not know
  nothing.goes_on = true;
  nothing.status.reset();
  EXPECT_EQ(judge(nothing).code, 5);
  EXPECT_THAT(judge(nothing).message, HasSubstr("no process of the job began"));
  nothing.goes_on = false;
  nothing.ended.exit_status = 213;
  nothing.began = true;
  EXPECT_EQ(judge(nothing).code, 1);
}

TEST(Judge, AnOutvotedStatusEndsNoJob) {
  EXPECT_EQ(judge(evidence({incident("outvoted", 0, 1)}, 0)).code, 0);
  EXPECT_EQ(judge(evidence({incident("outvoted", 0, 1)}, 5)).code, 1);
  EXPECT_EQ(judge(evidence({incident("outvoted", 0, 1), incident("uncorrected", 1, 0)})).code, 3);
}

TEST(Judge, EachKindHasItsCode) {
  EXPECT_EQ(judge(evidence({incident("uncorrected", 0, 0)})).code, 3);
  EXPECT_EQ(judge(evidence({incident("diverged", 0, 0)})).code, 4);
  EXPECT_EQ(judge(evidence({incident("silent", 0, 0)})).code, 4);
  EXPECT_EQ(judge(evidence({incident("unreadable", 0, 0)})).code, 4);
  EXPECT_EQ(judge(evidence({incident("refused", 0, 0)})).code, 6);
  EXPECT_EQ(judge(evidence({incident("application", 0, 0)})).code, 1);
  EXPECT_EQ(judge(evidence({incident("bad_input", 0, 0)})).code, 2);
  EXPECT_EQ(judge(evidence({incident("surprise", 0, 0)})).code, 7);
  EXPECT_EQ(judge(evidence({incident("", 0, 0)})).code, 7);
}

TEST(Judge, CorruptionThatTheRunSurvivedStillCounts) {
  EXPECT_EQ(judge(evidence({incident("uncorrected", 0, 0)}, 0)).code, 3) << "--on-corruption report";
}

TEST(Judge, ACrashOfAllReplicasIsTheApplications) {
  Outcome outcome = judge(evidence({incident("crash", 1, 0, SIGSEGV), incident("crash", 1, 1, SIGSEGV),
                                    incident("crash", 1, 2, SIGSEGV), incident("silent", 0, 1)}));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.message, HasSubstr("in all 3 replicas alike"));
}

TEST(Judge, ARankThatHasFewerReplicasCrashesInFewer) {
  Evidence crashed = evidence({incident("crash", 1, 0, SIGSEGV), incident("crash", 1, 1, SIGSEGV)});
  EXPECT_EQ(judge(crashed).code, 4);
  crashed.degrees = {3, 2};
  EXPECT_EQ(judge(crashed).code, 1);
  EXPECT_THAT(judge(crashed).message, HasSubstr("in all 2 replicas alike"));
}

TEST(Judge, ACrashOfSomeReplicasIsADivergence) {
  EXPECT_EQ(judge(evidence({incident("crash", 1, 0, SIGSEGV), incident("crash", 1, 1, SIGSEGV)})).code, 4);
  EXPECT_EQ(judge(evidence({incident("crash", 1, 0, SIGSEGV), incident("crash", 1, 1, SIGSEGV),
                            incident("crash", 1, 2, SIGFPE)}))
                .code,
            4)
      << "not alike";
  EXPECT_EQ(judge(evidence({incident("crash", 0, 0, SIGSEGV), incident("crash", 1, 1, SIGSEGV),
                            incident("crash", 0, 2, SIGSEGV)}))
                .code,
            4)
      << "of different ranks";
}

TEST(Judge, AnUnprotectedCrashIsTheApplications) {
  Evidence single = evidence({incident("crash", 1, 0, SIGSEGV)});
  single.degree = 1;
  EXPECT_EQ(judge(single).code, 1);
}

TEST(Judge, TheRootComesBeforeWhatFollows) {
  EXPECT_EQ(judge(evidence({incident("silent", 0, 1), incident("uncorrected", 1, 2)})).code, 3);
  EXPECT_EQ(judge(evidence({incident("diverged", 0, 1), incident("refused", 1, 2)})).code, 6);
  EXPECT_THAT(judge(evidence({incident("silent", 0, 1), incident("diverged", 1, 2)})).message, HasSubstr("diverged"));
}

TEST(Judge, TheUsersSignalComesFirst) {
  Evidence stopped = evidence({incident("silent", 0, 0)});
  stopped.ended.user_signal = SIGINT;
  EXPECT_EQ(judge(stopped).code, 130);
  Evidence late = evidence({incident("silent", 0, 0)});
  late.ended.timed_out = true;
  EXPECT_EQ(judge(late).code, 124);
}

}  // namespace
}  // namespace holdfast::launch
