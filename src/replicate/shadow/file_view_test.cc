#include "replicate/shadow/file_view.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace holdfast::replicate {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

/// A work folder and a run directory, and the views of replica 0 and 1 on them.
class FileViewTest : public ::testing::Test {
 protected:
  FileViewTest() {
    std::string pattern = (fs::temp_directory_path() / "holdfast-view-XXXXXX").string();
    root_ = fs::canonical(::mkdtemp(pattern.data())).string();
    work_ = root_ + "/work";
    fs::create_directories(work_);
    fs::create_directories(root_ + "/run");
    views_.emplace_back(root_ + "/run", 0);
    views_.emplace_back(root_ + "/run", 1);
  }
  ~FileViewTest() override { fs::remove_all(root_); }

  const FileView& leader() { return views_[0]; }
  const FileView& other() { return views_[1]; }
  std::string at(const std::string& name) { return work_ + "/" + name; }

  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  static std::string get(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string seen(const FileView& view, const std::string& name) {
    const FilePlace place = view.find(at(name));
    return place.exists() ? get(place.path) : "(nothing)";
  }
  void write(const FileView& view, const std::string& name, const std::string& text) {
    Prepared prepared;
    ASSERT_EQ(view.prepare(at(name), Change::emptied, prepared), 0);
    put(prepared.path, text);
  }
  void append(const FileView& view, const std::string& name, const std::string& text) {
    Prepared prepared;
    ASSERT_EQ(view.prepare(at(name), Change::contents, prepared), 0);
    std::ofstream(prepared.path, std::ios::app) << text;
  }
  void remove(const FileView& view, const std::string& name) {
    Prepared prepared;
    ASSERT_EQ(view.prepare(at(name), Change::removal, prepared), 0);
    if (view.leader()) {
      fs::remove(at(name));
    } else {
      ASSERT_EQ(view.hide(at(name), false), 0);
    }
  }
  void rename_leader(const std::string& from, const std::string& to) {
    Prepared prepared;
    ASSERT_EQ(leader().prepare(at(from), Change::name, prepared), 0);
    ASSERT_EQ(leader().prepare(at(to), Change::name, prepared), 0);
    fs::rename(at(from), at(to));
    leader().move_made(at(from), at(to));
  }

  std::string root_;
  std::string work_;
  std::vector<FileView> views_;
};

TEST(NormalPath, LeavesNothingOut) {
  EXPECT_EQ(normal_path("/a//b/./c/../d/"), "/a/b/d");
  EXPECT_EQ(normal_path("/../.."), "/");
  EXPECT_EQ(normal_path(""), "/");
}

TEST_F(FileViewTest, NobodySeesWhatAnotherReplicaCreates) {
  write(leader(), "a", "leader");
  EXPECT_EQ(seen(other(), "a"), "(nothing)");
  write(other(), "a", "other");
  write(other(), "b", "other");
  EXPECT_EQ(seen(leader(), "a"), "leader");
  EXPECT_EQ(seen(leader(), "b"), "(nothing)");
  EXPECT_EQ(seen(other(), "a"), "other");
}

TEST_F(FileViewTest, WhatTheLeaderOverwritesAppendsToOrRemovesIsKeptForTheOthers) {
  for (const char* name : {"over", "more", "gone"}) put(at(name), "before");
  const int reader = ::open(at("over").c_str(), O_RDONLY);
  write(leader(), "over", "after");
  append(leader(), "more", "+after");
  remove(leader(), "gone");
  write(leader(), "over", "again");
  for (const char* name : {"over", "more", "gone"}) EXPECT_EQ(seen(other(), name), "before") << name;
  EXPECT_EQ(get(at("over")), "again");
  EXPECT_EQ(get(at("more")), "before+after");
  EXPECT_FALSE(fs::exists(at("gone")));
  char text[16] = "";
  EXPECT_EQ(::read(reader, text, sizeof text), 6) << "a replica that has the file open goes on reading it";
  ::close(reader);
  append(other(), "more", "+other");
  EXPECT_EQ(seen(other(), "more"), "before+other");
  remove(other(), "gone");
  EXPECT_EQ(seen(other(), "gone"), "(nothing)");
  EXPECT_EQ(other().hide(at("gone"), false), ENOENT);
}

TEST_F(FileViewTest, AFileWithTwoNamesStaysOneFile) {
  put(at("one"), "before");
  fs::create_hard_link(at("one"), at("two"));
  append(leader(), "one", "+after");
  EXPECT_EQ(get(at("two")), "before+after");
  EXPECT_EQ(seen(other(), "one"), "before");
}

TEST_F(FileViewTest, PermissionsAndThePlaceOfAFailedOpenStay) {
  put(at("a"), "before");
  ::chmod(at("a").c_str(), 0640);
  Prepared prepared;
  ASSERT_EQ(leader().prepare(at("a"), Change::emptied, prepared), 0);
  EXPECT_TRUE(prepared.replaced);
  EXPECT_EQ(leader().find(at("a")).status.st_mode & 0777, 0640U);
  leader().undo(at("a"), prepared);
  EXPECT_EQ(get(at("a")), "before");
  EXPECT_EQ(seen(other(), "a"), "before");
  ASSERT_EQ(other().prepare(at("a"), Change::emptied, prepared), 0);
  EXPECT_EQ(other().find(at("a")).status.st_mode & 0777, 0640U);
}

TEST_F(FileViewTest, ACheckpointIsRenamedOverTheOneBefore) {
  put(at("checkpoint"), "old");
  write(leader(), "draft", "new");
  rename_leader("draft", "checkpoint");
  EXPECT_EQ(seen(other(), "checkpoint"), "old");
  EXPECT_EQ(seen(other(), "draft"), "(nothing)");
  write(other(), "draft", "new");
  ASSERT_EQ(other().move(at("draft"), at("checkpoint")), 0);
  EXPECT_EQ(seen(other(), "checkpoint"), "new");
  EXPECT_EQ(seen(other(), "draft"), "(nothing)");
  ASSERT_EQ(other().move(at("checkpoint"), at("safe")), 0);
  EXPECT_EQ(seen(other(), "checkpoint"), "(nothing)") << "not the one from before the job either";
}

TEST_F(FileViewTest, WhatMpiUsesIsTheLeadersForAllUntilTheLeaderChangesItOtherwise) {
  put(at("a"), "before");
  for (const FileView& view : views_) append(view, "a", "+all");
  EXPECT_TRUE(leader().changed_here(at("a")) && other().changed_here(at("a")));
  for (const FileView& view : views_) ASSERT_EQ(view.make_common(at("a")), 0);
  EXPECT_FALSE(leader().changed_here(at("a")) || other().changed_here(at("a")));
  std::ofstream(at("a"), std::ios::app) << "+mpi";
  EXPECT_EQ(seen(other(), "a"), "before+all+mpi");

  // Then in the other way again: who lags behind sees what MPI has left, and changes that.
  const int opened_by_mpi = ::open(at("a").c_str(), O_WRONLY | O_APPEND);
  append(leader(), "a", "+again");
  EXPECT_EQ(seen(other(), "a"), "before+all+mpi");
  append(other(), "a", "+again");
  EXPECT_EQ(seen(other(), "a"), get(at("a")));
  ASSERT_EQ(::write(opened_by_mpi, "+open", 5), 5);
  ::close(opened_by_mpi);
  EXPECT_EQ(get(at("a")), "before+all+mpi+again+open") << "it is the file that MPI has open";
  for (const FileView& view : views_) ASSERT_EQ(view.make_common(at("a")), 0);
  EXPECT_EQ(seen(other(), "a"), "before+all+mpi+again+open");
}

TEST_F(FileViewTest, WhatMpiDeletesIsGoneForAllAndMayBeMadeAgain) {
  put(at("old"), "before");
  for (const FileView& view : views_) {
    write(view, "new", "new");
    append(view, "old", "+more");
  }
  for (const char* name : {"old", "new"}) {
    for (const FileView& view : views_) ASSERT_EQ(view.make_common(at(name)), 0);
    fs::remove(at(name));
    EXPECT_EQ(seen(other(), name), "(nothing)");
    write(leader(), name, "again");
    EXPECT_EQ(seen(other(), name), "(nothing)");
    write(other(), name, "again");
    EXPECT_EQ(seen(other(), name), "again");
    remove(leader(), name);
    EXPECT_EQ(seen(other(), name), "again");
    remove(other(), name);
    EXPECT_EQ(seen(other(), name), "(nothing)");
  }
}

TEST_F(FileViewTest, WhatMpiMakesIsRemovedAndRenamedByOtherMeans) {
  Prepared prepared;
  ASSERT_EQ(leader().prepare(at("d"), Change::name, prepared), 0);
  fs::create_directory(at("d"));
  ASSERT_EQ(other().prepare(at("d"), Change::name, prepared), 0);
  fs::create_directory(prepared.path);
  for (const char* name : {"d/a", "d/b"}) {
    for (const FileView& view : views_) ASSERT_EQ(view.make_common(at(name)), 0);
    put(at(name), "mpi");
  }
  EXPECT_THAT(other().list(at("d")), ElementsAre("a", "b"));
  remove(leader(), "d/a");
  EXPECT_EQ(seen(other(), "d/a"), "mpi");
  remove(other(), "d/a");
  EXPECT_EQ(seen(other(), "d/a"), "(nothing)");
  rename_leader("d/b", "d/c");
  EXPECT_EQ(seen(other(), "d/b"), "mpi");
  ASSERT_EQ(other().move(at("d/b"), at("d/c")), 0);
  EXPECT_EQ(seen(other(), "d/b"), "(nothing)");
  EXPECT_EQ(seen(other(), "d/c"), "mpi");
  EXPECT_THAT(other().list(at("d")), ElementsAre("c"));
}

TEST_F(FileViewTest, DirectoriesAreMadeListedMovedAndRemoved) {
  fs::create_directories(at("d/inner"));
  put(at("d/x"), "x");
  put(at("d/inner/y"), "y");
  write(leader(), "d/new", "leader");
  rename_leader("d", "e");
  EXPECT_EQ(seen(other(), "d/x"), "x");
  EXPECT_EQ(seen(other(), "d/inner/y"), "y");
  EXPECT_EQ(seen(other(), "e/x"), "(nothing)");
  EXPECT_EQ(seen(other(), "d/new"), "(nothing)");
  EXPECT_THAT(other().list(at("d")), ElementsAre("inner", "x"));
  EXPECT_EQ(other().hide(at("d"), true), ENOTEMPTY);

  ASSERT_EQ(other().move(at("d"), at("e")), 0);
  EXPECT_EQ(seen(other(), "e/inner/y"), "y");
  EXPECT_EQ(seen(other(), "d/x"), "(nothing)");
  EXPECT_THAT(other().list(work_), ElementsAre("e"));
  remove(other(), "e/x");
  EXPECT_THAT(other().list(at("e")), ElementsAre("inner"));

  Prepared prepared;
  ASSERT_EQ(other().prepare(at("d"), Change::name, prepared), 0);
  ASSERT_EQ(::mkdir(prepared.path.c_str(), 0755), 0);
  EXPECT_TRUE(other().list(at("d")).empty()) << "made anew, it is empty";
}

TEST_F(FileViewTest, TellsWhereADirectoryOnDiskIsNotAllThatAReplicaSees) {
  fs::create_directories(at("d"));
  put(at("d/x"), "x");
  EXPECT_FALSE(other().differs_from_disk(at("d")));
  remove(leader(), "d/x");
  EXPECT_TRUE(other().differs_from_disk(at("d")));
  EXPECT_FALSE(leader().differs_from_disk(at("d")));
  EXPECT_THAT(other().list(at("d")), ElementsAre("x"));
  EXPECT_EQ(other().program_path(other().find(at("d/x")).path), at("d/x"));
  write(other(), "e", "own");
  EXPECT_TRUE(other().differs_from_disk(work_));
}

TEST_F(FileViewTest, AnEmptyDirectoryStandsInForOneThatIsNotThere) {
  std::string folder;
  std::string another;
  ASSERT_EQ(other().make_stand_in(at("theirs/inner"), folder), 0);
  ASSERT_EQ(other().make_stand_in(at("theirs/inner"), another), 0);
  EXPECT_NE(folder, another);
  EXPECT_TRUE(fs::is_empty(folder));
  EXPECT_EQ(other().program_path(folder), at("theirs/inner"));
  EXPECT_EQ(other().program_path(folder + "/file"), at("theirs/inner/file"));
}

TEST_F(FileViewTest, SymbolicLinksAreFollowedAsThisReplicaSeesThem) {
  fs::create_directories(at("real"));
  fs::create_directory_symlink("real", at("link"));
  std::string resolved;
  ASSERT_EQ(other().resolve(at("link/a"), true, resolved), 0);
  EXPECT_EQ(resolved, at("real/a"));
  ASSERT_EQ(other().resolve(at("link"), false, resolved), 0);
  EXPECT_EQ(resolved, at("link"));
  ASSERT_EQ(other().resolve(at("link/../x"), true, resolved), 0);
  EXPECT_EQ(resolved, at("x"));
  EXPECT_EQ(other().resolve(at("nowhere/a"), true, resolved), ENOENT);
  put(at("file"), "");
  EXPECT_EQ(other().resolve(at("file/a"), true, resolved), ENOTDIR);
  fs::create_symlink("loop", at("loop"));
  EXPECT_EQ(other().resolve(at("loop"), true, resolved), ELOOP);
  // A link of the leader's is not there for the others.
  Prepared prepared;
  ASSERT_EQ(leader().prepare(at("latest"), Change::name, prepared), 0);
  fs::create_symlink("real", at("latest"));
  EXPECT_EQ(other().resolve(at("latest/a"), true, resolved), ENOENT);
}

TEST_F(FileViewTest, APipeIsRemovedAndMadeAgainByEachReplica) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const auto make = [this](const FileView& view) {
    Prepared prepared;
    EXPECT_EQ(view.prepare(at("pipe"), Change::name, prepared), 0);
    EXPECT_EQ(::mkfifo(prepared.path.c_str(), 0600), 0);
    return prepared.path;
  };
  remove(leader(), "pipe");
  EXPECT_TRUE(other().find(at("pipe")).is(S_IFIFO)) << "as before the job";
  const std::string leaders = make(leader());
  EXPECT_TRUE(other().find(at("pipe")).is(S_IFIFO));
  remove(other(), "pipe");
  EXPECT_FALSE(other().find(at("pipe")).exists());
  EXPECT_NE(make(other()), leaders);
  EXPECT_TRUE(other().find(at("pipe")).is(S_IFIFO));
  ASSERT_EQ(other().move(at("pipe"), at("moved")), 0);
  EXPECT_TRUE(other().find(at("moved")).is(S_IFIFO));
  EXPECT_TRUE(leader().find(at("pipe")).is(S_IFIFO));
}

