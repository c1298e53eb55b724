"""The packaged tests, run by `rocm-sdk test`: does what is installed here work?

Groups: base (the command and the API), core, libraries and devel (the files of these packages), uninstall (RECORD is complete).
A test whose needs this machine lacks is a skip with its reason, counted and printed; it never counts as passed.
"""
