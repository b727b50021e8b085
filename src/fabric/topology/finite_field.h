#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace holdfast::fabric {

/// The field of q elements, 0 to q - 1, where 0 and 1 are its neutral elements. An element's digits to the base p are
/// the coefficients of a polynomial over the integers modulo p.
class FiniteField {
 public:
  /// Nothing when q is no power of a prime, or is above 1,024.
  static std::optional<FiniteField> make(std::uint32_t q);

  std::uint32_t size() const { return q_; }
  std::uint32_t add(std::uint32_t a, std::uint32_t b) const;
  std::uint32_t negate(std::uint32_t a) const;
  std::uint32_t multiply(std::uint32_t a, std::uint32_t b) const;
  /// An element whose powers 0 to q - 2 are all elements but 0; power(i) is its i-th one.
  std::uint32_t power(std::uint32_t exponent) const { return powers_[exponent % (q_ - 1)]; }

 private:
  bool set_powers(std::uint32_t reduction);

  std::uint32_t q_ = 0;
  std::uint32_t p_ = 0;
  std::vector<std::uint32_t> powers_;      // of the generator x
  std::vector<std::uint32_t> logarithms_;  // logarithms_[powers_[i]] == i
};

}  // namespace holdfast::fabric