TEST_F(FileViewTest, APipeFromBeforeTheJobIsRenamed) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0640), 0);
  rename_leader("pipe", "moved");
  ASSERT_EQ(other().move(at("pipe"), at("moved")), 0);
  EXPECT_FALSE(other().find(at("pipe")).exists());
  EXPECT_TRUE(other().find(at("moved")).is(S_IFIFO));
}

TEST_F(FileViewTest, TellsWhatChanged) {
  put(at("a"), "a");
  fs::create_directories(at("d"));
  put(at("d/x"), "x");
  write(leader(), "a", "b");
  rename_leader("d", "e");
  write(other(), "b", "b");
  remove(other(), "a");
  EXPECT_THAT(leader().changed(), ::testing::IsSupersetOf({at("a"), at("d"), at("d/x"), at("e"), at("e/x")}));
  EXPECT_THAT(other().changed(), ::testing::IsSupersetOf({at("a"), at("b")}));
  EXPECT_EQ(other().program_path(other().find(at("b")).path), at("b"));
  EXPECT_EQ(leader().program_path(at("b")), at("b"));
}

TEST_F(FileViewTest, KnowsWhatOnlyAnOutsiderCanHaveChanged) {
  for (const char* name : {"untouched", "leaders", "others", "mpis"}) put(at(name), "before");
  write(leader(), "leaders", "after");
  write(other(), "others", "after");
  for (const FileView& view : views_) ASSERT_EQ(view.make_common(at("mpis")), 0);
  put(at("untouched"), "from outside");
  for (const FileView* view : {&leader(), &other()}) {
    EXPECT_TRUE(view->as_before_job(at("untouched")));
    EXPECT_FALSE(view->as_before_job(at("mpis")));
  }
  EXPECT_FALSE(leader().as_before_job(at("leaders")));
  EXPECT_FALSE(other().as_before_job(at("leaders")));
  EXPECT_TRUE(leader().as_before_job(at("others")));
  EXPECT_FALSE(other().as_before_job(at("others")));
}

