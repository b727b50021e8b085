#include "fabric/topology/finite_field.h"

namespace holdfast::fabric {

namespace {

/// The prime that q is a power of; 0 when there is none.
std::uint32_t prime_below(std::uint32_t q) {
  std::uint32_t p = 2;
  while (p * p <= q && q % p != 0) ++p;
  if (q % p != 0) p = q;
  while (q % p == 0) q /= p;
  return q == 1 ? p : 0;
}

}  // namespace

std::uint32_t FiniteField::add(std::uint32_t a, std::uint32_t b) const {
  std::uint32_t sum = 0;
  for (std::uint32_t place = 1; place < q_; place *= p_) sum += (a / place + b / place) % p_ * place;
  return sum;
}

std::uint32_t FiniteField::negate(std::uint32_t a) const {
  std::uint32_t negative = 0;
  for (std::uint32_t place = 1; place < q_; place *= p_) negative += (p_ - a / place % p_) % p_ * place;
  return negative;
}

std::uint32_t FiniteField::multiply(std::uint32_t a, std::uint32_t b) const {
  return a == 0 || b == 0 ? 0 : power(logarithms_[a] + logarithms_[b]);
}

/// Tries x (for a prime q: the number `reduction`) as the generator, with x^m = `reduction`. Multiplying by x shifts an
/// element's digits, and the one that falls out comes back as a multiple of `reduction`.
bool FiniteField::set_powers(std::uint32_t reduction) {
  powers_.clear();
  logarithms_.assign(q_, q_);
  std::uint32_t element = 1;
  for (std::uint32_t i = 0; i + 1 < q_; ++i) {
    if (element == 0 || logarithms_[element] != q_) return false;
    logarithms_[element] = i;
    powers_.push_back(element);
    const std::uint32_t top = element / (q_ / p_);
    std::uint32_t next = q_ == p_ ? 0 : element % (q_ / p_) * p_;
    for (std::uint32_t times = 0; times < top; ++times) next = add(next, reduction);
    element = next;
  }
  return element == 1;
}

std::optional<FiniteField> FiniteField::make(std::uint32_t q) {
  if (q < 2 || q > 1024) return std::nullopt;
  FiniteField field;
  field.q_ = q;
  field.p_ = prime_below(q);
  if (field.p_ == 0) return std::nullopt;
  for (std::uint32_t reduction = 1; reduction < q; ++reduction) {
    if (field.set_powers(reduction)) return field;
  }
  return std::nullopt;
}

}  // namespace holdfast::fabric
