#include "core/secret/secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace holdfast::secret {
namespace {

class SecretFile : public testing::Test {
 protected:
  SecretFile() { std::filesystem::create_directories(folder_); }
  ~SecretFile() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& text, mode_t mode = 0600) {
    const std::string path = folder_ + "/secret";
    std::filesystem::remove(path);
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  std::string folder_ = testing::TempDir() + "secret-" + std::to_string(::getpid());
};

TEST_F(SecretFile, AKeyThatWasWrittenIsReadTheSameByEverybody) {
  const std::string path = folder_ + "/new";
  const Key key = new_key();
  ASSERT_TRUE(write_key(path, key).ok());
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  const auto one = read_key(path);
  const auto two = read_key(path);
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_EQ(one.value(), two.value());
  EXPECT_NE(one.value(), Key{});
  EXPECT_FALSE(write_key(path, key).ok()) << "it took the place of another";
}

TEST_F(SecretFile, KeysAreNotTheSameTwice) {
  EXPECT_NE(new_key(), new_key());
}

TEST_F(SecretFile, TheLineEndDoesNotCountAndEveryDigitDoes) {
  const std::string digits(64, 'a');
  const Key key = read_key(file(digits)).value();
  EXPECT_EQ(read_key(file(digits + "\n")).value(), key);
  EXPECT_EQ(read_key(file(digits + "\r\n")).value(), key);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    std::string other = digits;
    other[i] = '0';
    EXPECT_NE(read_key(file(other)).value(), key) << i;
  }
}

TEST_F(SecretFile, WhatOthersMayReadOrWriteIsRefused) {
  for (const mode_t mode : {0640, 0604, 0620, 0602, 0644, 0666, 0610}) {
    const auto key = read_key(file(std::string(64, 'a'), mode));
    ASSERT_FALSE(key.ok()) << std::oct << mode;
    EXPECT_EQ(key.status().code(), Code::bad_input);
  }
  EXPECT_TRUE(read_key(file(std::string(64, 'a'), 0400)).ok());
}

TEST_F(SecretFile, WhatBelongsToAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const std::string path = file(std::string(64, 'a'));
  ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
  EXPECT_EQ(read_key(path).status().code(), Code::bad_input);
}

TEST_F(SecretFile, WhatIsNoSecretIsRefused) {
  for (const std::string& text : {std::string(), std::string(31, 'a'), std::string(1025, 'a'), std::string(100000, 'a'),
                                  std::string(63, 'a') + "g", std::string(32, 'a') + "\n" + std::string(32, 'b'),
                                  std::string("correct horse battery staple, and more")}) {
    const auto key = read_key(file(text));
    ASSERT_FALSE(key.ok()) << text.size();
    EXPECT_EQ(key.status().code(), Code::bad_input);
    EXPECT_EQ(key.status().message().find('\n'), std::string::npos);
  }
  EXPECT_EQ(read_key(folder_ + "/none").status().code(), Code::not_found);
  EXPECT_EQ(read_key(folder_).status().code(), Code::bad_input);
}

}  // namespace
}  // namespace holdfast::secret