TEST_F(FileViewTest, KnowsWhatAnOutsiderMakesInThePlaceOfWhatTheJobRemoved) {
  const auto removed_by_all = [this](const std::string& name) {
    Prepared prepared;
    EXPECT_EQ(leader().prepare(at(name), Change::removal, prepared), 0);
    fs::remove(at(name));
    (void)other().hide(at(name), false);
    return prepared.outsiders;
  };
  put(at("answer"), "before the job");
  EXPECT_FALSE(removed_by_all("answer"));
  EXPECT_FALSE(leader().made_outside(at("answer"))) << "nothing is there";
  put(at("answer"), "from outside");
  EXPECT_TRUE(leader().made_outside(at("answer")));
  EXPECT_EQ(seen(other(), "answer"), "(nothing)");
  EXPECT_TRUE(removed_by_all("answer"));
  put(at("answer"), "again");
  EXPECT_TRUE(leader().made_outside(at("answer")));
  write(leader(), "answer", "the job's own");
  EXPECT_FALSE(leader().made_outside(at("answer")));
  EXPECT_FALSE(removed_by_all("answer"));
  put(at("answer"), "from outside");
  EXPECT_TRUE(leader().made_outside(at("answer"))) << "a lock, perhaps, that both make and remove";

  fs::create_directory(at("lock"));
  EXPECT_FALSE(removed_by_all("lock"));
  fs::create_directory(at("lock"));
  EXPECT_TRUE(leader().made_outside(at("lock"))) << "a directory is a lock as well";
  EXPECT_TRUE(removed_by_all("lock"));
}

