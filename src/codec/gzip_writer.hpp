#pragma once
// gzip (RFC 1952) for streams of gigabytes: chunks of 1 MiB are deflated on several threads, as those of wheels in the
// release profile, and joined to one member without name and time.
#include "codec/compression.hpp"
#include <memory>

namespace quarry::codec {

/// A Compressor whose bytes depend on the input alone, never on workers or on how it is cut into write() calls; they
/// differ from those of Compressor::create(). `out` is called on the calling thread; its errors are passed on. Holds
/// about 10 MiB for each worker.
std::unique_ptr<Compressor> gzip_writer(const CodecOptions& options, ByteSink out);

} // namespace quarry::codec
