"""`python -m papers.hmap`."""

import sys

from papers.command import main
from papers.hmap.experiments import REPRODUCTION

if __name__ == "__main__":
    sys.exit(main(REPRODUCTION))