TEST_F(FileViewTest, WhatTheJobMovesIntoPlaceIsNoOutsiders) {
  fs::create_directories(at("box"));
  put(at("box/letter"), "before");
  Prepared prepared;
  ASSERT_EQ(leader().prepare(at("box/letter"), Change::removal, prepared), 0);
  EXPECT_TRUE(leader().made_outside(at("box/letter")));
  leader().undo(at("box/letter"), prepared);
  EXPECT_FALSE(leader().made_outside(at("box/letter"))) << "it could not be removed";
  remove(leader(), "box/letter");
  for (const FileView& view : views_) ASSERT_EQ(view.make_common(at("box/letter")), 0);
  put(at("box/letter"), "by MPI");
  EXPECT_FALSE(leader().made_outside(at("box/letter")));
  fs::remove(at("box/letter"));

  put(at("box/other"), "before");
  ASSERT_EQ(leader().prepare(at("box/other"), Change::removal, prepared), 0);
  fs::remove_all(at("box"));
  fs::create_directories(at("draft"));
  put(at("draft/other"), "the job's");
  rename_leader("draft", "box");
  EXPECT_FALSE(leader().made_outside(at("box/other")));
}

TEST_F(FileViewTest, KnowsWhatAnOutsiderPutsIntoADirectoryThatTheJobMade) {
  const auto make = [this](const std::string& name) {
    Prepared prepared;
    EXPECT_EQ(leader().prepare(at(name), Change::name, prepared), 0);
    leader().new_generation();
    fs::create_directory(at(name));
  };
  EXPECT_EQ(leader().outside_generation(), 0U);
  make("out");
  make("out/step");
  EXPECT_GT(leader().outside_generation(), 0U);
  for (const char* name : {"out/a", "out/step/b", "out/step/c"}) write(leader(), name, "the job's");
  for (const char* name : {"out/x", "out/step/y"}) put(at(name), "from outside");
  fs::create_directory(at("out/theirs"));
  put(at("out/theirs/z"), "from outside");
  for (const char* name : {"out", "out/step", "out/a", "out/step/b"})
    EXPECT_FALSE(leader().made_outside(at(name))) << name;
  for (const char* name : {"out/x", "out/step/y", "out/theirs", "out/theirs/z"})
    EXPECT_TRUE(leader().made_outside(at(name))) << name;

  Prepared prepared;
  ASSERT_EQ(leader().prepare(at("out/n"), Change::removal, prepared), 0);
  leader().undo(at("out/n"), prepared);
  put(at("out/n"), "from outside");
  EXPECT_TRUE(leader().made_outside(at("out/n"))) << "there was nothing to be removed";
  remove(leader(), "out/a");
  put(at("out/a"), "from outside");
  EXPECT_TRUE(leader().made_outside(at("out/a")));
  ASSERT_EQ(leader().prepare(at("out/step/c"), Change::removal, prepared), 0);
  leader().undo(at("out/step/c"), prepared);
  EXPECT_FALSE(leader().made_outside(at("out/step/c"))) << "it could not be removed";

  rename_leader("out", "final");
  for (const char* name : {"final/step", "final/step/b", "final/step/c"})
    EXPECT_FALSE(leader().made_outside(at(name))) << name;
  EXPECT_TRUE(leader().made_outside(at("final/x")));
  for (const FileView& view : views_) ASSERT_EQ(view.make_common(at("final/mpi")), 0);
  put(at("final/mpi"), "by MPI");
  EXPECT_FALSE(leader().made_outside(at("final/mpi")));
}

TEST_F(FileViewTest, ErrorsAreTheSystems) {
  Prepared prepared;
  EXPECT_EQ(other().prepare(at("no/file"), Change::contents, prepared), ENOENT);
  put(at("a"), "a");
  EXPECT_EQ(leader().prepare(at("a/file"), Change::contents, prepared), ENOTDIR);
  EXPECT_EQ(other().move(at("no"), at("b")), ENOENT);
  fs::create_directories(at("d"));
  EXPECT_EQ(other().move(at("a"), at("d")), EISDIR);
  EXPECT_EQ(other().move(at("d"), at("a")), ENOTDIR);
  EXPECT_EQ(other().move(at("d"), at("d/e")), EINVAL);
  EXPECT_EQ(other().hide(at("d"), false), EISDIR);
  EXPECT_EQ(other().hide(at("a"), true), ENOTDIR);
}

}  // namespace
}  // namespace holdfast::replicate
