#include "core/integrity/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/integrity/crc32c.h"
#include "core/integrity/digester.h"
#include "core/integrity/xxh3.h"

namespace holdfast::integrity {
namespace {

using Bytes = std::span<const std::byte>;

// Copied and then summed while it is in the first-level cache, with room for the source beside it.
constexpr std::size_t block_bytes = 8192;

template <class Word>
Word load_word(const std::byte* from, std::size_t bytes = sizeof(Word)) {
  Word word = 0;
  if (bytes == sizeof(Word)) {
    std::memcpy(&word, from, sizeof word);
    if constexpr (std::endian::native == std::endian::little) return word;
    word = 0;
  }
  for (std::size_t i = 0; i < bytes; ++i) word |= static_cast<Word>(std::to_integer<unsigned>(from[i])) << (8 * i);
  return word;
}

// Collects bytes into words where pieces end in the middle of one: `word` is called with every whole word, in order,
// and finish() with the last one filled up with zeros.
template <class Word>
class WordStream {
 public:
  template <class Whole, class Run>
  void update(Bytes bytes, Whole whole, Run run) {
    while (held_ > 0 && !bytes.empty()) {
      word_ |= static_cast<Word>(std::to_integer<unsigned>(bytes.front())) << (8 * held_);
      bytes = bytes.subspan(1);
      if (++held_ == sizeof(Word)) {
        whole(word_);
        word_ = 0;
        held_ = 0;
      }
    }
    if (bytes.empty()) return;
    const std::size_t words = bytes.size() / sizeof(Word);
    run(bytes.data(), words);
    held_ = bytes.size() % sizeof(Word);
    if (held_ > 0) word_ = load_word<Word>(bytes.data() + words * sizeof(Word), held_);
  }
  bool holds() const { return held_ > 0; }
  Word held() const { return word_; }

 private:
  Word word_ = 0;
  std::size_t held_ = 0;
};

class SumStream {
 public:
  void update(Bytes bytes) {
    words_.update(
        bytes, [this](std::uint64_t word) { sum_ += word; },
        [this](const std::byte* from, std::size_t words) {
          std::uint64_t sum = 0;
          for (std::size_t i = 0; i < words; ++i) sum += load_word<std::uint64_t>(from + 8 * i);
          sum_ += sum;
        });
  }
  std::uint64_t finish() const { return sum_ + words_.held(); }

 private:
  WordStream<std::uint64_t> words_;
  std::uint64_t sum_ = 0;
};

class FletcherStream {
 public:
  void update(Bytes bytes) {
    words_.update(
        bytes, [this](std::uint32_t word) { add(word); },
        [this](const std::byte* from, std::size_t words) { add_run(from, words); });
  }
  std::uint64_t finish() const {
    FletcherStream last = *this;
    if (words_.holds()) last.add(words_.held());
    return last.second_ << 32 | last.first_;
  }

 private:
  static constexpr std::uint64_t modulus = 0xFFFFFFFF;
  // Sums of so many words, each below 2^32 as the sums are before, stay below 2^64.
  static constexpr std::size_t longest_run = 65536;

  void add(std::uint32_t word) {
    first_ = (first_ + word) % modulus;
    second_ = (second_ + first_) % modulus;
  }
  // Four sums side by side, as the words at every fourth place: a chain of additions is the limit otherwise. With n
  // groups of four, the sum of sums is 4 * (the sums of sums of each lane) less what each lane counted too early.
  void add_run(const std::byte* from, std::size_t words) {
    while (words >= 4) {
      const std::size_t groups = std::min(words / 4, longest_run / 8);
      std::uint64_t first[4] = {};
      std::uint64_t second[4] = {};
      for (std::size_t i = 0; i < groups; ++i) {
        for (std::size_t lane = 0; lane < 4; ++lane) {
          first[lane] += load_word<std::uint32_t>(from + 16 * i + 4 * lane);
          second[lane] += first[lane];
        }
      }
      const std::uint64_t all = first[0] + first[1] + first[2] + first[3];
      const std::uint64_t lanes = second[0] + second[1] + second[2] + second[3];
      const std::uint64_t early = first[1] + 2 * first[2] + 3 * first[3];
      second_ =
          (second_ + (4 * groups) % modulus * first_ + 4 * (lanes % modulus) + modulus - early % modulus) % modulus;
      first_ = (first_ + all) % modulus;
      from += 16 * groups;
      words -= 4 * groups;
    }
    for (; words > 0; --words, from += 4) add(load_word<std::uint32_t>(from));
  }

  WordStream<std::uint32_t> words_;
  std::uint64_t first_ = 0;
  std::uint64_t second_ = 0;
};

class CrcStream {
 public:
  void update(Bytes bytes) { crc_ = crc32c_extend(crc_, bytes); }
  void copy(std::byte* to, Bytes from) { crc_ = crc32c_copy_extend(crc_, to, from); }
  std::uint64_t finish() const { return crc_; }

