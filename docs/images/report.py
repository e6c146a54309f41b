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
WIDTH, HEIGHT = 1128, 1005  # pixels: up to the end of times and loads


def main():
    """Have a browser draw the page; keep its head."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(folder) / "plan.html"
        if len(sys.argv) < 2:
            subprocess.run([sys.executable, DEMO, folder], check=True)
        photograph(page, FOLDER / "report.png", WIDTH, HEIGHT)


def photograph(page, picture, width, height):
    """Write the top of a page, `width` x `height` pixels, as a picture of few colours."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("chromium is needed to draw the page")
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / "page.png"
        subprocess.run(
            [browser, "--headless", "--no-sandbox", "--hide-scrollbars",
             f"--screenshot={drawn}", f"--window-size={width},{height}", page.as_uri()],
            check=True, capture_output=True,
        )  # fmt: skip
        Image.open(drawn).convert("RGB").quantize(200).save(picture, optimize=True)


if __name__ == "__main__":
    main()
