#pragma once

#include <string>
#include <vector>

namespace holdfast::transport {

/// Hears of network interfaces whose link goes down or comes up, from the kernel, as it happens (rtnetlink(7),
/// RTM_NEWLINK): set down, without a carrier, or gone is down. In the network namespace of the thread that makes it.
/// One thread at a time.
class LinkWatch {
 public:
  struct Change {
    std::string interface;
    bool up = false;
    bool operator==(const Change&) const = default;
  };

  /// Where the kernel gives no socket (fd() < 0) nothing is ever heard.
  LinkWatch();
  ~LinkWatch();
  LinkWatch(const LinkWatch&) = delete;
  LinkWatch& operator=(const LinkWatch&) = delete;

  /// Becomes readable when changes() has something.
  int fd() const { return socket_; }
  /// What has changed since the last call; of an interface that changed several times the last state. Does not wait.
  std::vector<Change> changes();

 private:
  void ask_all();
  void read(const char* bytes, std::size_t size, std::vector<Change>& found);
  void note(const std::string& interface, bool up, std::vector<Change>& found);

  int socket_ = -1;
  std::vector<std::string> down_;  ///< as was told last
};

}  // namespace holdfast::transport