 private:
  std::uint32_t crc_ = 0;
};

class XxhStream {
 public:
  void update(Bytes bytes) { digester_.update(bytes); }
  std::uint64_t finish() const { return digester_.finish().low; }

 private:
  Digester digester_{Algorithm::xxh3_64};
};

class NoStream {
 public:
  void update(Bytes) {}
  void copy(std::byte* to, Bytes from) {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
  }
  std::uint64_t finish() const { return 0; }
};

// Copies and sums; block by block where the sum has no fused kernel of its own.
template <class Stream>
void copy_into(Stream& stream, std::byte* to, Bytes from) {
  if constexpr (requires { stream.copy(to, from); }) {
    stream.copy(to, from);
  } else {
    while (!from.empty()) {
      const std::size_t bytes = std::min(from.size(), block_bytes);
      std::memcpy(to, from.data(), bytes);
      stream.update({to, bytes});
      to += bytes;
      from = from.subspan(bytes);
    }
  }
}

// Calls visit(piece of the list, offset into the range) for the range's part of each piece; gives what of the range the
// list did not have.
template <class Visit>
std::size_t each_piece(std::span<const iovec> pieces, std::size_t offset, std::size_t bytes, Visit visit) {
  std::size_t done = 0;
  for (const iovec& piece : pieces) {
    if (done == bytes) break;
    if (offset >= piece.iov_len) {
      offset -= piece.iov_len;
      continue;
    }
    const std::size_t here = std::min(piece.iov_len - offset, bytes - done);
    visit(static_cast<std::byte*>(piece.iov_base) + offset, here, done);
    done += here;
    offset = 0;
  }
  return bytes - done;
}

template <class Use>
std::uint64_t with_stream(Checksum algorithm, Use use) {
  const auto run = [&use](auto stream) {
    use(stream);
    return stream.finish();
  };
  switch (algorithm) {
    case Checksum::none:
      return run(NoStream());
    case Checksum::sum:
      return run(SumStream());
    case Checksum::fletcher64:
      return run(FletcherStream());
    case Checksum::crc32c:
      return run(CrcStream());
    case Checksum::xxh3_64:
      return run(XxhStream());
  }
  return 0;
}

// Whether the range lies in one piece of the list; if so, where it begins.
std::byte* in_one_piece(std::span<const iovec> pieces, std::size_t offset, std::size_t bytes) {
  for (const iovec& piece : pieces) {
    if (offset < piece.iov_len) {
      return bytes <= piece.iov_len - offset ? static_cast<std::byte*>(piece.iov_base) + offset : nullptr;
    }
    offset -= piece.iov_len;
  }
  return nullptr;
}

}  // namespace

std::uint64_t checksum(Checksum algorithm, Bytes bytes) {
  if (algorithm == Checksum::xxh3_64) return xxh3_64(bytes).low;
  return with_stream(algorithm, [bytes](auto& stream) { stream.update(bytes); });
}

std::uint64_t copy_with_checksum(Checksum algorithm, std::byte* to, Bytes from) {
  if (algorithm == Checksum::xxh3_64 && from.size() <= block_bytes) {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
    return xxh3_64({to, from.size()}).low;
  }
  return with_stream(algorithm, [to, from](auto& stream) { copy_into(stream, to, from); });
}

std::size_t bytes_of(std::span<const iovec> pieces) {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

std::uint64_t gather_with_checksum(Checksum algorithm, std::span<const iovec> pieces, std::size_t offset,
                                   std::size_t bytes, std::byte* to) {
  if (const std::byte* only = in_one_piece(pieces, offset, bytes)) {
    return to != nullptr ? copy_with_checksum(algorithm, to, {only, bytes}) : checksum(algorithm, {only, bytes});
  }
  return with_stream(algorithm, [&](auto& stream) {
    each_piece(pieces, offset, bytes, [&](const std::byte* piece, std::size_t here, std::size_t done) {
      if (to != nullptr) {
        copy_into(stream, to + done, {piece, here});
      } else {
        stream.update({piece, here});
      }
    });
  });
}

std::uint64_t scatter_with_checksum(Checksum algorithm, std::span<const iovec> pieces, std::size_t offset, Bytes from) {
  if (std::byte* only = in_one_piece(pieces, offset, from.size())) return copy_with_checksum(algorithm, only, from);
  return with_stream(algorithm, [&](auto& stream) {
    const std::size_t rest =
        each_piece(pieces, offset, from.size(), [&](std::byte* piece, std::size_t here, std::size_t done) {
          copy_into(stream, piece, from.subspan(done, here));
        });
    stream.update(from.last(rest));
  });
}

}  // namespace holdfast::integrity
