"""Draws docs/images/report.png: the head of the page that `make demo` makes.

python docs/images/report.py [PLAN.html]     (by chromium; without a page, the demo is run first)
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

FOLDER = Path(__file__).parent
DEMO = FOLDER.parent.parent / "examples" / "demo.py"
WIDTH, HEIGHT = 1080, 1370  # pixels: up to the end of the blocks in space


def main():
    """Have a browser draw the page; keep its head, in few colours."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(folder) / "plan.html"
        if len(sys.argv) < 2:
            subprocess.run([sys.executable, DEMO, folder], check=True)
        picture = Path(folder) / "page.png"
        browser = shutil.which("chromium") or shutil.which("google-chrome")
        if browser is None:
            sys.exit("chromium is needed to draw the page")
        subprocess.run(
            [browser, "--headless", "--no-sandbox", "--hide-scrollbars",
             f"--screenshot={picture}", f"--window-size={WIDTH},{HEIGHT}", page.as_uri()],
            check=True, capture_output=True,
        )  # fmt: skip
        head = Image.open(picture).convert("RGB")
        head.quantize(200).save(FOLDER / "report.png", optimize=True)


if __name__ == "__main__":
    main()
