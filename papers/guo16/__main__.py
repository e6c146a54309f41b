"""`python -m papers.guo16`."""

import sys

from papers.command import main
from papers.guo16.experiments import REPRODUCTION

if __name__ == "__main__":
    sys.exit(main(REPRODUCTION))
