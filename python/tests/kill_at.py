"""kill_at.py SITE STEP: unpacks the development files and is killed just before its STEPth change of the file system below SITE.

STEP 0: it is not, and prints the number of changes.
"""

import os
import signal
import sys

site, step = os.path.realpath(sys.argv[1]), int(sys.argv[2])
CHANGES = {"os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink"}
seen = 0


def hook(event, arguments):
    global seen
    if event == "open":
        path, _, flags = arguments
        if not isinstance(path, str) or not path.startswith(site) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return
    elif event not in CHANGES:
        return
    seen += 1
    if seen == step:
        os.kill(os.getpid(), signal.SIGKILL)


sys.path.insert(0, site)
sys.dont_write_bytecode = True
from rocm_sdk import _devel  # noqa: E402

sys.addaudithook(hook)
_devel.ensure_expanded()
print(seen)
