#include "core/fault/grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/fault/rules.h"

namespace holdfast::fault {
namespace {

Fault one(std::string_view text) {
  const Result<std::vector<Fault>> faults = parse(text);
  EXPECT_TRUE(faults) << faults.status().message();
  if (!faults || faults.value().size() != 1) {
    ADD_FAILURE() << "not one fault: " << text;
    return {};
  }
  return faults.value()[0];
}

std::string error(std::string_view text) {
  const Result<std::vector<Fault>> faults = parse(text, "--inject");
  EXPECT_FALSE(faults) << text;
  EXPECT_TRUE(faults || faults.status().code() == Code::bad_input);
  return faults.status().message();
}

TEST(FaultGrammar, ReadsAFlipAtANamedPlace) {
  const Fault fault = one("flip rank 1 replica 2 message 40 bit 7");
  EXPECT_EQ(fault.kind, Kind::flip);
  EXPECT_EQ(fault.place.rank, 1U);
  EXPECT_EQ(fault.place.replica, 2U);
  EXPECT_EQ(fault.place.peer, std::nullopt);
  EXPECT_EQ(fault.when, When(Message{40}));
  EXPECT_EQ(fault.bit, 7U);
}

TEST(FaultGrammar, AFaultWithoutItsKindIsAFlip) {
  EXPECT_EQ(one("rank 1 replica 2 message 40 bit 7"), one("flip rank 1 replica 2 message 40 bit 7"));
  EXPECT_EQ(one("rate 1/5000000"), one("flip rate 1/5000000"));
}

TEST(FaultGrammar, ReadsASlowLink) {
  const Fault fault = one("slow-link 1/4 link leaf-1/7 time 2ms for 1ms");
  EXPECT_EQ(fault.kind, Kind::slow_link);
  EXPECT_EQ(fault.rate_left, (Ratio{1, 4}));
  EXPECT_EQ(fault.when, When(Time{2'000'000}));
  EXPECT_EQ(fault.lasts_ns, 1'000'000);
  EXPECT_EQ(one(format(fault)), fault);
}

TEST(FaultGrammar, TheOrderOfClausesDoesNotMatter) {
  EXPECT_EQ(one("flip bit 7 message 40 replica 2 rank 1"), one("flip rank 1 replica 2 message 40 bit 7"));
}

TEST(FaultGrammar, ReadsEveryMoment) {
  EXPECT_EQ(one("drop rate 3/1000").when, When(Rate{{3, 1000}}));
  EXPECT_EQ(one("drop rate 1/1").when, When(Rate{{1, 1}}));
  EXPECT_EQ(one("drop mean 10us").when, When(Mean{10'000}));
  EXPECT_EQ(one("drop message 1").when, When(Message{1}));
  EXPECT_EQ(one("drop time 3 s").when, When(Time{3'000'000'000}));
  EXPECT_EQ(one("fail-link share 1%").when, When(Share{{1, 100}}));
  EXPECT_EQ(one("fail-link share 0.250%").when, When(Share{{25, 10'000}}));
  EXPECT_EQ(one("fail-link share 100%").when, When(Share{{100, 100}}));
  EXPECT_EQ(one("fail-switch switch s").when, When(AtOnce{}));
}

TEST(FaultGrammar, ReadsEveryPlace) {
  EXPECT_EQ(one("drop rail 3 peer 4 rate 1/2").place.rail, 3U);
  EXPECT_EQ(one("drop rail 3 peer 4 rate 1/2").place.peer, 4U);
  EXPECT_EQ(one("fail-link link \"leaf 1\" \"spine 2\"").place.link, (Link{"leaf 1", "spine 2"}));
  EXPECT_EQ(one("fail-link link isl-7").place.link, (Link{"isl-7", ""}));
  EXPECT_EQ(one("fail-link link rate").place.link, (Link{"rate", ""}));
  EXPECT_EQ(one("fail-switch switch \"a;b # c\"").place.switch_name, "a;b # c");
  EXPECT_EQ(one("fail-port hca node-1 port 2").place.port, 2U);
  EXPECT_EQ(one("fail-hca hca H-1").place.hca, "H-1");
  EXPECT_EQ(one("drop any rate 1/2"), one("drop rate 1/2"));
}

TEST(FaultGrammar, ReadsTheAmountOfADelay) {
  EXPECT_EQ(one("delay 5ms rate 1/100").delay_ns, 5'000'000);
  EXPECT_EQ(one("delay 5 ms rate 1/100").delay_ns, 5'000'000);
}

TEST(FaultGrammar, ReadsWhatStillPassesANarrowRail) {
  EXPECT_EQ(one("narrow-rail 700 rail 1").longest_bytes, 700U);
  EXPECT_EQ(one("narrow-rail 700 rail 1").when, When(AtOnce{}));
  EXPECT_EQ(one("narrow-rail 1400 any time 3s").when, When(Time{3'000'000'000}));
  EXPECT_THAT(error("narrow-rail rail 1"), testing::HasSubstr("a whole number from 1"));
  EXPECT_THAT(error("narrow-rail 0 rail 1"), testing::HasSubstr("a whole number from 1"));
  EXPECT_THAT(error("narrow-rail 700"), testing::HasSubstr("neither where nor when"));
}

TEST(FaultGrammar, SeparatesFaultsAndSkipsComments) {
  const auto faults = parse("flip rate 1/2;; drop rate 1/3 # a comment; not a fault\n\tduplicate rate 1/4\r\n;");
  ASSERT_TRUE(faults) << faults.status().message();
  ASSERT_EQ(faults.value().size(), 3U);
  EXPECT_EQ(faults.value()[2].kind, Kind::duplicate);
  for (const char* nothing : {"", " ;\n ; ", "# only this"}) {
    ASSERT_TRUE(parse(nothing)) << nothing;
    EXPECT_TRUE(parse(nothing).value().empty());
  }
}

TEST(FaultGrammar, LinesEndAsOnAnySystem) {
  for (const std::string end : {"\n", "\r\n", "\r", "\r\r\n"}) {
    const auto faults =
        parse("# a comment" + end + "flip rate 1/2" + end + "drop rate 1/3 # to the end of the line" + end);
    ASSERT_TRUE(faults) << faults.status().message();
    EXPECT_EQ(faults.value().size(), 2U);
    EXPECT_THAT(error("flip rate 1/2" + end + end + " drop rate \"1/3" + end + "\""), testing::HasSubstr("line 3"));
  }
}

TEST(FaultGrammar, ErrorsNameLineAndColumnAndHint) {
  EXPECT_EQ(error("flip rank 1 repilca 2 message 40"),
            "reading --inject line 1 column 13: unknown word 'repilca': did you mean 'replica'?");
  EXPECT_EQ(error("flip rate 1/2;\n  flop rate 1/2"),
            "reading --inject line 2 column 3: unknown fault 'flop': did you mean 'flip'?");
  EXPECT_EQ(error("fail-lnk share 1%"),
            "reading --inject line 1 column 1: unknown fault 'fail-lnk': did you mean 'fail-link'?");
  EXPECT_EQ(error("xyzzyxyzzy"),
            "reading --inject line 1 column 1: unknown fault 'xyzzyxyzzy': say what happens first, "
            "as in flip rank 1 replica 2 message 40 bit 7");
  EXPECT_EQ(error("drop rate 2/1"),
            "reading --inject line 1 column 11: there is '2/1': write a ratio such as 1/1000, "
            "above 0 and at most 1/1");
  EXPECT_EQ(error("drop rate"),
            "reading --inject line 1 column 10: the fault ends here: write a ratio such as 1/1000, "
            "above 0 and at most 1/1");
  EXPECT_EQ(error("flip rank -1 rate 1/2"),
            "reading --inject line 1 column 11: there is '-1': write a whole number from 0 to 2147483647");
  EXPECT_EQ(error("flip message 0"),
            "reading --inject line 1 column 14: there is '0': write a whole number from 1 to 9223372036854775807");
  EXPECT_EQ(error("drop rate 1/2 bit 3"),
            "reading --inject line 1 column 15: 'bit' does not go with drop: drop takes "
            "rank, replica, peer, rail, link, switch, hca, any, rate, mean, message, time");
}

TEST(FaultGrammar, RefusesFaultsThatDoNotMakeSense) {
  EXPECT_THAT(error("flip rank 1 rank 2 rate 1/2"), testing::HasSubstr("'rank' stands twice"));
  EXPECT_THAT(error("flip rate 1/2 message 3"), testing::HasSubstr("second moment"));
  EXPECT_THAT(error("flip rank 1"), testing::HasSubstr("does not say when"));
  EXPECT_THAT(error("fail-link"), testing::HasSubstr("neither where nor when"));
  EXPECT_THAT(error("fail-link link a share 1%"), testing::HasSubstr("a share is of all things"));
  EXPECT_THAT(error("flip any rank 1 rate 1/2"), testing::HasSubstr("'any' stands beside a place"));
  EXPECT_THAT(error("fail-port switch a"), testing::HasSubstr("has a number"));
  EXPECT_THAT(error("fail-port switch a hca b port 1"), testing::HasSubstr("has a number"));
  EXPECT_THAT(error("fail-port port 1"), testing::HasSubstr("has a number"));
  EXPECT_THAT(error("delay rate 1/2"), testing::HasSubstr("a duration such as 10ms, above zero"));
  EXPECT_THAT(error("delay 0s rate 1/2"), testing::HasSubstr("above zero"));
  EXPECT_THAT(error("drop mean 0s"), testing::HasSubstr("above zero"));
  EXPECT_THAT(error("drop rate 0/5"), testing::HasSubstr("a ratio"));
  EXPECT_THAT(error("drop rate 1/0"), testing::HasSubstr("a ratio"));
  EXPECT_THAT(error("fail-link share 0%"), testing::HasSubstr("a percentage"));
  EXPECT_THAT(error("fail-link share 101%"), testing::HasSubstr("a percentage"));
  EXPECT_THAT(error("fail-link share 1"), testing::HasSubstr("a percentage"));
  EXPECT_THAT(error("fail-link share 1.0.0%"), testing::HasSubstr("a percentage"));
  EXPECT_THAT(error("fail-link link \"a"), testing::HasSubstr("quotation does not end"));
  EXPECT_THAT(error("fail-link link \"\""), testing::HasSubstr("write a name"));
  EXPECT_THAT(error("fail-link link a \"b\""), testing::HasSubstr("unknown word 'b'"));
  EXPECT_THAT(error("slow-link 1/1 link a"), testing::HasSubstr("the part of its rate"));
  EXPECT_THAT(error("slow-link 1/4 time 1ms"), testing::HasSubstr("names no link"));
  EXPECT_THAT(error("slow-link 1/4 link a mean 1s"), testing::HasSubstr("'mean' does not go with slow-link"));
  EXPECT_THAT(error("flip\v rate 1/2"), testing::HasSubstr("control character"));
}

TEST(FaultGrammar, FormatIsReadBack) {
  for (const char* text :
       {"flip rank 1 replica 2 message 40 bit 7", "drop peer 4 rail 3 rate 2/4", "delay 5.5ms time 0s",
        "corrupt-header mean 10us bit 0", "fail-link link \"leaf 1\" \"spine 2\"", "fail-link link isl-7 time 3s",
        "fail-switch switch \"a b\"", "fail-port hca node-1 port 2", "fail-hca share 0.25%", "fail-hca share 12.005%",
        "kill-process rank 3 replica 1 time 3s", "kill-rail rail 1 message 5",
        "narrow-rail 700 rank 2 rail 1 time 3s"}) {
    EXPECT_EQ(format(one(text)), text);
  }
}

TEST(FaultGrammar, TheExampleOfEveryRuleIsOfItsKind) {
  for (const Rule& rule : rules()) {
    EXPECT_EQ(&rule_of(rule.kind), &rule);
    EXPECT_EQ(one(rule.example).kind, rule.kind) << rule.example;
    EXPECT_EQ(name(rule.kind), rule.name);
  }
}

// Examples are the lines of ```faults blocks; lines of ```faults-wrong blocks must be refused.
struct Examples {
  std::vector<std::string> right;
  std::vector<std::string> wrong;
  std::string page;
};

Examples examples_of_the_page() {
  std::ifstream file(HOLDFAST_SOURCE_DIR "/docs/spec/faults.md");
  Examples examples;
  std::string block;
  for (std::string line; std::getline(file, line);) {
    examples.page += line + "\n";
    if (line.starts_with("```")) {
      block = line.substr(3);
    } else if (block == "faults") {
      examples.right.push_back(line);
    } else if (block == "faults-wrong") {
      examples.wrong.push_back(line);
    }
  }
  return examples;
}

TEST(FaultGrammar, EveryExampleOfThePageIsRead) {
  const Examples examples = examples_of_the_page();
  EXPECT_GE(examples.right.size(), 12U);
  for (const std::string& line : examples.right) {
    const Result<std::vector<Fault>> faults = parse(line);
    ASSERT_TRUE(faults) << line << "\n" << faults.status().message();
    for (const Fault& fault : faults.value()) EXPECT_EQ(one(format(fault)), fault);
  }
  EXPECT_GE(examples.wrong.size(), 3U);
  for (const std::string& line : examples.wrong) EXPECT_FALSE(parse(line)) << line;
}

TEST(FaultGrammar, ThePageHasEveryWord) {
  const std::string page = examples_of_the_page().page;
  for (const Rule& rule : rules()) EXPECT_THAT(page, testing::HasSubstr("| `" + std::string(rule.name) + "` |"));
  for (const WordName& word : words()) EXPECT_THAT(page, testing::HasSubstr("| `" + std::string(word.name)));
}

}  // namespace
}  // namespace holdfast::fault
