// What libdeflate lacks: a stream that goes on. Its compressor marks the last block as final, and finding that block's
// mark afterwards takes a walk over all blocks. cmake/libraries.cmake appends this to libdeflate's deflate_compress.c,
// after it has made two changes there: a compressor has `leave_open`, and while it is set no block is marked.

// Deflate blocks of which none is final, then an empty stored block (RFC 1951, 3.2.4), which ends at a byte. Returns
// their size, or 0 when they do not fit or there is too little input to compress.
size_t quarry_deflate_open(struct libdeflate_compressor* c, const void* in, size_t in_nbytes, void* out,
                           size_t out_nbytes_avail) {
  enum { k_end_max = 8 }; // the bits that are left and the empty block's head: two bytes; its lengths: four
  struct deflate_output_bitstream os = {0};
  if (in_nbytes <= c->max_passthrough_size || out_nbytes_avail < k_end_max) return 0;
  os.next = out;
  os.end = os.next + out_nbytes_avail - k_end_max;
  c->leave_open = true;
  (*c->impl)(c, in, in_nbytes, &os);
  c->leave_open = false;
  if (os.overflow) return 0;
  *os.next++ = os.bitbuf;
  if (os.bitcount > 5) *os.next++ = 0; // the three bits of the head, all 0, do not fit beside those that are left
  memcpy(os.next, "\0\0\xff\xff", 4);
  return os.next + 4 - (u8*)out;
}
