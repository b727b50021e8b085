#pragma once

#include <cstddef>

namespace holdfast::transport {

/// The place of an object in a List.
template <class T>
struct Link {
  T* next = nullptr;
  T* previous = nullptr;
  bool linked = false;
};

/// A list of objects that carry their own links, so that it allocates nothing and any of them leaves in constant time.
/// An object is in at most one list by each of its links. The list owns nothing.
template <class T, Link<T> T::*link>
class List {
 public:
  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }
  T* first() const { return first_; }
  T* last() const { return last_; }
  static T* next(const T* object) { return (object->*link).next; }
  static bool linked(const T* object) { return (object->*link).linked; }

  void push_back(T* object) {
    Link<T>& place = object->*link;
    place = {nullptr, last_, true};
    (last_ != nullptr ? (last_->*link).next : first_) = object;
    last_ = object;
    ++size_;
  }

  void push_front(T* object) {
    Link<T>& place = object->*link;
    place = {first_, nullptr, true};
    (first_ != nullptr ? (first_->*link).previous : last_) = object;
    first_ = object;
    ++size_;
  }

  void remove(T* object) {
    Link<T>& place = object->*link;
    (place.previous != nullptr ? (place.previous->*link).next : first_) = place.next;
    (place.next != nullptr ? (place.next->*link).previous : last_) = place.previous;
    place = {};
    --size_;
  }

  T* pop_front() {
    T* object = first_;
    if (object != nullptr) remove(object);
    return object;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace holdfast::transport
