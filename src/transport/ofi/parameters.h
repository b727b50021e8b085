#pragma once

#include <rdma/providers/fi_prov.h>

#include "core/config/settings.h"

/// The options of the transport and its rails as libfabric's parameters: `fi_info -e` lists them, and
/// FI_HOLDFAST_TRANSPORT_TICK sets the same as HOLDFAST_TRANSPORT_TICK.
namespace holdfast::transport::ofi {

/// Tells libfabric of every option. Called once, when the provider is loaded.
void define_parameters(fi_provider& provider);

/// Sets what HOLDFAST_* and then FI_HOLDFAST_* variables say. Errors: bad_input.
Status read_parameters(config::AnySettings& settings);

/// The provider as libfabric knows it (provider.cc).
fi_provider& provider();

}  // namespace holdfast::transport::ofi
