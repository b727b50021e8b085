#pragma once

namespace holdfast::replicate {

/// Tells the program, in `environ` and by getenv(), which rank it plays where the launcher's variables say which
/// process it is (docs/reference/agreed.md). Called once, before the program's first instruction, by its first thread.
/// The launcher's words stay for MPI and for what the program starts, as far as it asks by getenv() with this library
/// loaded.
void tell_program_its_part();

}  // namespace holdfast::replicate
